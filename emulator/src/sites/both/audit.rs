//! Audit of every sum: the gradients that all workers report as sent, and those of sites without workers,
//! added here.

use std::collections::BTreeMap;
use std::io;

use inart_host_agent::report::RoundReport;
use inart_protocol_aggregation::audit::sum_of;
use inart_report::{digest, random_gradient};
use inart_sites_agent::audit::sum_of_sites;
use inart_sites_agent::gradient::VALUE_BYTES;
use inart_training::{Config, Trainer};
use inart_wire::Rank;

use super::super::audit::differs;
use super::super::processes::Rounds;
use super::setting::BothSetting;
use crate::error::Error;

/// Reports of workers by site and rank: gradients, sums, times.
type Reports = BTreeMap<(usize, Rank), RoundReport>;

/// Times of a worker's start and end of a round, in nanoseconds of the system's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct WorkerTime {
    pub began_ns: u64,
    pub ended_ns: u64,
}

/// Compares rounds as they come.
pub struct Audit {
    /// By site of the job: which inside it has, or else its place among the contributors.
    sites: Vec<Result<usize, usize>>,
    names: Vec<String>,
    /// By inside: the names of its workers, and the places of theirs among the contributors.
    workers: Vec<Vec<(String, usize)>>,
    /// Trainers of all contributors; empty without training.
    trainers: Vec<Trainer>,
    seed: u64,
    /// Values of each tensor of a gradient.
    tensors: Vec<usize>,
    /// By round, from 0.
    reports: BTreeMap<u32, Reports>,
    /// Digest of the sum of each round whose workers all have the correct sum.
    expected: Vec<String>,
    times: Vec<Vec<WorkerTime>>,
    sites_checked: BTreeMap<(u32, usize), ()>,
    sums: u64,
}

fn wrong(who: String, what: String) -> Error {
    Error::System { what: format!("believe {who}"), cause: io::Error::other(what + "; this is a defect") }
}

impl Audit {
    pub fn new(setting: &BothSetting) -> Result<Self, Error> {
        let (hierarchy, all) = (&setting.hierarchy, setting.contributors());
        let job = &hierarchy.overlay.jobs()[0];
        let names: Vec<String> =
            job.sites.iter().map(|&site| hierarchy.overlay.site_name(site).to_owned()).collect();
        let inside = |name: &String| hierarchy.insides.iter().position(|inside| inside.site == *name);
        let place = |name: &String| all.iter().position(|one| one.site == *name).unwrap_or(0);
        let workers = hierarchy.insides.iter().map(|inside| {
            let of = all.iter().enumerate().filter(|(_, one)| one.site == inside.site);
            of.filter_map(|(place, one)| Some((one.worker.clone()?, place))).collect()
        });
        let config = |rank, batch| Config { seed: setting.between.seed, rank, workers: all.len(), batch };
        let trainers = match setting.batch() {
            Some(batch) => {
                (0..all.len()).map(|rank| Trainer::new(config(rank, batch))).collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };
        Ok(Self {
            sites: names.iter().map(|name| inside(name).ok_or_else(|| place(name))).collect(),
            workers: workers.collect(),
            trainers,
            seed: setting.between.seed,
            tensors: job.tensors_bytes.iter().map(|bytes| *bytes as usize / VALUE_BYTES).collect(),
            names,
            reports: BTreeMap::new(),
            expected: Vec::new(),
            times: Vec::new(),
            sites_checked: BTreeMap::new(),
            sums: 0,
        })
    }

    /// Rounds whose sums were compared at all workers.
    pub fn rounds(&self) -> u32 {
        self.expected.len() as u32
    }

    /// By round: the times of all workers.
    pub fn times(&self) -> &[Vec<WorkerTime>] {
        &self.times
    }

    /// Values of sums that were compared, at workers and sites.
    pub fn sums(&self) -> u64 {
        self.sums
    }

    /// A worker has ended a round.
    pub fn take(&mut self, inside: usize, rank: Rank, report: RoundReport) -> Result<(), Error> {
        self.reports.entry(report.round).or_default().insert((inside, rank), report);
        let all: usize = self.workers.iter().map(Vec::len).sum();
        while let Some(reports) = self.reports.get(&self.rounds()).filter(|reports| reports.len() == all) {
            let reports = reports.clone();
            self.reports.remove(&self.rounds());
            self.check_round(&reports)?;
        }
        Ok(())
    }

    fn check_round(&mut self, reports: &Reports) -> Result<(), Error> {
        let (round, values) = (self.rounds() + 1, self.tensors.iter().sum());
        let gradients: Vec<Vec<f32>> = self
            .trainers
            .iter_mut()
            .map(|trainer| {
                let mut gradient = vec![0.0; values];
                trainer.gradient(&mut gradient);
                gradient
            })
            .collect();
        let mut of_sites = Vec::new();
        for site in &self.sites {
            of_sites.push(match *site {
                Ok(inside) => self.own_sum(inside, reports, &gradients)?,
                Err(place) if gradients.is_empty() => random_gradient(self.seed, place, round, values),
                Err(place) => gradients[place].clone(),
            });
        }
        let of_sites: Vec<_> = of_sites.iter().map(|values| &values[..]).collect();
        let sum = sum_of_sites(&of_sites, &self.tensors);
        for ((inside, rank), report) in reports {
            if let Some(at) = differs(&report.result, &sum) {
                let who = format!(
                    "worker {} of site {}",
                    self.workers[*inside][rank.index()].0,
                    self.name(*inside)
                );
                return Err(wrong(who, format!("its sum of round {round} differs in value {at}")));
            }
            self.sums += sum.len() as u64;
        }
        self.trainers.iter_mut().for_each(|trainer| trainer.apply(&sum));
        self.expected.push(digest(&sum));
        let time = |report: &RoundReport| WorkerTime {
            began_ns: report.ended_ns - ((report.comm_seconds * 1e9) as u64).min(report.ended_ns),
            ended_ns: report.ended_ns,
        };
        self.times.push(reports.values().map(time).collect());
        Ok(())
    }

    fn name(&self, inside: usize) -> &str {
        let at = self.sites.iter().position(|site| *site == Ok(inside));
        at.map_or("", |at| &self.names[at])
    }

    /// Returns the sum of the gradients that a site's workers report, tensor by tensor; with training, after
    /// a check that they are correct.
    fn own_sum(&self, inside: usize, reports: &Reports, gradients: &[Vec<f32>]) -> Result<Vec<f32>, Error> {
        let of: Vec<&[f32]> =
            reports.iter().filter(|((at, _), _)| *at == inside).map(|(_, report)| &report.sent[..]).collect();
        let who =
            |rank: usize| format!("worker {} of site {}", self.workers[inside][rank].0, self.name(inside));
        let values: usize = self.tensors.iter().sum();
        for (rank, sent) in of.iter().enumerate() {
            if sent.len() != values {
                return Err(wrong(who(rank), format!("it sent {} values of {values}", sent.len())));
            }
            let Some(gradient) = gradients.get(self.workers[inside][rank].1) else { continue };
            if let Some(at) = differs(sent, gradient) {
                return Err(wrong(who(rank), format!("value {at} of what it sent is not its gradient's")));
            }
        }
        let mut sum = Vec::with_capacity(values);
        for tensor in &self.tensors {
            let range = sum.len()..sum.len() + tensor;
            let parts: Vec<_> = of.iter().map(|sent| &sent[range.clone()]).collect();
            sum.extend(sum_of(&parts, of.len(), false));
        }
        Ok(sum)
    }

    /// Compares the sums of sites that have not been compared yet.
    pub fn check(&mut self, rounds: &Rounds) -> Result<(), Error> {
        for (&round, sites) in rounds {
            let Some(expected) = self.expected.get(round as usize - 1) else { continue };
            for (&site, report) in sites {
                if report.sum != *expected {
                    let what = format!("its sum of round {round} differs");
                    return Err(wrong(format!("site {}", self.names[site]), what));
                }
                if self.sites_checked.insert((round, site), ()).is_none() {
                    self.sums += self.tensors.iter().sum::<usize>() as u64;
                }
            }
        }
        Ok(())
    }
}
