//! What is run: a scheme with its settings, on a network that a seed draws, for a job.

use inart_planner_sites::{AuxiliaryChoice, AuxiliaryUse, Disjoint, Options, Scheme, Sharing, Tuning};
use inart_simulator_sites::ideal::{Knowledge, RunOptions, Until, run};
use inart_topologies::sites::Overlay;

use super::job::{Job, Network};
use super::networks::draw;
use crate::trials::{StudyError, Trial};

/// As long as the released script's ten draws of rates last.
pub const SECONDS: f64 = 1800.0;
const PRIOR_BPS: f64 = 87.5e6;

/// One run, but for the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Where.
    pub network: Network,
    /// What for.
    pub job: Job,
    /// How.
    pub method: Method,
}

/// A scheme with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    pub scheme: Scheme,
    /// The position of the root, of a scheme with one.
    pub root: Option<usize>,
    /// How many roots, the best ones.
    pub roots: Option<usize>,
    /// Node-disjoint auxiliary paths, and how they are used.
    pub auxiliary: Option<AuxiliaryUse>,
    pub knowledge: Knowledge,
    pub sharing: Sharing,
    pub tuning: Tuning,
}

impl Method {
    /// As it adapts to what chunks take on links.
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

    /// NetStorm-lite: a tree for each root, planned once for the rates at the start.
    pub fn lite() -> Self {
        Method { knowledge: Knowledge::Static, ..Method::std() }
    }

    /// NetStorm-std: the same, planned anew by what is measured.
    pub fn std() -> Self {
        Method::new(Scheme::Netstorm)
    }

    /// NetStorm-pro: auxiliary paths as well, as in Table II.
    pub fn pro() -> Self {
        Method::std().with_paths(AuxiliaryUse::default().busy_bound, AuxiliaryUse::default().queue_length)
    }

    pub fn knowing(self, knowledge: Knowledge) -> Self {
        Method { knowledge, ..self }
    }

    /// With node-disjoint auxiliary paths, taken lazily.
    pub fn with_paths(self, busy_bound: u32, queue_length: u32) -> Self {
        let choice = AuxiliaryChoice::Lazy;
        Method { auxiliary: Some(AuxiliaryUse { choice, busy_bound, queue_length }), ..self }
    }

    /// Taken as the NETSTORM paper prints it: when a chunk is queued.
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
    /// The mean time of a round, in seconds.
    type Run = f64;

    fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let overlay = draw(self.network, self.job, seed)?;
        // A network is drawn with its one job.
        let run = run(&overlay, &overlay.jobs()[0], &self.method.options(&overlay));
        run.map(|run| run.mean_s).map_err(|source| StudyError::new(self, seed, source))
    }
}

impl Case {
    /// For the job of 61 equal chunks.
    pub fn new(network: Network, method: Method) -> Self {
        Case { network, job: Job::Equal, method }
    }
}

pub type Line = crate::lines::Line<Case>;
pub type Number = crate::lines::Number<Case>;
pub type Panel = crate::lines::Panel<Case>;
