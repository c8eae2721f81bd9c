//! `inart simulate --changes`: the cost of plan changes.

use std::process::ExitCode;

use anyhow::ensure;
use inart_planner_aggregation::Plan;
use inart_simulator_aggregation::{
    Changes, ChangesReport, InstalledNetwork, Options, alternatives, simulate,
};
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::{Share, Span};
use inart_topologies::switched::Topology;
use inart_topologies::units::counted;

use crate::commands::output::print;
use crate::commands::simulate::aggregation::args::{Args, with_flag};

/// The least time before the first change, and how many windows are sent before it: pipelines are full then,
/// and what the start did to rates is over.
const FIRST: Span = Span(5_000_000);
const WINDOWS_BEFORE: f64 = 4.0;
/// Other plans that alternate with the active ones.
const SETS: usize = 2;

/// Returns the changes of the flags, between `plans` and other plans with equal rates.
pub fn of(args: &Args, count: u32, topology: &Topology, plans: &[Plan]) -> anyhow::Result<Changes> {
    let sets = alternatives(topology, plans, args.seed, SETS);
    ensure!(
        !sets.is_empty(),
        "--changes: no scheme has other routes for these jobs and shares; take another topology"
    );
    Ok(Changes {
        count,
        first: Span(args.change_gap.0.max(FIRST.0)),
        gap: args.change_gap,
        notify_within: args.notified_within,
        coordinated: !args.unled,
        undone: Share::default(),
        plans: sets,
        hold: true,
        pretend: None,
    })
}

/// Returns the time in which the slowest flow sends the windows before the measurement.
pub fn warm_up(network: &InstalledNetwork) -> Span {
    let shards = network.assignments().iter().flat_map(|job| {
        let bits = 8.0 * job.values_per_frame.frame_bytes() as f64 * f64::from(job.window_chunks);
        job.shards.iter().filter(|shard| shard.share > 0.0).map(move |shard| bits / shard.rate_bps)
    });
    Span((WINDOWS_BEFORE * 1e9 * shards.fold(0.0, f64::max)) as u64)
}

/// Runs the jobs with the changes and without.
pub fn run(
    network: &InstalledNetwork,
    options: &Options,
    changes: &Changes,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let run = |options: &Options| simulate(network, &Faults::default(), options, None).map_err(with_flag);
    let report = run(options)?;
    let pretend = report.changes.as_ref().and_then(ChangesReport::span);
    let pretend = Some(Changes { pretend, ..changes.clone() });
    let without = run(&Options { changes: pretend, ..options.clone() })?;
    let [with, other] = [&report, &without].map(|report| report.changes.as_ref());
    let ratio = with.zip(other).and_then(|(with, without)| with.goodput_ratio(without));
    let failure = report.failure.as_ref().or(without.failure.as_ref());
    let none = ChangesReport { changes: 0, lost_rounds: 0, seconds: None, results: Vec::new() };
    let seen = with.unwrap_or(&none);
    if json {
        let mut document = serde_json::to_value(&report)?;
        document["changes"] = seen.changes.into();
        document["lost_rounds"] = seen.lost_rounds.into();
        document["goodput_ratio"] = ratio.into();
        document["change_seconds"] = seen.seconds.into();
        print(&format!("{}\n", serde_json::to_string(&document)?))?;
    } else {
        let part = ratio.map_or("unknown".to_owned(), |ratio| format!("{:.1} %", 100.0 * ratio));
        print(&format!(
            "{report}{} of plans, {} lost, goodput meanwhile {part} of that without changes\n",
            counted(seen.changes, "change"),
            counted(seen.lost_rounds, "round")
        ))?;
    }
    Ok(match failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    })
}
