//! The workers of a run agree on its boundary.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::Membership;
use super::phase::Phase;

impl Membership {
    /// A member answers to what it was told of the run's end: how many tensors it has started, and whether
    /// it does as told.
    pub fn heard(
        &mut self,
        now: Duration,
        host: &str,
        life: Incarnation,
        ending: Ending,
        started: u32,
        does: bool,
    ) {
        let is_member = self.run.as_mut().is_some_and(|run| run.member_mut(host, life).is_some());
        if let Phase::Bounded(boundary) = &mut self.phase
            && is_member
            && boundary.asked == ending
        {
            boundary.answers.insert(host.to_owned(), (started, does));
        }
        self.advance(now);
    }

    /// The workers agree: whether there was a step.
    pub(super) fn agree(&mut self, now: Duration) -> bool {
        if self.is_done(now) {
            return true;
        }
        let (Phase::Bounded(boundary), Some(run)) = (&mut self.phase, &self.run) else { return false };
        let workers: Vec<_> = run.workers().map(|worker| worker.host.clone()).collect();
        if let Some((ending, margin)) = boundary.next(&workers) {
            boundary.margin = margin;
            boundary.ask(now, ending);
            self.tell(ending);
            return true;
        }
        if matches!(boundary.asked, Ending::Agreed(_)) {
            // The first to come back would begin the end of the run, and nobody does.
            let gone_after = self.timing.gone_after;
            let are_gone = run.workers().all(|worker| worker.is_gone(now, gone_after));
            if are_gone {
                self.begin_leaving(now, true);
            }
            return are_gone;
        }
        if now >= boundary.since + self.timing.hold_within {
            // Somebody is in the run, and cannot be told.
            self.begin_leaving(now, true);
            return true;
        }
        if matches!(boundary.asked, Ending::Before(_))
            && now >= boundary.stage_since + self.timing.regroup_within
        {
            // Those that hold are let go on until the others are back.
            boundary.ask(now, Ending::Prepare);
            self.tell(Ending::Prepare);
            return true;
        }
        false
    }
}
