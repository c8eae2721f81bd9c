//! Migration of a server to another plan version.

use core::slice;

use inart_wire::{ChunkSeq, Contributors, ControlMessage, PlanVersion, Rank};

use super::ServerShard;
use super::bitmap_indices::BitmapIndices;
use super::plan_versions::Route;
use crate::completion_rule::CompletionRule;
use crate::migration::is_move;
use crate::{Assignment, RerouteError};

impl<P: CompletionRule> ServerShard<P> {
    /// Migrates to another plan version next to the current one: accepts frames of both, and sends results in
    /// both until every worker was heard in the new one. An equal assignment changes nothing. A migration
    /// back to the previous plan version is a migration like any other.
    ///
    /// # Errors
    ///
    /// [`RerouteError`] if the assignment differs in more than plan version, bitmap indices and rates, or is
    /// a third plan version while two are open; nothing has changed then.
    pub fn reroute(&mut self, next: Assignment) -> Result<(), RerouteError> {
        self.enter(next, false).map(drop)
    }

    /// Migrates where all workers know the plan version already and follow this server
    /// ([`WorkerFlow::prepare`](crate::WorkerFlow::prepare)): it sends each result in the plan version of the
    /// chunk, and announces that the chunk after it at its window position uses the new one.
    ///
    /// # Errors
    /// As [`reroute`](Self::reroute).
    pub fn lead(&mut self, next: Assignment) -> Result<(), RerouteError> {
        if self.enter(next, true)? && self.is_idle() && self.abort.is_none() {
            // No result announces the change.
            for rank in self.bitmap_indices.all_ranks() {
                let message = ControlMessage::KeepAliveAnswer { bound: true, awaited: None };
                self.message(message, ChunkSeq::default(), rank);
            }
        }
        Ok(())
    }

    /// Returns whether no worker waits for a missing result.
    pub(super) fn is_idle(&self) -> bool {
        self.streams.iter().all(|stream| stream.open_chunks().next().is_none())
    }

    /// Migrates unless it has already. Returns whether it did. `all_know` is true if all workers know the
    /// plan version.
    fn enter(&mut self, next: Assignment, all_know: bool) -> Result<bool, RerouteError> {
        if !is_move(&self.assignment, self.plan_versions.previous_assignment(), &next)? {
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

    /// Closes the previous plan version after all hosts have migrated: its frames are foreign from now on.
    /// Without one, nothing changes.
    pub fn close_old_plan_version(&mut self) {
        self.plan_versions.close_old();
    }

    /// Returns the plan versions whose frames are accepted, the current one first.
    pub fn open_plan_versions(&self) -> impl Iterator<Item = PlanVersion> {
        self.plan_versions.open()
    }

    /// Handles the oldest chunk without a result of a worker that has migrated. Results that it may lack are
    /// sent again: it alone repeats these chunks in its new plan version, so their slots there would never be
    /// complete.
    pub(super) fn answer_first_of(&mut self, plan_version: PlanVersion, rank: Rank, oldest: ChunkSeq) {
        if !self.plan_versions.reports_first(plan_version, rank) {
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
