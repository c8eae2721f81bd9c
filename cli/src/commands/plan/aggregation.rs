//! `inart plan` on a network of switches.

mod check;
mod chosen;
mod complete;
mod given;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use inart_planner_aggregation::{Levels, Options, Order, Paths, Results, Scheme, schemes};
use inart_topologies::Switched;
use inart_topologies::switched::Topology;
use inart_topologies::units::Seconds;

use crate::commands::scheme;
use crate::commands::values::time;
use crate::line::section::{SWITCHES, Section};
use crate::line::{Invocation, OnNetwork};
pub use check::{read, read_all};
use chosen::jobs;
pub use given::read_given;

/// Arguments of `inart plan` on a network of switches.
#[derive(clap::Args)]
pub struct Args {
    /// Scheme that places aggregation.
    #[arg(long, default_value = schemes::DEFAULT.name(), value_parser = scheme::parser(), conflicts_with = "check")]
    scheme: &'static dyn Scheme,
    /// Random seed; the same inputs give the same plan.
    #[arg(long, default_value_t = 1, conflicts_with = "check")]
    seed: u64,
    /// Job to plan; repeat for further jobs [default: all jobs of the topology].
    #[arg(long, value_name = "JOB", conflicts_with = "check")]
    job: Vec<String>,
    /// Planning of several jobs: together (max-min fair) or in-turn (sequential).
    ///
    /// With in-turn, earlier jobs are background traffic to later ones.
    #[arg(long = "job-planning", default_value_t = Order::Together, conflicts_with = "check")]
    order: Order,
    /// Give every server the same share, in place of optimized shares.
    #[arg(long, conflicts_with = "check")]
    equal_shares: bool,
    /// Maximum number of aggregation switches per gradient (1 or 2; 2 only for optimized).
    #[arg(long = "aggregation-depth", default_value = "1", conflicts_with = "check")]
    aggregation_depth: Levels,
    /// Allowed paths: any simple path, or only shortest paths (InArt paper); bounds hold for both.
    ///
    /// A bound is for the chosen set of paths.
    #[arg(long, default_value_t = Paths::Any, conflicts_with = "check")]
    paths: Paths,
    /// Whether plans count result traffic on links: counted, or ignored (InArt paper).
    #[arg(long, default_value_t = Results::Counted, conflicts_with = "check")]
    results: Results,
    /// Time limit of the search, such as 50ms; prints the best plan so far and its bound.
    #[arg(long, conflicts_with = "check", value_name = "TIME", value_parser = time)]
    budget: Option<Seconds>,
    /// Plan (JSON) to start from, installed on an earlier state of the network (inart only).
    #[arg(long, value_name = "PLAN", conflicts_with = "check")]
    from: Option<PathBuf>,
    /// With --from: part of the rate to trade for unchanged flows, such as 5%.
    #[arg(long = "max-rate-loss", value_name = "LOSS", requires = "from", value_parser = parse_loss)]
    stable: Option<f64>,
    /// With --from: keep the plan's shares, as a running job requires.
    #[arg(long, requires = "from")]
    keep_shares: bool,
    /// Complete a plan of your own (JSON) with its rate, loads and bounds.
    ///
    /// The file has flows with their paths, trunks of switches that sum, and optionally shares.
    #[arg(long, value_name = "ROUTES", conflicts_with_all = ["check", "scheme", "from", "job", "equal_shares"])]
    complete: Option<PathBuf>,
    /// Verify a plan (JSON) against the topology, in place of planning.
    ///
    /// Exit status: 0 if the plan holds, 1 if it violates a constraint, 2 if the file is not a plan for this
    /// topology.
    #[arg(long, value_name = "PLAN")]
    check: Option<PathBuf>,
}

fn parse_loss(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>().map(|loss| loss * unit) {
        Ok(loss) if (0.0..=1.0).contains(&loss) => Ok(loss),
        _ => Err("give a part of the rate from 0% to 100%".to_owned()),
    }
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SWITCHES;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(self, network.topology, invocation.json)
    }
}

fn run(args: Args, topology: Topology, json: bool) -> anyhow::Result<ExitCode> {
    if let Some(plan) = &args.check {
        return check::run(&topology, plan, json);
    }
    let running = args.from.as_deref().map(check::read_running).transpose()?;
    if running.is_some() && !args.scheme.promises().starts_from_running {
        let able = schemes::ALL.iter().filter(|scheme| scheme.promises().starts_from_running);
        let able: Vec<_> = able.map(|scheme| format!("--scheme {scheme}")).collect();
        bail!("--from: scheme {} starts from nothing; use {}", args.scheme, able.join(" or "));
    }
    let jobs = match &running {
        Some(plan) if args.job.is_empty() => jobs(&topology, std::slice::from_ref(&plan.job))?,
        _ => jobs(&topology, &args.job)?,
    };
    ensure!(
        running.is_none() || jobs.len() == 1,
        "--from: it starts one job from its running plan; give one --job"
    );
    let start = Instant::now();
    // A budget that is too long for a `Duration` is no limit.
    let budget = args.budget.and_then(|budget| Duration::try_from_secs_f64(budget.0).ok());
    let time_left = || budget.map_or(f64::INFINITY, |b| b.as_secs_f64() - start.elapsed().as_secs_f64());
    let options = Options {
        scheme: args.scheme,
        seed: args.seed,
        equal_shares: args.equal_shares,
        levels: args.aggregation_depth,
        paths: args.paths,
        results: args.results,
        time_left: &time_left,
        running: running.as_ref(),
        keep_shares: args.keep_shares,
        stable_loss: args.stable.unwrap_or(0.0),
    };
    if let Some(path) = &args.complete {
        let (mut plan, job) = complete::run("--complete", &topology, path, &options)?;
        plan.solve_ms = start.elapsed().as_secs_f64() * 1e3;
        crate::commands::output::print(&if json {
            plan.to_json() + "\n"
        } else {
            table::of_plan(&plan, job)
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if let [job] = jobs[..] {
        let mut plan = inart_planner_aggregation::plan(&topology, job, &options)?;
        plan.solve_ms = start.elapsed().as_secs_f64() * 1e3;
        if json { plan.to_json() + "\n" } else { table::of_plan(&plan, job) }
    } else {
        let mut plans = inart_planner_aggregation::plan_jobs(&topology, &jobs, &options, args.order)?;
        plans.solve_ms = start.elapsed().as_secs_f64() * 1e3;
        if json { plans.to_json() + "\n" } else { table::of_jobs(&plans, &jobs) }
    };
    crate::commands::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
