//! Plans that users give, on networks of peers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use inart_planner_peers::{Multicast, OwnPlan, PLAN_FORMAT, Pairs, Plan, PlanTask, complete, receivers};
use inart_topologies::peers::{Mesh, PeerJob};

use crate::commands::plans::Given;
use crate::commands::{network, plans};

/// An example of a plan.
const FORM: &str = "{\"tasks\": [{\"from\": \"p1\", \"to\": [\"p2\"]}]} (docs/reference/peers.md)";

/// Receivers of a user's plan.
#[derive(clap::Args)]
pub struct OwnArgs {
    /// Plan (JSON) of the receivers in every round, in place of a scheme.
    ///
    /// The file is as `inart plan --json` prints it, or has its tasks only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scheme", "first_pass_only"])]
    pub plan: Option<PathBuf>,
}

impl OwnArgs {
    /// Returns the receivers by rank; `None` without a plan.
    pub fn read(&self, topology: &Path, mesh: &Mesh, job: &PeerJob) -> anyhow::Result<Option<Arc<Pairs>>> {
        self.plan.as_ref().map(|path| read(path, topology, mesh, job)).transpose()
    }
}

/// Reads the receivers of a plan. A whole one must hold.
pub fn read(path: &Path, topology: &Path, mesh: &Mesh, job: &PeerJob) -> anyhow::Result<Arc<Pairs>> {
    let place = format!("--plan {}", path.display());
    let own = match plans::read::<Plan, OwnPlan>(&place, path, &PLAN_FORMAT, "seconds", FORM)? {
        Given::Chosen(own) => own,
        Given::Whole(plan) => {
            if let Some(wrong) = inart_planner_peers::check(mesh, job, &plan).first() {
                return Err(plans::refused(&place, wrong, topology));
            }
            chosen(&plan.tasks)?
        }
    };
    Ok(Arc::new(receivers(mesh, job, &own).context(place)?))
}

fn chosen(tasks: &[PlanTask]) -> anyhow::Result<OwnPlan> {
    Ok(serde_json::from_value(serde_json::json!({ "tasks": tasks }))?)
}

/// Reads the receivers of a plan and derives the rest.
pub fn complete_file(
    mesh: &Mesh,
    job: Option<&str>,
    path: &Path,
    multicast: Multicast,
) -> anyhow::Result<Plan> {
    let place = format!("--complete {}", path.display());
    let own: OwnPlan = plans::read_chosen(&place, path, &PLAN_FORMAT, FORM)?;
    let named = job.or_else(|| own.job.as_deref().filter(|name| mesh.job_named(name).is_some()));
    complete(mesh, network::peer_job(mesh, named)?, &own, multicast).context(place)
}
