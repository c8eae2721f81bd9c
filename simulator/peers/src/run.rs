//! Runs of a job's peers and their coordinator.

use std::time::Duration;

use inart_connections::PeerNo;
use inart_peers_agent::Peer;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_virtual::SplitMix64;
use inart_world::{Timing, World};

use crate::agent::Agent;
use crate::error::SimulationError;
use crate::fabric::Fabric;
use crate::links::PeerLinks;
use crate::options::{Options, Until};
use crate::outcome::Outcome;
use crate::setup::Setting;
use crate::training::Training;

/// Connections exist from the start, and do not end.
const CONNECT: Duration = Duration::ZERO;
const IDLE: Duration = Duration::MAX;

/// Runs a job's peers and their coordinator, all of which start at 0.
///
/// # Errors
/// The options are invalid; an update or an average is wrong, which is a defect.
pub fn simulate(mesh: &Mesh, job: &PeerJob, options: &Options) -> Result<Outcome, SimulationError> {
    let setting = Setting::new(mesh, job, options)?;
    let fabric = Fabric::new(mesh, job, setting.chunk_bits(), SplitMix64::stream(options.seed, 0));
    let least_bps = fabric.least_bps();
    let (n, by_switch) = (setting.ranks.len() as u32, setting.by_switch);
    let end = Duration::from_nanos(setting.end_ns);
    let timing = Timing { connect: CONNECT, idle: IDLE, stuck: setting.longest_silence(least_bps) };
    let links = PeerLinks::new(fabric, &setting);
    let training = Training::new(setting, mesh, job, options, least_bps);
    // Frames need no connection.
    let between = (0..n).flat_map(|a| (0..a).map(move |b| [PeerNo(b), PeerNo(a)]));
    let pairs = between.filter(|_| !by_switch).chain((0..n).map(|peer| [PeerNo(n), PeerNo(peer)]));
    let mut world = World::new(n + 1, pairs, links, training, timing)?;
    let ended = match options.until {
        Until::Rounds(_) => world.run(),
        Until::Seconds(_) => world.run_until(end),
    };
    let now = world.now();
    let (links, training, machines) = world.into_parts();
    let peers: Vec<&Peer> = machines.iter().flatten().filter_map(peer).collect();
    if let Err(SimulationError::Stuck { waits, .. }) = &ended
        && waits.is_empty()
    {
        let waiting = training.unfinished().and_then(|at| peers.get(at));
        let waits = waiting.map_or(String::new(), |peer| peer.describe());
        return Err(SimulationError::Stuck { seconds: now.as_secs_f64(), waits });
    }
    ended?;
    Ok(outcome(options, now, &links, &training, &peers))
}

fn peer(agent: &Agent) -> Option<&Peer> {
    match agent {
        Agent::Peer(process) => Some(process.peer()),
        Agent::Coordinator(_) => None,
    }
}

fn outcome(
    options: &Options,
    now: Duration,
    links: &PeerLinks,
    training: &Training,
    peers: &[&Peer],
) -> Outcome {
    let Training { audit, tally, .. } = training;
    let ended: Vec<u32> = peers.iter().map(|peer| peer.round() - 1).collect();
    let counters = || peers.iter().map(|peer| peer.counters());
    let (lost, overflowed) = links.dropped();
    Outcome {
        scheme: options.scheme.name(),
        multicast: options.multicast.name(),
        figures: tally.figures(options.sync, &ended, now.as_secs_f64()),
        virtual_s: now.as_secs_f64(),
        updates_compared: audit.updates,
        averages_compared: audit.averages,
        given_up: audit.given_up,
        withdrawn: audit.withdrawn,
        gone: counters().map(|(peer, ..)| peer.gone).sum(),
        rounds_with_previous_receivers: counters()
            .map(|(peer, ..)| peer.rounds_with_previous_receivers)
            .sum(),
        repairs: counters().map(|(_, sender, _)| sender.repairs).sum::<u64>() + links.again,
        lost,
        overflowed,
    }
}
