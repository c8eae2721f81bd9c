//! Names of processes, by number.

use crate::machine::PeerNo;

/// Names of a process and of others, by number.
#[derive(Debug, Clone)]
pub struct Names {
    /// The process's own name.
    pub me: String,
    /// All names, by number. The process's own may be among them.
    pub all: Vec<String>,
}

impl Names {
    /// Returns the name of a process; empty without one.
    pub fn of(&self, peer: PeerNo) -> &str {
        self.all.get(peer.index()).map_or("", String::as_str)
    }

    /// Returns the number of a name.
    pub fn number(&self, name: &str) -> Option<PeerNo> {
        let place = self.all.iter().position(|known| known == name)?;
        u32::try_from(place).ok().map(PeerNo)
    }
}
