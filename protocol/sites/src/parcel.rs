//! What goes from site to site.

use crate::policy::{ChunkNo, SiteNo};

/// Which way a chunk goes on its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// A sum, from a child to its parent.
    Push,
    /// A complete sum, from a parent to its child.
    Pull,
    /// A complete sum, to a site that asked for it.
    Answer,
}

/// A chunk under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Parcel<S> {
    /// The round that it belongs to.
    pub round: u32,
    /// The policy by which it travels.
    pub version: u64,
    /// Which chunk.
    pub chunk: ChunkNo,
    /// Up or down.
    pub way: Way,
    /// The tree neighbour that it comes from.
    pub from: SiteNo,
    /// The tree neighbour that it is for; sites between pass it on.
    pub to: SiteNo,
    /// 0 on the tree's own link or route, else the number of the auxiliary path.
    pub path: u8,
    /// The sites behind the next one, up to `to`; empty if the next one is `to`.
    pub route: Vec<SiteNo>,
    /// With the last chunk only. Pushed: the versions, newer than the one in force, that all sites below
    /// hold. Pulled: the version that the next round follows.
    pub policies: Vec<u64>,
    /// The values.
    pub data: S,
}

/// A site asks another for chunks that it misses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ask {
    /// The round that they belong to.
    pub round: u32,
    /// Who asks.
    pub from: SiteNo,
    /// Who is asked; sites between pass it on.
    pub to: SiteNo,
    /// The sites behind the next one, up to `to`; empty if the next one is `to`.
    pub route: Vec<SiteNo>,
    /// The chunks, ascending.
    pub chunks: Vec<ChunkNo>,
}

/// What a site wants done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Output<S> {
    /// Send this to a neighbour.
    Send {
        /// The neighbour.
        next: SiteNo,
        /// What.
        parcel: Parcel<S>,
    },
    /// Send this question to a neighbour. It counts as nothing on the link.
    Ask {
        /// The neighbour.
        next: SiteNo,
        /// What.
        ask: Ask,
    },
    /// The sum of a chunk over all sites.
    Complete {
        /// Which chunk.
        chunk: ChunkNo,
        /// The sum.
        data: S,
    },
}
