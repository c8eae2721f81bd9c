//! Audit of training at a parameter server: each update is computed again from the version that its worker
//! had, and the model is summed again from them. A restarted server resumes from a version that is summed
//! again as well; [`Ledger`](super::ledger::Ledger) lists the updates that may be lost.

use inart_ps_agent::Checkpoint;
use inart_report::{AppliedUpdate, digest};
use inart_training::{Config, Evaluation, Stepper};

use super::records::{Applied, Records, Sent};
use super::setting::Setting;
use super::versions::{Terms, Versions};
use crate::error::Error;

const WORDS: Terms = Terms {
    pushed: "update of iteration",
    computed: "computed for iteration",
    time: "iteration",
    made: "the sum of its updates",
    not_made: "no sum of updates",
};

/// Results of the comparison.
#[derive(Debug)]
pub struct Checked {
    /// Updates, at their worker, on arrival and in the model.
    pub updates: u64,
    /// Updates that were computed and not taken.
    pub wasted_updates: u64,
    /// Updates that were applied, and lost with a server that was killed.
    pub lost: u64,
    /// Evaluations of the model, each with its time in nanoseconds on the system's clock.
    pub evaluations: Vec<(u64, Evaluation)>,
}

/// Trains again what the processes have trained.
///
/// # Errors
/// What differs, is there twice, or is lacking.
pub fn check(setting: &Setting, records: &Records) -> Result<Checked, Error> {
    let mut audit = Audit::new(setting, records)?;
    let every = evaluated_every(records, audit.steppers.len());
    let mut evaluations = Vec::new();
    for (at, applied) in records.applied.iter().enumerate() {
        while audit.versions.incarnation < applied.incarnation {
            audit.start_again()?;
        }
        audit.apply(applied)?;
        audit.versions.forget(at + 1);
        if audit.versions.version % every == 0 || at + 1 == records.applied.len() {
            evaluations.push((applied.at_ns, audit.steppers[0].evaluate(&audit.versions.model)));
        }
    }
    while audit.versions.incarnation < records.restarts.len() {
        audit.start_again()?;
    }
    let (wasted_updates, lost) = audit.versions.losses(|_, _, _, _| false)?;
    Ok(Checked { updates: audit.updates, wasted_updates, lost, evaluations })
}

struct Audit<'a> {
    versions: Versions<'a>,
    steppers: Vec<Stepper>,
    /// By worker: the iteration after its last one that was applied.
    next: Vec<u64>,
    updates: u64,
}

impl<'a> Audit<'a> {
    fn new(setting: &'a Setting, records: &'a Records) -> Result<Self, Error> {
        let participants = &setting.job.participants;
        let workers = participants.len();
        let stepper = |rank: usize| {
            let batch = participants[rank].batch as usize;
            let config = Config { seed: setting.seed, rank, workers, batch };
            Stepper::new(config, (setting.step / workers as f64) as f32)
        };
        let steppers = (0..workers).map(stepper).collect::<Result<Vec<_>, _>>()?;
        let versions = Versions::new(setting, records, WORDS, steppers[0].first_model())?;
        Ok(Audit { versions, steppers, next: vec![0; workers], updates: 0 })
    }

    /// The rule of batches: an update counts by its batch over the worker's first one.
    fn scale(&self, worker: usize, sent: &Sent) -> f64 {
        sent.batch as f64 / f64::from(self.versions.setting.job.participants[worker].batch)
    }

    /// Sums what the server has summed, and compares.
    fn apply(&mut self, applied: &'a Applied) -> Result<(), Error> {
        let version = self.versions.next(applied)?;
        for update in &applied.updates {
            let (worker, again) = self.computed(version, update)?;
            add(&mut self.versions.model, update.scale as f32, &again);
            self.next[worker] = update.iteration + 1;
            self.updates += 1;
        }
        self.versions.add(applied)
    }

    /// The update that a worker has to have pushed, and the worker's number.
    fn computed(&mut self, version: u64, update: &'a AppliedUpdate) -> Result<(usize, Vec<f32>), Error> {
        let (name, iteration) = (update.worker.as_str(), update.iteration);
        let failed = |why: String| Error::Failed { who: name.to_owned(), why };
        let versions = &mut self.versions;
        let worker = versions.number(name);
        let pushed = versions.ledger.arrived(versions.incarnation, name, iteration);
        let is_again = pushed.is_some() && !versions.ledger.apply(versions.incarnation, name, iteration);
        if is_again || worker.is_some_and(|worker| iteration < self.next[worker]) {
            let why = format!("it has applied the update of {name} of iteration {iteration} twice");
            return Err(versions.server(why));
        }
        let sent = worker.zip(pushed).and_then(|(worker, pushed)| versions.ledger.copy(worker, pushed));
        let (Some(worker), Some(pushed), Some(sent)) = (worker, pushed, sent) else {
            let why = format!("it was not computed once and taken once: {name}'s of iteration {iteration}");
            return Err(versions.server(why));
        };
        let again = self.again(worker, name, sent)?;
        if pushed.pushed != sent.sent {
            return Err(failed(format!("its update of iteration {iteration} is not what its model gives")));
        }
        if update.staleness != version - 1 - pushed.base {
            return Err(failed(format!("iteration {iteration} is not {} stale", update.staleness)));
        }
        if update.scale != self.scale(worker, sent) {
            let why =
                format!("iteration {iteration} of {} images does not count {}", sent.batch, update.scale);
            return Err(failed(why));
        }
        Ok((worker, again))
    }

    /// Computes an update again, and compares.
    fn again(&mut self, worker: usize, name: &str, sent: &Sent) -> Result<Vec<f32>, Error> {
        let base = self.versions.pulled(name, sent)?;
        let again = self.steppers[worker].update(&base, sent.iteration, sent.batch)?;
        let again = self.versions.arriving(&again);
        if sent.sent != digest(&again) {
            let why = format!("its update of iteration {} is not what its model gives", sent.iteration);
            return Err(Error::Failed { who: name.to_owned(), why });
        }
        Ok(again)
    }

    /// Restarts the server from its checkpoint: the version that it reported last, or a later one, which is
    /// the sum of updates that its workers had computed by then.
    fn start_again(&mut self) -> Result<(), Error> {
        let (kept, at_ns) = self.versions.kept()?;
        if kept.version > self.versions.version {
            self.unreported(&kept, at_ns)?;
        }
        self.versions.resume(&kept)
    }

    /// A server that was killed between keeping and telling has applied one more update of some workers.
    fn unreported(&mut self, kept: &Checkpoint, at_ns: u64) -> Result<(), Error> {
        let mut updates = Vec::new();
        for worker in 0..self.next.len() {
            let done = kept.done.get(worker).copied().unwrap_or(0);
            if done <= self.next[worker] {
                continue;
            }
            let (setting, incarnation) = (self.versions.setting, self.versions.incarnation);
            let name = setting.job.participants[worker].name.as_str();
            if let Some(sent) =
                self.versions.ledger.unreported_copy(incarnation, worker, name, done - 1, at_ns)
            {
                let again = self.again(worker, name, sent)?;
                updates.push((self.scale(worker, sent) as f32, again));
                self.next[worker] = done;
                self.updates += 1;
            }
        }
        // A version is of one update at least.
        if kept.version - self.versions.version > updates.len() as u64 {
            return Err(self.versions.not_made(kept));
        }
        self.versions.make_unreported(kept, updates.len(), |model, place| {
            let (factor, change) = &updates[place];
            add(model, *factor, change);
        })
    }
}

fn add(model: &mut [f32], factor: f32, change: &[f32]) {
    model.iter_mut().zip(change).for_each(|(value, change)| *value += factor * change);
}

/// The model is evaluated once in about an iteration of all workers.
fn evaluated_every(records: &Records, workers: usize) -> u64 {
    let together = records.applied.first().map_or(1, |first| first.updates.len().max(1));
    (workers / together).max(1) as u64
}
