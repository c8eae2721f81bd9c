//! Whether every living host comes to be in the next view, from any state on.

use super::state::{Phase, State, Where};
use super::steps::{Action, System};

/// More steps than any view to the end takes.
const MOST_STEPS: usize = 2000;

/// Whether, from that state on, with nobody who dies and everything heard, all come to be in the next view.
/// If there is no reason for another view, that is so.
pub(super) fn ends(system: &System, from: &State) -> bool {
    if !from.joiner.0 && !from.has_died {
        return true;
    }
    let mut state = from.clone();
    for step in 0..MOST_STEPS {
        if is_over(&state) {
            return true;
        }
        let actions = system.possible(&state, false);
        // In turns: none that stays possible is left out for ever. Those who hold are let go on only where
        // nothing else is possible, as after a time.
        let (last, sooner): (Vec<_>, Vec<_>) =
            actions.into_iter().partition(|action| matches!(action, Action::Relent));
        let choices = if sooner.is_empty() { last } else { sooner };
        let Some(action) = choices.get(step % choices.len().max(1)) else { return false };
        system.act(&mut state, *action);
    }
    false
}

fn is_over(state: &State) -> bool {
    let all_next = state.members().all(|worker| worker.at == Where::Next);
    state.phase == Phase::Formed && all_next && state.joiner.0 == state.joiner.1
        // Nobody of the view is left, and nobody else has asked.
        || state.members().next().is_none() && !state.joiner.0
}
