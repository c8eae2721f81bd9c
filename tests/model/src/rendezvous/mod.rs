//! The rendezvous of an elastic job as a model: how a view's workers agree on its stop point, how they
//! rejoin, and when the next view starts (docs/protocol/elastic.md).
//!
//! **Contents.** The workers of a view start tensors one after the other; a tensor is complete at a worker
//! once all members have started it. Another host joins at any moment, and one worker may fail at any moment.
//! Messages of the controller arrive at any later moment, and only the newest of them (as a stream that is
//! watched); answers may be late, too. A worker in a tensor that cannot be completed notices this at any
//! later moment, as by the peer timeout.
//!
//! **Omissions.** Servers, which the controller stops when all workers have rejoined. Hosts that hang: the
//! real rendezvous times them out. Frames: the rest of this crate is about correct sums.
//!
//! **Ends** is decided for each reachable state separately, as there: no worker fails from then on, all sent
//! messages arrive, and every living host must reach the next view.

mod end;
mod invariant;
mod mutant;
mod state;
mod steps;

pub use invariant::Invariant;
pub use mutant::Mutant;
pub use state::{Ending, Limit, Phase, State, Worker, WorkerPhase};
pub use steps::{Action, Config, System};

use stateright::{Checker, HasDiscoveries, Model, Property};

/// Returns whether an invariant holds there.
fn holds(invariant: Invariant, system: &System, state: &State) -> bool {
    match invariant {
        Invariant::StopPoint => state.stop_point_holds(),
        Invariant::Apart => state.phase != Phase::Formed || !state.members().any(Worker::is_in_view),
        Invariant::Nothing => {
            let mut completed = state.members().map(|worker| worker.completed);
            let first = completed.next();
            state.phase != Phase::Formed
                || state.has_failed
                || completed.all(|completed| Some(completed) == first)
        }
        Invariant::Ends => end::ends(system, state),
    }
}

impl Model for System {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self.config.workers)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend(self.possible(state, true));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.act(&mut state, action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(Invariant::StopPoint.words(), |system, state| {
                holds(Invariant::StopPoint, system, state)
            }),
            Property::always(Invariant::Apart.words(), |system, state| {
                holds(Invariant::Apart, system, state)
            }),
            Property::always(Invariant::Nothing.words(), |system, state| {
                holds(Invariant::Nothing, system, state)
            }),
            Property::always(Invariant::Ends.words(), |system, state| holds(Invariant::Ends, system, state)),
        ]
    }
}

/// Result of an exploration: different states, and the broken invariants with the steps to them.
pub fn explore(config: Config, mutant: Option<Mutant>) -> (usize, Vec<(Invariant, Vec<Action>)>) {
    let checker = System { config, mutant }.checker().finish_when(HasDiscoveries::All).spawn_bfs().join();
    let mut found = checker.discoveries();
    let broken = Invariant::ALL.into_iter();
    let broken =
        broken.filter_map(|invariant| Some((invariant, found.remove(invariant.words())?.into_actions())));
    (checker.unique_state_count(), broken.collect())
}
