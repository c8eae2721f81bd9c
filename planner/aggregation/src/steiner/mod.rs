//! Trees of results as Steiner arborescences: from a server over switches to all workers of its job.
//!
//! Every link direction of the tree of server s carries each result once, so F_s, however many workers are
//! behind it. The least cost of a tree at given link prices is what the bounds need; it is NP-hard to find.
//! [`ascent`] bounds it from below, and [`flow`] separates its cut relaxation: of every set of nodes with the
//! server and without some worker, F_s leaves.

mod ascent;
mod flow;
mod problem;

pub(crate) use ascent::Ascent;
pub(crate) use flow::Flow;
pub(crate) use problem::Steiner;

#[cfg(test)]
mod tests;
