//! Cases: a scheme with its settings, on a network that a seed draws, for a job.

use inart_planner_sites::{AuxiliaryChoice, AuxiliaryUse, Disjoint, Options, Scheme, Sharing, Tuning};
use inart_simulator_sites::ideal::{Knowledge, RunOptions, Until, run};
use inart_topologies::sites::Overlay;

use super::job::{Job, Network};
use super::networks::draw;
use crate::trials::{StudyError, Trial};

/// Duration of the released script's ten draws of rates.
pub const SECONDS: f64 = 1800.0;
const PRIOR_BPS: f64 = 87.5e6;

/// A run without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Network.
    pub network: Network,
    /// Job.
    pub job: Job,
    /// Scheme with its settings.
    pub method: Method,
}

/// A scheme with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    pub scheme: Scheme,
    /// Position of the root, for a scheme with one root.
    pub root: Option<usize>,
    /// Number of roots; the best ones are used.
    pub roots: Option<usize>,
    /// Use of node-disjoint auxiliary paths.
    pub auxiliary: Option<AuxiliaryUse>,
    pub knowledge: Knowledge,
    pub sharing: Sharing,
    pub tuning: Tuning,
}

impl Method {
    /// Returns a scheme that adapts to the measured times of chunks on links.
    pub fn new(scheme: Scheme) -> Self {
        Method {
            scheme,
            root: None,
            roots: None,
            auxiliary: None,
            knowledge: Knowledge::Passive,
            sharing: Sharing::Fair,
            tuning: Tuning::default(),
        }
    }

    /// Returns NetStorm-lite: a tree for each root, planned once for the rates at the start.
    pub fn lite() -> Self {
        Method { knowledge: Knowledge::Static, ..Method::std() }
    }

    /// Returns NetStorm-std: NetStorm-lite, replanned from measured rates.
    pub fn std() -> Self {
        Method::new(Scheme::Netstorm)
    }

    /// Returns NetStorm-pro: NetStorm-std with auxiliary paths, as in Table II.
    pub fn pro() -> Self {
        Method::std().with_paths(AuxiliaryUse::default().busy_bound, AuxiliaryUse::default().queue_length)
    }

    pub fn knowing(self, knowledge: Knowledge) -> Self {
        Method { knowledge, ..self }
    }

    /// Returns the method with node-disjoint auxiliary paths, chosen lazily.
    pub fn with_paths(self, busy_bound: u32, queue_length: u32) -> Self {
        let choice = AuxiliaryChoice::Lazy;
        Method { auxiliary: Some(AuxiliaryUse { choice, busy_bound, queue_length }), ..self }
    }

    /// Returns the method with auxiliary paths chosen as the NETSTORM paper prints: when a chunk is queued.
    pub fn eagerly(self) -> Self {
        let eager = |auxiliary| AuxiliaryUse { choice: AuxiliaryChoice::Eager, ..auxiliary };
        Method { auxiliary: self.auxiliary.map(eager), ..self }
    }

    pub fn options(&self, overlay: &Overlay) -> RunOptions {
        RunOptions {
            plan: Options {
                root: self.root.and_then(|at| overlay.site_ids().nth(at)),
                roots: self.roots,
                auxiliary: self.auxiliary.map(|_| Disjoint::Nodes),
                ..Options::new(self.scheme)
            },
            auxiliary: self.auxiliary.unwrap_or_default(),
            sharing: self.sharing,
            knowledge: self.knowledge,
            prior_bps: PRIOR_BPS,
            tuning: self.tuning,
            until: Until::Seconds(SECONDS),
        }
    }
}

impl Trial for Case {
    /// Mean time of a round, in seconds.
    type Run = f64;

    fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let overlay = draw(self.network, self.job, seed)?;
        // A network is drawn with its one job.
        let run = run(&overlay, &overlay.jobs()[0], &self.method.options(&overlay));
        run.map(|run| run.mean_s).map_err(|source| StudyError::new(self, seed, source))
    }
}

impl Case {
    /// Returns a case with the job of 61 equal chunks.
    pub fn new(network: Network, method: Method) -> Self {
        Case { network, job: Job::Equal, method }
    }
}

pub type Line = crate::lines::Line<Case>;
pub type Number = crate::lines::Number<Case>;
pub type Panel = crate::lines::Panel<Case>;
