//! A worker between two epochs.

use inart_wire::{Epoch, Seat};

use super::WorkerFlow;
use super::congestion::RateControl;
use super::shard::ShardFlow;
use crate::policy::Due;
use crate::reroute::is_move;
use crate::timer::Timer;
use crate::{Assignment, Instant, RerouteError};

impl<P: Due> WorkerFlow<P> {
    /// Goes on under another epoch: sends all that has no result again under it, at once, and everything to
    /// come. Frames of the epoch before are accepted until that is [closed](Self::close_old_epoch). The same
    /// assignment again changes nothing. A move back to the epoch before is a move like any other.
    ///
    /// # Errors
    /// [`RerouteError`] if the assignment differs in more than epoch, seats and rates, or is a third epoch
    /// while two are open; nothing has changed then.
    pub fn reroute(&mut self, now: Instant, next: Assignment) -> Result<(), RerouteError> {
        let moves = is_move(&self.assignment, self.old.as_ref(), &next)?;
        for (flow, (next, told)) in self.flows.iter_mut().zip(next.shards.iter().zip(&self.assignment.shards))
        {
            if moves {
                flow.reroute(now, next.rate_bps);
            } else if next.rate_bps != told.rate_bps {
                flow.set_rate(next.rate_bps);
            }
        }
        let before = core::mem::replace(&mut self.assignment, next);
        if moves {
            self.old = Some(before);
        }
        Ok(())
    }

    /// All hosts have moved: frames of the epoch before are foreign from now on. Without one, nothing changes.
    pub fn close_old_epoch(&mut self) {
        self.old = None;
    }

    /// The epochs whose frames are accepted, the one that this worker sends in first.
    pub fn open_epochs(&self) -> impl Iterator<Item = Epoch> {
        [Some(&self.assignment), self.old.as_ref()].into_iter().flatten().map(|told| told.epoch)
    }

    /// Its number in the frames of that shard and epoch; `None` if the epoch is not open.
    pub(super) fn seat_in(&self, epoch: Epoch, shard: usize) -> Option<Seat> {
        let open = [Some(&self.assignment), self.old.as_ref()];
        let told = open.into_iter().flatten().find(|told| told.epoch == epoch)?;
        let seats = &told.shards.get(shard)?.seats;
        Some(seats.get(self.rank.index()).copied().unwrap_or(self.rank.seat()))
    }
}

impl ShardFlow {
    /// The way of what is sent changes: every chunk without a result is sent again, in the order in which they
    /// were sent first, at the rate of the new way.
    fn reroute(&mut self, now: Instant, rate_bps: f64) {
        self.set_rate(rate_bps);
        self.resend.clear();
        for chunk in self.outstanding.clone() {
            let entry = self.entry_mut(chunk);
            (entry.queued, entry.there, entry.sends_before) = (true, false, entry.sends);
            self.resend.push_back(chunk);
        }
        self.probes = 0;
        // The server learns from it that this worker has moved, and what it may lack.
        self.timers.set(Timer::KeepAlive, now);
        self.timers.clear(Timer::Overdue);
        if !self.is_idle() {
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }

    /// Goes on at another planned rate.
    fn set_rate(&mut self, rate_bps: f64) {
        self.rate = RateControl::new(rate_bps);
        self.rate.start_round_trip(self.sent);
        self.pacer.set_rate(self.frame_bytes, rate_bps);
    }
}
