//! Agreement of a view's workers on its stop point.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::Membership;
use super::phase::Phase;

impl Membership {
    /// Handles a member's answer to an ending: the number of tensors that it has started, and whether it
    /// holds.
    pub fn answered(
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

    /// Advances the agreement. Returns whether there was a step.
    pub(super) fn agree(&mut self, now: Duration) -> bool {
        if self.is_done(now) {
            return true;
        }
        let (Phase::Bounded(stop_point), Some(view)) = (&mut self.phase, &self.view) else { return false };
        let workers: Vec<_> = view.workers().map(|worker| worker.host.clone()).collect();
        if let Some((ending, margin)) = stop_point.next(&workers) {
            stop_point.margin = margin;
            stop_point.ask(now, ending);
            self.send(ending);
            return true;
        }
        if matches!(stop_point.asked, Ending::Agreed(_)) {
            // The first member to rejoin would end the view, but no member is left.
            let gone_after = self.timing.gone_after;
            let are_gone = view.workers().all(|worker| worker.is_gone(now, gone_after));
            if are_gone {
                self.begin_leaving(now, true);
            }
            return are_gone;
        }
        if now >= stop_point.since + self.timing.hold_within {
            // A member of the view is unreachable.
            self.begin_leaving(now, true);
            return true;
        }
        if matches!(stop_point.asked, Ending::Before(_))
            && now >= stop_point.stage_since + self.timing.rejoin_timeout
        {
            // Members that hold continue until the others have rejoined.
            stop_point.ask(now, Ending::Prepare);
            self.send(Ending::Prepare);
            return true;
        }
        false
    }
}
