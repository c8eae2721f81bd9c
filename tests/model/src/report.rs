//! Result of an exploration.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use inart_p4::Outcome;
use stateright::{Checker, HasDiscoveries, Model};

use crate::config::Config;
use crate::invariant::Invariant;
use crate::mutant::Mutant;
use crate::server::Verdict;
use crate::system::{Action, System};

/// Result of an exploration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Different states reached.
    pub states: usize,
    /// Steps taken between them.
    pub steps: usize,
    /// Most steps from the initial state to a state, on the path found first.
    pub depth: usize,
    /// Number of occurrences of each outcome of the switches' rules.
    pub outcomes: Vec<(Outcome, u64)>,
    /// Number of occurrences of each verdict of the server.
    pub verdicts: Vec<(Verdict, u64)>,
    /// The invariants that do not hold, each with the steps to a state where it is broken.
    pub broken: BTreeMap<Invariant, Vec<Action>>,
}

/// Explores every reachable state.
pub fn explore(config: Config, threads: usize) -> Report {
    run(System::new(config, None), threads, HasDiscoveries::All)
}

/// Looks for a state where a mistake breaks an invariant; explores everything otherwise.
pub fn search(config: Config, mutant: Mutant, invariant: Invariant) -> Report {
    run(System::new(config, Some(mutant)), 1, HasDiscoveries::AllOf([invariant.words()].into()))
}

fn run(system: System, threads: usize, finish: HasDiscoveries) -> Report {
    let checker = system.checker().threads(threads).finish_when(finish).spawn_bfs().join();
    let rules = &checker.model().rules;
    let mut discoveries = checker.discoveries();
    let mut found =
        |invariant: Invariant| Some((invariant, discoveries.remove(invariant.words())?.into_actions()));
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    Report {
        states: checker.unique_state_count(),
        steps: checker.state_count(),
        depth: checker.max_depth(),
        broken: Invariant::ALL.into_iter().filter_map(&mut found).collect(),
        outcomes: Outcome::ALL.iter().copied().zip(rules.outcomes.iter().map(count)).collect(),
        verdicts: Verdict::ALL.iter().copied().zip(rules.verdicts.iter().map(count)).collect(),
    }
}
