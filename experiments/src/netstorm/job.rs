//! Networks and jobs of the NETSTORM paper's evaluation.

use crate::models::Model;

/// float32.
pub const PARAMETER_BYTES: u64 = 4;

/// A network that a seed draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The NETSTORM paper's nine sites, with the rates of the first draw.
    Static,
    /// The NETSTORM paper's nine sites, with rates that are drawn every 180 s.
    Dynamic,
    /// A ring of this number of sites with chords, with rates that are drawn every 180 s.
    Ring(usize),
}

/// A job of all sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// 61 million parameters in 61 chunks.
    Equal,
    /// A model's tensors, in chunks of at most this number of parameters.
    Model(Model, u64),
}
