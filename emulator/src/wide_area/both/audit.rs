//! What every sum has to be: what all workers say they have sent, and the gradients of sites without workers,
//! added here.

use std::collections::BTreeMap;
use std::io;

use inart_core::quantise::dequantise;
use inart_host_agent::report::RoundReport;
use inart_site_agent::gradient::{VALUE_BYTES, first_exponent, reduce};
use inart_trainer::{Config, Trainer};
use inart_wire::{Exponent, Rank};

use super::super::audit::{digest, random_gradient};
use super::super::processes::Rounds;
use super::setting::BothSetting;
use crate::error::Error;

/// What a worker has put in and got, and its times.
type Reports = BTreeMap<(usize, Rank), RoundReport>;

/// When a worker began a round and ended it, in nanoseconds of the system's monotonic clock.
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
    /// Of all contributors; none without training.
    trainers: Vec<Trainer>,
    seed: u64,
    frame: usize,
    chunk_values: Vec<usize>,
    exponents: Vec<Exponent>,
    /// By round, from 0.
    reports: BTreeMap<u32, Reports>,
    /// Of rounds whose workers all have what they should have: the sum's digest.
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
        let longest = inart_overlay::longest_chunk(job, setting.scheme);
        let chunk_values: Vec<usize> = inart_overlay::cut(&job.tensors_bytes, longest)
            .iter()
            .map(|&bytes| bytes as usize / VALUE_BYTES)
            .collect();
        Ok(Self {
            sites: names.iter().map(|name| inside(name).ok_or_else(|| place(name))).collect(),
            workers: workers.collect(),
            trainers,
            seed: setting.between.seed,
            frame: setting.values.get(),
            exponents: vec![first_exponent(names.len()); chunk_values.len()],
            chunk_values,
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
        let (round, values) = (self.rounds() + 1, self.chunk_values.iter().sum());
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
        let sum = reduce(&of_sites, &self.chunk_values, &mut self.exponents);
        for ((inside, rank), report) in reports {
            let floats = report.result.chunks(self.frame).zip(&report.result_exponents);
            let read = floats.flat_map(|(values, exponent)| {
                let exponent = Exponent::saturating((*exponent).into());
                values.iter().map(move |value| dequantise(*value, exponent))
            });
            let differs = read.zip(&sum).position(|(seen, right)| seen.to_bits() != right.to_bits());
            if let Some(at) = differs.or((report.result.len() != sum.len()).then_some(sum.len())) {
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

    /// The sum of what a site's workers say they have sent, in 128 bits, then as the nearest floats; where
    /// they train, after it was found to be their gradients.
    fn own_sum(&self, inside: usize, reports: &Reports, gradients: &[Vec<f32>]) -> Result<Vec<f32>, Error> {
        let of: Vec<&RoundReport> =
            reports.iter().filter(|((at, _), _)| *at == inside).map(|(_, report)| report).collect();
        let who =
            |rank: usize| format!("worker {} of site {}", self.workers[inside][rank].0, self.name(inside));
        let values: usize = self.chunk_values.iter().sum();
        for (rank, report) in of.iter().enumerate() {
            if report.sent.len() != values || report.exponents != of[0].exponents {
                let what = format!("it sent {} values of {values}, or by other exponents", report.sent.len());
                return Err(wrong(who(rank), what));
            }
            let Some(gradient) = gradients.get(self.workers[inside][rank].1) else { continue };
            let is_of = |(at, sent): (usize, &i32)| {
                let unit = 2f64.powi(of[0].exponents[at / self.frame].into());
                (f64::from(gradient[at]) / unit).round_ties_even() as i64 == i64::from(*sent)
            };
            if let Some(at) = report.sent.iter().enumerate().position(|sent| !is_of(sent)) {
                return Err(wrong(who(rank), format!("value {at} of what it sent is not its gradient's")));
            }
        }
        let mut sum = Vec::with_capacity(values);
        for (chunk, start) in (0..values).step_by(self.frame).enumerate() {
            let exact: Vec<i128> = (start..(start + self.frame).min(values))
                .map(|at| of.iter().map(|report| i128::from(report.sent[at])).sum())
                .collect();
            let divided =
                |by: i32| exact.iter().map(move |value| (*value as f64 / 2f64.powi(by)).round_ties_even());
            let fits = |by: &i32| divided(*by).all(|value| (-2147483648.0..=2147483647.0).contains(&value));
            let by = (0..32).find(fits).unwrap_or(32);
            let unit = 2f64.powi(i32::from(of[0].exponents[chunk]) + by);
            sum.extend(divided(by).map(|value| (value * unit) as f32));
        }
        Ok(sum)
    }

    /// Compares the sums of sites that have not been compared yet.
    pub fn check(&mut self, rounds: &Rounds) -> Result<(), Error> {
        for (&round, sites) in rounds {
            let Some(expected) = self.expected.get(round as usize - 1) else { continue };
            for (&site, said) in sites {
                if said.sum != *expected {
                    let what = format!("its sum of round {round} differs");
                    return Err(wrong(format!("site {}", self.names[site]), what));
                }
                if self.sites_checked.insert((round, site), ()).is_none() {
                    self.sums += self.chunk_values.iter().sum::<usize>() as u64;
                }
            }
        }
        Ok(())
    }
}
