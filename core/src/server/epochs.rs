//! A server between two epochs: which tables its frames travel by, and which workers have moved.
//!
//! Chunks outlive epochs, so what a server knows of them names workers by their *home seats*: those of the
//! epoch that it began with. Frames name them by the seats of their own epoch.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::slice;

use inart_wire::{ChunkSeq, Contributors, ControlMessage, Epoch, Rank, Seat};

use super::ServerShard;
use super::seats::Seats;
use crate::policy::Policy;
use crate::reroute::is_move;
use crate::{Assignment, RerouteError};

/// An epoch whose frames are accepted.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub epoch: Epoch,
    pub seats: Seats,
    /// By seat: the same worker's home seat. `None` if all are the same.
    home: Option<Vec<Seat>>,
}

impl Route {
    fn new(epoch: Epoch, seats: Seats, home: &Seats) -> Self {
        let home = (!seats.are_those_of(home)).then(|| seats.translated_to(home));
        Self { epoch, seats, home }
    }

    /// Contributors of a frame of this epoch, none of them a free seat, by their home seats.
    pub(super) fn at_home<'a>(&self, contributors: &'a Contributors) -> Cow<'a, [Contributors]> {
        let Some(home) = &self.home else { return Cow::Borrowed(slice::from_ref(contributors)) };
        let mut blocks: Vec<Contributors> = Vec::new();
        for seat in contributors.seats() {
            let one = Contributors::one(home[seat.index()]);
            match blocks.iter_mut().find(|block| block.group == one.group) {
                Some(block) => block.bitmap |= one.bitmap,
                None => blocks.push(one),
            }
        }
        Cow::Owned(blocks)
    }
}

/// The open epochs.
#[derive(Clone, Debug)]
pub(super) struct Epochs {
    current: Route,
    /// The one before, until it is closed.
    old: Option<Route>,
    /// The assignment of the one before.
    told_before: Option<Assignment>,
    /// By rank: whether the worker is known to know the current epoch: it was heard in it, or all know.
    moved: Vec<bool>,
    /// By rank: whether it has told its oldest chunk since it moved.
    told: Vec<bool>,
}

impl Epochs {
    /// One epoch, whose seats are home.
    pub(super) fn new(epoch: Epoch, home: &Seats, workers: usize) -> Self {
        Self {
            current: Route::new(epoch, home.clone(), home),
            old: None,
            told_before: None,
            moved: alloc::vec![true; workers],
            told: alloc::vec![true; workers],
        }
    }

    /// What is known of an epoch, if it is open.
    pub(super) fn route(&self, epoch: Epoch) -> Option<&Route> {
        if self.current.epoch == epoch {
            return Some(&self.current);
        }
        self.old.as_ref().filter(|old| old.epoch == epoch)
    }

    /// The epochs in which results go to all: both while some worker may know only the old one.
    pub(super) fn of_results(&self) -> impl Iterator<Item = Epoch> + use<> {
        let old = self.old.as_ref().filter(|_| self.moved.contains(&false));
        [Some(self.current.epoch), old.map(|old| old.epoch)].into_iter().flatten()
    }

    /// The same, or the current one if that is closed.
    pub(super) fn route_or_current(&self, epoch: Epoch) -> &Route {
        self.route(epoch).unwrap_or(&self.current)
    }

    /// The epoch of an answer to a worker that speaks in one. While no result tells workers that the server has
    /// moved, answers do.
    pub(super) fn of_answer(&self, rank: Rank, epoch: Epoch, is_idle: bool) -> Epoch {
        if is_idle && self.moved[rank.index()] { self.current.epoch } else { epoch }
    }

    /// An epoch that the worker knows, as far as was heard.
    pub(super) fn known_to(&self, rank: Rank) -> Epoch {
        match &self.old {
            Some(old) if !self.moved[rank.index()] => old.epoch,
            _ => self.current.epoch,
        }
    }

    /// A frame of an open epoch shows that those workers know it.
    pub(super) fn hear(&mut self, epoch: Epoch, ranks: impl Iterator<Item = Rank>) {
        if self.old.is_some() && epoch == self.current.epoch {
            ranks.for_each(|rank| self.moved[rank.index()] = true);
        }
    }

    /// Whether the worker now tells its oldest chunk for the first time since it moved.
    fn tells_first(&mut self, epoch: Epoch, rank: Rank) -> bool {
        epoch == self.current.epoch && !core::mem::replace(&mut self.told[rank.index()], true)
    }
}

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
    /// ([`WorkerFlow::prepare`](crate::WorkerFlow::prepare)): it sends results in the new epoch only.
    ///
    /// # Errors
    /// As [`reroute`](Self::reroute).
    pub fn lead(&mut self, next: Assignment) -> Result<(), RerouteError> {
        if self.enter(next, true)? && self.is_idle() && self.abort.is_none() {
            // No result tells them.
            for rank in self.seats.all_ranks() {
                let message = ControlMessage::KeepAliveAnswer { bound: true };
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
        if !is_move(&self.assignment, self.epochs.told_before.as_ref(), &next)? {
            self.assignment = next;
            return Ok(false);
        }
        let seats = Seats::new(&next, self.shard, |rank| self.policy.cohort(rank));
        let epochs = &mut self.epochs;
        let route = Route::new(next.epoch, seats, &self.seats);
        epochs.old = Some(core::mem::replace(&mut epochs.current, route));
        epochs.told_before = Some(core::mem::replace(&mut self.assignment, next));
        epochs.moved.fill(all_know);
        epochs.told.fill(all_know);
        Ok(true)
    }

    /// All hosts have moved: frames of the epoch before are foreign from now on. Without one, nothing changes.
    pub fn close_old_epoch(&mut self) {
        let epochs = &mut self.epochs;
        epochs.old = None;
        epochs.told_before = None;
        epochs.moved.fill(true);
    }

    /// The epochs whose frames are accepted, the one that this server is in first.
    pub fn open_epochs(&self) -> impl Iterator<Item = Epoch> {
        let old = self.epochs.old.as_ref().map(|old| old.epoch);
        [Some(self.epochs.current.epoch), old].into_iter().flatten()
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
