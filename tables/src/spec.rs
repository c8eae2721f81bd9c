//! What a declaration says of a table, as values.

use crate::row::{Foreign, Row};

/// The control of the P4 program that has the tables.
pub const CONTROL: &str = "InArtIngress";

/// A key field or an action parameter: one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in the P4Info.
    pub name: &'static str,
    /// Its width in bits, 64 at most.
    pub bits: u32,
    /// Whether it is the number of a port, which each target has its own numbers for.
    pub port: bool,
}

/// An action of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionSpec {
    /// Its name in the P4Info, without the control's.
    pub name: &'static str,
    /// Its name with the control's.
    pub full_name: &'static str,
    /// Its parameters, in the program's order.
    pub params: &'static [Field],
}

/// A table; all its key fields are matched exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Its name in the P4Info, without the control's.
    pub name: &'static str,
    /// Its name with the control's.
    pub full_name: &'static str,
    /// Its key fields, in the program's order.
    pub key: &'static [Field],
    /// Its actions, but for those that only the program itself may choose.
    pub actions: &'static [ActionSpec],
}

impl TableSpec {
    /// The action of that name.
    pub fn action(&self, name: &str) -> Option<&'static ActionSpec> {
        self.actions.iter().find(|action| action.name == name)
    }
}

/// A declared table: typed entries, and the rows that they become. [`crate::table!`] implements it.
pub trait Table {
    /// Names and widths.
    const SPEC: &'static TableSpec;
    /// What an entry matches.
    type Key;
    /// What an entry does.
    type Action;

    /// The row of an entry.
    fn row(key: &Self::Key, action: &Self::Action) -> Row;

    /// The row of a default action.
    fn default_row(action: &Self::Action) -> Row;

    /// The entry that a row says.
    ///
    /// # Errors
    /// The row is of another table, is a default action, or holds a number that no entry of ours has.
    fn entry(row: &Row) -> Result<(Self::Key, Self::Action), Foreign>;

    /// The default action that a row says.
    ///
    /// # Errors
    /// The row is of another table, is no default action, or holds a number that no entry of ours has.
    fn default_action(row: &Row) -> Result<Self::Action, Foreign>;
}
