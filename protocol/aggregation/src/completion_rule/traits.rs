//! The questions that a policy answers.

use alloc::vec::Vec;
use core::fmt::Debug;

use inart_wire::{ChunkSeq, Exponent, Frame};

/// A chunk and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cohort of the chunk.
    pub cohort: usize,
    /// Sequence among the cohort's chunks.
    pub sequence: ChunkSeq,
    /// Number format of its values.
    pub exponent: Exponent,
    /// Members of the cohort that are in.
    pub present: usize,
    /// Members of the cohort.
    pub members: usize,
}

/// Contributions of an incomplete chunk.
#[derive(Debug)]
pub struct Gathered<'a, R> {
    /// Chunk, and its contributors.
    pub progress: Progress,
    /// Combined values.
    pub reduction: &'a R,
    /// Number of used values.
    pub length: u16,
    /// Whether it is the last chunk of its tensor.
    pub last: bool,
}

/// Receivers of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// Every worker of the job, by one multicast frame.
    Job,
    /// Every member of the cohort, by a separate frame. For a cohort of one: that worker.
    Cohort,
}

/// Contributions to a chunk, combined as they arrive.
pub trait Reduction: Clone + Debug {
    /// Adds the values of a frame from new contributors. Returns false, without adding any, if values are
    /// summed and one is not from `-most` to `most`. This bound keeps sums of all workers within 32 bits.
    fn add(&mut self, frame: &Frame<&[u8]>, most: i32) -> bool;
}

/// Part of a completion rule that workers, the audit and the model need; ranks count from 0.
pub trait ContributionRule {
    /// Returns whether each result for `receiver` must contain the contribution of `contributor`.
    fn requires(&self, contributor: usize, receiver: usize) -> bool;

    /// Returns the receivers of results.
    fn receivers(&self) -> Receivers;
}

/// Part of a completion rule that a parameter server needs. See [`crate::completion_rule`].
pub trait CompletionRule: ContributionRule + Clone + Debug {
    /// Storage of contributions until their chunk is complete.
    type Reduction: Reduction;

    /// Returns the cohort of a worker: the workers whose contributions make one chunk. Cohorts count from 0
    /// without gaps, and each has separate chunks. A switch may sum the frames of one cohort only.
    fn cohort(&self, rank: usize) -> usize;

    /// Returns whether a chunk is complete. Called when a contributor was added, and when the chunk was
    /// [released](Self::releases).
    fn is_complete(&self, chunk: &Progress) -> bool;

    /// A contribution has arrived; called before [`is_complete`](Self::is_complete). A
    /// policy that reads contributions does so here.
    fn gather(&mut self, chunk: &Gathered<'_, Self::Reduction>) {
        let _ = chunk;
    }

    /// An empty reduction, for a chunk of that many values of that exponent.
    fn reduction(&self, values: usize, exponent: Exponent) -> Self::Reduction;

    /// The result of a chunk that is complete, and its exponent; the contributions' is `exponent`.
    fn complete(
        &mut self,
        chunk: &Progress,
        reduction: Self::Reduction,
        exponent: Exponent,
    ) -> (Vec<i32>, Exponent);

    /// Returns another cohort's chunk that may be complete now, if it had to wait for this one.
    fn releases(&self, chunk: &Progress) -> Option<(usize, ChunkSeq)> {
        let _ = chunk;
        None
    }
}
