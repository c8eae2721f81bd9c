//! The questions that a policy answers.

use alloc::vec::Vec;
use core::fmt::Debug;

use inart_wire::{ChunkSeq, Exponent, Frame};

/// A chunk and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whose chunk it is.
    pub cohort: usize,
    /// Its number among the cohort's chunks.
    pub sequence: ChunkSeq,
    /// What its values are.
    pub exponent: Exponent,
    /// Members of the cohort that are in.
    pub present: usize,
    /// Members of the cohort.
    pub members: usize,
}

/// What is in a chunk that is not complete.
#[derive(Debug)]
pub struct Gathered<'a, R> {
    /// Which chunk, and who is in.
    pub progress: Progress,
    /// Their values.
    pub reduction: &'a R,
    /// Number of values that mean something.
    pub length: u16,
    /// Whether it is the last chunk of its tensor.
    pub last: bool,
}

/// Who gets a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// Every worker of the job, by one multicast frame.
    Job,
    /// Every member of the cohort, by a frame of its own. Of a cohort of one: the worker alone.
    Cohort,
}

/// Contributions to a chunk, as they come in.
pub trait Reduction: Clone + Debug {
    /// Takes in the values of a frame whose senders are not in yet. Returns false, and takes in nothing, if
    /// the values are summed and one is not from `-most` to `most`. So sums of all workers fit 32 bits.
    fn add(&mut self, frame: &Frame<&[u8]>, most: i32) -> bool;
}

/// What workers, the audit and the model ask; ranks count from 0.
pub trait Due {
    /// Whether the contribution of one worker has to be in each result that another gets.
    fn is_due(&self, contributor: usize, receiver: usize) -> bool;

    /// Who gets results.
    fn receivers(&self) -> Receivers;
}

/// What a parameter server asks. See [`crate::completion_rule`].
pub trait CompletionRule: Due + Clone + Debug {
    /// What holds contributions before their chunk is complete.
    type Reduction: Reduction;

    /// The cohort of a worker: those whose contributions make one chunk. Cohorts count from 0 without gaps,
    /// and each has chunks of its own. A switch may add up the frames of one cohort only.
    fn cohort(&self, rank: usize) -> usize;

    /// Whether a chunk is complete. Asked when somebody came in, and when it was [released](Self::releases).
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

    /// Another cohort's chunk that may be complete now that this one is, if it had to wait for it.
    fn releases(&self, chunk: &Progress) -> Option<(usize, ChunkSeq)> {
        let _ = chunk;
        None
    }
}
