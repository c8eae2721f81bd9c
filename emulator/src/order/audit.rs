//! What has to be: each update computed again from the version that its worker had, and the model summed
//! again from them.

use std::collections::{BTreeMap, BTreeSet};

use inart_order_agent::as_received;
use inart_trainer::{Config, Evaluation, Stepper};

use super::processes::Said;
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
    /// When the model was how good: nanoseconds on the system's clock.
    pub learnt: Vec<(u64, Evaluation)>,
}

/// Trains again what the processes have trained.
///
/// # Errors
/// What differs, is there twice, or is lacking.
pub fn check(setting: &Setting, said: &Said) -> Result<Checked, Error> {
    let participants = &setting.job.participants;
    let workers = participants.len();
    let stepper = |rank: usize| {
        let config = Config { seed: setting.seed, rank, workers, batch: participants[rank].batch as usize };
        Stepper::new(config, (setting.step / workers as f64) as f32)
    };
    let mut steppers = (0..workers).map(stepper).collect::<Result<Vec<_>, _>>()?;
    let arriving = |values: &[f32]| as_received(values, CHUNK_VALUES, setting.precision);
    let failed = |who: &str, why: String| Error::Failed { who: who.to_owned(), why };
    let arrived = arrived(said)?;
    let mut model = steppers[0].first_model();
    let mut versions = BTreeMap::from([(0u64, model.clone())]);
    let mut done = BTreeSet::new();
    let mut learnt = Vec::new();
    for (version, applied) in (1..).zip(&said.applied) {
        if applied.applied != version {
            return Err(failed(&setting.server, format!("version {version} of its model is lacking")));
        }
        for update in &applied.updates {
            let (name, iteration) = (&update.worker, update.iteration);
            let worker = participants.iter().position(|worker| worker.name == *name);
            let sent = worker.and_then(|worker| said.sent.get(&(worker, iteration)));
            let pushed = arrived.get(&(name.as_str(), iteration));
            let (Some(worker), Some([sent]), Some(pushed)) = (worker, sent.map(Vec::as_slice), pushed) else {
                let why =
                    format!("it was not computed once and taken once: {name}'s of iteration {iteration}");
                return Err(failed(&setting.server, why));
            };
            if !done.insert((worker, iteration)) {
                let why = format!("it has applied the update of {name} of iteration {iteration} twice");
                return Err(failed(&setting.server, why));
            }
            let base = versions.get(&pushed.base).map(|values| arriving(values));
            let Some(base) = base.filter(|base| pushed.base == sent.base && digest(base) == sent.model)
            else {
                return Err(failed(name, format!("what it pulled for iteration {iteration} is no version")));
            };
            let again = arriving(&steppers[worker].update(&base, iteration, sent.batch)?);
            let expected = digest(&again);
            if sent.sent != expected || pushed.pushed != expected {
                let why = format!("its update of iteration {iteration} is not what its model gives");
                return Err(failed(name, why));
            }
            if update.staleness != version - 1 - pushed.base {
                return Err(failed(name, format!("iteration {iteration} is not {} stale", update.staleness)));
            }
            let factor = update.scale as f32;
            model.iter_mut().zip(&again).for_each(|(value, change)| *value += factor * change);
        }
        if applied.model.as_ref().is_some_and(|own| *own != digest(&model)) {
            return Err(failed(&setting.server, format!("version {version} is not the sum of its updates")));
        }
        versions.insert(version, model.clone());
        // Nobody's update is of a version before.
        let oldest = said.applied[version as usize..].iter().flat_map(|applied| &applied.updates);
        let bases = oldest.filter_map(|update| arrived.get(&(update.worker.as_str(), update.iteration)));
        let oldest = bases.map(|pushed| pushed.base).min().unwrap_or(version);
        versions.retain(|version, _| *version >= oldest);
        if version % evaluated_every(said, workers) == 0 || version as usize == said.applied.len() {
            learnt.push((applied.at_ns, steppers[0].evaluate(&model)));
        }
    }
    let lost = arrived.keys().find(|(name, iteration)| {
        let worker = participants.iter().position(|worker| worker.name == *name);
        worker.is_none_or(|worker| !done.contains(&(worker, *iteration)))
    });
    if let Some((name, iteration)) = lost {
        return Err(failed(&setting.server, format!("it has lost {name}'s update of iteration {iteration}")));
    }
    Ok(Checked { updates: done.len() as u64, learnt })
}

/// By worker and iteration: what has arrived.
fn arrived(said: &Said) -> Result<BTreeMap<(&str, u64), &super::processes::Pushed>, Error> {
    let mut arrived = BTreeMap::new();
    for pushed in &said.pushed {
        if arrived.insert((pushed.worker.as_str(), pushed.iteration), pushed).is_some() {
            let why = format!("its update of iteration {} was taken twice", pushed.iteration);
            return Err(Error::Failed { who: pushed.worker.clone(), why });
        }
    }
    Ok(arrived)
}

/// The model is evaluated once in about an iteration of all workers.
fn evaluated_every(said: &Said, workers: usize) -> u64 {
    let together = said.applied.first().map_or(1, |first| first.updates.len().max(1));
    (workers / together).max(1) as u64
}
