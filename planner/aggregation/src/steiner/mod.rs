//! Trees of results as Steiner arborescences: from a server over switches to all workers of its job.
//!
//! Every link direction of the tree of server s carries each result once, so F_s, for any number of workers
//! behind it. The bounds need the least cost of a tree at given link prices, which is NP-hard. [`ascent`]
//! bounds it from below, and [`flow`] separates its cut relaxation: every set of nodes with the server and
//! without some worker has an outflow of F_s.

mod ascent;
mod flow;
mod problem;

pub(crate) use ascent::Ascent;
pub(crate) use flow::Flow;
pub(crate) use problem::Steiner;

#[cfg(test)]
mod tests;
