//! `inart simulate --faults` on networks of sites: the machines of sites and their scheduler in
//! virtual time, while links and processes are gone.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use inart_simulator_sites::{Knowledge, Options, Outcome, PlannedFault, ideal, resolve, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::sites::{Overlay, SiteJob};
use inart_topologies::units::counted;

use crate::commands::document::refuse_network;
use crate::commands::sites::own;

/// Bytes of the gradients that are really summed. Links and chunks are scaled with them, so times stay.
const SAMPLE_BYTES: u64 = 64 << 10;

/// Reads a fault schedule for this network.
pub fn read(overlay: &Overlay, path: &Path) -> anyhow::Result<Vec<PlannedFault>> {
    let place = || format!("--faults {}", path.display());
    let text = crate::commands::document::read(path).with_context(place)?;
    refuse_network(&text, "a fault schedule (docs/reference/sites.md)").with_context(place)?;
    let faults = Faults::from_yaml(&text).with_context(place)?;
    resolve(overlay, &faults).with_context(place)
}

/// Returns the network with this job alone and a short gradient.
pub fn sample(overlay: &Overlay, job: &SiteJob) -> anyhow::Result<Overlay> {
    ensure!(
        job.sites.len() == overlay.sites().len(),
        "--faults: job {} has not all sites of network {}; leave the others out of the network",
        job.name,
        overlay.name()
    );
    let bytes = job.gradient_bytes().min(SAMPLE_BYTES).next_multiple_of(4);
    Ok(overlay.scaled(job, bytes, bytes as f64 / job.gradient_bytes() as f64).0)
}

/// Options for the network of the sample.
pub fn scaled(
    overlay: &Overlay,
    job: &SiteJob,
    sample: &Overlay,
    options: &Options,
) -> anyhow::Result<Options> {
    let arc = overlay.arcs().next();
    let factor = arc.map_or(1.0, |arc| sample.rates_at(0.0).of(arc) / overlay.rates_at(0.0).of(arc));
    let mut scaled = Options { prior_bps: options.prior_bps * factor, ..options.clone() };
    if let Some(given) = &options.plan.given {
        let size = sample.jobs()[0].gradient_bytes() as f64 / job.gradient_bytes() as f64;
        scaled.plan = inart_planner_sites::Options::following(own::for_scaled(given, sample, size)?)?;
    }
    Ok(scaled)
}

/// Runs a schedule.
pub fn run(
    overlay: &Overlay,
    job: &SiteJob,
    options: &Options,
    faults: &[PlannedFault],
    json: bool,
) -> anyhow::Result<String> {
    let sample = sample(overlay, job)?;
    let options = scaled(overlay, job, &sample, options)?;
    let outcome = simulate(&sample, &options, faults)?;
    let end_s = outcome.rounds.last().map_or(0.0, |round| round.ended_s);
    crate::commands::late::warn("faults", faults.iter().filter(|fault| fault.at_s > end_s).count(), end_s);
    if json {
        return Ok(serde_json::to_string(&outcome)? + "\n");
    }
    Ok(table(&outcome))
}

fn table(outcome: &Outcome) -> String {
    let mut out = format!(
        "{}: {}, mean {:.3} s\n",
        outcome.scheme,
        counted(outcome.rounds.len(), "round"),
        outcome.mean_s
    );
    let first = outcome.rounds.first().map_or(0, |round| round.version);
    let _ = writeln!(out, "round  ended s  seconds  plan");
    let mut plans = vec![first];
    for round in &outcome.rounds {
        let plan = plans.iter().position(|version| *version == round.version).unwrap_or_else(|| {
            plans.push(round.version);
            plans.len() - 1
        });
        let _ = writeln!(
            out,
            "{:>5}  {:>7.3}  {:>7.3}  {:>4}",
            round.round,
            round.ended_s,
            round.seconds,
            plan + 1
        );
    }
    for fault in &outcome.faults {
        let _ = write!(out, "{} failed at {:.3} s, in round {}: ", fault.fault, fault.at_s, fault.round);
        let noticed =
            fault.noticed_s.map(|noticed_s| format!("noticed after {:.3} s", noticed_s - fault.at_s));
        let _ = write!(out, "{}", noticed.as_deref().unwrap_or("back before it was noticed"));
        let _ = match fault.without_it {
            Some((round, 0)) => write!(out, "; round {round}, the running one, was without it"),
            Some((round, later)) => {
                write!(out, "; round {round} was without it, {later} after the running one")
            }
            None => Ok(()),
        };
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "{} offered, {} joined again, chunks were asked for {}\n\
         {} of sums compared bit for bit, all equal",
        counted(outcome.plans, "plan"),
        counted(outcome.joined, "site"),
        counted(outcome.asks, "time"),
        counted(outcome.values_compared, "value")
    );
    out
}

/// Returns the scheduler's knowledge, as one of the two that the process has.
pub fn knowledge(asked: Option<ideal::Knowledge>) -> anyhow::Result<Knowledge> {
    match asked {
        None | Some(ideal::Knowledge::Static) => Ok(Knowledge::Static),
        Some(ideal::Knowledge::Passive) => Ok(Knowledge::Passive),
        Some(_) => {
            Err(anyhow!("--knowledge: with --faults and --trials a scheduler knows static or passive"))
        }
    }
}
