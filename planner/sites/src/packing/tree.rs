//! A tree of a packing.

/// One tree of a packing. Sites are positions `0..sites`; `up` and `down` have one entry per site.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedTree {
    /// The site at which the tree's chunks are complete.
    pub root: usize,
    /// The next site on the way up, to which a site sends its sum; `None` at the root.
    pub up: Vec<Option<usize>>,
    /// The site from which a site gets results; `None` at the root.
    pub down: Vec<Option<usize>>,
    /// bit/s of gradient that the tree reduces and broadcasts; each of its arcs carries it once per use.
    pub rate_bps: f64,
}
