//! A parameter server's synchronization: which worker pulls when, and whose update is applied when.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::batches::{Batch, BatchRule};
use crate::counters::Counters;
use crate::order::{Order, Spacing};
use crate::output::{Output, Update};
use crate::pace::Pace;
use crate::part::Part;
use crate::store::Refusal;
use crate::timing::{Blocked, Timing};
use crate::worker_states::{WorkerNo, WorkerPhase, WorkerStates};

/// Settings of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Options {
    /// Batch parameters by worker.
    pub batches: Vec<Batch>,
    /// Rule of batch tuning; `None` for fixed batches.
    pub tuning: Option<BatchRule>,
    /// Longest wait for a worker's request, or for its push after the permission, before the worker times
    /// out; `None` for no limit.
    pub patience: Option<Duration>,
}

impl Options {
    /// Returns settings for `workers` workers with fixed batches.
    pub fn fixed(workers: usize) -> Options {
        Options { batches: vec![Batch::new(1, 1.0); workers], tuning: None, patience: None }
    }
}

/// State of a server for a checkpoint, next to the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// Version of the model.
    pub version: u64,
    /// By worker, the number of its applied or discarded updates.
    pub done: Vec<u64>,
    /// By worker, whether it took part.
    pub members: Vec<bool>,
}

/// Reason for which a host's call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Unknown worker.
    #[error("worker {worker} does not exist (valid: 0 to {last})")]
    Unknown {
        /// Number of the worker.
        worker: u32,
        /// Greatest valid number.
        last: u32,
    },
    /// Worker that has not joined, or has timed out.
    #[error("worker {0} sent a request before joining")]
    Away(u32),
    /// Pull without a permission.
    #[error("worker {0} pulls without a permission: request one first")]
    NotPermitted(u32),
}

/// Outcome of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PushOutcome {
    /// Held until its turn; the host keeps its values.
    Held,
    /// Duplicate; the host drops it.
    Repeated,
    /// Without a permission; the host drops it, and the worker requests again.
    Unasked,
}

/// State machine of a server with synchronization order `O`. Times count from a start that its host chooses,
/// and never decrease.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Server<O> {
    order: O,
    options: Options,
    worker_states: WorkerStates,
    timings: Vec<Timing>,
    refused: BTreeMap<WorkerNo, Refusal>,
    pace: Pace,
    last_permission: Option<Duration>,
    outputs: VecDeque<Output>,
    counters: Counters,
}

impl<O: Order> Server<O> {
    /// Creates a server before the first worker has joined, with one batch for each possible worker.
    pub fn new(order: O, options: Options) -> Self {
        let worker_states = WorkerStates::new(options.batches.len());
        Self::with_worker_states(order, options, worker_states)
    }

    /// Restores a server from a checkpoint. Workers join again, with their own counts; workers that had left
    /// start at the least count of the others (docs/protocol/ps.md, R9).
    pub fn restored(order: O, options: Options, snapshot: &Snapshot) -> Self {
        let mut done = snapshot.done.clone();
        done.resize(options.batches.len(), 0);
        Self::with_worker_states(
            order,
            options,
            WorkerStates::restored(snapshot.version, &done, &snapshot.members),
        )
    }

    fn with_worker_states(order: O, options: Options, worker_states: WorkerStates) -> Self {
        let pace = Pace::new(order.spacing());
        Server {
            order,
            timings: vec![Timing::default(); options.batches.len()],
            options,
            worker_states,
            refused: BTreeMap::new(),
            pace,
            last_permission: None,
            outputs: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Adds a worker; one that takes part already restarts its iteration.
    ///
    /// # Errors
    /// The worker is unknown.
    pub fn join(&mut self, worker: WorkerNo, now: Duration) -> Result<(), ServerError> {
        self.known(worker)?;
        self.timings[worker.index()].joined(now);
        self.worker_states.join(worker);
        self.settle(now);
        Ok(())
    }

    /// Removes a worker. An update of it that has arrived is applied in its turn.
    ///
    /// # Errors
    /// The worker is unknown.
    pub fn leave(&mut self, worker: WorkerNo, now: Duration) -> Result<(), ServerError> {
        self.known(worker)?;
        self.timings[worker.index()].left();
        self.worker_states.leave(worker);
        self.settle(now);
        Ok(())
    }

    /// Takes a worker's request for its next iteration. A worker with a permission gets it again.
    ///
    /// # Errors
    /// The worker takes no part.
    pub fn request(&mut self, worker: WorkerNo, now: Duration) -> Result<(), ServerError> {
        self.known(worker)?;
        match self.worker_states.worker_state(worker).phase() {
            WorkerPhase::Away => return Err(ServerError::Away(worker.0)),
            WorkerPhase::Idle => {
                self.timings[worker.index()].asked();
                self.worker_states.ask(worker);
            }
            WorkerPhase::Waiting => {}
            WorkerPhase::Permitted | WorkerPhase::Working => {
                self.counters.said_again += 1;
                self.repeat_permit(worker);
            }
        }
        self.settle(now);
        Ok(())
    }

    /// Starts a worker's pull. Returns the version.
    ///
    /// # Errors
    /// The worker has no permission.
    pub fn pull(&mut self, worker: WorkerNo, now: Duration) -> Result<u64, ServerError> {
        self.known(worker)?;
        if !matches!(
            self.worker_states.worker_state(worker).phase(),
            WorkerPhase::Permitted | WorkerPhase::Working
        ) {
            self.counters.not_permitted += 1;
            return Err(ServerError::NotPermitted(worker.0));
        }
        self.timings[worker.index()].pulled(now);
        self.worker_states.pull(worker);
        Ok(self.worker_states.version())
    }

    /// Takes a complete update of a worker's iteration, with the defect of its values. A refused update is
    /// not applied, and its worker continues.
    ///
    /// # Errors
    /// The worker is unknown.
    pub fn push(
        &mut self,
        worker: WorkerNo,
        iteration: u64,
        values: Result<(), Refusal>,
        now: Duration,
    ) -> Result<PushOutcome, ServerError> {
        self.known(worker)?;
        let worker_state = self.worker_states.worker_state(worker);
        if iteration < worker_state.done() || iteration == worker_state.done() && worker_state.is_held() {
            self.counters.repeated += 1;
            return Ok(PushOutcome::Repeated);
        }
        if iteration > worker_state.done() || worker_state.phase() != WorkerPhase::Working {
            self.counters.unasked += 1;
            return Ok(PushOutcome::Unasked);
        }
        let batch = self.options.batches[worker.index()];
        self.timings[worker.index()].pushed(&batch, now);
        if let Err(refusal) = values {
            self.counters.refuse(refusal);
            self.refused.insert(worker, refusal);
        }
        self.worker_states.hold(worker);
        self.settle(now);
        Ok(PushOutcome::Held)
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Duration) {
        if let Some(patience) = self.options.patience {
            let members: Vec<_> = self.worker_states.members().iter().copied().collect();
            for worker in members {
                let Some(since) = self.timings[worker.index()].awaited_since else { continue };
                if now >= since + patience {
                    self.counters.silent += 1;
                    self.timings[worker.index()].left();
                    self.worker_states.leave(worker);
                    self.outputs.push_back(Output::Gone { worker, silent: now.saturating_sub(since) });
                }
            }
        }
        self.settle(now);
    }

    /// Returns the next action, in order; `None` until another call changes something.
    pub fn next_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns when [`tick`](Self::tick) is due; `None` if nothing waits for time.
    pub fn wake_at(&self) -> Option<Duration> {
        let turn = self.next_worker().and_then(|_| self.free_at());
        let given_up = self.options.patience.and_then(|patience| {
            let members = self.worker_states.members().iter();
            let since = members.filter_map(|worker| self.timings[worker.index()].awaited_since).min();
            since.map(|since| since + patience)
        });
        [turn, given_up].into_iter().flatten().min()
    }

    /// Returns the state for a checkpoint with the current model.
    pub fn snapshot(&self) -> Snapshot {
        let workers = || (0..self.worker_states.len() as u32).map(WorkerNo);
        Snapshot {
            version: self.worker_states.version(),
            done: workers().map(|worker| self.worker_states.worker_state(worker).done()).collect(),
            members: workers().map(|worker| self.worker_states.members().contains(&worker)).collect(),
        }
    }

    /// Returns the state of the workers.
    pub fn worker_states(&self) -> &WorkerStates {
        &self.worker_states
    }

    /// Returns T: the longest averaged time of a member from its pull to its push.
    pub fn iteration_time(&self) -> Option<Duration> {
        self.worker_states.members().iter().filter_map(|worker| self.timings[worker.index()].active).max()
    }

    /// Returns the current r.
    pub fn relaxation(&self) -> Part {
        self.pace.relaxation()
    }

    /// Returns how long a worker has waited between its pushes and its pulls.
    pub fn blocked(&self, worker: WorkerNo) -> Blocked {
        self.timings[worker.index()].blocked
    }

    /// Returns the last batch of a worker.
    pub fn batch(&self, worker: WorkerNo) -> u32 {
        match self.timings[worker.index()].batch() {
            0 => self.options.batches[worker.index()].start,
            batch => batch,
        }
    }

    /// Returns the drop counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn known(&self, worker: WorkerNo) -> Result<(), ServerError> {
        match worker.index() < self.worker_states.len() {
            true => Ok(()),
            false => {
                let last = (self.worker_states.len() as u32).saturating_sub(1);
                Err(ServerError::Unknown { worker: worker.0, last })
            }
        }
    }

    fn settle(&mut self, now: Duration) {
        loop {
            let due = self.order.applied(&self.worker_states);
            if due.is_empty() {
                break;
            }
            self.apply(&due, now);
        }
        while self.free_at().is_none_or(|at| now >= at) {
            let Some(worker) = self.next_worker() else { break };
            self.last_permission = Some(now);
            self.worker_states.permit(worker);
            let batch = self.batch_for(worker);
            self.timings[worker.index()].permitted(batch, now);
            self.repeat_permit(worker);
        }
    }

    fn apply(&mut self, due: &[WorkerNo], now: Duration) {
        let version = self.worker_states.version();
        let mut updates = Vec::with_capacity(due.len());
        for &worker in due {
            let iteration = self.worker_states.worker_state(worker).done();
            match self.refused.remove(&worker) {
                Some(refusal) => self.outputs.push_back(Output::Discard { worker, iteration, refusal }),
                None => updates.push(Update {
                    worker,
                    iteration,
                    staleness: version - self.worker_states.worker_state(worker).base(),
                    batch: self.batch(worker),
                    first_batch: self.options.batches[worker.index()].start,
                }),
            }
            self.worker_states.release(worker);
            self.pace.applied(self.worker_states.members().len(), now);
        }
        if !updates.is_empty() {
            self.counters.applied += updates.len() as u64;
            self.worker_states.new_version();
            self.outputs.push_back(Output::Apply { version: self.worker_states.version(), updates });
        }
    }

    /// Returns the next worker that the synchronization order permits to pull.
    fn next_worker(&self) -> Option<WorkerNo> {
        let free = self
            .worker_states
            .waiting()
            .iter()
            .filter(|worker| !self.worker_states.worker_state(**worker).is_held());
        free.copied().find(|worker| self.order.permits(&self.worker_states, *worker))
    }

    /// Returns when the next permission may be given; `None` for at once.
    fn free_at(&self) -> Option<Duration> {
        if self.order.spacing() == Spacing::None {
            return None;
        }
        let gap = self.pace.gap(self.iteration_time(), self.worker_states.members().len());
        self.last_permission.map(|last| last + gap)
    }

    fn repeat_permit(&mut self, worker: WorkerNo) {
        let iteration = self.worker_states.worker_state(worker).done();
        self.outputs.push_back(Output::Permit { worker, iteration, batch: self.batch(worker) });
    }

    fn batch_for(&self, worker: WorkerNo) -> u32 {
        let (own, batch) = (&self.timings[worker.index()], self.options.batches[worker.index()]);
        let members = self.worker_states.members().iter().map(|member| member.index());
        match self.options.tuning {
            None => batch.start,
            Some(BatchRule::Proportional) => {
                let slowest = members.map(|member| self.options.batches[member].speed_milli).min();
                batch.proportional(slowest.unwrap_or(batch.speed_milli))
            }
            Some(BatchRule::FillIdle) => {
                // Idle times need the timing of all members.
                let known: Option<Vec<_>> = members.map(|member| self.timings[member].own()).collect();
                let longest = known.and_then(|known| known.into_iter().max());
                let idle = longest.zip(own.own()).map(|(longest, own)| longest.saturating_sub(own));
                batch.filling(idle.unwrap_or_default())
            }
        }
    }
}
