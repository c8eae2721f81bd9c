//! Transfers and requests between sites.

use crate::policy::{ChunkNo, SiteNo};

/// Direction of a chunk on its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Sum, from a child to its parent.
    Push,
    /// Complete sum, from a parent to its child.
    Pull,
    /// Complete sum, to a site that requested it.
    Answer,
}

/// Chunk in transfer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkTransfer<S> {
    /// Round of the chunk.
    pub round: u32,
    /// Version of the policy that routes it.
    pub version: u64,
    /// Number of the chunk.
    pub chunk: ChunkNo,
    /// Direction of the transfer.
    pub direction: Direction,
    /// Tree neighbor that sends the chunk.
    pub from: SiteNo,
    /// Tree neighbor that receives the chunk; sites in between forward it.
    pub to: SiteNo,
    /// 0 on the tree's own link or route, else the number of the auxiliary path.
    pub path: u8,
    /// Sites after the next hop, up to `to`; empty if the next hop is `to`.
    pub route: Vec<SiteNo>,
    /// With the last chunk only. Pushed: the versions, newer than the active one, that all sites below hold.
    /// Pulled: the version that the next round follows.
    pub policies: Vec<u64>,
    /// Values of the chunk.
    pub data: S,
}

/// Request for missing chunks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ask {
    /// Round of the chunks.
    pub round: u32,
    /// Site that sends the request.
    pub from: SiteNo,
    /// Site that receives the request; sites in between forward it.
    pub to: SiteNo,
    /// Sites after the next hop, up to `to`; empty if the next hop is `to`.
    pub route: Vec<SiteNo>,
    /// Numbers of the chunks, ascending.
    pub chunks: Vec<ChunkNo>,
}

/// Action for the owner of a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Output<S> {
    /// Chunk to send to a neighbor.
    Send {
        /// The neighbor.
        next: SiteNo,
        /// The chunk.
        transfer: ChunkTransfer<S>,
    },
    /// Request to send to a neighbor; it adds no load to the link.
    Ask {
        /// The neighbor.
        next: SiteNo,
        /// The request.
        ask: Ask,
    },
    /// Sum of a chunk over all sites.
    Complete {
        /// Number of the chunk.
        chunk: ChunkNo,
        /// The sum.
        data: S,
    },
}
