//! Background traffic on the capacities of a network.

/// Background traffic on every capacity, bit/s: b(e), c(v) and b(s).
#[derive(Debug, Clone, PartialEq)]
pub struct BackgroundRates {
    /// By position in [`Topology::links`](super::Topology::links): from the first end to the second, and
    /// back.
    pub links: Vec<[f64; 2]>,
    /// By position in [`Topology::nodes`](super::Topology::nodes): of a switch's aggregation or a server's
    /// ingress; 0 for workers.
    pub nodes: Vec<f64>,
}
