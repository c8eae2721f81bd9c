//! A server whose job is part of a larger one.

use inart_wire::{AbortReason, ChunkSeq, Rank, ShortText};

use super::ServerShard;
use crate::Instant;
use crate::completion_rule::{Answer, CompletionRule, Onward, OwnSum};

impl ServerShard<Onward> {
    /// Returns the next sum over all workers to forward.
    pub fn next_sum(&mut self) -> Option<OwnSum> {
        self.completion_rule.next_sum()
    }

    /// Handles the global sum for a chunk whose [own sum](Self::next_sum) was forwarded: every worker
    /// receives it. Returns false if no such chunk waits for it.
    pub fn sum_is_back(&mut self, answer: Answer) -> bool {
        let sequence = answer.sequence;
        let chunk = self.streams[0].chunk(sequence).filter(|chunk| !chunk.is_complete());
        let fits = chunk.is_some_and(|chunk| usize::from(chunk.length) == answer.numbers.len());
        let progress = self.streams[0].progress(0, sequence);
        let has_gone_on = progress.is_some_and(|progress| progress.present == progress.members);
        if !fits || !has_gone_on || self.abort.is_some() {
            return false;
        }
        self.completion_rule.put(answer);
        self.complete_from(0, sequence);
        self.streams[0].is_complete(sequence)
    }
}

impl<P: CompletionRule> ServerShard<P> {
    /// Aborts the job, which is part of a larger one, because of an event elsewhere, unless it was aborted.
    pub fn abort_elsewhere(&mut self, reason: &str) {
        if self.abort.is_none() {
            let Ok(no_worker) = Rank::try_from(0usize) else { return };
            self.abort(AbortReason::Elsewhere(ShortText::new(reason)), no_worker);
        }
    }

    /// Returns whether workers wait for a result.
    pub fn has_open_chunk(&self) -> bool {
        !self.is_idle()
    }

    /// Returns the deadline for waiting for workers that may lack results of chunks before `end`; `None` if
    /// all have confirmed them, or have been silent for the peer timeout.
    pub fn until_all_have(&self, now: Instant, end: ChunkSeq) -> Option<Instant> {
        let lacks = |oldest: &Option<ChunkSeq>| oldest.is_none_or(|oldest| oldest < end);
        let lacking = self.oldest.iter().zip(&self.last_heard).filter(|(oldest, _)| lacks(oldest));
        let until = lacking.filter_map(|(_, heard)| Some((*heard)? + self.peer_timeout));
        until.filter(|until| *until > now).max()
    }

    /// Returns the length of the tensor of the oldest chunk of the worker of that rank, by its last report.
    pub fn reported_length(&self, rank: Rank) -> Option<u32> {
        self.lengths.reported(rank)
    }
}
