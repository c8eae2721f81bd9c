//! What has to be of clients in groups: each model trained again from the version that its client had, and
//! the server's model merged again from them.

use std::collections::{BTreeMap, BTreeSet};

use inart_order_agent::as_received;
use inart_trainer::Client;

use super::audit::{CHUNK_VALUES, Checked, arrived};
use super::processes::{Applied, AppliedUpdate, Pushed, Said};
use super::setting::{Clients, Setting};
use crate::error::Error;
use crate::wide_area::digest;

/// Trains again what the clients have trained.
///
/// # Errors
/// What differs, is there twice, or is lacking.
pub fn check(setting: &Setting, clients: &Clients, groups: usize, said: &Said) -> Result<Checked, Error> {
    let mut audit = Audit::new(setting, clients, groups, said)?;
    let mut learnt = Vec::new();
    for (at, applied) in said.applied.iter().enumerate() {
        let version = at as u64 + 1;
        audit.apply(version, applied)?;
        // What nobody after it was trained from.
        let after = said.applied[at + 1..].iter().flat_map(|applied| &applied.updates);
        let bases = after.filter_map(|update| audit.arrived.get(&(update.worker.as_str(), update.iteration)));
        let oldest = bases.map(|pushed| pushed.base).min().unwrap_or(version);
        audit.versions.retain(|version, _| *version >= oldest);
        if version.is_multiple_of(groups as u64) || version as usize == said.applied.len() {
            learnt.push((applied.at_ns, audit.clients[0].evaluate(&audit.model)));
        }
    }
    let lost = audit.arrived.keys().find(|(name, round)| !audit.done.contains(&(*name, *round)));
    if let Some((name, round)) = lost {
        return Err(audit.failed(format!("it has lost {name}'s model of round {round}")));
    }
    Ok(Checked { updates: audit.done.len() as u64, learnt })
}

struct Audit<'a> {
    setting: &'a Setting,
    rule: &'a Clients,
    said: &'a Said,
    clients: Vec<Client>,
    arrived: BTreeMap<(&'a str, u64), &'a Pushed>,
    versions: BTreeMap<u64, Vec<f32>>,
    model: Vec<f32>,
    done: BTreeSet<(&'a str, u64)>,
    /// By group, the round that it collects for.
    rounds: Vec<u64>,
}

impl<'a> Audit<'a> {
    fn new(setting: &'a Setting, rule: &'a Clients, groups: usize, said: &'a Said) -> Result<Self, Error> {
        let clients = (0..setting.job.participants.len()).map(|rank| setting.client(rule, rank));
        let clients = clients.collect::<Result<Vec<_>, _>>()?;
        let model = clients[0].first_model();
        Ok(Audit {
            setting,
            rule,
            said,
            arrived: arrived(said)?,
            versions: BTreeMap::from([(0, model.clone())]),
            model,
            clients,
            done: BTreeSet::new(),
            rounds: vec![0; groups],
        })
    }

    fn failed(&self, why: String) -> Error {
        Error::Failed { who: self.setting.server.clone(), why }
    }

    /// Merges what the server has merged, and compares.
    fn apply(&mut self, version: u64, applied: &'a Applied) -> Result<(), Error> {
        if applied.applied != version {
            return Err(self.failed(format!("version {version} of its model is lacking")));
        }
        let mut sum = vec![0.0f64; self.model.len()];
        let mut group = None;
        for update in &applied.updates {
            let (client, values) = self.trained(version, update)?;
            let own = client % self.rounds.len();
            if *group.get_or_insert(own) != own || self.rounds[own] != update.iteration {
                let (name, round) = (&update.worker, update.iteration);
                return Err(
                    self.failed(format!("{name}'s model of round {round} is not of its group's round"))
                );
            }
            sum.iter_mut().zip(&values).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let Some(group) = group else {
            return Err(self.failed(format!("version {version} is of nobody's model")));
        };
        self.rounds[group] += 1;
        let (count, part) = (applied.updates.len() as f64, 1.0 / self.rounds.len() as f64);
        for (value, sum) in self.model.iter_mut().zip(&sum) {
            let mean = (sum / count) as f32;
            *value = (f64::from(*value) * (1.0 - part) + f64::from(mean) * part) as f32;
        }
        if applied.model.as_ref().is_some_and(|own| *own != digest(&self.model)) {
            return Err(self.failed(format!("version {version} is not merged of its clients' models")));
        }
        self.versions.insert(version, self.model.clone());
        Ok(())
    }

    /// The model that a client has to have pushed, and its number.
    fn trained(&mut self, version: u64, update: &'a AppliedUpdate) -> Result<(usize, Vec<f32>), Error> {
        let (name, round) = (update.worker.as_str(), update.iteration);
        let wrong = |why: String| Error::Failed { who: name.to_owned(), why };
        let client = self.setting.job.participants.iter().position(|client| client.name == name);
        let sent = client.and_then(|client| self.said.sent.get(&(client, round)));
        let pushed = self.arrived.get(&(name, round));
        let (Some(client), Some([sent]), Some(pushed)) = (client, sent.map(Vec::as_slice), pushed) else {
            return Err(wrong(format!("its model of round {round} was not trained once and taken once")));
        };
        if !self.done.insert((name, round)) {
            return Err(self.failed(format!("it has merged the model of {name} of round {round} twice")));
        }
        let arriving = |values: &[f32]| as_received(values, CHUNK_VALUES, self.setting.precision);
        let base = self.versions.get(&pushed.base).map(|values| arriving(values));
        let Some(base) = base.filter(|base| pushed.base == sent.base && digest(base) == sent.model) else {
            return Err(wrong(format!("what it pulled for round {round} is no version")));
        };
        let mut again = self.clients[client].train(&base, round);
        if self.rule.opposite.contains(&client) {
            again.iter_mut().zip(&base).for_each(|(value, from)| *value = from - (*value - from));
        }
        let again = arriving(&again);
        let expected = digest(&again);
        if sent.sent != expected || pushed.pushed != expected {
            return Err(wrong(format!("its model of round {round} is not what its images give")));
        }
        if update.staleness != (version - 1).saturating_sub(pushed.base) {
            return Err(wrong(format!("round {round} is not {} stale", update.staleness)));
        }
        Ok((client, again))
    }
}
