//! Plans that users give, on networks of sites.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use inart_planner_sites::{Options, OwnPlan, PLAN_FORMAT, Plan, Scheme, complete, predicted_seconds};
use inart_topologies::sites::Overlay;

use crate::commands::plans::Given;
use crate::commands::{network, plans};

/// An example of a plan.
const FORM: &str =
    "{\"trees\": [{\"root\": \"n1\", \"parents\": {\"n2\": \"n1\"}}]} (docs/reference/sites.md)";
/// How far the stated time of a round may be from that predicted, relatively.
const TOLERANCE: f64 = 1e-6;

/// A plan to follow.
#[derive(clap::Args)]
pub struct OwnArgs {
    /// Plan (JSON) to use in place of a scheme.
    ///
    /// The file is as `inart plan --json` prints it, or has its trees only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scheme", "root", "degree", "roots", "auxiliary"])]
    plan: Option<PathBuf>,
}

impl OwnArgs {
    /// Reads the plan of the requested job; `None` without the flag.
    pub fn read(
        &self,
        topology: &Path,
        overlay: &Overlay,
        job: Option<&str>,
    ) -> anyhow::Result<Option<Plan>> {
        let Some(path) = &self.plan else { return Ok(None) };
        read(&format!("--plan {}", path.display()), path, topology, overlay, job).map(Some)
    }

    /// Refuses a plan where no command can follow one.
    pub fn refuse_on_both_levels(&self) -> anyhow::Result<()> {
        ensure!(self.plan.is_none(), "--plan: on networks of sites without insides only; leave it out");
        Ok(())
    }
}

/// Returns options that follow the given plan; without one, the requested options.
pub fn options(given: Option<Plan>, asked: Options) -> anyhow::Result<Options> {
    Ok(match given {
        Some(plan) => Options::following(plan)?,
        None => asked,
    })
}

/// Reads a plan, whole or not. A whole one must hold; another one is completed.
pub fn read(
    place: &str,
    path: &Path,
    topology: &Path,
    overlay: &Overlay,
    job: Option<&str>,
) -> anyhow::Result<Plan> {
    let plan = match plans::read::<Plan, OwnPlan>(place, path, &PLAN_FORMAT, "predicted_s", FORM)? {
        Given::Chosen(own) => return completed(place, overlay, job, &own),
        Given::Whole(plan) => plan,
    };
    let refused = |wrong: &str| plans::refused(place, wrong, topology);
    let known = overlay.job_named(&plan.job).filter(|known| job.is_none_or(|job| job == known.name));
    let Some(known) = known else {
        let asked = job.map_or_else(|| format!("network {}", overlay.name()), |job| format!("job {job}"));
        anyhow::bail!("{place}: job: it is for \"{}\", and not for {asked}; give the job's plan", plan.job);
    };
    if let Some(wrong) = inart_planner_sites::check(overlay, known, &plan).first() {
        return Err(refused(wrong));
    }
    let predicted_s = predicted_seconds(overlay, known, &overlay.rates_at(0.0), &plan);
    let predicted_s = predicted_s.map_err(|error| refused(&error.to_string()))?;
    if (plan.predicted_s - predicted_s).abs() > TOLERANCE * predicted_s {
        return Err(refused(&format!("predicted_s is {}; expected {predicted_s}", plan.predicted_s)));
    }
    Ok(plan)
}

/// Reads a plan's trees and derives the rest.
pub fn complete_file(overlay: &Overlay, job: Option<&str>, path: &Path) -> anyhow::Result<Plan> {
    let place = format!("--complete {}", path.display());
    completed(&place, overlay, job, &plans::read_chosen(&place, path, &PLAN_FORMAT, FORM)?)
}

fn completed(place: &str, overlay: &Overlay, job: Option<&str>, own: &OwnPlan) -> anyhow::Result<Plan> {
    let named = job.or_else(|| own.job.as_deref().filter(|name| overlay.job_named(name).is_some()));
    let job = network::site_job(overlay, named)?;
    complete(overlay, job, own, Scheme::Own).with_context(|| place.to_owned())
}

/// Returns the plan for a network with scaled rates and gradient.
pub fn for_scaled(plan: &Plan, scaled: &Overlay, size: f64) -> anyhow::Result<Plan> {
    let job = &scaled.jobs()[0];
    let mut own = OwnPlan::of(plan);
    // As the network scales the job's own chunks.
    let bytes = (plan.chunk_bytes as f64 * size) as u64;
    own.chunk_bytes = Some(bytes.max(1).next_multiple_of(job.unit_bytes));
    let scheme = Scheme::of_plan(&plan.scheme).unwrap_or(Scheme::Own);
    complete(scaled, job, &own, scheme).context("--plan, on the scaled network")
}
