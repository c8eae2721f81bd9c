//! What has to be: each update computed again from the version that its worker had, and the model summed
//! again from them. A server that was killed goes on from a version that is summed again as well; see
//! [`Ledger`] for what may be lost.

use std::collections::BTreeMap;

use inart_order_agent::{Kept, as_received};
use inart_trainer::{Config, Evaluation, Stepper};

use super::ledger::{Ledger, orders};
use super::said::{Applied, AppliedUpdate, Pushed, Restart, Said, Sent};
use super::setting::Setting;
use crate::error::Error;
use crate::wide_area::digest;

/// Values of a chunk, as processes cut updates.
pub const CHUNK_VALUES: usize = 4096;

/// What was compared.
#[derive(Debug)]
pub struct Checked {
    /// Updates, at their worker, on arrival and in the model.
    pub updates: u64,
    /// Updates that were computed and not taken.
    pub in_vain: u64,
    /// Updates that were taken, and gone with a server that was killed.
    pub lost: u64,
    /// When the model was how good: nanoseconds on the system's clock.
    pub learnt: Vec<(u64, Evaluation)>,
}

/// Trains again what the processes have trained.
///
/// # Errors
/// What differs, is there twice, or is lacking.
pub fn check(setting: &Setting, said: &Said) -> Result<Checked, Error> {
    let mut audit = Audit::new(setting, said)?;
    let every = evaluated_every(said, audit.steppers.len());
    let mut learnt = Vec::new();
    for (at, applied) in said.applied.iter().enumerate() {
        while audit.life < applied.life {
            audit.start_again()?;
        }
        audit.apply(applied)?;
        // Nobody's update is of a version before.
        let oldest = audit.ledger.oldest_base(at + 1, applied.life).unwrap_or(audit.version);
        audit.versions.retain(|version, _| *version >= oldest);
        if audit.version % every == 0 || at + 1 == said.applied.len() {
            learnt.push((applied.at_ns, audit.steppers[0].evaluate(&audit.model)));
        }
    }
    while audit.life < said.restarts.len() {
        audit.start_again()?;
    }
    let (in_vain, lost) = audit.losses()?;
    Ok(Checked { updates: audit.updates, in_vain, lost, learnt })
}

struct Audit<'a> {
    setting: &'a Setting,
    said: &'a Said,
    ledger: Ledger<'a>,
    steppers: Vec<Stepper>,
    /// How often the server was started again.
    life: usize,
    version: u64,
    model: Vec<f32>,
    versions: BTreeMap<u64, Vec<f32>>,
    /// By worker: the iteration after its last one that was applied.
    next: Vec<u64>,
    updates: u64,
}

impl<'a> Audit<'a> {
    fn new(setting: &'a Setting, said: &'a Said) -> Result<Self, Error> {
        let participants = &setting.job.participants;
        let workers = participants.len();
        let stepper = |rank: usize| {
            let batch = participants[rank].batch as usize;
            let config = Config { seed: setting.seed, rank, workers, batch };
            Stepper::new(config, (setting.step / workers as f64) as f32)
        };
        let steppers = (0..workers).map(stepper).collect::<Result<Vec<_>, _>>()?;
        let model = steppers[0].first_model();
        Ok(Audit {
            setting,
            said,
            ledger: Ledger::new(said)?,
            steppers,
            life: 0,
            version: 0,
            versions: BTreeMap::from([(0, model.clone())]),
            model,
            next: vec![0; workers],
            updates: 0,
        })
    }

    fn server(&self, why: String) -> Error {
        Error::Failed { who: self.setting.server.clone(), why }
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.setting.job.participants.iter().position(|worker| worker.name == name)
    }

    /// The rule of batches: an update counts by its batch over the worker's first one.
    fn scale(&self, worker: usize, sent: &Sent) -> f64 {
        sent.batch as f64 / f64::from(self.setting.job.participants[worker].batch)
    }

    /// Sums what the server has summed, and compares.
    fn apply(&mut self, applied: &'a Applied) -> Result<(), Error> {
        let version = self.version + 1;
        if applied.applied != version {
            return Err(self.server(format!("version {version} of its model is lacking")));
        }
        for update in &applied.updates {
            let (worker, again) = self.computed(version, update)?;
            let factor = update.scale as f32;
            self.model.iter_mut().zip(&again).for_each(|(value, change)| *value += factor * change);
            self.next[worker] = update.iteration + 1;
            self.updates += 1;
        }
        if applied.model.as_ref().is_some_and(|own| *own != digest(&self.model)) {
            return Err(self.server(format!("version {version} is not the sum of its updates")));
        }
        self.version = version;
        self.versions.insert(version, self.model.clone());
        Ok(())
    }

    /// The update that a worker has to have pushed, and the worker's number.
    fn computed(&mut self, version: u64, update: &'a AppliedUpdate) -> Result<(usize, Vec<f32>), Error> {
        let (name, iteration) = (update.worker.as_str(), update.iteration);
        let failed = |why: String| Error::Failed { who: name.to_owned(), why };
        let worker = self.number(name);
        let pushed = self.ledger.arrived(self.life, name, iteration);
        let is_again = pushed.is_some() && !self.ledger.apply(self.life, name, iteration);
        if is_again || worker.is_some_and(|worker| iteration < self.next[worker]) {
            let why = format!("it has applied the update of {name} of iteration {iteration} twice");
            return Err(self.server(why));
        }
        let sent = worker.zip(pushed).and_then(|(worker, pushed)| self.ledger.copy(worker, pushed));
        let (Some(worker), Some(pushed), Some(sent)) = (worker, pushed, sent) else {
            let why = format!("it was not computed once and taken once: {name}'s of iteration {iteration}");
            return Err(self.server(why));
        };
        let again = self.again(worker, name, iteration, sent)?;
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
    fn again(&mut self, worker: usize, name: &str, iteration: u64, sent: &Sent) -> Result<Vec<f32>, Error> {
        let failed = |why: String| Error::Failed { who: name.to_owned(), why };
        let arriving = |values: &[f32]| as_received(values, CHUNK_VALUES, self.setting.precision);
        let base = self.versions.get(&sent.base).map(|values| arriving(values));
        let Some(base) = base.filter(|base| digest(base) == sent.model) else {
            return Err(failed(format!("what it pulled for iteration {iteration} is no version")));
        };
        let again = arriving(&self.steppers[worker].update(&base, iteration, sent.batch)?);
        if sent.sent != digest(&again) {
            return Err(failed(format!("its update of iteration {iteration} is not what its model gives")));
        }
        Ok(again)
    }

    /// The server goes on from what it has kept: the version that it told last, or a later one, which is the
    /// sum of updates that its workers had computed by then.
    fn start_again(&mut self) -> Result<(), Error> {
        let Restart { at_ns, kept } = &self.said.restarts[self.life];
        let first =
            || Kept { version: 0, done: vec![0; self.next.len()], values: self.steppers[0].first_model() };
        let kept = kept.clone().unwrap_or_else(first);
        if kept.version < self.version {
            let why = format!("it went on from version {}, and had told of {}", kept.version, self.version);
            return Err(self.server(why));
        }
        if kept.version > self.version {
            self.untold(&kept, *at_ns)?;
        }
        if digest(&kept.values) != digest(&self.model) {
            return Err(self.server(format!("what it has kept is not its version {}", kept.version)));
        }
        self.version = kept.version;
        self.versions = BTreeMap::from([(kept.version, self.model.clone())]);
        self.life += 1;
        Ok(())
    }

    /// A server that was killed between keeping and telling has applied one more update of some workers.
    fn untold(&mut self, kept: &Kept, at_ns: u64) -> Result<(), Error> {
        let mut updates = Vec::new();
        for worker in 0..self.next.len() {
            let done = kept.done.get(worker).copied().unwrap_or(0);
            if done <= self.next[worker] {
                continue;
            }
            let setting = self.setting;
            let name = setting.job.participants[worker].name.as_str();
            if let Some(sent) = self.ledger.untold_copy(self.life, worker, name, done - 1, at_ns) {
                let again = self.again(worker, name, done - 1, sent)?;
                updates.push((self.scale(worker, sent) as f32, again));
                self.next[worker] = done;
                self.updates += 1;
            }
        }
        let wanted = digest(&kept.values);
        // A version is of one update at least.
        let is_enough = kept.version - self.version <= updates.len() as u64;
        for order in orders(updates.len()).into_iter().filter(|_| is_enough) {
            let mut model = self.model.clone();
            for (factor, change) in order.into_iter().map(|place| &updates[place]) {
                model.iter_mut().zip(change).for_each(|(value, change)| *value += factor * change);
            }
            if digest(&model) == wanted {
                self.model = model;
                return Ok(());
            }
        }
        Err(self.server(format!("what it has kept as version {} is no sum of updates", kept.version)))
    }

    /// How many updates were computed in vain, and how many were lost with a server.
    fn losses(&mut self) -> Result<(u64, u64), Error> {
        let lost = self.ledger.lost();
        for pushed in &lost {
            let Pushed { worker: name, iteration, .. } = pushed;
            let copy = self.number(name).and_then(|worker| self.ledger.copy(worker, pushed));
            if copy.is_none_or(|copy| copy.sent != pushed.pushed) || !self.ledger.may_be_lost(pushed) {
                return Err(self.server(format!("it has lost {name}'s update of iteration {iteration}")));
            }
        }
        let in_vain = self.ledger.in_vain();
        for (worker, sent) in &in_vain {
            let name = &self.setting.job.participants[*worker].name;
            if !self.ledger.may_be_in_vain(*worker, name, sent) {
                let why = format!("it has not taken what {name} computed for iteration {}", sent.iteration);
                return Err(self.server(why));
            }
        }
        Ok((in_vain.len() as u64, lost.len() as u64))
    }
}

/// The model is evaluated once in about an iteration of all workers.
fn evaluated_every(said: &Said, workers: usize) -> u64 {
    let together = said.applied.first().map_or(1, |first| first.updates.len().max(1));
    (workers / together).max(1) as u64
}
