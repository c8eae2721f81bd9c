//! Runs of clients in groups.

use inart_cluster::{ClientOptions, ClientRun, Job, Kind, Nic, Participant, Time, run_clients};

use super::models::ClientModel;
use crate::trials::StudyError;

/// Section VI-B.
const CLIENTS: usize = 128;
/// The same: groups of 16.
const GROUPS: usize = 8;
/// The same: C, the part of a group that is waited for.
const FRACTION: f64 = 0.75;
/// Aggregations of each group, of which the first three are not counted.
const ROUNDS: u32 = 40;
/// Coefficient of variation of times to compute. Assumed: the paper does not state it.
const NOISE: f64 = 0.05;

/// What is measured.
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
    /// The greatest mean rate out of the server over a window of so many seconds, as a part of its port's.
    Peak(u32),
}

/// One run, but for the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    model: ClientModel,
    groups: usize,
    /// Coefficient of variation of times to compute.
    cv: f64,
    measure: Measure,
}

impl Case {
    /// BSP: all clients are one group.
    pub fn bsp(model: ClientModel, measure: Measure) -> Self {
        Case { model, groups: 1, cv: NOISE, measure }
    }

    /// FL-R²SP with the paper's groups.
    pub fn fl(model: ClientModel, measure: Measure) -> Self {
        Case { model, groups: GROUPS, cv: NOISE, measure }
    }

    /// Rounds of FL-R²SP with groups of so many clients.
    pub fn sized(model: ClientModel, size: usize) -> Self {
        Case { model, groups: CLIENTS / size, cv: NOISE, measure: Measure::Round }
    }

    /// With times to compute of this coefficient of variation.
    pub fn varying(self, cv: f64) -> Self {
        Case { cv, ..self }
    }

    /// The unit of data is one model.
    fn job(&self) -> Job {
        let [in_s, out_s] = self.model.pass_s();
        let alone_bps = 1.0 / self.model.alone_s();
        let participant = |at: usize| Participant {
            name: format!("{at:03}"),
            nic: Nic { out_bps: alone_bps, in_bps: alone_bps },
            delay_s: 0.0,
            compute: Time { mean_s: self.model.compute_s(), cv: self.cv },
            batch: 1,
            speed: 1.0,
        };
        Job {
            name: self.model.name().to_owned(),
            kind: Kind::Clients,
            participants: (0..CLIENTS).map(participant).collect(),
            server: Nic { out_bps: 1.0 / out_s, in_bps: 1.0 / in_s },
            bits: 1.0,
            // Section VI-B: log-normal with μ = -2 and σ = 1.
            pause: Time { mean_s: (-1.5f64).exp(), cv: (1f64.exp() - 1.0).sqrt() },
        }
    }

    /// What a seed's run comes to.
    ///
    /// # Errors
    /// A run that fails.
    pub fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let window_s = match self.measure {
            Measure::Peak(window_s) => Some(window_s.into()),
            _ => None,
        };
        let options = ClientOptions {
            groups: self.groups,
            fraction: FRACTION,
            relaxation: 1.0,
            rounds: ROUNDS,
            seed,
            patience_s: None,
            absences: Vec::new(),
            usage_s: window_s,
        };
        let job = self.job();
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
