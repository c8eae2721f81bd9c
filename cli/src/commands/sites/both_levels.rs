//! `inart plan` and `inart simulate` on networks of both levels: switches inside sites, trees between them.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use inart_planner_aggregation::{Options as InnerOptions, Plan, schemes};
use inart_planner_sites::{HierarchyPlan, Options as TreeOptions, plan_two_levels};
use inart_simulator_aggregation::{Dataplane, InstalledNetwork, Options, SwitchKind, simulate};
use inart_simulator_sites::ideal::{RunOptions, Timeline, timeline};
use inart_topologies::faults::Faults;
use inart_topologies::sites::{Hierarchy, Inside, SiteJob};
use inart_topologies::units::{counted, display_rate, display_size};
use inart_wire::ValuesPerFrame;
use serde::Serialize;

use crate::commands::network;

/// Values per frame inside sites.
pub const VALUES: ValuesPerFrame = ValuesPerFrame::N256;
/// Chunks in flight per worker inside sites.
const WINDOW: u32 = 64;
/// Bytes of a gradient that are simulated inside sites: enough to measure the rate.
const MOST_BYTES: u64 = 4_000_000;
/// Rounds inside sites.
const ROUNDS: u32 = 3;

/// Returns the options of plans inside sites: scheme optimized, with result traffic counted.
fn inner() -> InnerOptions<'static> {
    InnerOptions::new(schemes::DEFAULT)
}

/// Returns the part of a frame inside a site that is gradient.
fn payload_share() -> f64 {
    VALUES.get() as f64 * 4.0 / VALUES.frame_bytes() as f64
}

pub fn make(hierarchy: &Hierarchy, job: &SiteJob, trees: &TreeOptions) -> anyhow::Result<HierarchyPlan> {
    Ok(plan_two_levels(hierarchy, job, &inner(), trees, payload_share())?)
}

/// Returns the output of `inart plan`.
pub fn planned(
    hierarchy: &Hierarchy,
    job: Option<&str>,
    trees: impl Fn(&inart_topologies::sites::Overlay) -> anyhow::Result<TreeOptions>,
    json: bool,
    between: impl Fn(&SiteJob, &inart_planner_sites::Plan) -> String,
) -> anyhow::Result<String> {
    let job = network::site_job(&hierarchy.overlay, job)?;
    let plan = make(hierarchy, job, &trees(&hierarchy.overlay)?)?;
    if json {
        return Ok(plan.to_json() + "\n");
    }
    let mut out = String::from("inside\n");
    let width = plan.insides.iter().map(|inside| inside.site.len()).max().unwrap_or(0).max(4);
    let _ =
        writeln!(out, "{:width$}  workers  switches that add  rate of a worker  seconds  bound s", "site");
    for (inside, of) in plan.insides.iter().zip(&hierarchy.insides) {
        let mut adding: Vec<&str> =
            inside.plan.trunks.iter().map(|trunk| trunk.aggregator.as_str()).collect();
        adding.dedup();
        let _ = writeln!(
            out,
            "{:width$}  {:>7}  {:>17}  {:>16}  {:>7.3}  {:>7.3}",
            inside.site,
            of.topology.jobs()[0].workers.len(),
            adding.join(" "),
            display_rate(inside.plan.rate_bps),
            inside.seconds,
            inside.bound_s,
        );
    }
    out += "\nbetween\n";
    out += &between(job, &plan.between);
    let _ = writeln!(out, "\nboth levels: no schedule takes less than {:.3} s per round", plan.bound_s);
    Ok(out)
}

/// Simulation inside a site.
#[derive(Serialize)]
pub struct InsideRun {
    site: String,
    goodput_bps: f64,
    pub seconds: f64,
    planned_s: f64,
    summed_in_switches: u64,
    sums_checked: u64,
}

/// Runs the real hosts and the compiled switch program in virtual time, and verifies every sum.
fn run_inside(inside: &Inside, plan: &Plan, job: &SiteJob, seed: u64) -> anyhow::Result<InsideRun> {
    let place = || format!("inside site {}", inside.site);
    let dataplane = Arc::new(Dataplane::new(SwitchKind::V1model, VALUES).with_context(place)?);
    let network = InstalledNetwork::install(&inside.topology, &dataplane, std::slice::from_ref(plan), WINDOW)
        .with_context(place)?;
    let bytes = job.gradient_bytes().min(MOST_BYTES);
    let options =
        Options { rounds: ROUNDS, seed, gradient_values: (bytes / 4) as usize, ..Options::default() };
    let report = simulate(&network, &Faults::default(), &options, None).with_context(place)?;
    ensure!(report.failure.is_none(), "{}: {}", place(), report.failure.unwrap_or_default());
    let goodput_bps = report.jobs.first().context("no job was run").with_context(place)?.goodput_bps;
    let bits = job.gradient_bytes() as f64 * 8.0;
    Ok(InsideRun {
        site: inside.site.clone(),
        goodput_bps,
        seconds: bits / goodput_bps,
        planned_s: bits / payload_share() / plan.rate_bps,
        summed_in_switches: report.summed_in_switches,
        sums_checked: report.sums_checked,
    })
}

/// Simulates all insides, one after the other.
pub fn run_insides(
    hierarchy: &Hierarchy,
    plan: &HierarchyPlan,
    job: &SiteJob,
    seed: u64,
) -> anyhow::Result<Vec<InsideRun>> {
    let runs = hierarchy.insides.iter().zip(&plan.insides);
    runs.map(|(inside, of)| run_inside(inside, &of.plan, job, seed)).collect()
}

/// Returns the output of `inart simulate`.
pub fn simulated(
    hierarchy: &Hierarchy,
    job: Option<&str>,
    options: impl Fn(&inart_topologies::sites::Overlay) -> anyhow::Result<RunOptions>,
    seed: u64,
    json: bool,
) -> anyhow::Result<String> {
    let job = network::site_job(&hierarchy.overlay, job)?;
    let options = options(&hierarchy.overlay)?;
    let plan = make(hierarchy, job, &options.plan)?;
    let insides = run_insides(hierarchy, &plan, job, seed)?;
    let seconds: Vec<f64> = insides.iter().map(|inside| inside.seconds).collect();
    let times = timeline(hierarchy, job, &options, &seconds).context("between sites")?;
    if json {
        let document = serde_json::json!({
            "topology": hierarchy.overlay.name(), "job": job.name, "scheme": options.plan.scheme.name(),
            "insides": insides, "round": times, "bound_s": plan.bound_s,
        });
        return Ok(serde_json::to_string(&document)? + "\n");
    }
    Ok(table(job, &insides, &times, plan.bound_s))
}

fn table(job: &SiteJob, insides: &[InsideRun], times: &Timeline, bound_s: f64) -> String {
    let mut out = format!("job {}, gradient {}\n\n", job.name, display_size(job.gradient_bytes() as f64));
    let width = insides.iter().map(|inside| inside.site.len()).max().unwrap_or(0).max(4);
    let _ = writeln!(out, "{:width$}  goodput inside  seconds  planned s  summed in switches", "site");
    for inside in insides {
        let _ = writeln!(
            out,
            "{:width$}  {:>14}  {:>7.3}  {:>9.3}  {:>18}",
            inside.site,
            display_rate(inside.goodput_bps),
            inside.seconds,
            inside.planned_s,
            inside.summed_in_switches
        );
    }
    let share = |seconds: f64| seconds / times.seconds * 100.0;
    let _ = write!(
        out,
        "\na round takes {:.3} s, mean of {}:\n\
         {:>9.3} s ({:>3.0}%)  until every site has the sum of its workers\n\
         {:>9.3} s ({:>3.0}%)  from then until every site has the sum of all sites\n\
         {:>9.3} s ({:>3.0}%)  from then until every worker has it\n\
         one level after the other would take {:.3} s; no schedule takes less than {bound_s:.3} s ({:.2} times)\n",
        times.seconds,
        times.rounds,
        times.inside_s,
        share(times.inside_s),
        times.between_s,
        share(times.between_s),
        times.back_s,
        share(times.back_s),
        times.one_after_the_other_s,
        times.seconds / bound_s,
    );
    let inside: u64 = insides.iter().map(|inside| inside.sums_checked).sum();
    let _ = writeln!(
        out,
        "{inside} inside and {} between sites compared bit for bit, all equal",
        times.sums,
        inside = counted(inside, "sum")
    );
    out
}

/// Refuses a network of both levels for a flag that takes sites alone.
pub fn refuse(hierarchy: &Hierarchy, path: &Path, flag: &str) -> anyhow::Result<()> {
    ensure!(hierarchy.insides.is_empty(), "{}: {flag} takes sites without an inside", path.display());
    Ok(())
}
