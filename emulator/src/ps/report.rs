//! Results next to those in virtual time, at the network's own rates. Figures have the meaning of those in
//! virtual time (docs/reference/ps-results.md).

use std::collections::BTreeMap;

use inart_report::PsServerEnd;
use serde::Serialize;

use super::audit::Checked;
use super::records::Records;
use super::setting::{Order, Scheme, Setting};
use super::simulated::{Simulated, simulated};
use crate::error::Error;
use crate::machine::scale::Scaling;

/// Rounds of each group that are not counted, as in virtual time.
const DROPPED_ROUNDS: u64 = 3;
/// A gap counts as none below this part of the even one.
const ZERO_GAP: f64 = 0.1;
/// An evaluation of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evaluation {
    /// Seconds from the first pull.
    pub at_s: f64,
    /// Test accuracy, from 0 to 1.
    pub accuracy: f64,
    /// Mean loss on them.
    pub loss: f64,
}

/// Results of one scheme.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemeReport {
    /// Name of the scheme.
    pub scheme: String,
    /// Mean over workers of the time between arrivals of their own pushes, in seconds; the first third is not
    /// counted. Of clients: mean time between aggregations of a group, but for the first three.
    pub iteration_s: f64,
    /// The part of the gaps between pushes below a tenth of iteration / workers.
    pub bunched_arrivals: f64,
    /// Quantiles of these gaps, in seconds.
    pub gap_quantiles_s: BTreeMap<&'static str, f64>,
    /// Mean staleness, of all but the first third.
    pub staleness_mean: f64,
    /// The greatest of all.
    pub staleness_max: u64,
    /// Updates by staleness, of all but the first third.
    pub staleness_counts: BTreeMap<u64, u64>,
    /// Mean time from the arrival of a push to the worker's next pull, in seconds.
    pub blocking_s: f64,
    /// r at the end; of workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxation: Option<f64>,
    /// By worker, the images of the last update that it computed; where batches are tuned.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub batches: BTreeMap<String, usize>,
    /// Models of clients that arrived after their round.
    pub late: u64,
    /// Clients that were excluded for their data.
    pub left_out: Vec<String>,
    /// The part of the server's rate that frames took: into it.
    pub utilization_in: f64,
    /// Utilization of the port out of the server.
    pub utilization_out: f64,
    /// From the first pull to the last application, in seconds.
    pub seconds: f64,
    /// Updates that were compared: at their worker, on arrival, and in the model.
    pub updates_checked: u64,
    /// Updates that were computed and not applied: their process or the server's was killed, they were timed
    /// out, or those of clients arrived after their round.
    pub wasted_updates: u64,
    /// Updates that were applied, and lost with a server that was killed.
    pub lost: u64,
    /// Processes of workers that were killed.
    pub killed: usize,
    /// Processes of workers that were started again.
    pub returned: usize,
    /// Number of restarts of the server.
    pub server_restarts: usize,
    /// Frames that links have lost at random.
    pub frames_lost: u64,
    /// Updates that were discarded, as their values were refused.
    pub refused: u64,
    /// Number of workers that the server timed out.
    pub given_up: u64,
    /// Packets that the server dropped: repeated, or nothing behind them.
    pub dropped: u64,
    /// At the end.
    pub accuracy: f64,
    /// Seconds until the test accuracy reached 90 %, if it did.
    pub to_90_s: Option<f64>,
    /// Over time.
    pub evaluations: Vec<Evaluation>,
    /// Figures in virtual time.
    pub simulated: Simulated,
}

/// All orders. All times are those of the document: at its rates, with its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The network's name.
    pub network: String,
    /// Ratio of the emulated network to the document's.
    pub scale: Scaling,
    /// Workers.
    pub workers: usize,
    /// The emulated model's size, in bytes.
    pub model_bytes: f64,
    /// Each order.
    pub schemes: Vec<SchemeReport>,
}

/// All of them.
pub fn whole(setting: &Setting, schemes: Vec<SchemeReport>) -> Report {
    Report {
        network: setting.network.clone(),
        scale: setting.scale,
        workers: setting.job.participants.len(),
        model_bytes: setting.job.bits / 8.0,
        schemes,
    }
}

/// Computes the report of one scheme; `bytes` passed the server's port.
pub fn report(
    setting: &Setting,
    scheme: &Scheme,
    records: &Records,
    checked: &Checked,
    bytes: [u64; 2],
    frames_lost: u64,
) -> Result<SchemeReport, Error> {
    let first = match scheme.order {
        Order::Workers(_) => u64::from(setting.iterations / 3),
        Order::Groups { .. } => DROPPED_ROUNDS,
    };
    let iteration_s = match scheme.order {
        Order::Workers(_) => iteration_s(records, first),
        Order::Groups { groups, .. } => round_s(setting, records, groups),
    };
    let blocking_s = blocking_s(records);
    let began_ns = records.pulls.iter().map(|pull| pull.at_ns).min().unwrap_or(0);
    let since = |at_ns: u64| at_ns.saturating_sub(began_ns) as f64 / 1e9;
    let seconds = since(records.applied.last().map_or(0, |applied| applied.at_ns));
    let mut gaps = gaps(records, first);
    gaps.sort_by(f64::total_cmp);
    let least = ZERO_GAP * iteration_s / setting.job.participants.len() as f64;
    let zero = gaps.iter().filter(|gap| **gap < least).count() as f64;
    let updates = || records.applied.iter().flat_map(|applied| &applied.updates);
    let mut staleness_counts = BTreeMap::new();
    for update in updates().filter(|update| update.iteration >= first) {
        *staleness_counts.entry(update.staleness).or_insert(0u64) += 1;
    }
    let counted = staleness_counts.values().sum::<u64>().max(1) as f64;
    let stale: u64 = staleness_counts.iter().map(|(staleness, count)| staleness * count).sum();
    let evaluations: Vec<Evaluation> = checked
        .evaluations
        .iter()
        .map(|(at_ns, of)| Evaluation { at_s: since(*at_ns), accuracy: of.accuracy, loss: of.loss })
        .collect();
    let Some(PsServerEnd { refused, relaxation, dropped, late, left_out, .. }) = records.counted.clone()
    else {
        let why = "it has not counted".to_owned();
        return Err(Error::Failed { who: setting.server.clone(), why });
    };
    let used = |bytes: u64, rate_bps: f64| bytes as f64 * 8.0 / rate_bps / seconds.max(1e-9);
    let by_the_clock = SchemeReport {
        scheme: scheme.name.clone(),
        iteration_s,
        bunched_arrivals: zero / gaps.len().max(1) as f64,
        gap_quantiles_s: [("0.05", 0.05), ("0.5", 0.5), ("0.95", 0.95)]
            .map(|(name, part)| (name, quantile(&gaps, part)))
            .into(),
        staleness_mean: stale as f64 / counted,
        staleness_max: updates().map(|update| update.staleness).max().unwrap_or(0),
        staleness_counts,
        blocking_s,
        relaxation,
        batches: setting.tuning.map(|_| batches(setting, records)).unwrap_or_default(),
        late: late.unwrap_or_default(),
        left_out: left_out.unwrap_or_default(),
        utilization_in: used(bytes[0], setting.job.server.in_bps),
        utilization_out: used(bytes[1], setting.job.server.out_bps),
        seconds,
        updates_checked: checked.updates,
        wasted_updates: checked.wasted_updates,
        lost: checked.lost,
        killed: records.killed.len(),
        returned: records.returned,
        server_restarts: records.restarts.len(),
        frames_lost,
        refused,
        given_up: records.gone.len() as u64,
        dropped,
        accuracy: evaluations.last().map_or(0.0, |last| last.accuracy),
        to_90_s: evaluations.iter().find(|at| at.accuracy >= 0.9).map(|at| at.at_s),
        evaluations,
        simulated: simulated(setting, scheme)?,
    };
    Ok(by_the_clock.at_own_rates(setting.scale))
}

impl SchemeReport {
    /// From times by the clock to the network's own.
    pub(super) fn at_own_rates(mut self, scale: Scaling) -> Self {
        scale.apply([&mut self.iteration_s, &mut self.blocking_s, &mut self.seconds]);
        scale.apply([&mut self.simulated.iteration_s]);
        scale.apply(self.gap_quantiles_s.values_mut().chain(&mut self.to_90_s));
        scale.apply(self.evaluations.iter_mut().map(|evaluations| &mut evaluations.at_s));
        self
    }
}

/// Returns the workers' batch sizes at the end.
fn batches(setting: &Setting, records: &Records) -> BTreeMap<String, usize> {
    let last = |worker: usize| {
        let own = records.sent.range((worker, 0)..=(worker, u64::MAX)).flat_map(|(_, copies)| copies);
        own.max_by_key(|sent| sent.began_ns).map(|sent| sent.batch)
    };
    let workers = setting.job.participants.iter().enumerate();
    workers.filter_map(|(at, worker)| Some((worker.name.clone(), last(at)?))).collect()
}

/// Mean over workers of the time between own pushes, from an iteration on.
fn iteration_s(records: &Records, first: u64) -> f64 {
    let mut of: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for pushed in records.pushed.iter().filter(|pushed| pushed.iteration >= first) {
        of.entry(&pushed.worker).or_default().push(pushed.at_ns);
    }
    let means = of.values().filter_map(|times| match times[..] {
        [first, .., last] => Some((last - first) as f64 / 1e9 / (times.len() - 1) as f64),
        _ => None,
    });
    mean(&means.collect::<Vec<_>>())
}

/// Mean time between aggregations of a group, but for its first ones.
fn round_s(setting: &Setting, records: &Records, groups: usize) -> f64 {
    let mut of: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for applied in &records.applied {
        let client = applied.updates.first().map(|update| update.worker.as_str());
        let place = setting.job.participants.iter().position(|own| Some(own.name.as_str()) == client);
        of.entry(place.unwrap_or(0) % groups.max(1)).or_default().push(applied.at_ns);
    }
    let gaps = of.values().flat_map(|times| times.windows(2).skip(DROPPED_ROUNDS as usize - 1));
    mean(&gaps.map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect::<Vec<_>>())
}

/// Between arrivals of pushes; a gap belongs to the push that ends it.
fn gaps(records: &Records, first: u64) -> Vec<f64> {
    let pairs = records.pushed.windows(2).filter(|pair| pair[1].iteration >= first);
    pairs.map(|pair| pair[1].at_ns.saturating_sub(pair[0].at_ns) as f64 / 1e9).collect()
}

/// From the arrival of a push to the next pull of its worker.
fn blocking_s(records: &Records) -> f64 {
    let next = |worker: &str, after_ns: u64| {
        records
            .pulls
            .iter()
            .find(|pull| pull.worker == worker && pull.at_ns >= after_ns)
            .map(|pull| pull.at_ns)
    };
    let waits = records.pushed.iter().filter_map(|pushed| {
        next(&pushed.worker, pushed.at_ns).map(|at_ns| (at_ns - pushed.at_ns) as f64 / 1e9)
    });
    mean(&waits.collect::<Vec<_>>())
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The least value that at least this part of all do not exceed.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}
