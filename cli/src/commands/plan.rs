//! `inart plan`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use inart_planner::units::{Seconds, display_rate, display_seconds, display_size};
use inart_planner::{Job, Options, Plan, Scheme, Topology, Violation};

/// Arguments of `inart plan`.
#[derive(clap::Args)]
pub struct Args {
    /// The topology document (YAML or JSON).
    topology: PathBuf,
    /// inart, r-inart, atp, atp-nocap, lbmm or even.
    #[arg(long, default_value = "inart", conflicts_with = "check")]
    scheme: Scheme,
    /// Seed of every draw; the same inputs give the same plan.
    #[arg(long, default_value_t = 1, conflicts_with = "check")]
    seed: u64,
    /// The job to plan; needed if the topology has several.
    #[arg(long, conflicts_with = "check")]
    job: Option<String>,
    /// Give every server the same share instead of choosing the shares.
    #[arg(long, conflicts_with = "check")]
    equal_shares: bool,
    /// Stop improving after this long (such as 50ms) and print the best so far with its bound.
    #[arg(long, conflicts_with = "check", value_parser = parse_budget)]
    budget: Option<Seconds>,
    /// Check this plan (JSON) against the topology instead of making one: exit status 0 if it holds, 1 if it
    /// violates something, 2 if it is no plan for this topology.
    #[arg(long, value_name = "PLAN")]
    check: Option<PathBuf>,
}

fn parse_budget(text: &str) -> Result<Seconds, String> {
    let budget: Seconds = text.parse()?;
    if budget.0 < 0.0 { Err("give a duration such as 50ms".to_owned()) } else { Ok(budget) }
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let topology = super::topology::read(&args.topology)?;
    if let Some(plan) = &args.check {
        return check(&topology, plan, json);
    }
    let job = job(&topology, args.job.as_deref())?;
    let start = Instant::now();
    // A budget too long for a duration is none.
    let budget = args.budget.and_then(|budget| Duration::try_from_secs_f64(budget.0).ok());
    let out_of_time = || budget.is_some_and(|budget| start.elapsed() >= budget);
    let options = Options {
        scheme: args.scheme,
        seed: args.seed,
        equal_shares: args.equal_shares,
        out_of_time: &out_of_time,
    };
    let mut plan = inart_planner::plan(&topology, job, &options)?;
    plan.solve_ms = start.elapsed().as_secs_f64() * 1e3;
    super::output::print(&if json { plan.to_json() + "\n" } else { table(&plan, job) })?;
    Ok(ExitCode::SUCCESS)
}

fn job<'t>(topology: &'t Topology, name: Option<&str>) -> anyhow::Result<&'t Job> {
    let names = || topology.jobs().iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, topology.jobs()) {
        (Some(name), _) => topology
            .job_named(name)
            .with_context(|| format!("job {name}: topology {} has only {}", topology.name(), names())),
        (None, [job]) => Ok(job),
        (None, _) => {
            bail!("topology {} has several jobs; choose one with --job: {}", topology.name(), names())
        }
    }
}

fn check(topology: &Topology, path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let plan = read(topology, path)?;
    let place = || path.display().to_string();
    let violations = inart_planner::check(topology, &plan).err().unwrap_or_default();
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    if json {
        super::output::print(&format!(
            "{}\n",
            serde_json::json!({"valid": lines.is_empty(), "violations": lines})
        ))?;
    } else if lines.is_empty() {
        let rate = display_rate(plan.rate_bps);
        super::output::print(&format!("{}: holds on topology {} at {rate}\n", place(), topology.name()))?;
        if plan.scheme == Scheme::AtpNocap.name() {
            super::output::print(
                "(the switches' aggregation capacity is not held against scheme atp-nocap)\n",
            )?;
        }
    } else {
        super::output::print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
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

/// The plan as a person reads it: rate and bound, the servers, the groups, and what is full.
fn table(plan: &Plan, job: &Job) -> String {
    let mut out = String::new();
    let bound = plan.bounds.integral_bps;
    let verdict = if plan.is_proven_optimal() {
        "proven optimal".to_owned()
    } else {
        format!("{:.1} % of the proven bound {}", 100.0 * plan.rate_bps / bound, display_rate(bound))
    };
    let _ = writeln!(out, "{} on {}, job {}", plan.scheme, plan.topology, plan.job);
    let _ = writeln!(out, "  rate    {} per worker ({verdict})", display_rate(plan.rate_bps));
    if let Some(lp) = plan.bounds.lp_bps {
        let _ = writeln!(out, "  LP      {}", display_rate(lp));
    }
    if let Some(bytes) = job.gradient_bytes {
        let seconds = bytes as f64 * 8.0 / plan.rate_bps;
        let size = display_size(bytes as f64);
        let _ = writeln!(out, "  sending {} for a gradient of {size}", display_seconds(seconds));
    }
    if let Some(violation) = &plan.violation {
        let at = display_rate(violation.at_bps);
        let _ = writeln!(
            out,
            "  rounded: at the LP's {at} switches would be {:.2}, servers {:.2}, links {:.2} times full",
            violation.switch, violation.server, violation.link
        );
    }
    let _ = writeln!(out, "  solved  in {:.1} ms\n", plan.solve_ms);
    let width = plan.shards.iter().map(|shard| shard.server.len()).max().unwrap_or(0).max(6);
    let _ = writeln!(out, "  {:width$}  share   rate         direct  groups (switch x workers)", "server");
    for shard in &plan.shards {
        let direct = plan.flows.iter().filter(|f| f.server == shard.server && f.aggregator.is_none()).count();
        let groups: BTreeMap<&str, usize> = plan
            .trunks
            .iter()
            .filter(|trunk| trunk.server == shard.server)
            .map(|trunk| (trunk.aggregator.as_str(), trunk.workers.len()))
            .collect();
        let groups: Vec<String> = groups.iter().map(|(v, workers)| format!("{v} x{workers}")).collect();
        let _ = writeln!(
            out,
            "  {:width$}  {:<6.3}  {:<11}  {direct:<6}  {}",
            shard.server,
            shard.share,
            display_rate(shard.share * plan.rate_bps),
            if groups.is_empty() { "-".to_owned() } else { groups.join("  ") }
        );
    }
    let width = plan.load.iter().take(5).map(|load| load.resource.len()).max().unwrap_or(0);
    let _ = writeln!(out, "\n  fullest resources");
    for load in plan.load.iter().take(5) {
        let part = load.used_bps / load.capacity_bps;
        let bar = "#".repeat((part.clamp(0.0, 1.0) * 20.0).round() as usize);
        let (used, capacity) = (display_rate(load.used_bps), display_rate(load.capacity_bps));
        let _ = writeln!(
            out,
            "  {:width$}  {bar:<20} {:5.1} %  {used} of {capacity}",
            load.resource,
            100.0 * part
        );
    }
    out
}
