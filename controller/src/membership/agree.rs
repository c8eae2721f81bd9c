//! The workers of a view agree on its stop point.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::Membership;
use super::phase::Phase;

impl Membership {
    /// A member answers to what it was told of the view's end: how many tensors it has started, and whether
    /// it does as told.
    pub fn heard(
        &mut self,
        now: Duration,
        host: &str,
        incarnation: Incarnation,
        ending: Ending,
        started: u32,
        does: bool,
    ) {
        let is_member = self.view.as_mut().is_some_and(|view| view.member_mut(host, incarnation).is_some());
        if let Phase::Bounded(stop_point) = &mut self.phase
            && is_member
            && stop_point.asked == ending
        {
            stop_point.answers.insert(host.to_owned(), (started, does));
        }
        self.advance(now);
    }

    /// The workers agree: whether there was a step.
    pub(super) fn agree(&mut self, now: Duration) -> bool {
        if self.is_done(now) {
            return true;
        }
        let (Phase::Bounded(stop_point), Some(view)) = (&mut self.phase, &self.view) else { return false };
        let workers: Vec<_> = view.workers().map(|worker| worker.host.clone()).collect();
        if let Some((ending, margin)) = stop_point.next(&workers) {
            stop_point.margin = margin;
            stop_point.ask(now, ending);
            self.tell(ending);
            return true;
        }
        if matches!(stop_point.asked, Ending::Agreed(_)) {
            // The first to come back would begin the end of the view, and nobody does.
            let gone_after = self.timing.gone_after;
            let are_gone = view.workers().all(|worker| worker.is_gone(now, gone_after));
            if are_gone {
                self.begin_leaving(now, true);
            }
            return are_gone;
        }
        if now >= stop_point.since + self.timing.hold_within {
            // Somebody is in the view, and cannot be told.
            self.begin_leaving(now, true);
            return true;
        }
        if matches!(stop_point.asked, Ending::Before(_))
            && now >= stop_point.stage_since + self.timing.rejoin_timeout
        {
            // Those that hold are let go on until the others are back.
            stop_point.ask(now, Ending::Prepare);
            self.tell(Ending::Prepare);
            return true;
        }
        false
    }
}
