//! Every order in which three workers request, pull, push, leave and rejoin, with a server that restarts.
//! Each held update is applied once, with the iteration and the version of its permission, and no worker
//! waits forever (R2, R4, R7, R9). Deliberate mistakes are detected.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::time::Duration;

use inart_protocol_ps::{
    Applied, Blocking, Options, Output, PushOutcome, Server, SyncModel, Update, WorkerNo, WorkerPhase,
};

const NOW: Duration = Duration::ZERO;
const WORKERS: u32 = 3;
/// More states than any of these jobs has.
const MOST: usize = 3_000_000;

/// A mistake around the server: each breaks R7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// The count of a rejoining worker rises although an update of it is held: the update is applied under
    /// another number.
    CountsAtJoin,
    /// An update whose worker has left is not applied.
    ForgetsHeld,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    sync_model: SyncModel,
    iterations: u64,
    /// Number of leaves before the last iteration, and of restarts of the server.
    leaves: u8,
    restarts: u8,
    mistake: Mistake,
}

/// Facts that this test derives independently.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Own {
    /// Iteration of the last permission, and the version that was pulled with it.
    permitted: Option<u64>,
    pulled: u64,
    /// Iteration and version of the accepted update that is not applied.
    held: Option<(u64, u64)>,
    /// Number that [`Mistake::CountsAtJoin`] gives to the held update.
    raised: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    server: Server<SyncModel>,
    own: Vec<Own>,
    version: u64,
    leaves: u8,
    restarts: u8,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Asks(WorkerNo),
    Pulls(WorkerNo),
    Pushes(WorkerNo),
    Leaves(WorkerNo),
    Joins(WorkerNo),
    Restarts,
}

impl Job {
    fn first(&self) -> State {
        let mut server = Server::new(self.sync_model, Options::fixed(WORKERS as usize));
        workers().for_each(|worker| server.join(worker, NOW).unwrap());
        let own = vec![Own::default(); WORKERS as usize];
        State { server, own, version: 0, leaves: self.leaves, restarts: self.restarts }
    }

    /// Returns the possible actions: a worker that has done its iterations leaves; one that left before
    /// rejoins.
    fn actions(&self, state: &State) -> Vec<Action> {
        let mut all = Vec::new();
        for worker in workers() {
            let worker_state = state.server.worker_states().worker_state(worker);
            let has_done = worker_state.done() + u64::from(worker_state.is_held()) >= self.iterations;
            match worker_state.phase() {
                WorkerPhase::Away if !has_done => all.push(Action::Joins(worker)),
                WorkerPhase::Away | WorkerPhase::Waiting => {}
                WorkerPhase::Idle if has_done => all.push(Action::Leaves(worker)),
                WorkerPhase::Idle => all.push(Action::Asks(worker)),
                WorkerPhase::Permitted => all.push(Action::Pulls(worker)),
                WorkerPhase::Working => all.push(Action::Pushes(worker)),
            }
            if state.leaves > 0 && worker_state.phase() != WorkerPhase::Away && !has_done {
                all.push(Action::Leaves(worker));
            }
        }
        if state.restarts > 0 && state.version > 0 {
            all.push(Action::Restarts);
        }
        all
    }

    fn next(&self, last: &State, action: Action) -> Result<State, String> {
        let mut state = last.clone();
        match action {
            Action::Asks(worker) => state.server.request(worker, NOW).unwrap(),
            Action::Pulls(worker) => {
                let version = state.server.pull(worker, NOW).unwrap();
                if version != state.version {
                    return Err(format!("version {version} is pulled, {} is newest", state.version));
                }
                state.own[worker.index()].pulled = version;
            }
            Action::Pushes(worker) => self.push(&mut state, worker)?,
            Action::Leaves(worker) => {
                let worker_state = state.server.worker_states().worker_state(worker);
                let has_done = worker_state.done() + u64::from(worker_state.is_held()) >= self.iterations;
                state.leaves -= u8::from(!has_done);
                state.server.leave(worker, NOW).unwrap();
            }
            Action::Joins(worker) => {
                let others = state.server.worker_states().members().iter();
                let least =
                    others.map(|other| state.server.worker_states().worker_state(*other).done()).min();
                let own = &mut state.own[worker.index()];
                own.raised = least.filter(|least| own.held.is_some_and(|(held, _)| held < *least));
                state.server.join(worker, NOW).unwrap();
            }
            Action::Restarts => {
                state.restarts -= 1;
                let snapshot = state.server.snapshot();
                state.server = Server::restored(self.sync_model, Options::fixed(WORKERS as usize), &snapshot);
                state.own.fill(Own::default());
                snapshot
                    .members
                    .iter()
                    .zip(workers())
                    .filter(|(is_member, _)| **is_member)
                    .for_each(|(_, worker)| state.server.join(worker, NOW).unwrap());
            }
        }
        self.take_outputs(&mut state)?;
        Ok(state)
    }

    fn push(&self, state: &mut State, worker: WorkerNo) -> Result<(), String> {
        let own = &mut state.own[worker.index()];
        let iteration = own.permitted.take().ok_or("a worker works without a permission")?;
        if own.held.replace((iteration, own.pulled)).is_some() {
            return Err(format!("two updates of {worker:?} are held"));
        }
        match state.server.push(worker, iteration, Ok(()), NOW).unwrap() {
            PushOutcome::Held => Ok(()),
            other => Err(format!("the push of {worker:?} is {other:?}")),
        }
    }

    fn take_outputs(&self, state: &mut State) -> Result<(), String> {
        while let Some(output) = state.server.next_output() {
            match output {
                Output::Permit { worker, iteration, .. } => {
                    state.own[worker.index()].permitted = Some(iteration);
                }
                Output::Apply { version, updates } => {
                    let updates = self.mistaken(state, updates);
                    for update in updates {
                        let own = &mut state.own[update.worker.index()];
                        own.raised = None;
                        let held = own.held.take();
                        let expected = held.map(|(iteration, pulled)| (iteration, state.version - pulled));
                        if expected != Some((update.iteration, update.staleness)) {
                            return Err(format!("{update:?} was pushed as {expected:?}"));
                        }
                    }
                    state.version += 1;
                    if version != state.version {
                        return Err(format!("version {version} follows {}", state.version - 1));
                    }
                }
                Output::Discard { .. } | Output::Gone { .. } => return Err(format!("{output:?}")),
            }
        }
        Ok(())
    }

    fn mistaken(&self, state: &State, mut updates: Vec<Update>) -> Vec<Update> {
        match self.mistake {
            Mistake::CountsAtJoin => updates.iter_mut().for_each(|update| {
                update.iteration = state.own[update.worker.index()].raised.unwrap_or(update.iteration);
            }),
            Mistake::ForgetsHeld => {
                updates.retain(|update| state.server.worker_states().members().contains(&update.worker));
            }
            Mistake::None => {}
        }
        updates
    }

    /// Explores all states. Returns their number, or the failure.
    fn explore(&self) -> Result<usize, String> {
        let first = self.first();
        let (mut seen, mut open) = (HashSet::from([first.clone()]), vec![first]);
        while let Some(state) = open.pop() {
            let actions = self.actions(&state);
            let is_held = state.own.iter().any(|own| own.held.is_some());
            if actions.is_empty() && (is_held || !state.server.worker_states().members().is_empty()) {
                return Err(format!("no worker can go on: {:?}", state.server.worker_states()));
            }
            for action in actions {
                let next = self.next(&state, action).map_err(|why| format!("{action:?}: {why}"))?;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            assert!(seen.len() < MOST, "{self:?}: more than {MOST} states");
        }
        Ok(seen.len())
    }
}

fn workers() -> impl Iterator<Item = WorkerNo> {
    (0..WORKERS).map(WorkerNo)
}

fn sync_models() -> Vec<SyncModel> {
    vec![
        SyncModel::bsp(),
        SyncModel::asp(),
        SyncModel::ssp(0, Blocking::AfterPush).unwrap(),
        SyncModel::ssp(1, Blocking::BeforeCommit).unwrap(),
        SyncModel::safa(0.1, 0).unwrap(),
        SyncModel::safa(0.5, 1).unwrap(),
        SyncModel::r2sp(1.0, Applied::InTurn).unwrap(),
        SyncModel::r2sp(1.0, Applied::OnArrival).unwrap(),
    ]
}

fn job(sync_model: SyncModel) -> Job {
    Job { sync_model, iterations: 2, leaves: 1, restarts: 0, mistake: Mistake::None }
}

#[test]
fn a_worker_leaves_and_rejoins() {
    for sync_model in sync_models() {
        let job = job(sync_model);
        let states = job.explore().unwrap_or_else(|why| panic!("{job:?}: {why}"));
        eprintln!("{sync_model:?}: {states} states");
    }
}

fn restarts(sync_models: impl IntoIterator<Item = SyncModel>) {
    for sync_model in sync_models {
        let job = Job { restarts: 1, ..job(sync_model) };
        let states = job.explore().unwrap_or_else(|why| panic!("{job:?}: {why}"));
        eprintln!("{sync_model:?}: {states} states");
    }
}

/// Counts of workers differ afterwards.
#[test]
fn a_worker_leaves_and_the_server_restarts() {
    restarts([SyncModel::bsp(), SyncModel::r2sp(1.0, Applied::InTurn).unwrap()]);
}

#[test]
#[ignore = "soak: about 30 s"]
fn a_worker_leaves_and_the_server_restarts_under_each_sync_model() {
    restarts(sync_models());
}

#[test]
fn mistakes_of_leaving_are_noticed() {
    for (mistake, sync_model) in [
        (Mistake::CountsAtJoin, SyncModel::safa(0.1, 0).unwrap()),
        (Mistake::ForgetsHeld, SyncModel::bsp()),
        (Mistake::ForgetsHeld, SyncModel::r2sp(1.0, Applied::InTurn).unwrap()),
    ] {
        let found = Job { mistake, ..job(sync_model) }.explore();
        assert!(found.is_err(), "{mistake:?} under {sync_model:?} is not noticed in {found:?} states");
    }
}
