//! The gate at which the ranks of a job wait until all of them have joined.

use std::time::{Duration, Instant};

/// Duration after which a wait is reported.
const SAY_AFTER: Duration = Duration::from_secs(5);
/// Interval of further reports.
const SAY_EVERY: Duration = Duration::from_secs(10);
/// Duration after which the ranks that have joined begin. Their job then ends by its peer timeout, with the
/// name of the missing rank.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// A job's gate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    /// Since when a rank waits, and when that is reported next.
    waits: Option<(Instant, Instant)>,
}

/// Action at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateAction {
    /// The ranks begin.
    Open,
    /// They wait.
    Wait,
    /// They wait, and have done so for that long: to be reported.
    Report(Duration),
}

impl Gate {
    /// Looks at the gate at a moment: whether all ranks have joined (`is_complete`), and any.
    pub(super) fn look(&mut self, now: Instant, is_complete: bool, is_any: bool) -> GateAction {
        if is_complete {
            return GateAction::Open;
        }
        if !is_any {
            return GateAction::Wait;
        }
        let (since, say_at) = self.waits.get_or_insert((now, now + SAY_AFTER));
        let waited = now.saturating_duration_since(*since);
        if waited >= LONGEST_WAIT {
            return GateAction::Open;
        }
        if now < *say_at {
            return GateAction::Wait;
        }
        *say_at = now + SAY_EVERY;
        GateAction::Report(waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_never_joins_is_reported_and_not_waited_for_without_end() {
        let (mut gate, start) = (Gate::default(), Instant::now());
        let mut look = |seconds| gate.look(start + Duration::from_secs(seconds), false, true);
        assert_eq!([look(0), look(4)], [GateAction::Wait; 2]);
        assert_eq!(look(5), GateAction::Report(Duration::from_secs(5)));
        assert_eq!(look(14), GateAction::Wait);
        assert_eq!(look(15), GateAction::Report(Duration::from_secs(15)));
        assert_eq!(look(599), GateAction::Report(Duration::from_secs(599)));
        assert_eq!(look(600), GateAction::Open);
    }

    #[test]
    fn ranks_begin_when_all_have_joined_and_nothing_is_said_before_the_first() {
        let (mut gate, start) = (Gate::default(), Instant::now());
        assert_eq!(gate.look(start, false, false), GateAction::Wait);
        let later = start + Duration::from_secs(1000);
        assert_eq!(gate.look(later, false, false), GateAction::Wait);
        assert_eq!(gate.look(later, false, true), GateAction::Wait);
        assert_eq!(gate.look(later, true, true), GateAction::Open);
    }
}
