//! Planning: from a job and its ports to a plan.

use std::sync::Arc;

use crate::network::Round as _;
use crate::pairs::Pairs;
use crate::plan::{Bounds, Plan, PlanTask};
use crate::plan_error::PlanError;
use crate::problem::Multicast;
use crate::scheme::Scheme;
use crate::schemes;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_virtual::SplitMix64;

/// Options of planning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Scheme.
    pub scheme: Scheme,
    /// Maker of the copies.
    pub multicast: Multicast,
    /// Seed of `orpheus`' draws.
    pub seed: u64,
    /// Whether `selmcast` adds receivers that cost no time.
    pub second_pass: bool,
    /// Fairness bound k: a peer outside a sender's last k rounds must be a receiver in the next.
    pub force_after: Option<u32>,
    /// With the scheme `own`: the receivers of every round, by rank.
    pub given: Option<Arc<Pairs>>,
}

impl Options {
    /// Creates options for a scheme, without a fairness bound.
    pub fn new(scheme: Scheme, multicast: Multicast) -> Self {
        Options { scheme, multicast, seed: 1, second_pass: true, force_after: None, given: None }
    }

    /// Adds user-defined receivers to those that a round requires.
    ///
    /// # Errors
    /// The scheme is `own` without receivers.
    pub fn require_given(&self, required: &mut Pairs) -> Result<(), PlanError> {
        match &self.given {
            None if self.scheme == Scheme::Own => Err(PlanError::NoReceivers),
            None => Ok(()),
            Some(given) => {
                given.iter().for_each(|(from, to)| required.insert(from, to));
                Ok(())
            }
        }
    }
}

/// Creates the generator for random receivers: a seed names an instance, whose first draws are the rates of
/// its ports, two per peer, whether the topology states them or not.
pub fn receivers_random(seed: u64, peers: usize) -> SplitMix64 {
    let mut random = SplitMix64::new(seed);
    (0..2 * peers).for_each(|_| {
        random.next_u64();
    });
    random
}

/// Plans a job's next round at the initial rates.
///
/// # Errors
/// The topology is too large for the scheme; the solver fails.
pub fn plan(mesh: &Mesh, job: &PeerJob, options: &Options) -> Result<Plan, PlanError> {
    let problem = job.problem(mesh.ports_at(job, 0.0), options.multicast, options.force_after);
    let mut random = receivers_random(options.seed, job.peers.len());
    let (chosen, bound_s) = match options.scheme {
        Scheme::Optimized => schemes::select_with_bound(&problem, &mut random)?,
        scheme => {
            let mut asked = problem.clone();
            options.require_given(&mut asked.required)?;
            let chosen = schemes::select(&asked, scheme, options.second_pass, &mut random, &job.name)?;
            (chosen, schemes::bound_seconds(&problem)?)
        }
    };
    let seconds = problem.seconds(&chosen);
    Ok(Plan {
        scheme: options.scheme.name().to_owned(),
        topology: mesh.name().to_owned(),
        job: job.name.clone(),
        multicast: options.multicast.name().to_owned(),
        force_after: options.force_after,
        receivers_mean: chosen.len() as f64 / job.peers.len() as f64,
        tasks: tasks(mesh, job, &chosen),
        seconds,
        // The optimum is its own bound.
        bounds: Bounds {
            seconds: if options.scheme == Scheme::Optimal { seconds } else { bound_s.min(seconds) },
        },
    })
}

fn tasks(mesh: &Mesh, job: &PeerJob, chosen: &Pairs) -> Vec<PlanTask> {
    let name = |rank: usize| mesh.name_of(job, rank).to_owned();
    let task = |from: usize| PlanTask { from: name(from), to: chosen.receivers(from).map(name).collect() };
    (0..job.peers.len()).map(task).collect()
}
