//! A server that goes on under another epoch.

use core::slice;

use inart_wire::{ChunkSeq, Contributors, ControlMessage, Epoch, Rank};

use super::ServerShard;
use super::epochs::Route;
use super::seats::Seats;
use crate::policy::Policy;
use crate::reroute::is_move;
use crate::{Assignment, RerouteError};

impl<P: Policy> ServerShard<P> {
    /// Goes on under another epoch, beside the one so far: accepts frames of both, and sends results in both
    /// until every worker was heard in the new one. The same assignment again changes nothing. A move back to
    /// the epoch before is a move like any other.
    ///
    /// # Errors
    /// [`RerouteError`] if the assignment differs in more than epoch, seats and rates, or is a third epoch
    /// while two are open; nothing has changed then.
    pub fn reroute(&mut self, next: Assignment) -> Result<(), RerouteError> {
        self.enter(next, false).map(drop)
    }

    /// The same, where all workers know the epoch already and follow this server
    /// ([`WorkerFlow::prepare`](crate::WorkerFlow::prepare)): it sends each result in the epoch that the
    /// chunk came in, and says that the chunk after it at its window position goes in the new one.
    ///
    /// # Errors
    /// As [`reroute`](Self::reroute).
    pub fn lead(&mut self, next: Assignment) -> Result<(), RerouteError> {
        if self.enter(next, true)? && self.is_idle() && self.abort.is_none() {
            // No result tells them.
            for rank in self.seats.all_ranks() {
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

    /// Moves, unless it is there; whether it has. `all_know` tells whether all workers know the epoch.
    fn enter(&mut self, next: Assignment, all_know: bool) -> Result<bool, RerouteError> {
        if !is_move(&self.assignment, self.epochs.told_before(), &next)? {
            self.assignment = next;
            if !all_know {
                self.epochs.end_lead();
            }
            return Ok(false);
        }
        let seats = Seats::new(&next, self.shard, |rank| self.policy.cohort(rank));
        let route = Route::new(next.epoch, seats, &self.seats);
        let before = core::mem::replace(&mut self.assignment, next);
        self.epochs.enter(route, before, all_know);
        Ok(true)
    }

    /// All hosts have moved: frames of the epoch before are foreign from now on. Without one, nothing
    /// changes.
    pub fn close_old_epoch(&mut self) {
        self.epochs.close_old();
    }

    /// The epochs whose frames are accepted, the one that this server is in first.
    pub fn open_epochs(&self) -> impl Iterator<Item = Epoch> {
        self.epochs.open()
    }

    /// A worker that has moved tells its oldest chunk without a result. The results that it may lack are sent
    /// again: it alone repeats these chunks in its new epoch, so their slots there would never be complete.
    pub(super) fn answer_first_of(&mut self, epoch: Epoch, rank: Rank, oldest: ChunkSeq) {
        if !self.epochs.tells_first(epoch, rank) {
            return;
        }
        let cohort = self.seats.cohort(rank);
        let one = Contributors::one(self.seats.of(rank.index()));
        for sequence in (0..2 * self.assignment.window_chunks).map(|ahead| oldest.advance(ahead)) {
            let chunk = self.streams[cohort].chunk_mut(sequence).filter(|chunk| chunk.is_complete());
            if chunk.is_some_and(|chunk| chunk.ask(slice::from_ref(&one))) {
                self.send_result_again(cohort, sequence, slice::from_ref(&one));
            }
        }
    }
}
