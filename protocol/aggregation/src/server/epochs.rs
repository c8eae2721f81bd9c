//! A server between two epochs: which tables its frames travel by, and which workers have moved.
//!
//! Chunks outlive epochs, so what a server knows of them names workers by their *home seats*: those of the
//! epoch that it began with. Frames name them by the seats of their own epoch.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::slice;

use inart_wire::{Contributors, Epoch, Rank, Seat};

use super::seats::Seats;
use crate::Assignment;

/// An epoch whose frames are accepted.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub epoch: Epoch,
    pub seats: Seats,
    /// By seat: the same worker's home seat. `None` if all are the same.
    home: Option<Vec<Seat>>,
}

impl Route {
    pub(super) fn new(epoch: Epoch, seats: Seats, home: &Seats) -> Self {
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
    /// Whether workers followed this server to the current epoch.
    led: bool,
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
            led: false,
        }
    }

    /// What is known of an epoch, if it is open.
    pub(super) fn route(&self, epoch: Epoch) -> Option<&Route> {
        if self.current.epoch == epoch {
            return Some(&self.current);
        }
        self.old.as_ref().filter(|old| old.epoch == epoch)
    }

    /// The epochs in which the result of a chunk goes to all, whose first frame came in the epoch `first`:
    /// both while some worker may know only the old one. Where workers follow this server, the old one if the
    /// chunk was sent in that, and if it is sent `again`, both.
    pub(super) fn of_result(&self, first: Option<Epoch>, again: bool) -> impl Iterator<Item = Epoch> + use<> {
        let old = self.old.as_ref().map(|old| old.epoch);
        let left = old.filter(|old| self.led && first == Some(*old));
        let old = left.or(old.filter(|_| self.moved.contains(&false)));
        let current = (again || left.is_none()).then_some(self.current.epoch);
        [old, current].into_iter().flatten()
    }

    /// Whether frames of that epoch are accepted.
    pub(super) fn is_open(&self, epoch: Epoch) -> bool {
        self.route(epoch).is_some()
    }

    /// Workers do not wait for this server to follow it any more.
    pub(super) fn end_lead(&mut self) {
        self.led = false;
    }

    /// What is known of an epoch, or of the current one if that is closed.
    pub(super) fn route_or_current(&self, epoch: Epoch) -> &Route {
        self.route(epoch).unwrap_or(&self.current)
    }

    /// The epoch of an answer to a worker that speaks in one. While no result tells workers that the server
    /// has moved, answers do.
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
    pub(super) fn tells_first(&mut self, epoch: Epoch, rank: Rank) -> bool {
        epoch == self.current.epoch && !core::mem::replace(&mut self.told[rank.index()], true)
    }

    /// The assignment of the epoch before, if that is open.
    pub(super) fn told_before(&self) -> Option<&Assignment> {
        self.told_before.as_ref()
    }

    /// Another epoch, beside the one so far, whose assignment was `before`. `all_know` tells whether all
    /// workers know it.
    pub(super) fn enter(&mut self, route: Route, before: Assignment, all_know: bool) {
        self.old = Some(core::mem::replace(&mut self.current, route));
        self.told_before = Some(before);
        self.moved.fill(all_know);
        self.told.fill(all_know);
        self.led = all_know;
    }

    /// Frames of the epoch before are foreign from now on.
    pub(super) fn close_old(&mut self) {
        self.old = None;
        self.told_before = None;
        self.moved.fill(true);
    }

    /// The epochs whose frames are accepted, the current one first.
    pub(super) fn open(&self) -> impl Iterator<Item = Epoch> {
        [Some(&self.current), self.old.as_ref()].into_iter().flatten().map(|route| route.epoch)
    }
}
