//! Declarations of tables, as values.

/// Control of the P4 program that has the tables, unless a table names another.
pub const CONTROL: &str = "InArtIngress";

/// A key field or an action parameter: one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name in the P4Info.
    pub name: &'static str,
    /// Width in bits, 64 at most.
    pub bits: u32,
    /// Whether it is the number of a port, which each target has its own numbers for.
    pub port: bool,
}

/// An action of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionSpec {
    /// Name in the P4Info, without the control's.
    pub name: &'static str,
    /// Name with the control's.
    pub full_name: &'static str,
    /// Parameters, in the program's order.
    pub params: &'static [Field],
}

/// A table; all its key fields are matched exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Name in the P4Info, without the control's.
    pub name: &'static str,
    /// Name with the control's.
    pub full_name: &'static str,
    /// Key fields, in the program's order.
    pub key: &'static [Field],
    /// Actions, but for those that only the program itself may choose.
    pub actions: &'static [ActionSpec],
}

impl TableSpec {
    /// Returns the action of that name.
    pub fn action(&self, name: &str) -> Option<&'static ActionSpec> {
        self.actions.iter().find(|action| action.name == name)
    }
}
