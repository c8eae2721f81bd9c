//! Jobs that are parts of larger ones: what a run has of these.

use inart_topologies::faults::quantity::Span;

/// Jobs whose parameter servers give each sum to others, and get the sum of all back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Onward {
    /// The jobs, by their names in the topology; none of them elastic.
    pub jobs: Vec<String>,
    /// How many others add to each sum.
    pub others: u32,
    /// The sum of all is back within this time: each at a random moment, soon as likely as late.
    pub within: Span,
    /// When the larger job ends elsewhere, if it does. The jobs are run once then.
    pub ends: Option<Span>,
}
