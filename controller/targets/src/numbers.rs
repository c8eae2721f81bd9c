//! Stated numbers of a switch's ports.

use std::collections::BTreeMap;

use inart_tables::PortNo;

/// Numbers of ports on the switch, as stated; if empty, the target has a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortNumbers {
    theirs: BTreeMap<PortNo, u32>,
    ours: BTreeMap<u32, PortNo>,
}

impl PortNumbers {
    /// Returns whether no number is stated.
    pub fn is_empty(&self) -> bool {
        self.theirs.is_empty()
    }

    /// Returns the number of a port on the switch; `None` if not stated.
    pub fn number(&self, port: PortNo) -> Option<u32> {
        self.theirs.get(&port).copied()
    }

    /// Returns the port with a number on the switch; `None` if not stated.
    pub fn port_of(&self, number: u32) -> Option<PortNo> {
        self.ours.get(&number).copied()
    }
}

/// Collects stated numbers; of several ports with one number, the last one has it.
impl FromIterator<(PortNo, u32)> for PortNumbers {
    fn from_iter<I: IntoIterator<Item = (PortNo, u32)>>(stated: I) -> Self {
        let theirs: BTreeMap<PortNo, u32> = stated.into_iter().collect();
        let ours = theirs.iter().map(|(port, number)| (*number, *port)).collect();
        Self { theirs, ours }
    }
}
