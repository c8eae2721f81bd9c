//! A worker between two plan versions.

use inart_wire::{BitmapIndex, Flags, HeaderRepr, PlanVersion};

use super::WorkerFlow;
use super::shard::{Following, ShardFlow};
use crate::completion_rule::ContributionRule;
use crate::migration::is_move;
use crate::timer::Timer;
use crate::{Assignment, Instant, RerouteError};

impl<P: ContributionRule> WorkerFlow<P> {
    /// Migrates to another plan version now: sends all chunks without a result again under it, at once, and
    /// all later ones. Frames of the previous plan version are accepted until that is
    /// [closed](Self::close_old_plan_version). An equal assignment changes nothing. A migration back to the
    /// previous plan version is a migration like any other.
    ///
    /// # Errors
    ///
    /// [`RerouteError`] if the assignment differs in more than plan version, bitmap indices and rates, or is
    /// a third plan version while two are open; nothing has changed then.
    pub fn reroute(&mut self, now: Instant, next: Assignment) -> Result<(), RerouteError> {
        let moves = is_move(&self.assignment, self.old.as_ref(), &next)?;
        for (shard, rate_bps) in next.shards.iter().map(|shard| shard.rate_bps).enumerate() {
            let rate_before = self.assignment_of(shard).shards[shard].rate_bps;
            let flow = &mut self.flows[shard];
            // A flow that is behind sends in the worker's previous plan version.
            if flow.following.behind != moves {
                flow.reroute(now, rate_bps);
            } else {
                flow.leave_old(now);
                if rate_bps != rate_before {
                    flow.set_rate(rate_bps);
                }
            }
        }
        self.enter(moves, next);
        Ok(())
    }

    /// Prepares for another plan version, and migrates to it in each shard when the shard's server does
    /// ([`ServerShard::lead`](crate::ServerShard::lead)): with the server's first result that announces it.
    /// From then on a chunk uses the plan version that the result of the previous chunk at its window
    /// position names. So all workers send a chunk in the same plan version, the first time and again, and
    /// nothing is sent twice.
    ///
    /// # Errors
    /// As [`reroute`](Self::reroute).
    pub fn prepare(&mut self, next: Assignment) -> Result<(), RerouteError> {
        if is_move(&self.assignment, self.old.as_ref(), &next)? {
            self.flows.iter_mut().for_each(ShardFlow::prepare);
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

    /// Returns whether everything is sent in the newest plan version, and no results of another one are
    /// outstanding. Tensors that are not started do not count.
    pub fn has_moved(&self) -> bool {
        !self.flows.iter().any(ShardFlow::is_lagging)
    }

    /// Closes the previous plan version after all hosts have migrated: its frames are foreign from now on.
    /// Without one, nothing changes.
    pub fn close_old_plan_version(&mut self) {
        (0..self.flows.len()).for_each(|shard| self.follow_in(shard));
        self.flows.iter_mut().for_each(ShardFlow::close_old);
        self.old = None;
    }

    /// Returns the plan version of the chunk after that of a result, at its window position.
    pub(super) fn plan_version_after(&self, result: &HeaderRepr) -> PlanVersion {
        let other = self.open_plan_versions().find(|plan_version| *plan_version != result.plan_version);
        other.filter(|_| result.flags.contains(Flags::OTHER_PLAN_VERSION)).unwrap_or(result.plan_version)
    }

    /// Returns the plan versions whose frames are accepted, the newest one first.
    pub fn open_plan_versions(&self) -> impl Iterator<Item = PlanVersion> {
        [Some(&self.assignment), self.old.as_ref()]
            .into_iter()
            .flatten()
            .map(|assignment| assignment.plan_version)
    }

    /// Returns the assignment for frames of a shard, except for chunks of the worker's previous plan version.
    pub(super) fn assignment_of(&self, shard: usize) -> &Assignment {
        self.assignment_if(self.flows[shard].following.behind)
    }

    /// Returns the assignment of the worker's previous plan version if `behind`, else the newest.
    pub(super) fn assignment_if(&self, behind: bool) -> &Assignment {
        self.old.as_ref().filter(|_| behind).unwrap_or(&self.assignment)
    }

    /// Returns its bitmap index in the frames of that shard and plan version; `None` if the plan version is
    /// not open.
    pub(super) fn bitmap_index_in(&self, plan_version: PlanVersion, shard: usize) -> Option<BitmapIndex> {
        let open = [Some(&self.assignment), self.old.as_ref()];
        let assignment =
            open.into_iter().flatten().find(|assignment| assignment.plan_version == plan_version)?;
        let bitmap_indices = &assignment.shards.get(shard)?.bitmap_indices;
        Some(bitmap_indices.get(self.rank.index()).copied().unwrap_or(self.rank.bitmap_index()))
    }

    /// Follows a shard's server to its plan version if the flow is behind. Returns whether it does so now.
    pub(super) fn follow(&mut self, now: Instant, shard: usize, plan_version: PlanVersion) -> bool {
        let follows = self.flows[shard].following.behind && plan_version == self.assignment.plan_version;
        if follows {
            self.follow_in(shard);
            self.flows[shard].restart_loss_timers(now);
            self.flows[shard].announce_migration(now);
        }
        follows
    }

    fn follow_in(&mut self, shard: usize) {
        let rate_bps = self.assignment.shards[shard].rate_bps;
        if self.flows[shard].following.behind {
            self.flows[shard].follow(rate_bps);
        }
    }
}

impl ShardFlow {
    /// Prepares for the server's migration to another plan version, or back to the previous one.
    fn prepare(&mut self) {
        let behind = !self.following.behind;
        self.following = Following { coordinated: true, behind, ..Following::default() };
        for entry in &mut self.in_flight {
            // Chunks after those that have ended use the current plan version.
            (entry.old, entry.next_old) = (false, true);
        }
    }

    /// Follows the server's migration. Chunks that were or could be sent before stay in the previous plan
    /// version.
    fn follow(&mut self, rate_bps: f64) {
        self.rtt.reroute();
        self.following.behind = false;
        self.following.early = self.ready.iter().chain(&self.free).copied().collect();
        for chunk in self.outstanding.clone() {
            self.entry_mut(chunk).old = true;
        }
        if rate_bps < self.rate.planned_bps() {
            self.set_rate(rate_bps);
        }
        self.following.next_bps = Some(rate_bps);
        self.settle_rate();
    }

    /// Returns whether a frame of the worker's previous plan version is still to be sent or answered.
    fn is_lagging(&self) -> bool {
        let is_old = |chunk: &u64| self.entry(*chunk).old;
        self.following.behind
            || self.following.early.iter().any(|chunk| *chunk < self.end)
            || self.outstanding.iter().any(is_old)
    }

    /// Applies the new plan's rate once nothing uses the old plan.
    pub(super) fn settle_rate(&mut self) {
        if let Some(rate_bps) = self.following.next_bps.filter(|_| !self.is_lagging()) {
            self.following.next_bps = None;
            self.start_at_rate(rate_bps);
        }
    }

    /// Ends the use of the previous plan version. Chunks sent in it without a result are sent again.
    fn close_old(&mut self) {
        let next_bps = self.following.next_bps.take();
        self.following = Following::default();
        for chunk in self.outstanding.clone() {
            let entry = self.entry_mut(chunk);
            if core::mem::take(&mut entry.old) {
                (entry.sends_before, entry.there) = (entry.sends, false);
                if !core::mem::replace(&mut entry.queued, true) {
                    self.resend.push_back(chunk);
                }
            }
        }
        if let Some(rate_bps) = next_bps {
            self.start_at_rate(rate_bps);
        }
    }

    /// Ends the use of the previous plan version at once.
    fn leave_old(&mut self, now: Instant) {
        self.close_old();
        if !self.is_idle() {
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }

    /// Changes the path of frames: every chunk without a result is sent again, in the order of first
    /// transmission, at the rate of the new path.
    fn reroute(&mut self, now: Instant, rate_bps: f64) {
        self.following = Following::default();
        self.rtt.reroute();
        self.set_rate(rate_bps);
        self.resend.clear();
        for chunk in self.outstanding.clone() {
            let entry = self.entry_mut(chunk);
            (entry.sends_before, entry.old) = (entry.sends, false);
            (entry.queued, entry.there) = (true, false);
            self.resend.push_back(chunk);
        }
        self.probes = 0;
        self.timers.clear(Timer::Overdue);
        self.announce_migration(now);
    }

    /// Restarts loss detection, since results of the other plan version may overtake those in flight.
    fn restart_loss_timers(&mut self, now: Instant) {
        for chunk in self.outstanding.clone() {
            self.entry_mut(chunk).last_progress = now;
        }
    }

    /// Makes the server learn at once that this worker has migrated, and which results it may lack.
    fn announce_migration(&mut self, now: Instant) {
        self.timers.set(Timer::KeepAlive, now);
        if !self.is_idle() {
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }

    /// Continues at another plan's rate, without the congestion state of the previous path.
    fn start_at_rate(&mut self, rate_bps: f64) {
        self.rate.start_at(rate_bps, self.sent);
        self.pacer.replan(self.frame_bytes, rate_bps);
    }

    /// Changes the planned rate.
    fn set_rate(&mut self, rate_bps: f64) {
        self.rate.replan(rate_bps, self.sent);
        self.pacer.replan(self.frame_bytes, self.rate.rate_bps());
    }
}
