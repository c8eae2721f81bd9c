//! The gate at which the ranks of a job wait until all of them have joined.

use std::time::{Duration, Instant};

/// Duration after which a wait is reported.
const SAY_AFTER: Duration = Duration::from_secs(5);
/// And then this often.
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
pub(super) enum Look {
    /// The ranks begin.
    Open,
    /// They wait.
    Shut,
    /// They wait, and have done so for that long: to be reported.
    Say(Duration),
}

impl Gate {
    /// Looks at the gate at a moment: whether all ranks have joined (`is_complete`), and any.
    pub(super) fn look(&mut self, now: Instant, is_complete: bool, is_any: bool) -> Look {
        if is_complete {
            return Look::Open;
        }
        if !is_any {
            return Look::Shut;
        }
        let (since, say_at) = self.waits.get_or_insert((now, now + SAY_AFTER));
        let waited = now.saturating_duration_since(*since);
        if waited >= LONGEST_WAIT {
            return Look::Open;
        }
        if now < *say_at {
            return Look::Shut;
        }
        *say_at = now + SAY_EVERY;
        Look::Say(waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_never_joins_is_reported_and_not_waited_for_without_end() {
        let (mut gate, start) = (Gate::default(), Instant::now());
        let mut look = |seconds| gate.look(start + Duration::from_secs(seconds), false, true);
        assert_eq!([look(0), look(4)], [Look::Shut; 2]);
        assert_eq!(look(5), Look::Say(Duration::from_secs(5)));
        assert_eq!(look(14), Look::Shut);
        assert_eq!(look(15), Look::Say(Duration::from_secs(15)));
        assert_eq!(look(599), Look::Say(Duration::from_secs(599)));
        assert_eq!(look(600), Look::Open);
    }

    #[test]
    fn ranks_begin_when_all_have_joined_and_nothing_is_said_before_the_first() {
        let (mut gate, start) = (Gate::default(), Instant::now());
        assert_eq!(gate.look(start, false, false), Look::Shut);
        let later = start + Duration::from_secs(1000);
        assert_eq!(gate.look(later, false, false), Look::Shut);
        assert_eq!(gate.look(later, false, true), Look::Shut);
        assert_eq!(gate.look(later, true, true), Look::Open);
    }
}
