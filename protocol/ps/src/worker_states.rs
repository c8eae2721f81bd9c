//! A server's state of its workers: members, waiting workers and held updates.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;

/// A worker's number; also its position in the order of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerNo(pub u32);

impl WorkerNo {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Phase of a worker's iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkerPhase {
    /// The worker takes no part.
    Away,
    /// The worker takes part, and has not requested its next iteration yet.
    Idle,
    /// The worker has requested, and waits for the permission.
    Waiting,
    /// The worker may pull.
    Permitted,
    /// The worker has pulled, and computes or pushes.
    Working,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkerState {
    phase: WorkerPhase,
    done: u64,
    /// Least count to adopt once the worker's held update is released; `done` or less without one.
    floor: u64,
    base: u64,
    held: bool,
}

impl WorkerState {
    /// Returns the phase of the worker's iteration.
    pub fn phase(&self) -> WorkerPhase {
        self.phase
    }

    /// Returns the number of the worker's applied or discarded updates; also the number of its iteration.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Returns the version that the worker pulled last.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns whether the server holds an update of the worker.
    pub fn is_held(&self) -> bool {
        self.held
    }
}

/// All workers, by number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkerStates {
    worker_states: Vec<WorkerState>,
    members: BTreeSet<WorkerNo>,
    waiting: BTreeSet<WorkerNo>,
    held: BTreeSet<WorkerNo>,
    /// Workers with a permission whose update was not applied yet, in the order of their permissions.
    line: VecDeque<WorkerNo>,
    last: Option<WorkerNo>,
    version: u64,
    least: u64,
}

impl WorkerStates {
    pub(crate) fn new(workers: usize) -> Self {
        Self::restored(0, &vec![0; workers], &[])
    }

    /// Restores the state of a checkpoint. No worker is active yet; iterations that inactive workers missed
    /// are not waited for.
    pub(crate) fn restored(version: u64, done: &[u64], members: &[bool]) -> Self {
        let was_member = |worker: usize| members.get(worker).copied().unwrap_or_default();
        let of_members = done.iter().enumerate().filter(|(worker, _)| was_member(*worker));
        let least = of_members.map(|(_, done)| *done).min().unwrap_or_default();
        let worker_state = |(worker, &done): (usize, &u64)| WorkerState {
            phase: WorkerPhase::Away,
            done: if was_member(worker) { done } else { done.max(least) },
            floor: 0,
            base: 0,
            held: false,
        };
        WorkerStates {
            worker_states: done.iter().enumerate().map(worker_state).collect(),
            members: BTreeSet::new(),
            waiting: BTreeSet::new(),
            held: BTreeSet::new(),
            line: VecDeque::new(),
            last: None,
            version,
            least: 0,
        }
    }

    /// Returns the number of workers, members or not.
    pub fn len(&self) -> usize {
        self.worker_states.len()
    }

    /// Returns whether there are no workers.
    pub fn is_empty(&self) -> bool {
        self.worker_states.is_empty()
    }

    /// Returns the state of one worker.
    pub fn worker_state(&self, worker: WorkerNo) -> &WorkerState {
        &self.worker_states[worker.index()]
    }

    /// Returns the members, ascending.
    pub fn members(&self) -> &BTreeSet<WorkerNo> {
        &self.members
    }

    /// Returns the workers that wait for a permission, ascending.
    pub fn waiting(&self) -> &BTreeSet<WorkerNo> {
        &self.waiting
    }

    /// Returns the workers of which the server holds an update, ascending; some may have left since.
    pub fn held(&self) -> &BTreeSet<WorkerNo> {
        &self.held
    }

    /// Returns the model's version: the number of changes.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the least number of applied updates of a member.
    pub fn least_done(&self) -> u64 {
        self.least
    }

    /// Returns the first worker in the order of permissions whose update was not applied yet.
    pub fn first_in_line(&self) -> Option<WorkerNo> {
        self.line.front().copied()
    }

    /// Returns the member whose turn to pull is next.
    pub fn next_in_turn(&self) -> Option<WorkerNo> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.members.range((after, Bound::Unbounded)).next();
        next.or_else(|| self.members.first()).copied()
    }

    pub(crate) fn join(&mut self, worker: WorkerNo) {
        // Before the first permission no worker has missed anything: a restarted server knows their counts.
        let has_begun = self.last.is_some();
        if has_begun && !self.members.contains(&worker) && !self.members.is_empty() {
            // Missed iterations are not awaited. A held update keeps its number: the count rises after it.
            let worker_state = &mut self.worker_states[worker.index()];
            worker_state.floor = self.least;
            if !worker_state.held {
                worker_state.done = worker_state.done.max(worker_state.floor);
            }
        }
        self.members.insert(worker);
        self.stand(worker, WorkerPhase::Idle);
        self.count();
    }

    /// Removes a worker. A held update of it is applied in its turn.
    pub(crate) fn leave(&mut self, worker: WorkerNo) {
        self.members.remove(&worker);
        self.stand(worker, WorkerPhase::Away);
        self.count();
    }

    pub(crate) fn ask(&mut self, worker: WorkerNo) {
        self.stand(worker, WorkerPhase::Waiting);
    }

    pub(crate) fn permit(&mut self, worker: WorkerNo) {
        self.stand(worker, WorkerPhase::Permitted);
        self.line.push_back(worker);
        self.last = Some(worker);
    }

    pub(crate) fn pull(&mut self, worker: WorkerNo) {
        self.worker_states[worker.index()].phase = WorkerPhase::Working;
        self.worker_states[worker.index()].base = self.version;
    }

    pub(crate) fn hold(&mut self, worker: WorkerNo) {
        let worker_state = &mut self.worker_states[worker.index()];
        worker_state.phase = WorkerPhase::Idle;
        worker_state.held = true;
        self.held.insert(worker);
    }

    /// Releases an update that was applied or discarded.
    pub(crate) fn release(&mut self, worker: WorkerNo) {
        let worker_state = &mut self.worker_states[worker.index()];
        worker_state.held = false;
        worker_state.done = worker_state.floor.max(worker_state.done + 1);
        self.held.remove(&worker);
        self.line.retain(|other| *other != worker);
        self.count();
    }

    pub(crate) fn new_version(&mut self) {
        self.version += 1;
    }

    /// Sets the phase. A worker that loses its permission without a push leaves the line.
    fn stand(&mut self, worker: WorkerNo, phase: WorkerPhase) {
        let worker_state = &mut self.worker_states[worker.index()];
        if matches!(worker_state.phase, WorkerPhase::Permitted | WorkerPhase::Working) {
            self.line.retain(|other| *other != worker);
        }
        worker_state.phase = phase;
        match phase {
            WorkerPhase::Waiting => self.waiting.insert(worker),
            _ => self.waiting.remove(&worker),
        };
    }

    fn count(&mut self) {
        let counts = self.members.iter().map(|worker| {
            let worker_state = &self.worker_states[worker.index()];
            worker_state.done.max(worker_state.floor)
        });
        self.least = counts.min().unwrap_or(self.least);
    }
}
