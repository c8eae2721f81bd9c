//! `inart plan --check`, and reading plans.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use inart_planner_aggregation::{JobPlans, Limit, Plan, Violation};
use inart_topologies::switched::Topology;
use inart_topologies::units::{counted, display_rate};

use crate::commands::document;
use crate::commands::plans::PLAN;

/// Contents of a plan file.
enum PlanFile {
    One(Box<Plan>),
    Several(JobPlans),
}

impl PlanFile {
    fn read(path: &Path) -> anyhow::Result<PlanFile> {
        let place = || path.display().to_string();
        let text = document::read(path).with_context(place)?;
        document::refuse_network(&text, PLAN).with_context(place)?;
        let several = serde_json::from_str::<serde_json::Value>(&text)
            .is_ok_and(|document| document.get("plans").is_some());
        if several {
            Ok(PlanFile::Several(JobPlans::from_json(&text).with_context(place)?))
        } else {
            Ok(PlanFile::One(Box::new(Plan::from_json(&text).with_context(place)?)))
        }
    }

    fn check(&self, topology: &Topology) -> Vec<Violation> {
        match self {
            PlanFile::One(plan) => inart_planner_aggregation::check(topology, plan).err(),
            PlanFile::Several(plans) => inart_planner_aggregation::check_jobs(topology, plans).err(),
        }
        .unwrap_or_default()
    }

    fn into_plans(self) -> Vec<Plan> {
        match self {
            PlanFile::One(plan) => vec![*plan],
            PlanFile::Several(plans) => plans.plans,
        }
    }
}

/// Prints the violated constraints of a plan file. Exit status: 0 if the plan holds, else 1.
pub fn run(topology: &Topology, path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let place = || path.display().to_string();
    let file = PlanFile::read(path)?;
    let violations = file.check(topology);
    if let Some(other @ Violation::OtherTopology(_)) = violations.first() {
        bail!("{}: {other}", place());
    }
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    let plans = file.into_plans();
    let notes: Vec<String> = plans.iter().filter_map(|plan| results_note(topology, plan)).collect();
    let text = if json {
        let mut document = serde_json::json!({"valid": lines.is_empty(), "violations": lines});
        if lines.is_empty() && !notes.is_empty() {
            document["notes"] = notes.into();
        }
        format!("{document}\n")
    } else if lines.is_empty() {
        let rates: Vec<String> = plans.iter().map(|plan| display_rate(plan.rate_bps)).collect();
        let ignoring =
            plans.iter().find(|plan| plan.ignores.contains(&Limit::Aggregation)).map(|plan| &plan.scheme);
        let note = |scheme| {
            format!(
                "(the switches' aggregation capacity is not held against scheme {scheme}, which ignores it)\n"
            )
        };
        let hold = if plans.len() > 1 { "they hold together" } else { "holds" };
        let (place, name, rates) = (place(), topology.name(), rates.join(", "));
        let mut text = format!("{place}: {hold} on topology {name} at {rates}\n");
        text.extend(ignoring.map(note));
        text.extend(notes.into_iter().map(|note| format!("({note})\n")));
        text
    } else {
        lines.iter().map(|line| format!("{line}\n")).collect()
    };
    crate::commands::output::print(&text)?;
    Ok(if lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns a note on the rate of a plan that does not count results.
fn results_note(topology: &Topology, plan: &Plan) -> Option<String> {
    let held = inart_planner_aggregation::held_by_results(topology, plan)?;
    let (job, rate) = (&plan.job, display_rate(held.rate_bps));
    Some(format!(
        "job {job}: the plan does not count results; with them {} lets it send at {rate}; plan with --results counted",
        held.limit
    ))
}

/// Reads a plan that is for this topology; errors name the file.
pub fn read(topology: &Topology, path: &Path) -> anyhow::Result<Plan> {
    let file = PlanFile::read(path)?;
    let place = || path.display().to_string();
    if let Some(other @ Violation::OtherTopology(_)) = file.check(topology).first() {
        bail!("{}: {other}", place());
    }
    let mut plans = file.into_plans();
    ensure!(plans.len() == 1, "{}: it has {}; take one of them", place(), counted(plans.len(), "plan"));
    Ok(plans.remove(0))
}

/// Reads the plan to start from. The network may have changed since: the planner keeps the parts that still
/// exist. Errors name the file.
pub fn read_running(path: &Path) -> anyhow::Result<Plan> {
    let mut plans = PlanFile::read(path)?.into_plans();
    let (place, count) = (path.display(), plans.len());
    ensure!(
        count == 1,
        "{place}: it has {count}, and one job starts from one; plan again without --from",
        count = counted(count, "plan")
    );
    Ok(plans.remove(0))
}

/// Reads plans that hold on this topology; errors name the file.
pub fn read_all(topology: &Topology, path: &Path) -> anyhow::Result<Vec<Plan>> {
    let file = PlanFile::read(path)?;
    if let Some(violation) = file.check(topology).first() {
        let fix = match violation {
            Violation::OtherTopology(_) => "",
            _ => "; `inart plan` makes one that holds",
        };
        bail!("{}: {violation}{fix}", path.display());
    }
    Ok(file.into_plans())
}
