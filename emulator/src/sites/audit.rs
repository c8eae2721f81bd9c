//! Audit of every sum: the gradients of all sites, computed again and added here.

use std::collections::BTreeSet;

use inart_report::{digest, random_gradient};
use inart_sites_agent::audit::sum_of_sites;
use inart_sites_agent::gradient::VALUE_BYTES;
use inart_training::{Config, Trainer};

use super::processes::Rounds;
use super::setting::{Setting, Workload};
use crate::error::Error;

/// Recomputes rounds as they come.
pub struct Audit {
    trainers: Vec<Trainer>,
    seed: u64,
    sites: usize,
    tensors: Vec<usize>,
    /// Digest of each round, from 1 on.
    expected: Vec<String>,
    checked: BTreeSet<(u32, usize)>,
}

/// Returns the index of the first value with wrong bits.
pub fn differs(seen: &[f32], right: &[f32]) -> Option<usize> {
    let at = seen.iter().zip(right).position(|(seen, right)| seen.to_bits() != right.to_bits());
    at.or((seen.len() != right.len()).then_some(right.len().min(seen.len())))
}

impl Audit {
    pub fn new(setting: &Setting) -> Result<Self, Error> {
        let job = &setting.overlay.jobs()[0];
        let workers = job.sites.len();
        let trainers = match setting.workload {
            Workload::Random => Vec::new(),
            Workload::Training { batch } => (0..workers)
                .map(|rank| Trainer::new(Config { seed: setting.seed, rank, workers, batch }))
                .collect::<Result<_, _>>()?,
        };
        Ok(Self {
            trainers,
            seed: setting.seed,
            sites: workers,
            tensors: job.tensors_bytes.iter().map(|bytes| *bytes as usize / VALUE_BYTES).collect(),
            expected: Vec::new(),
            checked: BTreeSet::new(),
        })
    }

    /// Compares all sums that have not been compared yet.
    pub fn check_all(&mut self, rounds: &Rounds) -> Result<(), Error> {
        for (&round, sites) in rounds {
            while self.expected.len() < round as usize {
                self.next_round();
            }
            for (&site, report) in sites {
                if report.sum != self.expected[round as usize - 1] {
                    let cause = std::io::Error::other(format!(
                        "its sum of round {round} differs from that of the gradients; this is a defect"
                    ));
                    return Err(Error::System { what: format!("believe site {site}"), cause });
                }
                self.checked.insert((round, site));
            }
        }
        Ok(())
    }

    /// Returns the number of compared sums: values, over all sites and rounds.
    pub fn sums(&self) -> u64 {
        self.checked.len() as u64 * self.tensors.iter().sum::<usize>() as u64
    }

    fn next_round(&mut self) {
        let round = self.expected.len() as u32 + 1;
        let values = self.tensors.iter().sum();
        let gradients: Vec<Vec<f32>> = match self.trainers.is_empty() {
            true => (0..self.sites).map(|at| random_gradient(self.seed, at, round, values)).collect(),
            false => {
                let gradient = |trainer: &mut Trainer| {
                    let mut gradient = vec![0.0; values];
                    trainer.gradient(&mut gradient);
                    gradient
                };
                self.trainers.iter_mut().map(gradient).collect()
            }
        };
        let gradients: Vec<_> = gradients.iter().map(|gradient| &gradient[..]).collect();
        let sum = sum_of_sites(&gradients, &self.tensors);
        self.trainers.iter_mut().for_each(|trainer| trainer.apply(&sum));
        self.expected.push(digest(&sum));
    }
}

/// Checks that all sites have the same sums.
pub fn check_equal(rounds: &Rounds) -> Result<(), Error> {
    for (round, sites) in rounds {
        let mut sums = sites.values().map(|report| &report.sum);
        let first = sums.next();
        if sums.any(|sum| Some(sum) != first) {
            let cause = std::io::Error::other(format!("the sums of round {round} differ between sites"));
            return Err(Error::System { what: "believe the ring".to_owned(), cause });
        }
    }
    Ok(())
}
