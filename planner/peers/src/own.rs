//! User-defined receivers: parsed, checked, and completed to a plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::network::Round as _;
use crate::pairs::Pairs;
use crate::plan::{Plan, PlanTask};
use crate::plan_error::PlanError;
use crate::planning::{Options, plan};
use crate::problem::Multicast;
use crate::scheme::Scheme;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_topologies::units::counted;

/// The user's choices in a plan. Derived fields may be present; they are derived again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnPlan {
    /// Name of the topology, if the plan is for this one only.
    pub topology: Option<String>,
    /// Name of the job; needed where the topology has several jobs.
    pub job: Option<String>,
    /// Maker of the copies that the times assume: `switch` or `hosts`.
    pub multicast: Option<String>,
    /// Fairness bound k that the receivers keep, if any.
    pub force_after: Option<u32>,
    /// The receivers of every peer's update.
    pub tasks: Vec<PlanTask>,
    #[serde(default, rename = "scheme")]
    _scheme: IgnoredAny,
    #[serde(default, rename = "seconds")]
    _seconds: IgnoredAny,
    #[serde(default, rename = "receivers_mean")]
    _receivers_mean: IgnoredAny,
    #[serde(default, rename = "bounds")]
    _bounds: IgnoredAny,
}

fn wrong(place: impl Into<String>, problem: impl Into<String>) -> PlanError {
    PlanError::Plan { place: place.into(), problem: problem.into() }
}

/// Completes user-defined receivers to a plan, with the time of a round and the bound at the initial rates.
/// `multicast`: maker of the copies if the user does not specify it.
///
/// # Errors
/// The first entry that does not fit the topology or the job, with its place in the plan and the fix; a
/// failure of the solver for the bound.
pub fn complete(mesh: &Mesh, job: &PeerJob, own: &OwnPlan, multicast: Multicast) -> Result<Plan, PlanError> {
    let multicast = match &own.multicast {
        None => multicast,
        Some(name) => Multicast::named(name)
            .ok_or_else(|| wrong("multicast", format!("\"{name}\"; write \"switch\" or \"hosts\"")))?,
    };
    let given = Some(Arc::new(receivers(mesh, job, own)?));
    plan(mesh, job, &Options { given, force_after: own.force_after, ..Options::new(Scheme::Own, multicast) })
}

/// Returns the receivers of a user-defined plan, by rank.
///
/// # Errors
/// The first entry that does not fit the topology or the job, with its place in the plan and the fix.
pub fn receivers(mesh: &Mesh, job: &PeerJob, own: &OwnPlan) -> Result<Pairs, PlanError> {
    for (place, given, expected) in [("topology", &own.topology, mesh.name()), ("job", &own.job, &*job.name)]
    {
        if let Some(given) = given.as_ref().filter(|given| *given != expected) {
            let problem = format!(
                "the plan is for \"{given}\", and this is \"{expected}\"; give the {place} of the plan"
            );
            return Err(wrong(place, problem));
        }
    }
    let peers = job.peers.len();
    let ranks: BTreeMap<&str, usize> = (0..peers).map(|rank| (mesh.name_of(job, rank), rank)).collect();
    let look = Look { mesh, job, ranks };
    let mut tasks: Vec<Option<&PlanTask>> = vec![None; peers];
    let mut chosen = Pairs::none(peers);
    for (at, task) in own.tasks.iter().enumerate() {
        let from = look.rank(&format!("tasks[{at}].from"), &task.from)?;
        if tasks[from].replace(task).is_some() {
            let problem = format!("{} has a task already; give each peer one", task.from);
            return Err(wrong(format!("tasks[{at}].from"), problem));
        }
        look.task(&format!("tasks[{at}].to"), from, task, &mut chosen)?;
    }
    if let Some(missing) = tasks.iter().position(Option::is_none) {
        let problem = format!("peer {} has none; give each peer one", mesh.name_of(job, missing));
        return Err(wrong("tasks", problem));
    }
    let missing = job.required_pairs();
    if let Some((from, to)) = missing.iter().find(|&(from, to)| !chosen.has(from, to)) {
        let [from, to] = [from, to].map(|rank| mesh.name_of(job, rank));
        return Err(wrong("tasks", format!("the network requires that {from} sends to {to}; add {to}")));
    }
    Ok(chosen)
}

struct Look<'a> {
    mesh: &'a Mesh,
    job: &'a PeerJob,
    ranks: BTreeMap<&'a str, usize>,
}

impl Look<'_> {
    fn rank(&self, place: &str, name: &str) -> Result<usize, PlanError> {
        self.ranks.get(name).copied().ok_or_else(|| {
            let known: Vec<&str> =
                (0..self.job.peers.len()).map(|rank| self.mesh.name_of(self.job, rank)).collect();
            let job = &self.job.name;
            wrong(place, format!("job {job} has no peer \"{name}\"; name some of {}", known.join(", ")))
        })
    }

    /// Checks that a peer sends to enough others, to each of them once.
    fn task(&self, place: &str, from: usize, task: &PlanTask, chosen: &mut Pairs) -> Result<(), PlanError> {
        for name in &task.to {
            let to = self.rank(place, name)?;
            if to == from {
                return Err(wrong(place, format!("{name} sends to itself; leave it out")));
            }
            if chosen.has(from, to) {
                return Err(wrong(place, format!("{name} is named twice; name it once")));
            }
            chosen.insert(from, to);
        }
        let (count, least) = (task.to.len(), self.job.receivers);
        if count < least {
            let problem = format!(
                "{count}; the job asks for at least {least}, so name more",
                count = counted(count, "receiver")
            );
            return Err(wrong(place, problem));
        }
        Ok(())
    }
}
