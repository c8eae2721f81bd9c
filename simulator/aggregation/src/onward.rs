//! Jobs that are parts of larger ones: settings of a run.

use inart_topologies::faults::quantity::Span;

/// Jobs whose parameter servers forward each sum, and receive the sum of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Onward {
    /// Jobs, by their names in the topology; elastic jobs are not supported.
    pub jobs: Vec<String>,
    /// Number of other addends per sum.
    pub others: u32,
    /// The sum of all is back within this time: each at a random moment, soon as likely as late.
    pub within: Span,
    /// Time at which the larger job ends elsewhere, if it does. Jobs are then run once.
    pub ends: Option<Span>,
}
