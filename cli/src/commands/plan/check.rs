//! `inart plan --check`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use inart_planner::units::display_rate;
use inart_planner::{Plan, Scheme, Topology, Violation};

/// Says what is wrong with a plan file, or that it holds: exit status 0 or 1.
pub fn run(topology: &Topology, path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let plan = read(topology, path)?;
    let place = || path.display().to_string();
    let violations = inart_planner::check(topology, &plan).err().unwrap_or_default();
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    if json {
        crate::commands::output::print(&format!(
            "{}\n",
            serde_json::json!({"valid": lines.is_empty(), "violations": lines})
        ))?;
    } else if lines.is_empty() {
        let rate = display_rate(plan.rate_bps);
        crate::commands::output::print(&format!(
            "{}: holds on topology {} at {rate}\n",
            place(),
            topology.name()
        ))?;
        if plan.scheme == Scheme::AtpNocap.name() {
            crate::commands::output::print(
                "(the switches' aggregation capacity is not held against scheme atp-nocap)\n",
            )?;
        }
    } else {
        crate::commands::output::print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    }
    Ok(if lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Reads a plan that is for this topology; errors name the file.
pub fn read(topology: &Topology, path: &Path) -> anyhow::Result<Plan> {
    let place = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(place)?;
    let plan = Plan::from_json(&text).with_context(place)?;
    match inart_planner::check(topology, &plan).err().unwrap_or_default().first() {
        Some(other @ Violation::OtherTopology(_)) => bail!("{}: {other}", place()),
        _ => Ok(plan),
    }
}
