//! Pairing of tensors as a model: a parameter server compares the transcripts of workers whose programs may
//! skip tensors of one length (docs/protocol.md, "Other tensors").
//!
//! **Contents.** Programs start tensors step by step, and may skip steps. A tensor is complete at a
//! worker once all workers have started the same number. A keep-alive with the transcript of any earlier
//! moment arrives at any later moment, any number of times, or never. The server compares the marks of two
//! transcripts, collects the marks of the number that differs, and ends the job. Workers learn of the end at
//! any later moment.
//!
//! **Omissions.** Hashes: marks are equal only if the tensors are. Numbers of marks are smaller: the last
//! [`LAST`] tensors, and the last one whose number is a multiple of [`POWER`]. Time: a peer timeout expires
//! when nothing else can happen.
//!
//! **Found** is decided for each reachable state separately: no program skips from then on, and the newest
//! keep-alives arrive.

mod invariant;
mod mutant;
mod server;
mod state;

pub use invariant::Invariant;
pub use mutant::Mutant;
pub use server::{LAST, POWER};
pub use state::{Action, Config, State, System, Worker};

use stateright::{Checker, HasDiscoveries, Model, Property};

impl Model for System {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self.config.workers)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend(self.possible(state));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.act(&mut state, action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(Invariant::Innocent.words(), |_: &Self, state: &State| state.is_innocent()),
            Property::always(Invariant::Named.words(), |system: &Self, state: &State| system.is_named(state)),
            Property::always(Invariant::Found.words(), |system: &Self, state: &State| system.is_found(state)),
        ]
    }
}

/// Explores all reachable states. Returns their number, and each broken invariant with the steps to it.
pub fn explore(config: Config, mutant: Option<Mutant>) -> (usize, Vec<(Invariant, Vec<Action>)>) {
    let checker = System { config, mutant }.checker().finish_when(HasDiscoveries::All).spawn_bfs().join();
    let mut found = checker.discoveries();
    let broken = Invariant::ALL.into_iter();
    let broken =
        broken.filter_map(|invariant| Some((invariant, found.remove(invariant.words())?.into_actions())));
    (checker.unique_state_count(), broken.collect())
}
