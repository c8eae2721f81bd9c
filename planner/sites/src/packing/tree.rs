//! Tree of a packing.

/// One tree of a packing. Sites are positions `0..sites`; `up` and `down` have one entry per site.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedTree {
    /// Site at which the tree's chunks are complete.
    pub root: usize,
    /// Next site on the way up, to which a site sends its sum; `None` at the root.
    pub up: Vec<Option<usize>>,
    /// Site from which a site receives results; `None` at the root.
    pub down: Vec<Option<usize>>,
    /// Gradient rate that the tree reduces and broadcasts, in bit/s; each of its arcs carries it once per
    /// use.
    pub rate_bps: f64,
}
