//! States, possible steps, and invariants.

use super::mutant::Mutant;

/// A run to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Number of workers.
    pub workers: usize,
    /// Steps of each program, of one tensor each.
    pub steps: u8,
    /// Tensors that a worker may have in flight.
    pub flight: usize,
    /// Steps that programs skip at most, all together.
    pub skips: usize,
}

/// A job whose server compares transcripts, optionally with a mistake.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// Limits of the exploration.
    pub config: Config,
    /// Mistake to make.
    pub mutant: Option<Mutant>,
}

/// A worker and its program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Worker {
    /// The step of each tensor that was started.
    pub history: Vec<u8>,
    /// The program's next step.
    pub next: u8,
    /// Number of complete tensors.
    pub completed: usize,
    /// Whether the worker knows that the job has ended.
    pub failed: bool,
}

/// A state of the job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// By rank.
    pub workers: Vec<Worker>,
    /// By rank: how many tensors the transcript had that the server received last; 0 before the first.
    pub received: Vec<usize>,
    /// First number whose marks differed.
    pub difference: Option<usize>,
    /// By rank: the mark of that number, as far as the server knows.
    pub marks: Vec<Option<u64>>,
    /// The culprit, once the server has ended the job.
    pub ended: Option<usize>,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The worker starts the tensor of its next step.
    Start(usize),
    /// The worker's program skips its next step.
    Skip(usize),
    /// The worker's oldest tensor is complete.
    Complete(usize),
    /// Arrival of a keep-alive that the worker sent after this number of tensors.
    Arrive(usize, usize),
    /// End of the job received by the worker.
    Hear(usize),
}

impl State {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            workers: vec![Worker::default(); workers],
            received: vec![0; workers],
            difference: None,
            marks: vec![None; workers],
            ended: None,
        }
    }

    /// Returns whether two workers started different tensors in the same place.
    fn is_mixed(&self) -> bool {
        let differs = |one: &Worker, other: &Worker| {
            one.history.iter().zip(&other.history).any(|(own, other)| own != other)
        };
        self.workers.iter().any(|one| self.workers.iter().any(|other| differs(one, other)))
    }

    pub(super) fn is_innocent(&self) -> bool {
        self.ended.is_none() || self.is_mixed()
    }

    /// Steps that a worker has skipped.
    fn skipped(worker: &Worker) -> usize {
        usize::from(worker.next) - worker.history.len()
    }
}

impl System {
    pub(super) fn has(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    fn may_start(&self, worker: &Worker) -> bool {
        let in_flight = worker.history.len() - worker.completed;
        !worker.failed && worker.next < self.config.steps && in_flight < self.config.flight
    }

    fn may_complete(state: &State, rank: usize) -> bool {
        let worker = &state.workers[rank];
        !worker.failed && state.workers.iter().all(|peer| peer.history.len() > worker.completed)
    }

    pub(super) fn possible(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        let skipped: usize = state.workers.iter().map(State::skipped).sum();
        for (rank, worker) in state.workers.iter().enumerate() {
            if self.may_start(worker) {
                actions.push(Action::Start(rank));
            }
            if !worker.failed && worker.next < self.config.steps && skipped < self.config.skips {
                actions.push(Action::Skip(rank));
            }
            if Self::may_complete(state, rank) {
                actions.push(Action::Complete(rank));
            }
            if state.ended.is_none() {
                actions.extend((1..=worker.history.len()).map(|started| Action::Arrive(rank, started)));
            } else if !worker.failed {
                actions.push(Action::Hear(rank));
            }
        }
        actions
    }

    pub(super) fn act(&self, state: &mut State, action: Action) {
        match action {
            Action::Start(rank) => {
                let worker = &mut state.workers[rank];
                worker.history.push(worker.next);
                worker.next += 1;
            }
            Action::Skip(rank) => state.workers[rank].next += 1,
            Action::Complete(rank) => state.workers[rank].completed += 1,
            Action::Arrive(rank, started) => self.receive(state, rank, started),
            Action::Hear(rank) => state.workers[rank].failed = true,
        }
    }

    /// Returns whether the end names the only worker that skipped, in a job of three or more.
    pub(super) fn is_named(&self, state: &State) -> bool {
        let skipped = |rank: &usize| State::skipped(&state.workers[*rank]) > 0;
        let skipping: Vec<_> = (0..state.workers.len()).filter(skipped).collect();
        match (state.ended, &skipping[..]) {
            (Some(culprit), [only]) if state.workers.len() > 2 => culprit == *only,
            _ => true,
        }
    }

    /// Returns whether the job ends from that state on if two workers started different tensors in one place.
    pub(super) fn is_found(&self, state: &State) -> bool {
        if !state.is_mixed() || state.ended.is_some() {
            return true;
        }
        let mut state = state.clone();
        loop {
            let mut moved = false;
            for rank in 0..state.workers.len() {
                let started = state.workers[rank].history.len();
                if started > 0 {
                    self.receive(&mut state, rank, started);
                }
            }
            for rank in 0..state.workers.len() {
                if Self::may_complete(&state, rank) {
                    self.act(&mut state, Action::Complete(rank));
                    moved = true;
                }
                if self.may_start(&state.workers[rank]) {
                    self.act(&mut state, Action::Start(rank));
                    moved = true;
                }
            }
            if state.ended.is_some() {
                return true;
            }
            if !moved {
                // The peer timeout.
                self.judge(&mut state);
                return state.ended.is_some();
            }
        }
    }
}
