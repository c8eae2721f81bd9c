//! Additional settings of trials, each drawn from a separate stream, so that no other draw of the seed
//! changes.

use std::time::Duration;

use inart_protocol_aggregation::NonFinite;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_steering::ReplanThresholds;
use inart_topologies::faults::quantity::{Share, Span};
use inart_topologies::faults::{FaultEvent, Faults};
use inart_topologies::switched::{Job, Link, NodeKind, Topology};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::changes::Changes;
use crate::gradients::Sizes;
use crate::options::{OddLength, Options, Skip, Spoilt};
use crate::watch::{Follow, LinkTraffic, Watch};

/// Peer timeout of hosts.
pub(super) const PEER_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

/// Returns usually `length`, else a length near one or two blocks.
pub(super) fn some_around_a_block(seed: u64, length: usize) -> usize {
    let mut rng = stream(seed, 15);
    if !rng.random_bool(0.15) {
        return length;
    }
    BLOCK_VALUES * rng.random_range(1..=2) + rng.random_range(0..=8) - 4
}

/// Returns usually the given topology, else one with an additional worker without a job.
pub(super) fn some_idle(seed: u64, topology: Topology) -> Topology {
    let mut rng = stream(seed, 2);
    let jobs = topology.jobs();
    if jobs[0].workers.len() < 2 || !rng.random_bool(0.2) {
        return topology;
    }
    let idle = *jobs[0].workers.choose(&mut rng).expect("two at least");
    let without = |job: &Job| {
        let workers = job.workers.iter().copied().filter(|worker| *worker != idle).collect();
        Job { workers, ..job.clone() }
    };
    let jobs = jobs.iter().map(without).collect();
    topology.with_jobs(jobs)
}

/// Adds other magnitudes of values, more runs under the same plan version, another gradient length, several
/// tensors, plan changes, interface failures, and frames that the idle worker forges, some of them
/// VLAN-tagged. `ideal` is the duration of a run without faults.
pub(super) fn add_more(
    options: &mut Options,
    faults: &mut Faults,
    topology: &Topology,
    seed: u64,
    ideal: Span,
) {
    let mut rng = stream(seed, 3);
    if rng.random_bool(0.3) {
        options.sizes = *Sizes::ALL.choose(&mut rng).expect("the list is not empty");
        options.rounds += rng.random_range(0..=8);
    } else if rng.random_bool(0.5) {
        options.sizes = Sizes::Mixed;
    }
    let mut rng = stream(seed, 4);
    if rng.random_bool(0.15) {
        options.runs = rng.random_range(2..=3);
    }
    let mut rng = stream(seed, 5);
    let workers = topology.jobs()[0].workers.len();
    if workers > 1 && rng.random_bool(0.1) {
        let gradient_values = rng.random_range(0..=2 * options.gradient_values);
        let odd = OddLength { rank: rng.random_range(0..workers), gradient_values };
        options.odd_length = Some(odd).filter(|odd| odd.gradient_values != options.gradient_values);
    }
    let mut rng = stream(seed, 8);
    if rng.random_bool(0.3) {
        options.tensors = rng.random_range(2..=6);
    }
    let mut rng = stream(seed, 9);
    if rng.random_bool(0.3) {
        options.changes = Some(Changes {
            count: rng.random_range(1..=4),
            first: Span((ideal.0 as f64 * rng.random::<f64>()) as u64),
            gap: span(&mut rng, Span(1_000), ideal),
            notify_within: span(&mut rng, Span(1_000), Span(20_000_000)),
            coordinated: rng.random_bool(0.5),
            undone: *[Share::default(), Share::near(0.4)].choose(&mut rng).expect("the list is not empty"),
            plans: Vec::new(),
            hold: false,
            pretend: None,
        });
    }
    let mut rng = stream(seed, 10);
    if options.changes.is_some() && rng.random_bool(0.4) {
        options.refused = Share::near(rng.random_range(0.1..0.7));
    }
    add_followed(options, topology, seed, ideal);
    add_events(faults, topology, seed, ideal);
}

/// Adds a NaN or an infinity to the gradients of some runs: the value passes, or the job is aborted. Jobs
/// with forwarded sums or changing hosts are left out.
pub(super) fn spoil(options: &mut Options, seed: u64) {
    let mut rng = stream(seed, 16);
    let passes = rng.random_bool(0.6);
    let share = if passes { rng.random_range(0.02..0.6) } else { rng.random_range(0.02..0.2) };
    let handling = if passes { NonFinite::Pass } else { NonFinite::Abort };
    let may = options.live.is_none() && options.onward.is_none() && (passes || options.watch.is_none());
    if rng.random_bool(0.15) && may {
        options.spoilt = Some(Spoilt { share: Share::near(share), handling });
    }
}

/// Lets a worker skip a round, in some runs of static jobs with one plan.
pub(super) fn skip(options: &mut Options, topology: &Topology, seed: u64) {
    let mut rng = stream(seed, 18);
    let workers = topology.jobs()[0].workers.len();
    let Options { odd_length, spoilt, changes, watch, live, onward, runs, .. } = &*options;
    let stays = changes.is_none() && watch.is_none() && live.is_none() && onward.is_none() && *runs == 1;
    if rng.random_bool(0.25) && stays && workers > 1 && odd_length.is_none() && spoilt.is_none() {
        let round = rng.random_range(0..=options.rounds);
        options.skip = Some(Skip { rank: rng.random_range(0..workers), round });
    }
}

/// Adds background traffic and replanning to some runs without other plan changes.
fn add_followed(options: &mut Options, topology: &Topology, seed: u64, ideal: Span) {
    let mut rng = stream(seed, 11);
    let is_free = options.changes.is_none() && options.runs == 1 && options.odd_length.is_none();
    if !rng.random_bool(0.25) || !is_free {
        return;
    }
    for _ in 0..rng.random_range(0..=2) {
        let is_inner = |link: &&Link| link.ends.iter().all(|id| topology.node(*id).kind == NodeKind::Switch);
        let inner: Vec<_> = topology.links().iter().filter(is_inner).collect();
        let Some(link) = inner.choose(&mut rng) else { continue };
        let mut ends = link.ends.map(|id| topology.node(id).name.clone());
        if rng.random_bool(0.5) {
            ends.reverse();
        }
        let [from, to] = ends;
        let rate_bps = (link.rate_bps() * rng.random_range(0.4..0.95)).min(100e6);
        let at = Span((ideal.0 as f64 * rng.random::<f64>()) as u64);
        // On an overloaded link a host may be silent for a whole peer timeout, and aborting the job is
        // correct.
        let same_way = |other: &&LinkTraffic| other.from == from && other.to == to;
        let others: f64 = options.others.iter().filter(same_way).map(|other| other.rate_bps).sum();
        let rate_bps = rate_bps.min(0.95 * link.rate_bps() - others);
        if rate_bps > 0.0 {
            options.others.push(LinkTraffic { from, to, rate_bps, at });
        }
    }
    let every = span(&mut rng, Span(ideal.0 / 20 + 5_000_000), Span(ideal.0 + 10_000_000));
    let intervals = |count: u32| Duration::from_nanos(every.0) * count;
    let thresholds = ReplanThresholds {
        gain: 1.02,
        hysteresis: 0.02,
        gap: intervals(rng.random_range(1..=3)),
        time_constant: intervals(3),
        hold_down: intervals(2),
        probe_after: intervals(10),
        retry_after: intervals(4),
        ..ReplanThresholds::default()
    };
    let notify_within = span(&mut rng, Span(1_000), Span(20_000_000));
    let until = Some(Span(every.0 * rng.random_range(5..=30)));
    options.watch =
        Some(Watch { every, until, follow: Some(Follow { thresholds, notify_within, quick: true }) });
    if rng.random_bool(0.3) {
        options.refused = Share::near(rng.random_range(0.1..0.7));
    }
}

/// Draws a log-uniform time from `least` to `most`.
pub(super) fn span(rng: &mut ChaCha8Rng, least: Span, most: Span) -> Span {
    let (least, most) = ((least.0.max(1) as f64).ln(), (most.0.max(1) as f64).ln());
    Span((least + (most - least).max(0.0) * rng.random::<f64>()).exp() as u64)
}

fn add_events(faults: &mut Faults, topology: &Topology, seed: u64, ideal: Span) {
    let all = topology.node_ids().filter(|id| topology.node(*id).kind != NodeKind::Switch);
    let is_idle =
        |id| topology.jobs().iter().all(|job| !job.workers.contains(&id) && !job.servers.contains(&id));
    let (idle, hosts): (Vec<_>, Vec<_>) = all.partition(|id| is_idle(*id));
    let at = |rng: &mut ChaCha8Rng| Span((ideal.0 as f64 * 2.0 * rng.random::<f64>()) as u64);
    let name = |id| topology.node(id).name.clone();
    let mut events = Vec::new();
    let mut rng = stream(seed, 6);
    if rng.random_bool(0.2) {
        for _ in 0..rng.random_range(1..=3) {
            let lasts = Some(span(&mut rng, Span(10_000), Span(PEER_TIMEOUT.as_nanos() as u64 / 4)));
            let interface_down = hosts.choose(&mut rng).map(|host| name(*host));
            events.push(FaultEvent { at: at(&mut rng), lasts, interface_down, ..FaultEvent::default() });
        }
    }
    let mut rng = stream(seed, 7);
    for host in idle {
        for _ in 0..rng.random_range(1..=8) {
            let (forge, count) = (Some(name(host)), Some(rng.random_range(1..=60)));
            events.push(FaultEvent { at: at(&mut rng), forge, count, ..FaultEvent::default() });
        }
    }
    faults.events.extend(events);
}
