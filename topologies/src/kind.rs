//! Kinds of networks.

use std::fmt;

/// A kind of network, by the nodes of its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Switches, servers and workers: InArt, and the training of R²SP.
    Switched,
    /// Sites, with the networks inside them: NETSTORM.
    Sites,
    /// Peers and switches: SELMCAST.
    Peers,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Switched, Kind::Sites, Kind::Peers];

    /// Returns the plural name of the nodes, as in "a network of sites".
    pub fn name(self) -> &'static str {
        match self {
            Kind::Switched => "switches",
            Kind::Sites => "sites",
            Kind::Peers => "peers",
        }
    }

    /// Returns a document in `topologies/` that shows a network of this kind.
    pub fn example(self) -> &'static str {
        match self {
            Kind::Switched => "topologies/fig1.yaml",
            Kind::Sites => "topologies/geo9.yaml",
            Kind::Peers => "topologies/mesh16.yaml",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
