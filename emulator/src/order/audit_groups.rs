//! What has to be of clients in groups: each model trained again from the version that its client had, and
//! the server's model merged again from them. A server that was killed goes on from a version that is merged
//! again as well; see [`Ledger`] for what may be lost. In addition, a client trains in vain if its round ends
//! without it, if what it pushed before it was killed is in the round (docs/protocol.md, U10, U10a), or if it
//! is left out.

use std::collections::BTreeMap;

use inart_order_agent::{Kept, as_received};
use inart_trainer::Client;

use super::audit::{CHUNK_VALUES, Checked};
use super::ledger::{Ledger, orders};
use super::said::{Applied, AppliedUpdate, Pushed, Restart, Said, Sent};
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
        while audit.life < applied.life {
            audit.start_again()?;
        }
        audit.apply(applied)?;
        // What nobody after it was trained from.
        let oldest = audit.ledger.oldest_base(at + 1, applied.life).unwrap_or(audit.version);
        audit.versions.retain(|version, _| *version >= oldest);
        if audit.version.is_multiple_of(groups as u64) || at + 1 == said.applied.len() {
            learnt.push((applied.at_ns, audit.clients[0].evaluate(&audit.model)));
        }
    }
    while audit.life < said.restarts.len() {
        audit.start_again()?;
    }
    let (in_vain, lost) = audit.losses()?;
    Ok(Checked { updates: audit.counts.iter().sum(), in_vain, lost, learnt })
}

struct Audit<'a> {
    setting: &'a Setting,
    rule: &'a Clients,
    said: &'a Said,
    ledger: Ledger<'a>,
    clients: Vec<Client>,
    /// How often the server was started again.
    life: usize,
    version: u64,
    model: Vec<f32>,
    versions: BTreeMap<u64, Vec<f32>>,
    /// By group, the round that it collects for; counted anew in each life of the server.
    rounds: Vec<u64>,
    /// By client, its models that were merged.
    counts: Vec<u64>,
}

impl<'a> Audit<'a> {
    fn new(setting: &'a Setting, rule: &'a Clients, groups: usize, said: &'a Said) -> Result<Self, Error> {
        let participants = setting.job.participants.len();
        let clients = (0..participants).map(|rank| setting.client(rule, rank));
        let clients = clients.collect::<Result<Vec<_>, _>>()?;
        let model = clients[0].first_model();
        Ok(Audit {
            setting,
            rule,
            said,
            ledger: Ledger::new(said)?,
            life: 0,
            version: 0,
            versions: BTreeMap::from([(0, model.clone())]),
            model,
            clients,
            rounds: vec![0; groups],
            counts: vec![0; participants],
        })
    }

    fn failed(&self, why: String) -> Error {
        Error::Failed { who: self.setting.server.clone(), why }
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.setting.job.participants.iter().position(|client| client.name == name)
    }

    /// Merges what the server has merged, and compares.
    fn apply(&mut self, applied: &'a Applied) -> Result<(), Error> {
        let version = self.version + 1;
        if applied.applied != version {
            return Err(self.failed(format!("version {version} of its model is lacking")));
        }
        let mut models = Vec::new();
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
            self.counts[client] += 1;
            models.push(values);
        }
        let Some(group) = group else {
            return Err(self.failed(format!("version {version} is of nobody's model")));
        };
        self.rounds[group] += 1;
        merge(&mut self.model, &models, self.rounds.len());
        if applied.model.as_ref().is_some_and(|own| *own != digest(&self.model)) {
            return Err(self.failed(format!("version {version} is not merged of its clients' models")));
        }
        self.version = version;
        self.versions.insert(version, self.model.clone());
        Ok(())
    }

    /// The model that a client has to have pushed, and its number.
    fn trained(&mut self, version: u64, update: &'a AppliedUpdate) -> Result<(usize, Vec<f32>), Error> {
        let (name, round) = (update.worker.as_str(), update.iteration);
        let wrong = |why: String| Error::Failed { who: name.to_owned(), why };
        let client = self.number(name);
        let pushed = self.ledger.arrived(self.life, name, round);
        if pushed.is_some() && !self.ledger.apply(self.life, name, round) {
            return Err(self.failed(format!("it has merged the model of {name} of round {round} twice")));
        }
        let sent = client.zip(pushed).and_then(|(client, pushed)| self.ledger.copy(client, pushed));
        let (Some(client), Some(pushed), Some(sent)) = (client, pushed, sent) else {
            return Err(wrong(format!("its model of round {round} was not trained once and taken once")));
        };
        let again = self.again(client, name, sent)?;
        if pushed.pushed != sent.sent {
            return Err(wrong(format!("its model of round {round} is not what its images give")));
        }
        if update.staleness != version - 1 - pushed.base {
            return Err(wrong(format!("round {round} is not {} stale", update.staleness)));
        }
        Ok((client, again))
    }

    /// Trains a model again, and compares.
    fn again(&mut self, client: usize, name: &str, sent: &Sent) -> Result<Vec<f32>, Error> {
        let round = sent.iteration;
        let wrong = |why: String| Error::Failed { who: name.to_owned(), why };
        let arriving = |values: &[f32]| as_received(values, CHUNK_VALUES, self.setting.precision);
        let base = self.versions.get(&sent.base).map(|values| arriving(values));
        let Some(base) = base.filter(|base| digest(base) == sent.model) else {
            return Err(wrong(format!("what it pulled for round {round} is no version")));
        };
        let mut again = self.clients[client].train(&base, round);
        if self.rule.opposite.contains(&client) {
            again.iter_mut().zip(&base).for_each(|(value, from)| *value = from - (*value - from));
        }
        let again = arriving(&again);
        if sent.sent != digest(&again) {
            return Err(wrong(format!("its model of round {round} is not what its images give")));
        }
        Ok(again)
    }

    /// The server goes on from what it has kept: the version that it told last, or a later one, which is
    /// merged of models that its clients had trained by then.
    fn start_again(&mut self) -> Result<(), Error> {
        let Restart { at_ns, kept } = &self.said.restarts[self.life];
        let first =
            || Kept { version: 0, done: vec![0; self.counts.len()], values: self.clients[0].first_model() };
        let kept = kept.clone().unwrap_or_else(first);
        if kept.version < self.version {
            let why = format!("it went on from version {}, and had told of {}", kept.version, self.version);
            return Err(self.failed(why));
        }
        if kept.version > self.version {
            self.untold(&kept, *at_ns)?;
        }
        if digest(&kept.values) != digest(&self.model) {
            return Err(self.failed(format!("what it has kept is not its version {}", kept.version)));
        }
        self.version = kept.version;
        self.versions = BTreeMap::from([(kept.version, self.model.clone())]);
        self.rounds.fill(0);
        self.life += 1;
        Ok(())
    }

    /// A server that was killed between keeping and telling has merged one more model of some clients.
    fn untold(&mut self, kept: &Kept, at_ns: u64) -> Result<(), Error> {
        let groups = self.rounds.len();
        let mut merged: BTreeMap<usize, Vec<Vec<f32>>> = BTreeMap::new();
        for client in 0..self.counts.len() {
            let done = kept.done.get(client).copied().unwrap_or(0);
            if done <= self.counts[client] {
                continue;
            }
            let (setting, group) = (self.setting, client % groups);
            let name = setting.job.participants[client].name.as_str();
            let round = self.rounds[group];
            if let Some(sent) = self.ledger.untold_copy(self.life, client, name, round, at_ns) {
                let again = self.again(client, name, sent)?;
                merged.entry(group).or_default().push(again);
                self.counts[client] = done;
            }
        }
        let (wanted, merged): (_, Vec<_>) = (digest(&kept.values), merged.into_values().collect());
        let is_whole = kept.version - self.version == merged.len() as u64;
        for order in orders(merged.len()).into_iter().filter(|_| is_whole) {
            let mut model = self.model.clone();
            order.into_iter().for_each(|place| merge(&mut model, &merged[place], groups));
            if digest(&model) == wanted {
                self.model = model;
                return Ok(());
            }
        }
        Err(self.failed(format!("what it has kept as version {} is not merged of models", kept.version)))
    }

    /// How many models were trained in vain, and how many were lost with a server.
    fn losses(&mut self) -> Result<(u64, u64), Error> {
        let lost = self.ledger.lost();
        for pushed in &lost {
            let Pushed { worker: name, iteration: round, .. } = pushed;
            let copy = self.number(name).and_then(|client| self.ledger.copy(client, pushed));
            if copy.is_none_or(|copy| copy.sent != pushed.pushed) || !self.ledger.may_be_lost(pushed) {
                return Err(self.failed(format!("it has lost {name}'s model of round {round}")));
            }
        }
        let in_vain = self.ledger.in_vain();
        for (client, sent) in &in_vain {
            let name = &self.setting.job.participants[*client].name;
            if !self.ledger.may_be_in_vain(*client, name, sent) && !self.is_late(*client, name, sent) {
                let why = format!("it has not taken what {name} trained in round {}", sent.iteration);
                return Err(self.failed(why));
            }
        }
        Ok((in_vain.len() as u64, lost.len() as u64))
    }

    /// Whether the round has ended without a model, or before it could; or with one of an earlier process of
    /// this client; or whether the client was left out.
    fn is_late(&self, client: usize, name: &str, sent: &Sent) -> bool {
        let left_out = self.said.counted.iter().flat_map(|counted| &counted.left_out);
        if left_out.into_iter().any(|other| other == name) {
            return true;
        }
        let (_, next) = self.ledger.neighbours(client, sent);
        let life = self.said.restarts.iter().filter(|again| again.at_ns <= sent.began_ns).count();
        if let Some(pushed) = self.ledger.arrived(life, name, sent.iteration) {
            let copies = self.said.sent.get(&(client, sent.iteration)).into_iter().flatten();
            let mut others = copies.filter(|copy| copy.process < sent.process);
            return others.any(|copy| copy.sent == pushed.pushed);
        }
        let is_of = |applied: &&Applied| {
            let first = applied.updates.first();
            let group = first.and_then(|update| self.number(&update.worker));
            group.is_some_and(|first| first % self.rounds.len() == client % self.rounds.len())
                && first.is_some_and(|update| update.iteration == sent.iteration)
        };
        let mut own = self.said.applied.iter().filter(|applied| applied.life == life);
        // Its last one may be under way when the training ends.
        own.any(|applied| is_of(&applied)) || next.is_none() && self.said.counted.is_some()
    }
}

/// Adds the mean of a group's models, as one of so many groups.
fn merge(model: &mut [f32], models: &[Vec<f32>], groups: usize) {
    let (count, part) = (models.len() as f64, 1.0 / groups as f64);
    for (at, value) in model.iter_mut().enumerate() {
        let sum = models.iter().fold(0.0, |sum, own| sum + f64::from(own[at]));
        let mean = (sum / count) as f32;
        *value = (f64::from(*value) * (1.0 - part) + f64::from(mean) * part) as f32;
    }
}
