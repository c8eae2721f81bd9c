//! Liveness: from any state, every living host reaches the next view.

use super::state::{Phase, State, WorkerPhase};
use super::steps::{Action, System};

/// More steps than any view to the end takes.
const MOST_STEPS: usize = 2000;

/// Returns whether all hosts reach the next view from that state if no host fails and all messages arrive.
/// Also true if no further view is needed.
pub(super) fn ends(system: &System, from: &State) -> bool {
    if !from.joiner.0 && !from.has_failed {
        return true;
    }
    let mut state = from.clone();
    for step in 0..MOST_STEPS {
        if is_over(&state) {
            return true;
        }
        let actions = system.possible(&state, false);
        // In turns, so that no step that stays possible is left out forever. Workers that hold are released
        // only where no other step is possible, as after a timeout.
        let (last, sooner): (Vec<_>, Vec<_>) =
            actions.into_iter().partition(|action| matches!(action, Action::Relent));
        let choices = if sooner.is_empty() { last } else { sooner };
        let Some(action) = choices.get(step % choices.len().max(1)) else { return false };
        system.act(&mut state, *action);
    }
    false
}

fn is_over(state: &State) -> bool {
    let all_next = state.members().all(|worker| worker.at == WorkerPhase::Next);
    state.phase == Phase::Formed && all_next && state.joiner.0 == state.joiner.1
        // No member of the view remains, and no other host has asked.
        || state.members().next().is_none() && !state.joiner.0
}
