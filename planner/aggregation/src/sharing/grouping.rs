//! Which servers share which switches.

/// Rates, and the groups at switches that servers share; the other groups have a switch of their own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grouping {
    /// F_s, bit/s.
    pub sending: Vec<f64>,
    /// For every shared switch its groups: (server, workers).
    pub shared: Vec<Vec<(usize, usize)>>,
}
