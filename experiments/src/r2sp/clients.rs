//! Runs of clients in groups.

use inart_simulator_ps::{ClientOptions, ClientRun, run_clients};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};

use super::models::ClientModel;
use crate::trials::StudyError;

/// Number of clients (Section VI-B).
pub const CLIENTS: usize = 128;
/// Number of groups, of 16 clients each (Section VI-B).
pub const GROUPS: usize = 8;
/// C, the part of a group that an aggregation waits for (Section VI-B).
const FRACTION: f64 = 0.75;
/// τ, a client's iterations per round (Section VI-B).
const ITERATIONS: u32 = 100;
/// Aggregations of each group, of which the first three are not counted.
const ROUNDS: u32 = 40;
/// Coefficient of variation of compute times. Assumed: the R²SP paper does not state one.
const NOISE: f64 = 0.05;

/// Quantity measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Seconds between a group's aggregations.
    Round,
    /// Seconds of a push.
    Push,
    /// Seconds of a pull.
    Pull,
    /// Seconds of a push and a pull.
    Communication,
    /// Greatest mean rate out of the server over a window of this number of seconds, as a part of the port's.
    Peak(u32),
}

/// A run without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    model: ClientModel,
    clients: usize,
    groups: usize,
    /// τ: a client's iterations per round.
    iterations: u32,
    /// Coefficient of variation of compute times.
    cv: f64,
    measure: Measure,
}

impl Case {
    /// Returns BSP: all clients are one group.
    pub fn bsp(model: ClientModel, measure: Measure) -> Self {
        Case { model, clients: CLIENTS, groups: 1, iterations: ITERATIONS, cv: NOISE, measure }
    }

    /// Returns BSP with fewer clients, and with the iterations per round of Table II (Section II-B).
    pub fn of_table_2(model: ClientModel, clients: usize) -> Self {
        Case { clients, iterations: 50, ..Self::bsp(model, Measure::Communication) }
    }

    /// Returns FL-R²SP with the R²SP paper's groups.
    pub fn fl(model: ClientModel, measure: Measure) -> Self {
        Case { groups: GROUPS, ..Self::bsp(model, measure) }
    }

    /// Returns rounds of FL-R²SP with groups of `size` clients.
    pub fn sized(model: ClientModel, size: usize) -> Self {
        Case { groups: CLIENTS / size, ..Self::bsp(model, Measure::Round) }
    }

    /// Returns the case with compute times of this coefficient of variation.
    pub fn varying(self, cv: f64) -> Self {
        Case { cv, ..self }
    }

    /// Returns M, the number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns the job; its unit of data is one model.
    pub fn job(&self) -> Job {
        let [in_s, out_s] = self.model.pass_s();
        let mean_s = self.model.compute_s() * f64::from(self.iterations) / f64::from(ITERATIONS);
        let alone_bps = 1.0 / self.model.alone_s();
        let participant = |at: usize| Participant {
            name: format!("{at:03}"),
            nic: Nic { out_bps: alone_bps, in_bps: alone_bps },
            delay_s: 0.0,
            compute: Time { mean_s, cv: self.cv },
            batch: 1,
            speed: 1.0,
        };
        Job {
            name: self.model.name().to_owned(),
            kind: Kind::Clients,
            participants: (0..self.clients).map(participant).collect(),
            server: Nic { out_bps: 1.0 / out_s, in_bps: 1.0 / in_s },
            bits: 1.0,
            // Section VI-B: log-normal with μ = -2 and σ = 1.
            pause: Time { mean_s: (-1.5f64).exp(), cv: (1f64.exp() - 1.0).sqrt() },
        }
    }

    /// Returns the options of a run.
    pub fn options(&self, seed: u64, rounds: u32) -> ClientOptions {
        let window_s = match self.measure {
            Measure::Peak(window_s) => Some(window_s.into()),
            _ => None,
        };
        ClientOptions {
            groups: self.groups,
            fraction: FRACTION,
            relaxation: 1.0,
            rounds,
            seed,
            patience_s: None,
            absences: Vec::new(),
            usage_s: window_s,
        }
    }

    /// Runs the case with a seed and returns the quantity.
    ///
    /// # Errors
    /// A run that fails.
    pub fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let (job, options) = (self.job(), self.options(seed, ROUNDS));
        let run = run_clients(&job, &options).map_err(|source| StudyError::new(self, seed, source))?;
        Ok(self.measured(&job, &run))
    }

    fn measured(&self, job: &Job, run: &ClientRun) -> f64 {
        match self.measure {
            Measure::Round => run.round_s,
            Measure::Push => run.push_s,
            Measure::Pull => run.pull_s,
            Measure::Communication => run.push_s + run.pull_s,
            Measure::Peak(_) => {
                let outwards = run.usage_bps.iter().map(|[_, out_bps]| out_bps / job.server.out_bps);
                outwards.fold(0.0, f64::max)
            }
        }
    }
}
