//! A server that goes on under another plan version.

use core::slice;

use inart_wire::{ChunkSeq, Contributors, ControlMessage, PlanVersion, Rank};

use super::ServerShard;
use super::bitmap_indices::BitmapIndices;
use super::plan_versions::Route;
use crate::completion_rule::CompletionRule;
use crate::migration::is_move;
use crate::{Assignment, RerouteError};

impl<P: CompletionRule> ServerShard<P> {
    /// Goes on under another plan version, beside the one so far: accepts frames of both, and sends results
    /// in both until every worker was heard in the new one. The same assignment again changes nothing. A move
    /// back to the previous plan version is a move like any other.
    ///
    /// # Errors
    /// [`RerouteError`] if the assignment differs in more than plan version, bitmap indices and rates, or is
    /// a third plan version while two are open; nothing has changed then.
    pub fn reroute(&mut self, next: Assignment) -> Result<(), RerouteError> {
        self.enter(next, false).map(drop)
    }

    /// The same, where all workers know the plan version already and follow this server
    /// ([`WorkerFlow::prepare`](crate::WorkerFlow::prepare)): it sends each result in the plan version that
    /// the chunk came in, and says that the chunk after it at its window position goes in the new one.
    ///
    /// # Errors
    /// As [`reroute`](Self::reroute).
    pub fn lead(&mut self, next: Assignment) -> Result<(), RerouteError> {
        if self.enter(next, true)? && self.is_idle() && self.abort.is_none() {
            // No result tells them.
            for rank in self.bitmap_indices.all_ranks() {
                let message = ControlMessage::KeepAliveAnswer { bound: true, awaited: None };
                self.message(message, ChunkSeq::default(), rank);
            }
        }
        Ok(())
    }

    /// Whether no worker waits for a result that is not there.
    pub(super) fn is_idle(&self) -> bool {
        self.streams.iter().all(|stream| stream.open_chunks().next().is_none())
    }

    /// Moves, unless it is there; whether it has. `all_know` tells whether all workers know the plan version.
    fn enter(&mut self, next: Assignment, all_know: bool) -> Result<bool, RerouteError> {
        if !is_move(&self.assignment, self.plan_versions.told_before(), &next)? {
            self.assignment = next;
            if !all_know {
                self.plan_versions.end_lead();
            }
            return Ok(false);
        }
        let bitmap_indices = BitmapIndices::new(&next, self.shard, |rank| self.completion_rule.cohort(rank));
        let route = Route::new(next.plan_version, bitmap_indices, &self.bitmap_indices);
        let before = core::mem::replace(&mut self.assignment, next);
        self.plan_versions.enter(route, before, all_know);
        Ok(true)
    }

    /// All hosts have moved: frames of the previous plan version are foreign from now on. Without one,
    /// nothing changes.
    pub fn close_old_plan_version(&mut self) {
        self.plan_versions.close_old();
    }

    /// The plan versions whose frames are accepted, the one that this server is in first.
    pub fn open_plan_versions(&self) -> impl Iterator<Item = PlanVersion> {
        self.plan_versions.open()
    }

    /// A worker that has moved tells its oldest chunk without a result. The results that it may lack are sent
    /// again: it alone repeats these chunks in its new plan version, so their slots there would never be
    /// complete.
    pub(super) fn answer_first_of(&mut self, plan_version: PlanVersion, rank: Rank, oldest: ChunkSeq) {
        if !self.plan_versions.tells_first(plan_version, rank) {
            return;
        }
        let cohort = self.bitmap_indices.cohort(rank);
        let one = Contributors::one(self.bitmap_indices.of(rank.index()));
        for sequence in (0..2 * self.assignment.window_chunks).map(|ahead| oldest.advance(ahead)) {
            let chunk = self.streams[cohort].chunk_mut(sequence).filter(|chunk| chunk.is_complete());
            if chunk.is_some_and(|chunk| chunk.ask(slice::from_ref(&one))) {
                self.send_result_again(cohort, sequence, slice::from_ref(&one));
            }
        }
    }
}
