//! The sequencer of workers by one of the synchronization models of `inart_protocol_ps`, with the model.

use std::time::Duration;

use inart_protocol_ps::{
    Options, Order, Output, PushOutcome, Refusal, Server, Snapshot, Store, WorkerNo, WorkerPhase,
};

use crate::sequencer::{Applied, Checkpoint, Decision, Sequencer, Verdict};

/// The server of a synchronization order `O`, and its model.
#[derive(Debug, Clone)]
pub struct InOrder<O> {
    server: Server<O>,
    store: Store,
    model: u64,
    workers: usize,
}

impl<O: Order> InOrder<O> {
    /// Creates a sequencer with the first model and its fingerprint.
    pub fn new(order: O, options: Options, model: u64, values: Vec<f32>) -> Self {
        let workers = options.batches.len();
        InOrder { server: Server::new(order, options), store: Store::new(model, values), model, workers }
    }

    /// Restores a sequencer from a checkpoint.
    pub fn restored(order: O, options: Options, model: u64, kept: Checkpoint) -> Self {
        let Checkpoint { version, done, members, values } = kept;
        let workers = options.batches.len();
        let server = Server::restored(order, options, &Snapshot { version, done, members });
        InOrder { server, store: Store::new(model, values), model, workers }
    }

    /// Returns the state machine.
    pub fn server(&self) -> &Server<O> {
        &self.server
    }

    fn phase(&self, who: WorkerNo) -> WorkerPhase {
        match who.index() < self.workers {
            true => self.server.worker_states().worker_state(who).phase(),
            false => WorkerPhase::Away,
        }
    }
}

impl<O: Order> Sequencer for InOrder<O> {
    fn join(&mut self, who: WorkerNo, now: Duration) {
        // An error is a number without a worker, which does not join.
        let _ = self.server.join(who, now);
    }

    fn leave(&mut self, who: WorkerNo, now: Duration) {
        let _ = self.server.leave(who, now);
    }

    fn is_away(&self, who: WorkerNo) -> bool {
        self.phase(who) == WorkerPhase::Away
    }

    fn is_working(&self, who: WorkerNo) -> bool {
        self.phase(who) == WorkerPhase::Working
    }

    fn request(&mut self, who: WorkerNo, now: Duration) {
        // The worker timed out meanwhile.
        if self.is_away(who) {
            self.join(who, now);
        }
        let _ = self.server.request(who, now);
    }

    fn pull(&mut self, who: WorkerNo, now: Duration) -> Option<u64> {
        self.server.pull(who, now).ok()
    }

    fn push(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict {
        let checked: Result<(), Refusal> = self.store.check(self.model, &values);
        let refusal = checked.err();
        let is_taken = matches!(self.server.push(who, iteration, checked, now), Ok(PushOutcome::Held));
        if is_taken && refusal.is_none() {
            self.store.hold(who, values);
        }
        Verdict { is_taken, refusal }
    }

    fn tick(&mut self, now: Duration) {
        self.server.tick(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        self.server.wake_at()
    }

    fn next_decision(&mut self) -> Option<Decision> {
        Some(match self.server.next_output()? {
            Output::Permit { worker, iteration, batch } => Decision::Permit { who: worker, iteration, batch },
            Output::Apply { version, updates } => {
                let mut all = updates.iter();
                let applied = all.try_for_each(|update| {
                    self.store.apply(update.worker, update.scale() as f32).map(|_| ())
                });
                match applied {
                    Ok(()) => Decision::Applied(Applied { version, updates }),
                    Err(overflow) => Decision::Overflow { version, overflow },
                }
            }
            Output::Discard { worker, iteration, refusal } => {
                Decision::Discarded { who: worker, iteration, refusal }
            }
            Output::Gone { worker, .. } => Decision::Gone { who: worker },
        })
    }

    fn version(&self) -> u64 {
        self.server.worker_states().version()
    }

    fn values(&self) -> &[f32] {
        self.store.values()
    }

    fn have_done(&self, iterations: u64) -> bool {
        let worker_states = self.server.worker_states();
        !worker_states.members().is_empty() && worker_states.least_done() >= iterations
    }

    fn kept(&self) -> Checkpoint {
        let Snapshot { version, done, members } = self.server.snapshot();
        Checkpoint { version, done, members, values: self.store.values().to_vec() }
    }
}
