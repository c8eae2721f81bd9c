//! Assignment of servers to shared switches.

/// Rates, and the groups at switches that servers share; the other groups have separate switches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grouping {
    /// F_s, bit/s.
    pub sending: Vec<f64>,
    /// Groups of every shared switch: (server, workers).
    pub shared: Vec<Vec<(usize, usize)>>,
}
