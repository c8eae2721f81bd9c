//! The run that the flags ask for: a network, faults and the work of hosts.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use inart_planner_aggregation::{Plan, plan_all};
use inart_simulator_aggregation::{CAPABILITIES, Dataplane, InstalledNetwork, Options};
use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{Faults, Schedule};
use inart_topologies::switched::Topology;

use crate::commands::document::refuse_network;
use crate::commands::plan::aggregation as plans;
use crate::commands::simulate::aggregation::args::{Args, with_flag};
use crate::commands::simulate::aggregation::changes;

/// Default number of rounds.
const ROUNDS: u32 = 10;
/// Default limit of a gradient in comparisons of runs, in bytes.
const MEASURED_BYTES: f64 = 1e6;
/// Largest number of rounds.
const MAX_ROUNDS: u32 = 1_000_000;

/// Inputs of one run.
pub struct Inputs {
    pub network: InstalledNetwork,
    pub faults: Faults,
    pub options: Options,
}

impl Inputs {
    /// Reads files and plans.
    pub fn new(args: &Args, topology: Topology) -> anyhow::Result<Self> {
        let faults =
            args.faults.as_deref().map_or(Ok(Faults::default()), |path| read_faults(path, &topology))?;
        let mut options = options(args, &topology)?;
        let plans = match &args.plan {
            Some(path) => plans::read_given("--plan", &topology, path)?,
            None => plan(&topology, args)?,
        };
        if let Some(count) = args.changes {
            options.changes = Some(changes::of(args, count, &topology, &plans)?);
        }
        let has_program = |values| args.target.has_program(values);
        let values = args.values().of(&topology, None, has_program).context("--values")?;
        let dataplane = Arc::new(Dataplane::new(args.target, values).map_err(with_flag)?);
        let mut network = InstalledNetwork::install(&topology, &dataplane, &plans, args.window)?;
        if let Some(other) = options.changes.as_ref().and_then(|changes| changes.plans.first()) {
            network.limit_rates(&other.iter().map(|plan| plan.rate_bps).collect::<Vec<_>>());
        }
        if let Some(changes) = &mut options.changes {
            changes.first = changes.first.max(changes::warm_up(&network));
        }
        Ok(Self { network, faults, options })
    }
}

/// Reads the faults of a file. Refuses faults that the topology does not have or the simulator cannot run.
fn read_faults(path: &Path, topology: &Topology) -> anyhow::Result<Faults> {
    let place = path.display().to_string();
    let text = crate::commands::document::read(path).with_context(|| place.clone())?;
    refuse_network(&text, "a fault schedule (docs/how-to/inject-faults.md)")
        .with_context(|| place.clone())?;
    let faults = Faults::from_yaml(&text).with_context(|| place.clone())?;
    Schedule::new(topology, &faults, &CAPABILITIES).context(place)?;
    Ok(faults)
}

/// Returns the options of the run.
fn options(args: &Args, topology: &Topology) -> anyhow::Result<Options> {
    let compares = args.changes.is_some() || args.watches();
    let rounds = args.rounds.unwrap_or(if compares { 1 } else { ROUNDS });
    ensure!((1..=MAX_ROUNDS).contains(&rounds), "--rounds: {rounds}; give a number from 1 to {MAX_ROUNDS}");
    ensure!(
        args.window.is_power_of_two() && args.window <= inart_p4::SLOTS,
        "--window: {}; give a power of two from 1 to {}",
        args.window,
        inart_p4::SLOTS
    );
    ensure!(args.peer_timeout > Span(0), "--peer-timeout: hosts need some time; give one like 2 s");
    let default = topology.jobs()[0].gradient_bytes.map_or(200e3, |bytes| bytes as f64);
    // If rounds continue until the end of a measurement, a gradient only has to exceed a window.
    let default = if compares { default.min(MEASURED_BYTES) } else { default };
    let gradient_bytes = args.gradient.map_or(default, |size| size.0);
    ensure!(
        (4.0..=4e9).contains(&gradient_bytes),
        "--gradient: {gradient_bytes} B; give from one value, 4 B, to 4 GB"
    );
    Ok(Options {
        rounds,
        runs: args.runs,
        odd_length: args.odd_length,
        skip: args.skip,
        tensors: args.tensors,
        sizes: args.sizes,
        gradient_values: (gradient_bytes / 4.0) as usize,
        spikes: args.spikes,
        seed: args.seed,
        peer_timeout: Duration::from_nanos(args.peer_timeout.0),
        limit: args.limit,
        ..Options::default()
    })
}

/// Returns the plans of all jobs, by the flags.
///
/// # Errors
/// Errors of the planner.
pub fn plan(topology: &Topology, args: &Args) -> anyhow::Result<Vec<Plan>> {
    let start = Instant::now();
    let time_left =
        || args.budget.map_or(f64::INFINITY, |budget| budget.0 as f64 / 1e9 - start.elapsed().as_secs_f64());
    let how = inart_planner_aggregation::Options {
        seed: args.seed,
        levels: args.aggregation_depth,
        results: args.results,
        time_left: &time_left,
        ..inart_planner_aggregation::Options::new(args.scheme)
    };
    Ok(plan_all(topology, &how)?)
}
