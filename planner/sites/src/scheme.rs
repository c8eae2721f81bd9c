//! Names of schemes.

use std::fmt;

use inart_virtual::Sharing;

/// Scheme that chooses trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// InArt's scheme: a packing of reduce and broadcast trees with the highest total rate.
    Optimized,
    /// Star: all sites send to the root, over routes of the fewest hops.
    Star,
    /// Balanced k-ary tree, over routes of the fewest hops (BytePS and others).
    Bkt,
    /// Maximum spanning tree.
    Mst,
    /// Single fastest aggregation path tree (NETSTORM, Algorithm 1).
    Fapt,
    /// Fastest aggregation path trees of several roots (NETSTORM, Algorithm 2).
    Netstorm,
    /// Trees of a user. Chunks are assigned and sent as with `optimized`.
    Own,
}

impl Scheme {
    /// All schemes that choose trees themselves.
    pub const ALL: [Scheme; 6] =
        [Scheme::Optimized, Scheme::Star, Scheme::Bkt, Scheme::Mst, Scheme::Fapt, Scheme::Netstorm];

    /// Returns the name on the command line and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Optimized => "optimized",
            Scheme::Star => "star",
            Scheme::Bkt => "bkt",
            Scheme::Mst => "mst",
            Scheme::Fapt => "fapt",
            Scheme::Netstorm => "netstorm",
            Scheme::Own => "own",
        }
    }

    /// Returns a summary in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Scheme::Optimized => {
                "InArt: packed reduce and broadcast trees of the highest goodput, with a proven bound"
            }
            Scheme::Star => "one tree in which all sites send to the root",
            Scheme::Bkt => "a balanced k-ary tree",
            Scheme::Mst => "the maximum spanning tree",
            Scheme::Fapt => "NETSTORM's fastest aggregation path tree, one root",
            Scheme::Netstorm => "NETSTORM: fastest aggregation path trees of several roots",
            Scheme::Own => "trees that a user has chosen",
        }
    }

    /// Returns how transfers of the scheme share links, given the requested sharing: STAR and BKT share by
    /// streams; `optimized` sends all chunks to a neighbor in one order.
    pub fn sharing(self, asked: Sharing) -> Sharing {
        match self {
            Scheme::Star | Scheme::Bkt => Sharing::Fair,
            Scheme::Optimized | Scheme::Own => Sharing::Fifo,
            Scheme::Mst | Scheme::Fapt | Scheme::Netstorm => asked,
        }
    }

    /// Returns the scheme of this name that chooses trees itself.
    pub fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Returns the scheme that a plan names, or [`Scheme::Own`].
    pub fn of_plan(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().chain([Scheme::Own]).find(|scheme| scheme.name() == name)
    }

    /// Whether a site hands chunks to a link one by one, in one order for all trees.
    pub fn sends_in_order(self) -> bool {
        matches!(self, Scheme::Optimized | Scheme::Own)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
