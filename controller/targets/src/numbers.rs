//! What a switch calls its ports, where somebody says so.

use std::collections::BTreeMap;

use inart_tables::PortNo;

/// The device's own numbers of a switch's ports. Empty where nobody states them: the target then has a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortNumbers {
    theirs: BTreeMap<PortNo, u32>,
    ours: BTreeMap<u32, PortNo>,
}

impl PortNumbers {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        self.theirs.is_empty()
    }

    /// What the device calls a port; `None` if that is not stated.
    pub fn number(&self, port: PortNo) -> Option<u32> {
        self.theirs.get(&port).copied()
    }

    /// The port that the device calls so; `None` if that is none of those stated.
    pub fn port_of(&self, number: u32) -> Option<PortNo> {
        self.ours.get(&number).copied()
    }
}

/// Of several ports with one number, the last has it.
impl FromIterator<(PortNo, u32)> for PortNumbers {
    fn from_iter<I: IntoIterator<Item = (PortNo, u32)>>(stated: I) -> Self {
        let theirs: BTreeMap<PortNo, u32> = stated.into_iter().collect();
        let ours = theirs.iter().map(|(port, number)| (*number, *port)).collect();
        Self { theirs, ours }
    }
}
