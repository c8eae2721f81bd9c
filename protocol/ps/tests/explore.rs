//! Every order in which two to four workers can request, pull and push: the exact worst staleness under each
//! synchronization model. The numbers are those of an independent exhaustive search (`worst_staleness` of the
//! R²SP paper's instances).
#![allow(clippy::print_stdout, reason = "a test prints what it found")]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_protocol_ps::{
    Applied, Blocking, Options, Output, PushOutcome, Server, SyncModel, WorkerNo, WorkerPhase,
};
use stateright::{Checker, Model, Property};

const NOW: Duration = Duration::ZERO;

/// A job with a number of iterations per worker.
struct Job {
    workers: u32,
    iterations: u64,
    sync_model: SyncModel,
    /// Staleness that no update exceeds, and some reaches.
    worst: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    server: Server<SyncModel>,
    /// Number of the iteration that each worker may do, from its permission.
    permitted: Vec<Option<u64>>,
    staleness: u64,
    /// Updates that were applied, by worker.
    applied: Vec<u64>,
    is_wrong: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Asks(u32),
    Pulls(u32),
    Pushes(u32),
}

impl Job {
    fn take_outputs(&self, state: &mut State) {
        while let Some(output) = state.server.next_output() {
            match output {
                Output::Permit { worker, iteration, .. } => {
                    state.permitted[worker.index()] = Some(iteration);
                }
                Output::Apply { updates, .. } => {
                    for update in updates {
                        let applied = &mut state.applied[update.worker.index()];
                        // No update is lost or applied twice.
                        state.is_wrong |= update.iteration != *applied;
                        *applied += 1;
                        state.staleness = state.staleness.max(update.staleness);
                    }
                }
                Output::Discard { .. } | Output::Gone { .. } => state.is_wrong = true,
            }
        }
    }

    fn check(self) -> usize {
        let checker = self.checker().threads(2).spawn_bfs().join();
        checker.assert_properties();
        checker.unique_state_count()
    }
}

impl Model for Job {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut server = Server::new(self.sync_model, Options::fixed(self.workers as usize));
        (0..self.workers).for_each(|worker| server.join(WorkerNo(worker), NOW).unwrap());
        vec![State {
            server,
            permitted: vec![None; self.workers as usize],
            staleness: 0,
            applied: vec![0; self.workers as usize],
            is_wrong: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for worker in 0..self.workers {
            let worker_state = state.server.worker_states().worker_state(WorkerNo(worker));
            let begun = worker_state.done() + u64::from(worker_state.is_held());
            match worker_state.phase() {
                WorkerPhase::Idle if begun < self.iterations => actions.push(Action::Asks(worker)),
                WorkerPhase::Permitted => actions.push(Action::Pulls(worker)),
                WorkerPhase::Working => actions.push(Action::Pushes(worker)),
                _ => {}
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Asks(worker) => state.server.request(WorkerNo(worker), NOW).unwrap(),
            Action::Pulls(worker) => {
                state.server.pull(WorkerNo(worker), NOW).unwrap();
            }
            Action::Pushes(worker) => {
                let iteration = state.permitted[worker as usize].take().unwrap();
                let taken = state.server.push(WorkerNo(worker), iteration, Ok(()), NOW).unwrap();
                state.is_wrong |= taken != PushOutcome::Held;
            }
        }
        self.take_outputs(&mut state);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no update is lost or applied twice", |_, state: &State| !state.is_wrong),
            Property::always("no update is staler", |job: &Job, state: &State| state.staleness <= job.worst),
            Property::sometimes("an update is as stale", |job: &Job, state: &State| {
                state.staleness == job.worst
            }),
            Property::sometimes("all can do their iterations", |job: &Job, state: &State| {
                let held =
                    |worker| u64::from(state.server.worker_states().held().contains(&WorkerNo(worker)));
                let done = (0..).zip(&state.applied).map(|(worker, applied)| applied + held(worker));
                done.min() == Some(job.iterations)
            }),
        ]
    }
}

fn job(workers: u32, iterations: u64, sync_model: SyncModel, worst: u64) -> Job {
    Job { workers, iterations, sync_model, worst }
}

#[test]
fn r2sp_that_applies_in_turn_is_stale_by_all_others_at_most() {
    for (workers, iterations, worst) in [(1, 4, 0), (2, 5, 1), (3, 4, 2), (4, 3, 3)] {
        let states = job(workers, iterations, SyncModel::r2sp(1.0, Applied::InTurn).unwrap(), worst).check();
        println!("{workers} workers: {states} states");
    }
}

/// The R²SP paper's Algorithm 1, as printed.
#[test]
fn r2sp_that_orders_permissions_only_is_twice_as_stale() {
    permissions_only([(2, 5, 2), (3, 4, 4)]);
}

#[test]
#[ignore = "soak: about 10 s"]
fn r2sp_of_four_workers_that_orders_permissions_only_is_twice_as_stale() {
    permissions_only([(4, 3, 6)]);
}

/// Workers, iterations, and the worst staleness.
fn permissions_only(jobs: impl IntoIterator<Item = (u32, u64, u64)>) {
    for (workers, iterations, worst) in jobs {
        job(workers, iterations, SyncModel::r2sp(1.0, Applied::OnArrival).unwrap(), worst).check();
    }
}

/// Workers, the bound, and the worst staleness.
fn ssp(blocking: Blocking, jobs: impl IntoIterator<Item = (u32, u64, u64)>) {
    for (workers, bound, worst) in jobs {
        job(workers, 2 * bound + 1, SyncModel::ssp(bound, blocking).unwrap(), worst).check();
    }
}

#[test]
fn ssp_that_blocks_after_the_push() {
    ssp(Blocking::AfterPush, [(2, 0, 1), (2, 1, 3), (2, 2, 5), (3, 0, 2), (3, 1, 6)]);
}

#[test]
#[ignore = "soak: about 25 s"]
fn ssp_of_three_workers_that_blocks_two_iterations_after_the_push() {
    ssp(Blocking::AfterPush, [(3, 2, 10)]);
}

#[test]
fn ssp_that_blocks_before_the_commit() {
    ssp(Blocking::BeforeCommit, [(2, 1, 2), (2, 2, 4), (3, 1, 4)]);
}

#[test]
#[ignore = "soak: about 20 s"]
fn ssp_of_three_workers_that_blocks_two_iterations_before_the_commit() {
    ssp(Blocking::BeforeCommit, [(3, 2, 8)]);
}

#[test]
fn bsp_is_never_stale() {
    job(3, 3, SyncModel::bsp(), 0).check();
    job(4, 2, SyncModel::bsp(), 0).check();
}

/// ASP has no bound: one worker can do all its iterations while another computes.
#[test]
fn asp_is_as_stale_as_others_are_fast() {
    for iterations in 1..=4 {
        job(2, iterations, SyncModel::asp(), iterations).check();
    }
    job(3, 2, SyncModel::asp(), 4).check();
}

/// A version ends while no other worker lags more than `lag` behind, so an update is at most lag + 1 versions
/// old.
#[test]
fn safa_waits_for_lagging_workers() {
    for lag in [0, 1, 2] {
        job(3, lag + 3, SyncModel::safa(0.5, lag).unwrap(), lag + 1).check();
    }
    job(3, 3, SyncModel::safa(1.0, 5).unwrap(), 0).check();
}
