//! Figures of an emulation of peers, at the network's own rates.

use std::collections::BTreeMap;

use inart_planner_peers::Scheme;
use inart_report::{MulticastEnd, PeerSent};
use serde::Serialize;

use super::processes::Records;
use super::setting::{Setting, Sync};
use super::simulated;
use super::switch::SwitchReport;
use crate::error::Error;
use crate::machine::scale::Scaling;

/// Figures of an emulation. All times are at the document's rates, with its updates.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The network's name.
    pub network: String,
    /// Ratio of the emulated network to the document's.
    pub scale: Scaling,
    /// `bsp` or `ssp`.
    pub sync: &'static str,
    /// Nodes that copy the updates, `hosts` or `switch`; several with a comma between them.
    pub multicast: String,
    /// Bytes of an update in the emulation.
    pub update_bytes: f64,
    /// Each scheme, in the order in which they ran.
    pub schemes: Vec<SchemeReport>,
}

impl Report {
    /// Adds what an emulation of the same rounds with copies by others came to.
    pub fn append(&mut self, other: Report) {
        self.multicast = format!("{},{}", self.multicast, other.multicast);
        self.schemes.extend(other.schemes);
    }
}

/// Results of one scheme.
#[derive(Debug, Clone, Serialize)]
pub struct SchemeReport {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Nodes that copy the updates, `hosts` or `switch`.
    pub multicast: &'static str,
    /// Times and receivers.
    #[serde(flatten)]
    pub figures: Figures,
    /// Test accuracy at the end, 0 to 1: the mean over all peers; `None` without training.
    pub accuracy: Option<f64>,
    /// Test accuracy of the worst peer.
    pub accuracy_least: Option<f64>,
    /// Updates that arrived, each compared with what was sent.
    pub updates_checked: u64,
    /// Receivers that senders gave up.
    pub given_up: u64,
    /// Peers that others declared failed.
    pub gone: u64,
    /// Multicasts to the last receivers, since no choice came.
    pub rounds_with_previous_receivers: u64,
    /// Chunks that were sent again.
    pub sent_again: u64,
    /// Load of ports with the bytes of connection setup, over their capacity from the first round on at the
    /// rates of the start: the mean over all ports, up and down.
    pub port_load: f64,
    /// Load of the fullest port.
    pub port_load_most: f64,
    /// Share of updates in the bytes that ports carried down.
    pub payload_share: f64,
    /// Frames that links lost at random.
    pub frames_lost: u64,
    /// Frames that the switches that make the copies dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The switches that make the copies, each by itself; none where hosts do.
    pub switches: Vec<SwitchReport>,
}

/// Bytes that links carried.
pub struct Carried {
    /// Bytes of frames through each peer's port, up and down, by rank.
    pub bytes: Vec<[u64; 2]>,
    /// From the first round's beginning on.
    pub seconds: f64,
    /// Frames that links lost at random.
    pub frames_lost: u64,
    /// The switches that make the copies.
    pub switches: Vec<SwitchReport>,
}

impl Carried {
    /// Returns the load of every port, as a share of its capacity.
    fn loads(&self, setting: &Setting) -> Vec<f64> {
        let ports = setting.mesh.ports_at(setting.job(), 0.0);
        let rates = ports.up_bps.iter().zip(&ports.down_bps);
        let both =
            self.bytes.iter().zip(rates).flat_map(|(bytes, (&up, &down))| [(bytes[0], up), (bytes[1], down)]);
        both.map(|(bytes, bps)| bytes as f64 * 8.0 / bps / self.seconds).collect()
    }

    /// Returns the frames that all switches dropped, by reason.
    fn dropped(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for (reason, count) in self.switches.iter().flat_map(|switch| &switch.dropped) {
            *all.entry(reason.clone()).or_default() += count;
        }
        all
    }
}

/// Times and receivers.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// Figures of bulk synchronous rounds.
    Bsp(BspFigures),
    /// Figures of stale synchronous rounds.
    Ssp(SspFigures),
}

/// Bulk synchronous rounds.
#[derive(Debug, Clone, Serialize)]
pub struct BspFigures {
    /// Mean time of a round's longest multicast, in seconds.
    pub seconds: f64,
    /// Mean of what the coordinator planned for it, in seconds.
    pub planned_s: f64,
    /// Mean time of as many rounds in virtual time, in seconds.
    pub simulated_s: f64,
    /// Mean number of receivers that have an update.
    pub receivers_mean: f64,
    /// The time from the first round's beginning to the last one's end, per round, in seconds: with what
    /// peers compute and average.
    pub round_s: f64,
    /// Number of rounds.
    pub rounds: u32,
    /// Each round.
    pub each_round: Vec<RoundTime>,
}

/// One bulk synchronous round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundTime {
    /// Start of the first peer's computation, in seconds since the start of the first round.
    pub start_s: f64,
    /// Until the last multicast was over.
    pub whole_s: f64,
    /// The longest multicast.
    pub seconds: f64,
    /// Time that the coordinator planned for it.
    pub planned_s: f64,
    /// Mean number of receivers that have an update.
    pub receivers_mean: f64,
}

/// Stale synchronous rounds, from the first one's beginning until the first peer has ended its last.
#[derive(Debug, Clone, Serialize)]
pub struct SspFigures {
    /// Mean share of the time in which peers compute.
    pub utilization: f64,
    /// Mean number of receivers that have an update, over the number of peers.
    pub scale: f64,
    /// Multicasts that have ended.
    pub rounds: u64,
    /// By how many rounds the first peer was ahead of the last at the end.
    pub max_gap: u32,
    /// Duration of that, in seconds.
    pub duration_s: f64,
    /// Time in virtual time; `None` if the job does not state the peers' compute time.
    pub simulated: Option<inart_simulator_peers::ideal::Ssp>,
}

impl Figures {
    /// From times by the clock to the network's own.
    fn at_own_rates(mut self, scale: Scaling) -> Self {
        match &mut self {
            Figures::Bsp(BspFigures { seconds, planned_s, simulated_s, round_s, each_round, .. }) => {
                scale.apply([seconds, planned_s, simulated_s, round_s]);
                scale.apply(each_round.iter_mut().flat_map(|round| {
                    let RoundTime { start_s, whole_s, seconds, planned_s, .. } = round;
                    [start_s, whole_s, seconds, planned_s]
                }));
            }
            Figures::Ssp(figures) => scale.apply([&mut figures.duration_s]),
        }
        self
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

pub fn report(
    setting: &Setting,
    scheme: Scheme,
    records: &Records,
    updates_checked: u64,
    carried: &Carried,
) -> Result<SchemeReport, Error> {
    let figures = match setting.sync {
        Sync::Bsp => Figures::Bsp(bsp(setting, scheme, records)?),
        Sync::Ssp { .. } => Figures::Ssp(ssp(setting, scheme, records)?),
    };
    let learnt: Vec<f64> = records.counted.values().filter_map(|counted| counted.accuracy).collect();
    let mean = learnt.iter().sum::<f64>() / learnt.len() as f64;
    let counted = || records.counted.values();
    let loads = carried.loads(setting);
    let down: u64 = carried.bytes.iter().map(|bytes| bytes[1]).sum();
    Ok(SchemeReport {
        scheme: scheme.name(),
        multicast: setting.multicast.name(),
        figures: figures.at_own_rates(setting.scale),
        accuracy: (!learnt.is_empty()).then_some(mean),
        accuracy_least: learnt.iter().copied().min_by(f64::total_cmp),
        updates_checked,
        given_up: records.ended.values().map(|ended| ended.given_up.len() as u64).sum(),
        gone: counted().map(|counted| counted.gone).sum(),
        rounds_with_previous_receivers: counted().map(|counted| counted.rounds_with_previous_receivers).sum(),
        sent_again: counted().map(|counted| counted.failed + counted.repairs).sum(),
        port_load: loads.iter().sum::<f64>() / loads.len() as f64,
        port_load_most: loads.iter().copied().fold(0.0, f64::max),
        payload_share: updates_checked as f64 * setting.job().update_bytes[0] / down as f64,
        frames_lost: carried.frames_lost,
        dropped: carried.dropped(),
        switches: carried.switches.clone(),
    })
}

/// Reports of all peers about a round, and its planned time in seconds.
#[derive(Debug, Default)]
struct Whole<'s> {
    sent: Vec<&'s PeerSent>,
    ended: Vec<&'s MulticastEnd>,
    planned_s: f64,
}

fn bsp(setting: &Setting, scheme: Scheme, records: &Records) -> Result<BspFigures, Error> {
    let peers = setting.names().len();
    let bits = setting.update_bits();
    let mut rounds: BTreeMap<u32, Whole<'_>> = BTreeMap::new();
    for (key, sent) in &records.sent {
        let Some(ended) = records.ended.get(key) else { continue };
        let round = rounds.entry(sent.round).or_default();
        round.sent.push(sent);
        round.ended.push(ended);
        let planned_s = records.rates_bps.get(key).map_or(0.0, |bps| bits / bps);
        round.planned_s = round.planned_s.max(planned_s);
    }
    rounds.retain(|_, round| round.ended.len() == peers);
    let first_ns = records.sent.values().map(|sent| sent.began_ns).min().unwrap_or(0);
    let time = |round: &Whole<'_>| {
        let began_ns = round.sent.iter().map(|sent| sent.began_ns).min().unwrap_or(0);
        let ended_ns = round.ended.iter().map(|ended| ended.ended_ns).max().unwrap_or(0);
        let complete: usize = round.ended.iter().map(|ended| ended.complete.len()).sum();
        RoundTime {
            start_s: seconds(began_ns.saturating_sub(first_ns)),
            whole_s: seconds(ended_ns.saturating_sub(began_ns)),
            seconds: round.ended.iter().map(|ended| ended.seconds).fold(0.0, f64::max),
            planned_s: round.planned_s,
            receivers_mean: complete as f64 / peers as f64,
        }
    };
    let each_round: Vec<RoundTime> = rounds.values().map(time).collect();
    let count = each_round.len() as f64;
    let Some(last) = each_round.last() else {
        let cause = std::io::Error::other("no round was ended by all peers");
        return Err(Error::System { what: "measure".to_owned(), cause });
    };
    let mean = |of: fn(&RoundTime) -> f64| each_round.iter().map(of).sum::<f64>() / count;
    Ok(BspFigures {
        seconds: mean(|round| round.seconds),
        planned_s: mean(|round| round.planned_s),
        simulated_s: simulated::rounds(setting, scheme, each_round.len() as u32)?,
        receivers_mean: mean(|round| round.receivers_mean),
        round_s: (last.start_s + last.whole_s) / count,
        rounds: each_round.len() as u32,
        each_round,
    })
}

fn ssp(setting: &Setting, scheme: Scheme, records: &Records) -> Result<SspFigures, Error> {
    let peers = setting.names().len();
    let first_ns = records.sent.values().map(|sent| sent.began_ns).min().unwrap_or(0);
    let last = (0..peers).filter_map(|rank| records.ended.get(&(rank, setting.rounds)));
    let until_ns = last.map(|ended| ended.ended_ns).min().unwrap_or(first_ns);
    let duration_s = seconds(until_ns - first_ns);
    if duration_s == 0.0 {
        let cause = std::io::Error::other("no peer has ended its last round");
        return Err(Error::System { what: "measure".to_owned(), cause });
    }
    let computed =
        |sent: &PeerSent| sent.computed_ns.min(until_ns).saturating_sub(sent.began_ns.min(until_ns));
    let computed_ns: u64 = records.sent.values().map(computed).sum();
    let mut done = vec![0u32; peers];
    let mut complete = 0;
    for ((rank, _), ended) in records.ended.iter().filter(|(_, ended)| ended.ended_ns <= until_ns) {
        done[*rank] += 1;
        complete += ended.complete.len();
    }
    let rounds: u64 = done.iter().map(|&rounds| u64::from(rounds)).sum();
    let most = done.iter().copied().max().unwrap_or(0);
    Ok(SspFigures {
        utilization: seconds(computed_ns) / (peers as f64 * duration_s),
        scale: complete as f64 / rounds.max(1) as f64 / peers as f64,
        rounds,
        max_gap: most - done.iter().copied().min().unwrap_or(0),
        duration_s,
        simulated: simulated::stale(setting, scheme, duration_s)?,
    })
}

/// Returns the common part of all schemes.
pub fn whole(setting: &Setting, schemes: Vec<SchemeReport>) -> Report {
    Report {
        network: setting.mesh.name().to_owned(),
        scale: setting.scale,
        sync: if setting.sync == Sync::Bsp { "bsp" } else { "ssp" },
        multicast: setting.multicast.name().to_owned(),
        update_bytes: setting.job().update_bytes[0],
        schemes,
    }
}
