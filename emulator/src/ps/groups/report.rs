//! Results next to those in virtual time, at the topology's own rates.

use std::collections::BTreeMap;

use inart_planner_ps::Racks;
use inart_report::{Line, TurnEnd};
use inart_simulator_ps::{RackOptions, run_racks};
use inart_training::Evaluation;
use serde::Serialize;

use super::audit::Audit;
use super::processes::Records;
use super::setting::RackSetting;
use crate::error::Error;
use crate::machine::scale::Scaling;

/// Figures in virtual time, at the rates of values in frames.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulatedRacks {
    /// Mean time between a group's own sums, in seconds.
    pub iteration_s: f64,
    /// Time that a group waits for its turn, in seconds.
    pub waiting_s: f64,
    /// Share of the time in which a group pushes.
    pub busy: f64,
}

/// Results of one division in groups. The first third of each group's iterations is not counted, except for
/// the greatest staleness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RackReport {
    /// By group: its workers.
    pub groups: Vec<Vec<String>>,
    /// Number of groups that may push at once.
    pub concurrent_groups: usize,
    /// Mean over groups of the time between the ends of their own turns, in seconds.
    pub iteration_s: f64,
    /// Time from a group's readiness until its turn began at all servers, in seconds.
    pub waiting_s: f64,
    /// Share of the time in which a group pushed.
    pub busy: f64,
    /// Mean staleness of sums.
    pub staleness_mean: f64,
    /// The greatest.
    pub staleness_max: u64,
    /// From the first group that was ready, or pushed, to the end of the last turn, in seconds.
    pub seconds: f64,
    /// Turns that were computed again.
    pub turns_checked: u64,
    /// Values sent and received that were compared.
    pub values_checked: u64,
    /// Gradients that switches have summed.
    pub summed_in_switches: u64,
    /// Test accuracy at the end, 0 to 1.
    pub accuracy: f64,
    /// Seconds until the test accuracy reached 90 %, if it did.
    pub to_90_s: Option<f64>,
    /// Figures in virtual time.
    pub simulated: SimulatedRacks,
}

impl RackReport {
    /// From times by the clock to the topology's own.
    fn at_own_rates(mut self, scale: Scaling) -> Self {
        scale.apply([&mut self.iteration_s, &mut self.waiting_s, &mut self.seconds]);
        scale.apply([&mut self.simulated.iteration_s, &mut self.simulated.waiting_s]);
        scale.apply(&mut self.to_90_s);
        self
    }
}

/// All divisions. All times are those of the document: at its rates, with its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RackTable {
    /// The network's name.
    pub network: String,
    /// Workers.
    pub workers: usize,
    /// The emulated model's size, in bytes.
    pub model_bytes: f64,
    /// Ratio of the emulated network to the document's.
    pub scale: Scaling,
    /// Mean time to compute, in seconds.
    pub compute_s: f64,
    /// Each.
    pub divisions: Vec<RackReport>,
}

/// All of them.
pub fn table(setting: &RackSetting, divisions: Vec<RackReport>) -> RackTable {
    let workers = setting.job.participants.len();
    let compute: f64 = setting.job.participants.iter().map(|worker| worker.compute.mean_s).sum();
    RackTable {
        network: setting.topology.name().to_owned(),
        workers,
        model_bytes: setting.job.bits / 8.0,
        scale: setting.scaling(),
        compute_s: setting.scaling().own(compute / workers as f64),
        divisions,
    }
}

/// Times of a turn at the slowest server, in nanoseconds of the system's clock.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    ready: u64,
    begins: u64,
    ends: u64,
    staleness: u64,
}

fn times(records: &Records, groups: usize) -> Vec<Times> {
    let mut turns: BTreeMap<u64, Times> = BTreeMap::new();
    for lines in &records.servers {
        let mut rounds = vec![0u64; groups];
        for line in lines {
            match line {
                Line::Ready { group, at_ns } => {
                    let turn = rounds[*group] * groups as u64 + *group as u64;
                    rounds[*group] += 1;
                    let own = turns.entry(turn).or_default();
                    own.ready = own.ready.max(*at_ns);
                }
                Line::Begins { turn, at_ns, .. } => {
                    let own = turns.entry(*turn).or_default();
                    own.begins = own.begins.max(*at_ns);
                }
                Line::Ends(TurnEnd { turn, at_ns, staleness, .. }) => {
                    let own = turns.entry(*turn).or_default();
                    own.ends = own.ends.max(*at_ns);
                    own.staleness = own.staleness.max(*staleness);
                }
                _ => {}
            }
        }
    }
    turns.into_values().collect()
}

/// Computes the report of one division into groups.
pub fn report(
    setting: &RackSetting,
    racks: &Racks,
    records: &Records,
    audit: &Audit,
    evaluations: &[(u64, Evaluation)],
    summed_in_switches: u64,
) -> Result<RackReport, Error> {
    let groups = racks.groups.len();
    let times = times(records, groups);
    let first = setting.iterations as usize / 3;
    let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 * 1e-9;
    let own = |group: usize| times.iter().skip(group).step_by(groups).skip(first);
    let interval = |group: usize| {
        let (from, to) = (own(group).next()?, own(group).last()?);
        let number = own(group).count() - 1;
        (number > 0).then(|| seconds(from.ends, to.ends) / number as f64)
    };
    let intervals: Vec<f64> = (0..groups).filter_map(interval).collect();
    let counted: Vec<&Times> = (0..groups).flat_map(own).collect();
    let mean = |of: &dyn Fn(&Times) -> f64| {
        counted.iter().map(|times| of(times)).sum::<f64>() / counted.len().max(1) as f64
    };
    let began = times.iter().map(|times| times.ready).min().unwrap_or(0);
    let ended = times.iter().map(|times| times.ends).max().unwrap_or(began);
    let mut busy_ns = 0;
    let mut until = began;
    let mut in_order: Vec<&Times> = times.iter().collect();
    in_order.sort_by_key(|times| times.begins);
    for turn in in_order {
        busy_ns += turn.ends.saturating_sub(turn.begins.max(until));
        until = until.max(turn.ends);
    }
    let total_s = seconds(began, ended);
    let evaluation = evaluations.last().map(|(_, evaluation)| *evaluation);
    let to_90 = evaluations.iter().find(|(_, evaluation)| evaluation.accuracy >= 0.9);
    let names = |members: &[usize]| {
        members.iter().map(|&at| setting.job.participants[at].name.clone()).collect::<Vec<_>>()
    };
    let by_the_clock = RackReport {
        groups: racks.groups.iter().map(|group| names(&group.members)).collect(),
        concurrent_groups: racks.concurrent_groups,
        iteration_s: intervals.iter().sum::<f64>() / intervals.len().max(1) as f64,
        waiting_s: mean(&|times| seconds(times.ready, times.begins)),
        busy: if total_s > 0.0 { busy_ns as f64 * 1e-9 / total_s } else { 0.0 },
        staleness_mean: mean(&|times| times.staleness as f64),
        staleness_max: times.iter().map(|times| times.staleness).max().unwrap_or(0),
        seconds: total_s,
        turns_checked: audit.turns(),
        values_checked: audit.sums(),
        summed_in_switches,
        accuracy: evaluation.map_or(0.0, |evaluation| evaluation.accuracy),
        to_90_s: to_90.and_then(|(turn, _)| Some(seconds(began, times.get(*turn as usize)?.ends))),
        simulated: simulated(setting, racks)?,
    };
    Ok(by_the_clock.at_own_rates(setting.scaling()))
}

/// Computes the figures in virtual time: plans' rates are of frames, of which values are a part.
fn simulated(setting: &RackSetting, racks: &Racks) -> Result<SimulatedRacks, Error> {
    let values = setting.values;
    let payload = 4.0 * values.get() as f64 / values.frame_bytes() as f64;
    let mut scaled = racks.clone();
    for group in &mut scaled.groups {
        group.plan.rate_bps *= setting.scale.factor() * payload;
    }
    let options = RackOptions { iterations: setting.iterations, seed: setting.seed };
    let run = run_racks(&setting.job, &scaled, &options);
    let run = run.map_err(|error| Error::Failed { who: "virtual time".into(), why: error.to_string() })?;
    Ok(SimulatedRacks { iteration_s: run.iteration_s, waiting_s: run.waiting_s, busy: run.busy })
}
