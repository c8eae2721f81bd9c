//! Audit of clients in groups: each model is trained again from the version that its client had, and the
//! server's model is merged again from them. A restarted server resumes from a version that is merged again
//! as well; [`Ledger`](super::ledger::Ledger) lists the models that may be lost. In addition, a client's
//! training is wasted if its round ends without it, if the update it pushed before it was killed is in the
//! round (docs/protocol/ps.md, U10, U10a), or if it is excluded.

use std::collections::BTreeMap;

use inart_ps_agent::Checkpoint;
use inart_report::{AppliedUpdate, digest};
use inart_training::Client;

use super::audit::Checked;
use super::records::{Applied, Records, Sent};
use super::setting::{Clients, Setting};
use super::versions::{Terms, Versions};
use crate::error::Error;

const WORDS: Terms = Terms {
    pushed: "model of round",
    computed: "trained in round",
    time: "round",
    made: "merged of its clients' models",
    not_made: "not merged of models",
};

/// Trains again what the clients have trained.
///
/// # Errors
/// What differs, is there twice, or is lacking.
pub fn check(
    setting: &Setting,
    clients: &Clients,
    groups: usize,
    records: &Records,
) -> Result<Checked, Error> {
    let mut audit = Audit::new(setting, clients, groups, records)?;
    let mut evaluations = Vec::new();
    for (at, applied) in records.applied.iter().enumerate() {
        while audit.versions.incarnation < applied.incarnation {
            audit.start_again()?;
        }
        audit.apply(applied)?;
        audit.versions.forget(at + 1);
        if audit.versions.version.is_multiple_of(groups as u64) || at + 1 == records.applied.len() {
            evaluations.push((applied.at_ns, audit.clients[0].evaluate(&audit.versions.model)));
        }
    }
    while audit.versions.incarnation < records.restarts.len() {
        audit.start_again()?;
    }
    let is_excused = |versions: &Versions<'_>, client: usize, name: &str, sent: &Sent| {
        is_late(versions, groups, client, name, sent)
    };
    let (wasted_updates, lost) = audit.versions.losses(is_excused)?;
    Ok(Checked { updates: audit.counts.iter().sum(), wasted_updates, lost, evaluations })
}

struct Audit<'a> {
    versions: Versions<'a>,
    rule: &'a Clients,
    clients: Vec<Client>,
    /// Round that each group collects for; counted from 0 in each incarnation of the server.
    rounds: Vec<u64>,
    /// By client, its models that were merged.
    counts: Vec<u64>,
}

impl<'a> Audit<'a> {
    fn new(
        setting: &'a Setting,
        rule: &'a Clients,
        groups: usize,
        records: &'a Records,
    ) -> Result<Self, Error> {
        let participants = setting.job.participants.len();
        let clients = (0..participants).map(|rank| setting.client(rule, rank));
        let clients = clients.collect::<Result<Vec<_>, _>>()?;
        let versions = Versions::new(setting, records, WORDS, clients[0].first_model())?;
        Ok(Audit { versions, rule, clients, rounds: vec![0; groups], counts: vec![0; participants] })
    }

    /// Merges what the server has merged, and compares.
    fn apply(&mut self, applied: &'a Applied) -> Result<(), Error> {
        let version = self.versions.next(applied)?;
        let mut models = Vec::new();
        let mut group = None;
        for update in &applied.updates {
            let (client, values) = self.trained(version, update)?;
            let own = client % self.rounds.len();
            if *group.get_or_insert(own) != own || self.rounds[own] != update.iteration {
                let (name, round) = (&update.worker, update.iteration);
                let why = format!("{name}'s model of round {round} is not of its group's round");
                return Err(self.versions.server(why));
            }
            self.counts[client] += 1;
            models.push(values);
        }
        let Some(group) = group else {
            return Err(self.versions.server(format!("version {version} belongs to no model")));
        };
        self.rounds[group] += 1;
        merge(&mut self.versions.model, &models, self.rounds.len());
        self.versions.add(applied)
    }

    /// The model that a client has to have pushed, and its number.
    fn trained(&mut self, version: u64, update: &'a AppliedUpdate) -> Result<(usize, Vec<f32>), Error> {
        let (name, round) = (update.worker.as_str(), update.iteration);
        let wrong = |why: String| Error::Failed { who: name.to_owned(), why };
        let versions = &mut self.versions;
        let client = versions.number(name);
        let pushed = versions.ledger.arrived(versions.incarnation, name, round);
        if pushed.is_some() && !versions.ledger.apply(versions.incarnation, name, round) {
            return Err(versions.server(format!("it has merged the model of {name} of round {round} twice")));
        }
        let sent = client.zip(pushed).and_then(|(client, pushed)| versions.ledger.copy(client, pushed));
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
        let base = self.versions.pulled(name, sent)?;
        let mut again = self.clients[client].train(&base, sent.iteration);
        if self.rule.opposite.contains(&client) {
            again.iter_mut().zip(&base).for_each(|(value, from)| *value = from - (*value - from));
        }
        let again = self.versions.arriving(&again);
        if sent.sent != digest(&again) {
            let why = format!("its model of round {} is not what its images give", sent.iteration);
            return Err(Error::Failed { who: name.to_owned(), why });
        }
        Ok(again)
    }

    /// Restarts the server from its checkpoint: the version that it reported last, or a later one, merged of
    /// models that its clients had trained by then.
    fn start_again(&mut self) -> Result<(), Error> {
        let (kept, at_ns) = self.versions.kept()?;
        if kept.version > self.versions.version {
            self.unreported(&kept, at_ns)?;
        }
        self.rounds.fill(0);
        self.versions.resume(&kept)
    }

    /// A server that was killed between keeping and telling has merged one more model of some clients.
    fn unreported(&mut self, kept: &Checkpoint, at_ns: u64) -> Result<(), Error> {
        let groups = self.rounds.len();
        let mut merged: BTreeMap<usize, Vec<Vec<f32>>> = BTreeMap::new();
        for client in 0..self.counts.len() {
            let done = kept.done.get(client).copied().unwrap_or(0);
            if done <= self.counts[client] {
                continue;
            }
            let (setting, incarnation, group) =
                (self.versions.setting, self.versions.incarnation, client % groups);
            let name = setting.job.participants[client].name.as_str();
            let round = self.rounds[group];
            if let Some(sent) = self.versions.ledger.unreported_copy(incarnation, client, name, round, at_ns)
            {
                let again = self.again(client, name, sent)?;
                merged.entry(group).or_default().push(again);
                self.counts[client] = done;
            }
        }
        let merged: Vec<_> = merged.into_values().collect();
        if kept.version - self.versions.version != merged.len() as u64 {
            return Err(self.versions.not_made(kept));
        }
        self.versions.make_unreported(kept, merged.len(), |model, place| merge(model, &merged[place], groups))
    }
}

/// Returns whether the round ended without a model, or before it could; or with one of an earlier process of
/// this client; or whether the client was excluded.
fn is_late(versions: &Versions<'_>, groups: usize, client: usize, name: &str, sent: &Sent) -> bool {
    let left_out = versions.records.counted.iter().flat_map(|counted| &counted.left_out);
    if left_out.flatten().any(|other| other == name) {
        return true;
    }
    let (_, next) = versions.ledger.neighbors(client, sent);
    let incarnation = versions.records.restarts.iter().filter(|again| again.at_ns <= sent.began_ns).count();
    if let Some(pushed) = versions.ledger.arrived(incarnation, name, sent.iteration) {
        let copies = versions.records.sent.get(&(client, sent.iteration)).into_iter().flatten();
        let mut others = copies.filter(|copy| copy.incarnation < sent.incarnation);
        return others.any(|copy| copy.sent == pushed.pushed);
    }
    let is_of = |applied: &&Applied| {
        let first = applied.updates.first();
        let group = first.and_then(|update| versions.number(&update.worker));
        group.is_some_and(|first| first % groups == client % groups)
            && first.is_some_and(|update| update.iteration == sent.iteration)
    };
    let mut own = versions.records.applied.iter().filter(|applied| applied.incarnation == incarnation);
    // Its last one may be in flight when the training ends.
    own.any(|applied| is_of(&applied)) || next.is_none() && versions.records.counted.is_some()
}

/// Adds the mean of a group's models, as one of `groups` groups.
fn merge(model: &mut [f32], models: &[Vec<f32>], groups: usize) {
    let (count, part) = (models.len() as f64, 1.0 / groups as f64);
    for (at, value) in model.iter_mut().enumerate() {
        let sum = models.iter().fold(0.0, |sum, own| sum + f64::from(own[at]));
        let mean = (sum / count) as f32;
        *value = (f64::from(*value) * (1.0 - part) + f64::from(mean) * part) as f32;
    }
}
