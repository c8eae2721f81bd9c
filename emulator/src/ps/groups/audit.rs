//! Audit of hierarchical groups: each update is computed again from the model that its group had, each sum is
//! added here, each answer and each version of the model is computed again, in round-robin order.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_host_agent::report::RoundReport;
use inart_planner_ps::Racks;
use inart_protocol_aggregation::audit::sum_of;
use inart_protocol_aggregation::{Assignment, Split};
use inart_report::{Line, TurnEnd, digest};
use inart_topologies::units::counted;
use inart_training::{Evaluation, Stepper};
use inart_wire::Rank;

use super::processes::Records;
use super::setting::RackSetting;
use crate::error::Error;
use crate::sites::differs;

/// A worker's report is of how many at most that wait for others.
type Reports = BTreeMap<Rank, RoundReport>;

/// Compares turns as they come.
pub struct Audit {
    /// Name and training of each worker, by group and rank.
    workers: Vec<Vec<(String, Stepper)>>,
    /// By server: its part of the model.
    parts: Vec<Range<usize>>,
    servers: Vec<String>,
    model: Vec<f32>,
    /// By group: what it has.
    has: Vec<Vec<f32>>,
    iterations: u32,
    batch: usize,
    /// By group and iteration: what has come.
    reports: BTreeMap<(usize, u32), Reports>,
    turns: u64,
    sums: u64,
    /// By turn: the digest of each server's part of the model.
    versions: Vec<Vec<String>>,
    /// By turn, of some: how good the model was.
    evaluations: Vec<(u64, Evaluation)>,
}

fn wrong(who: &str, what: String) -> Error {
    Error::Failed { who: who.to_owned(), why: what + "; this is a defect" }
}

impl Audit {
    pub fn new(setting: &RackSetting, racks: &Racks, assignments: &[Assignment]) -> Result<Self, Error> {
        let mut workers = Vec::new();
        for (group, assignment) in racks.groups.iter().zip(assignments) {
            let own = group.members.iter().zip(&assignment.workers);
            let own = own.map(|(&at, worker)| Ok((worker.name.clone(), setting.stepper(at)?)));
            workers.push(own.collect::<Result<Vec<_>, Error>>()?);
        }
        let model = setting.stepper(0)?.first_model();
        let split = Split::new(&assignments[0], model.len());
        Ok(Audit {
            workers,
            parts: split.shards().to_vec(),
            servers: assignments[0].shards.iter().map(|shard| shard.server.clone()).collect(),
            has: vec![model.clone(); assignments.len()],
            model,
            iterations: setting.iterations,
            batch: setting.batch,
            reports: BTreeMap::new(),
            turns: 0,
            sums: 0,
            versions: Vec::new(),
            evaluations: Vec::new(),
        })
    }

    /// Returns the number of turns that were correct at all workers.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Values of sums and answers that were compared.
    pub fn sums(&self) -> u64 {
        self.sums
    }

    /// A worker has ended an iteration.
    pub fn take(&mut self, group: usize, rank: Rank, report: RoundReport) -> Result<(), Error> {
        let round = report.round;
        if self.reports.entry((group, round)).or_default().insert(rank, report).is_some() {
            let (name, _) = &self.workers[group][rank.index()];
            return Err(wrong(name, format!("it has ended iteration {round} twice")));
        }
        loop {
            let groups = self.workers.len() as u64;
            let (group, iteration) = ((self.turns % groups) as usize, (self.turns / groups) as u32);
            let is_whole = |reports: &Reports| reports.len() == self.workers[group].len();
            if !self.reports.get(&(group, iteration)).is_some_and(is_whole) {
                return Ok(());
            }
            let reports = self.reports.remove(&(group, iteration)).unwrap_or_default();
            self.check(group, iteration, &reports)?;
        }
    }

    fn check(&mut self, group: usize, iteration: u32, reports: &Reports) -> Result<(), Error> {
        let who = |name: &str| format!("worker {name}");
        for (rank, report) in reports {
            let (name, stepper) = &mut self.workers[group][rank.index()];
            let update = stepper.update(&self.has[group], iteration.into(), self.batch)?;
            if let Some(at) = differs(&report.sent, &update) {
                let what = format!("value {at} of what it sent in iteration {iteration} is not its update's");
                return Err(wrong(&who(name), what));
            }
        }
        let sent: Vec<_> = reports.values().map(|report| &report.sent[..]).collect();
        let (sum, has) = (sum_of(&sent, sent.len(), false), &mut self.has[group]);
        self.model.iter_mut().zip(&sum).for_each(|(value, change)| *value += change);
        let changes: Vec<f32> = self.model.iter().zip(&*has).map(|(value, has)| value - has).collect();
        has.iter_mut().zip(&changes).for_each(|(value, change)| *value += change);
        for (rank, report) in reports {
            if let Some(at) = differs(&report.result, &changes) {
                let (name, _) = &self.workers[group][rank.index()];
                let what =
                    format!("value {at} of the model of iteration {iteration} is not what it has to be");
                return Err(wrong(&who(name), what));
            }
        }
        self.sums += 2 * (changes.len() * reports.len()) as u64;
        self.versions.push(self.parts.iter().map(|part| digest(&self.model[part.clone()])).collect());
        self.turns += 1;
        let groups = self.workers.len() as u64;
        if self.turns.is_multiple_of(groups) {
            let (_, stepper) = &mut self.workers[0][0];
            self.evaluations.push((self.turns - 1, stepper.evaluate(&self.model)));
        }
        Ok(())
    }

    /// Compares the servers' versions with these, and returns after which turn the model was how good.
    pub fn end(&self, records: &Records) -> Result<Vec<(u64, Evaluation)>, Error> {
        let groups = self.workers.len() as u64;
        let all = groups * u64::from(self.iterations);
        if self.turns != all {
            return Err(wrong("the training", format!("{} of {all} turns were ended by all", self.turns)));
        }
        for (server, lines) in records.servers.iter().enumerate() {
            let who = format!("server {}", self.servers[server]);
            let ends: Vec<_> = lines
                .iter()
                .filter_map(|line| match line {
                    Line::Ends(TurnEnd { group, turn, staleness, digest, .. }) => {
                        Some((*group, *turn, *staleness, digest))
                    }
                    _ => None,
                })
                .collect();
            if ends.len() as u64 != all {
                return Err(wrong(&who, format!("it has ended {} of {all}", counted(ends.len(), "turn"))));
            }
            for (at, (group, turn, staleness, digest)) in (0..).zip(ends) {
                if (group as u64, turn, staleness) != (at % groups, at, at.min(groups - 1)) {
                    return Err(wrong(
                        &who,
                        format!("turn {at} is that of group {group}, {staleness} stale"),
                    ));
                }
                if *digest != self.versions[at as usize][server] {
                    return Err(wrong(
                        &who,
                        format!("its model after turn {at} is not the sum of its updates"),
                    ));
                }
            }
        }
        Ok(self.evaluations.clone())
    }
}
