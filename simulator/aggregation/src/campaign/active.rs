//! Trials with jobs that start and end, and hosts that crash and restart, drawn from separate streams.

use std::time::Duration;

use inart_topologies::faults::quantity::{Share, Span};
use inart_topologies::faults::{FaultEvent, Faults};
use inart_topologies::switched::{Job, NodeId, Topology};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::more::{span, stream};
use crate::live::{Double, Interrupt, Live, LiveChange, LiveEvent};
use crate::options::Options;

/// Longest virtual time of such a run.
const LIMIT: Span = Span(600_000_000_000);
/// Time span in which job and host events start.
const FIRST: Span = Span(500_000);
const LAST: Span = Span(6_000_000_000);
/// Longest duration of background traffic, since such runs are long.
const TRAFFIC: Span = Span(100_000_000);

/// Draws jobs on the hosts of the first job, some of them elastic, and their events; usually none.
fn jobs(seed: u64, topology: &Topology) -> Option<(Topology, Live)> {
    let mut rng = stream(seed, 12);
    if !rng.random_bool(0.3) {
        return None;
    }
    let first = topology.jobs()[0].clone();
    let mut jobs = Vec::new();
    for number in 0..rng.random_range(1..=3) {
        let (workers, servers) = (some(&mut rng, &first.workers), some(&mut rng, &first.servers));
        let (exact, elastic) = (rng.random_bool(0.15), rng.random_bool(0.65));
        let name = format!("job{number}");
        jobs.push(Job { name, workers, servers, exact, elastic, ..first.clone() });
    }
    let mut live = Live {
        events: Vec::new(),
        notify_within: span(&mut rng, Span(1_000), Span(20_000_000)),
        computes: span(&mut rng, Span(10_000_000), Span(1_500_000_000)),
        gathers_within: span(&mut rng, Span(50_000_000), Span(10_000_000_000)),
        plans_within: span(&mut rng, Span(1_000_000), Span(500_000_000)),
        ..Live::default()
    };
    for (number, job) in jobs.iter().enumerate() {
        happen(&mut rng, &mut live.events, job, number > 0);
    }
    Some((topology.with_jobs(jobs), live))
}

/// Some of them, in their order; one at least.
fn some(rng: &mut ChaCha8Rng, all: &[NodeId]) -> Vec<NodeId> {
    let sure = *all.choose(rng).expect("jobs have hosts");
    all.iter().copied().filter(|id| *id == sure || rng.random_bool(0.8)).collect()
}

/// Draws the events of a job.
fn happen(rng: &mut ChaCha8Rng, events: &mut Vec<LiveEvent>, job: &Job, may_start: bool) {
    let mut push = |at: u64, what| events.push(LiveEvent { at: Span(at), job: job.name.clone(), what });
    let comes = may_start && rng.random_bool(0.7);
    let begins = if comes { span(rng, FIRST, LAST).0 } else { 0 };
    if comes {
        push(begins, LiveChange::Submit);
    }
    for _ in 0..rng.random_range(0..=3) {
        push(begins + span(rng, FIRST, LAST).0, LiveChange::Move);
    }
    if !job.elastic {
        return;
    }
    if rng.random_bool(0.3) {
        let at = begins + span(rng, FIRST, LAST).0;
        push(at, LiveChange::Pause);
        push(at + span(rng, FIRST, LAST).0, LiveChange::Resume);
    }
    if rng.random_bool(0.15) {
        let at = begins + span(rng, FIRST, LAST).0;
        push(at, LiveChange::Delete);
        if rng.random_bool(0.5) {
            push(at + span(rng, FIRST, LAST).0, LiveChange::Submit);
        }
    }
}

/// Turns some trials into trials with changing jobs: hosts of elastic jobs crash, and most restart.
pub(super) fn add_live_events(
    topology: &mut Topology,
    options: &mut Options,
    faults: &mut Faults,
    seed: u64,
) {
    let Some((with_jobs, live)) = jobs(seed, topology) else { return };
    *topology = with_jobs;
    let mut rng = stream(seed, 13);
    (options.changes, options.watch, options.odd_length, options.runs) = (None, None, None, 1);
    options.others.clear();
    options.limit = LIMIT;
    options.refused = match rng.random_bool(0.4) {
        true => Share::near(rng.random_range(0.05..0.5)),
        false => Share::default(),
    };
    options.live = Some(live);
    faults.background.iter_mut().for_each(|traffic| traffic.lasts = Some(TRAFFIC));
    let elastic = topology.jobs().iter().filter(|job| job.elastic);
    let hosts: Vec<_> = elastic.flat_map(|job| job.workers.iter().chain(&job.servers)).copied().collect();
    let deaths = if hosts.is_empty() || rng.random_bool(0.25) { 0 } else { rng.random_range(1..=4) };
    for _ in 0..deaths {
        let crash = hosts.choose(&mut rng).map(|host| topology.node(*host).name.clone());
        let lasts = rng.random_bool(0.75).then(|| span(&mut rng, Span(10_000_000), Span(8_000_000_000)));
        let at = span(&mut rng, FIRST, LAST);
        faults.events.push(FaultEvent { at, crash, lasts, ..FaultEvent::default() });
    }
    // After the deaths, which its hosts must not have.
    mishaps(topology, options, faults, seed);
}

/// Adds duplicate hosts (names already in use), hosts that are interrupted while they wait, and usage checks
/// of jobs with long computations.
fn mishaps(topology: &Topology, options: &mut Options, faults: &Faults, seed: u64) {
    let mut rng = stream(seed, 17);
    let Some(live) = &mut options.live else { return };
    // A disconnected or paused host cannot be compared with its duplicate.
    let is_undisturbed = |name: &String| {
        let events = faults.events.iter();
        !events.flat_map(|event| [&event.crash, &event.pause]).flatten().any(|victim| victim == name)
    };
    let elastic = topology.jobs().iter().filter(|job| job.elastic);
    let hosts = elastic.flat_map(|job| {
        let of_job = job.workers.iter().chain(&job.servers);
        of_job.map(|host| (job.name.clone(), topology.node(*host).name.clone()))
    });
    let hosts: Vec<_> = hosts.filter(|(_, name)| is_undisturbed(name)).collect();
    let (is_double, is_interrupted) = (rng.random_bool(0.4), rng.random_bool(0.3));
    if let Some((job, host)) = hosts.choose(&mut rng).filter(|_| is_double) {
        let at = span(&mut rng, Span(400_000_000), LAST);
        let asks = rng.random_bool(0.4).then(|| rng.random_range(1..8));
        live.doubles.push(Double { at, job: job.clone(), host: host.clone(), asks });
    }
    let has_double = |name: &String| live.doubles.iter().any(|double| double.host == *name);
    let others: Vec<_> = hosts.iter().filter(|(_, name)| !has_double(name)).collect();
    if let Some((job, host)) = others.choose(&mut rng).filter(|_| is_interrupted) {
        let at = span(&mut rng, Span(1_000_000), LAST);
        let again = rng.random_bool(0.7).then(|| span(&mut rng, Span(10_000_000), Span(4_000_000_000)));
        live.interrupts.push(Interrupt { at, job: job.clone(), host: host.clone(), again });
    }
    for _ in 0..rng.random_range(0..4) {
        live.looks.push(span(&mut rng, Span(100_000_000), Span(40_000_000_000)));
    }
    if rng.random_bool(0.25) {
        // Workers compute for longer than a usage check takes, and wait long for each other.
        live.computes = span(&mut rng, Span(2_000_000_000), Span(8_000_000_000));
        options.peer_timeout = Duration::from_secs(rng.random_range(10..60));
        // A server that has not heard from a worker yet waits sixty times as long for it.
        options.limit = Span(options.limit.0.max(100 * options.peer_timeout.as_nanos() as u64));
        options.rounds = options.rounds.min(2);
    }
}
