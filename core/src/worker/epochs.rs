//! A worker between two epochs.

use inart_wire::{Epoch, Seat};

use super::WorkerFlow;
use super::shard::ShardFlow;
use crate::policy::Due;
use crate::reroute::is_move;
use crate::timer::Timer;
use crate::{Assignment, Instant, RerouteError};

impl<P: Due> WorkerFlow<P> {
    /// Moves to another epoch now: sends all that has no result again under it, at once, and everything to
    /// come. Frames of the epoch before are accepted until that is [closed](Self::close_old_epoch). The same
    /// assignment again changes nothing. A move back to the epoch before is a move like any other.
    ///
    /// # Errors
    /// [`RerouteError`] if the assignment differs in more than epoch, seats and rates, or is a third epoch
    /// while two are open; nothing has changed then.
    pub fn reroute(&mut self, now: Instant, next: Assignment) -> Result<(), RerouteError> {
        let moves = is_move(&self.assignment, self.old.as_ref(), &next)?;
        for (shard, rate_bps) in next.shards.iter().map(|shard| shard.rate_bps).enumerate() {
            let rate_before = self.told(shard).shards[shard].rate_bps;
            let flow = &mut self.flows[shard];
            flow.early.clear();
            // One that is behind sends in the epoch that this worker came from.
            if core::mem::take(&mut flow.behind) != moves {
                flow.reroute(now, rate_bps);
            } else if rate_bps != rate_before {
                flow.set_rate(rate_bps);
            }
        }
        self.enter(moves, next);
        Ok(())
    }

    /// Learns of another epoch, and moves to it in each shard when the shard's server does
    /// ([`ServerShard::lead`](crate::ServerShard::lead)): with the server's first result in it. Chunks that
    /// might have been sent before that result go in the epoch before, and are not sent again: results come
    /// in one order, so all workers move at the same chunk.
    ///
    /// # Errors
    /// As [`reroute`](Self::reroute).
    pub fn prepare(&mut self, next: Assignment) -> Result<(), RerouteError> {
        if is_move(&self.assignment, self.old.as_ref(), &next)? {
            for flow in &mut self.flows {
                flow.early.clear();
                flow.behind = !flow.behind;
            }
            self.enter(true, next);
        }
        Ok(())
    }

    fn enter(&mut self, moves: bool, next: Assignment) {
        let before = core::mem::replace(&mut self.assignment, next);
        if moves {
            self.old = Some(before);
        }
    }

    /// Whether everything is sent in the epoch that this worker was told of last.
    pub fn has_moved(&self) -> bool {
        !self.flows.iter().any(|flow| flow.behind || !flow.early.is_empty())
    }

    /// All hosts have moved: frames of the epoch before are foreign from now on. Without one, nothing
    /// changes.
    pub fn close_old_epoch(&mut self) {
        (0..self.flows.len()).for_each(|shard| self.follow_in(shard));
        self.flows.iter_mut().for_each(|flow| flow.early.clear());
        self.old = None;
    }

    /// The epochs whose frames are accepted, the one that this worker was told of last first.
    pub fn open_epochs(&self) -> impl Iterator<Item = Epoch> {
        [Some(&self.assignment), self.old.as_ref()].into_iter().flatten().map(|told| told.epoch)
    }

    /// What is sent in a shard goes by this, but for chunks that others may have sent before the server
    /// moved.
    pub(super) fn told(&self, shard: usize) -> &Assignment {
        self.told_if(self.flows[shard].behind)
    }

    /// What is sent in the epoch that the worker came from, or in that which it was told of last.
    pub(super) fn told_if(&self, behind: bool) -> &Assignment {
        self.old.as_ref().filter(|_| behind).unwrap_or(&self.assignment)
    }

    /// Its number in the frames of that shard and epoch; `None` if the epoch is not open.
    pub(super) fn seat_in(&self, epoch: Epoch, shard: usize) -> Option<Seat> {
        let open = [Some(&self.assignment), self.old.as_ref()];
        let told = open.into_iter().flatten().find(|told| told.epoch == epoch)?;
        let seats = &told.shards.get(shard)?.seats;
        Some(seats.get(self.rank.index()).copied().unwrap_or(self.rank.seat()))
    }

    /// A shard's server sends results in an epoch: one that is behind follows it.
    pub(super) fn follow(&mut self, now: Instant, shard: usize, epoch: Epoch) {
        if self.flows[shard].behind && epoch == self.assignment.epoch {
            self.follow_in(shard);
            self.flows[shard].wait_anew(now);
            self.flows[shard].tell_of_move(now);
        }
    }

    fn follow_in(&mut self, shard: usize) {
        let (flow, rate_bps) = (&mut self.flows[shard], self.assignment.shards[shard].rate_bps);
        if core::mem::take(&mut flow.behind) {
            flow.go_on_in_other_epoch();
            flow.early = flow.ready.iter().copied().collect();
            flow.set_rate(rate_bps);
        }
    }
}

impl ShardFlow {
    /// Whether that chunk, not sent yet, goes in the epoch that the worker came from although it has moved.
    pub(super) fn is_early(&self, chunk: u64) -> bool {
        self.early.contains(&chunk)
    }

    /// The same, when that chunk is sent.
    pub(super) fn take_early(&mut self, chunk: u64) -> bool {
        let place = self.early.iter().position(|early| *early == chunk);
        place.map(|place| self.early.swap_remove(place)).is_some()
    }

    /// The way of what is sent changes: every chunk without a result is sent again, in the order in which
    /// they were sent first, at the rate of the new way.
    fn reroute(&mut self, now: Instant, rate_bps: f64) {
        self.set_rate(rate_bps);
        self.go_on_in_other_epoch();
        self.resend.clear();
        for chunk in self.outstanding.clone() {
            let entry = self.entry_mut(chunk);
            (entry.queued, entry.there) = (true, false);
            self.resend.push_back(chunk);
        }
        self.probes = 0;
        self.timers.clear(Timer::Overdue);
        self.tell_of_move(now);
    }

    /// Whatever is sent from now on goes another way.
    fn go_on_in_other_epoch(&mut self) {
        for chunk in self.outstanding.clone() {
            let entry = self.entry_mut(chunk);
            entry.sends_before = entry.sends;
        }
    }

    /// Results of the other epoch may overtake those that are under way.
    fn wait_anew(&mut self, now: Instant) {
        for chunk in self.outstanding.clone() {
            self.entry_mut(chunk).heard_of_at = now;
        }
    }

    /// The server is to learn at once that this worker has moved, and what it may lack.
    fn tell_of_move(&mut self, now: Instant) {
        self.timers.set(Timer::KeepAlive, now);
        if !self.is_idle() {
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }

    /// Goes on at another planned rate.
    fn set_rate(&mut self, rate_bps: f64) {
        self.rate.replan(rate_bps, self.sent);
        self.pacer.set_rate(self.frame_bytes, self.rate.rate_bps());
    }
}
