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
pub(super) fn arrived(said: &Said) -> Result<BTreeMap<(&str, u64), &super::processes::Pushed>, Error> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::PathBuf;

    use inart_cluster::Cluster;
    use inart_order_agent::Precision;

    use super::super::processes::{Applied, AppliedUpdate, Pushed, Sent};
    use super::super::setting::scaled;
    use super::*;

    const NETWORK: &str = "{name: n, nodes: [{name: v, kind: switch}, {name: s1, kind: server}, \
        {name: w1, kind: worker}, {name: w2, kind: worker}], links: [{ends: [v, s1], rate: 8 Gbps}, \
        {ends: [v, w1], rate: 2 Gbps}, {ends: [v, w2], rate: 2 Gbps}], \
        jobs: [{name: j, servers: [s1], gradient: 100 MB, compute: {mean: 2 s}, batch: 4}]}";

    fn setting() -> Setting {
        let cluster = Cluster::from_yaml(NETWORK).unwrap();
        let bits = 32.0 * inart_trainer::PARAMETERS as f64;
        Setting {
            network: "n".into(),
            server: "s1".into(),
            job: scaled(&cluster.jobs[0], bits, None, 0.01).0,
            schemes: Vec::new(),
            clients: None,
            tuning: None,
            precision: Precision::Single,
            iterations: 1,
            step: 0.5,
            seed: 3,
            program: PathBuf::new(),
            congestion: String::new(),
        }
    }

    /// Both workers compute from the first model; w1's update is applied, then w2's.
    fn said() -> Said {
        let mut said = Said::default();
        let mut model = Vec::new();
        for rank in 0..2 {
            let config = Config { seed: 3, rank, workers: 2, batch: 4 };
            let mut stepper = Stepper::new(config, 0.25).unwrap();
            let first = stepper.first_model();
            if model.is_empty() {
                model.clone_from(&first);
            }
            let update = stepper.update(&first, 0, 4).unwrap();
            let (worker, name) = (rank, format!("w{}", rank + 1));
            let (sent, base) = (digest(&update), 0);
            let one = Sent { sent: sent.clone(), iteration: 0, batch: 4, base, model: digest(&first) };
            said.sent.insert((worker, 0), vec![one]);
            let pushed = sent;
            said.pushed.push(Pushed { pushed, worker: name.clone(), iteration: 0, base, at_ns: 5 });
            model.iter_mut().zip(&update).for_each(|(value, change)| *value += change);
            let staleness = rank as u64;
            let update = AppliedUpdate { worker: name, iteration: 0, staleness, scale: 1.0 };
            let applied = rank as u64 + 1;
            let model = Some(digest(&model));
            said.applied.push(Applied { applied, model, updates: vec![update], at_ns: 6 });
        }
        said
    }

    #[test]
    fn what_is_wrong_twice_or_lacking_is_named() {
        let setting = setting();
        let checked = check(&setting, &said()).expect("all is as it has to be");
        assert_eq!((checked.updates, checked.learnt.len()), (2, 1));
        type Change = fn(&mut Said);
        let cases: [(Change, &str); 9] = [
            (|said| said.pushed[1].pushed = "x".into(), "w2: its update of iteration 0 is not"),
            (
                |said| said.sent.get_mut(&(1, 0)).unwrap()[0].sent = "x".into(),
                "w2: its update of iteration 0",
            ),
            (|said| said.sent.get_mut(&(1, 0)).unwrap()[0].model = "x".into(), "w2: what it pulled"),
            (
                |said| said.pushed.push(said.pushed[0].clone()),
                "w1: its update of iteration 0 was taken twice",
            ),
            (|said| said.applied[0].model = Some("x".into()), "s1: version 1 is not the sum"),
            (|said| said.applied[1].updates[0].staleness = 7, "w2: iteration 0 is not 7 stale"),
            (|said| drop(said.applied.pop()), "s1: it has lost w2's update"),
            (|said| drop(said.applied.remove(0)), "s1: version 1 of its model is lacking"),
            (
                |said| {
                    let again = said.applied[0].updates[0].clone();
                    said.applied[1].updates.push(again);
                },
                "s1: it has applied the update of w1 of iteration 0 twice",
            ),
        ];
        for (change, expected) in cases {
            let mut said = said();
            change(&mut said);
            let error = check(&setting, &said).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
