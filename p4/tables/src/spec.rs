//! What a declaration says of a table, as values.

/// The control of the P4 program that has the tables, unless a table says another.
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
