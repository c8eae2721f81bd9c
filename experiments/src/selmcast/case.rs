//! Cases: a round of bulk synchronous training, or a stale synchronous training, on ports that a seed draws.

use inart_planner_peers::{Multicast, Options, PlanError, Reading, Scheme, Sharing, plan};
use inart_simulator_peers::ideal::{Draw, SspOptions, run_ssp};
use inart_topologies::peers::{Changes, Compute, Drawn, Mesh, draw};

use super::chance;
use crate::trials::{StudyError, Trial};

/// b̄ of the SELMCAST paper, bit/s; it cancels out in rounds.
const RATE_BPS: f64 = 40e9;
/// v of the SELMCAST paper, in bytes.
const UPDATE_BYTES: f64 = 200e6;
/// Duration of the SELMCAST paper's trainings, in seconds.
const SECONDS: f64 = 600.0;
/// Interval between draws of rates in Fig. 13, in seconds.
const EVERY_S: f64 = 0.1;

/// A run without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Case {
    /// Eq. (1) with m = p.
    Chance { peers: usize, receivers: usize },
    /// Share of peers that receive exactly p updates in a round, on equal ports.
    Balanced { peers: usize, receivers: usize, scheme: Scheme },
    /// A round of bulk synchronous training.
    Round(Round),
    /// A stale synchronous training.
    Training(Training),
}

/// Measurements of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metrics {
    /// Share of the time in which peers compute; the time of a round over p·v/b̄; or a probability.
    pub value: f64,
    /// Receivers per update, over n in a training, over p in a round.
    pub receivers: f64,
}

/// A round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    pub peers: usize,
    pub receivers: usize,
    pub lambda: f64,
    pub mu: f64,
    pub multicast: Multicast,
    pub scheme: Scheme,
}

/// A training of 50 peers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    pub scheme: Scheme,
    /// Coefficient of variation of compute times.
    pub cv: f64,
    pub receivers: usize,
    pub force_after: Option<u32>,
    pub staleness: u64,
    pub eta: f64,
    /// Factor on the size of updates.
    pub factor: f64,
    /// γ of rates that change, if they do.
    pub gamma: Option<f64>,
    pub sharing: Sharing,
}

/// Number of peers in the SELMCAST paper's trainings.
const PEERS: usize = 50;

impl Training {
    /// Returns a training with the SELMCAST paper's settings.
    pub fn new(scheme: Scheme, cv: f64) -> Self {
        Training {
            scheme,
            cv,
            receivers: 15,
            force_after: Some(4),
            staleness: 4,
            eta: 0.75,
            factor: 1.0,
            gamma: None,
            sharing: Sharing::Split,
        }
    }

    fn mesh(&self, seed: u64) -> Mesh {
        let draws = (SECONDS / EVERY_S) as usize;
        let changes = self.gamma.map(|gamma| Changes { gamma, every_seconds: EVERY_S, draws });
        draw(&Drawn {
            name: "mesh".to_owned(),
            peers: PEERS,
            receivers: self.receivers,
            lambda: 0.5,
            mu: 1.0,
            rate_bps: RATE_BPS,
            update_bytes: UPDATE_BYTES * self.factor,
            changes,
            compute: Some(Compute { mean_seconds: 1.0, cv: self.cv }),
            seed,
        })
    }

    fn run(&self, seed: u64) -> Result<Metrics, PlanError> {
        let mesh = self.mesh(seed);
        let base = Options::new(self.scheme, Multicast::Switch);
        let options = SspOptions {
            plan: Options { seed, force_after: self.force_after, ..base },
            reading: Reading { eta: self.eta, ..Reading::default() },
            draw: Draw::Random,
            staleness: Some(self.staleness),
            sharing: self.sharing,
            duration_s: SECONDS,
        };
        let run = run_ssp(&mesh, &mesh.jobs()[0], &options)?;
        Ok(Metrics { value: run.utilization, receivers: run.scale })
    }
}

impl Round {
    fn run(&self, seed: u64) -> Result<Metrics, PlanError> {
        let Round { peers, receivers, lambda, mu, multicast, scheme } = *self;
        let mesh = draw(&Drawn {
            name: "mesh".to_owned(),
            peers,
            receivers,
            lambda,
            mu,
            rate_bps: RATE_BPS,
            update_bytes: UPDATE_BYTES,
            changes: None,
            compute: None,
            seed,
        });
        // With equal updates a round takes as long as planned.
        let plan = plan(&mesh, &mesh.jobs()[0], &Options { seed, ..Options::new(scheme, multicast) })?;
        let ideal_s = receivers as f64 * UPDATE_BYTES * 8.0 / RATE_BPS;
        Ok(Metrics { value: plan.seconds / ideal_s, receivers: plan.receivers_mean / receivers as f64 })
    }
}

impl Trial for Case {
    type Run = Metrics;

    fn run(&self, seed: u64) -> Result<Metrics, StudyError> {
        let alone = |value| Metrics { value, receivers: f64::NAN };
        let run = match *self {
            Case::Chance { peers, receivers } => Ok(alone(chance::balanced(peers, receivers))),
            Case::Balanced { peers, receivers, scheme } => {
                chance::share(peers, receivers, scheme, seed).map(alone)
            }
            Case::Round(round) => round.run(seed),
            Case::Training(training) => training.run(seed),
        };
        run.map_err(|source| StudyError::new(self, seed, source))
    }
}

pub type Line = crate::lines::Line<Case>;
pub type Number = crate::lines::Number<Case>;
pub type Panel = crate::lines::Panel<Case>;

/// Measurement that a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    Value,
    Receivers,
}

/// Returns the number of a row that shows one case.
pub fn number(case: Case, metric: Metric) -> Number {
    Number::new(
        vec![case],
        match metric {
            Metric::Value => |runs| runs[0].value,
            Metric::Receivers => |runs| runs[0].receivers,
        },
    )
}
