//! Runs of agents.

use std::time::Duration;

use inart_connections::PeerNo;
use inart_ps_agent::{Checkpoint, Precision, Sequencer, Tag, chunk_packet};
use inart_topologies::faults::Schedule;
use inart_topologies::ps::{Job, Kind};
use inart_topologies::switched::Topology;
use inart_virtual::SplitMix64;
use inart_world::{Timing, World};

use super::audit::Rule;
use super::error::AgentError;
use super::faults::{Plan, Planning};
use super::machine::{Agent, SERVER};
use super::measured;
use super::options::{AgentOptions, MODEL, Sync};
use super::outcome::{AgentRun, FaultRecord};
use super::sequencer::Either;
use super::star::Star;
use super::training::{CHUNK_VALUES, Trainer};

/// Duration of a connection attempt, and of a silent connection, as in hosts' QUIC.
const CONNECT: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_secs(5);
/// Time without a report while no process computes after which a run is stuck.
const STUCK: Duration = Duration::from_secs(3600);
/// Most participants with process numbers.
const MOST: usize = 1 << 14;

/// Runs a job's agents with the schedule's faults.
///
/// # Errors
/// The options or faults are invalid; the oracle has a finding, which is a defect; the run does not end.
pub fn run_agents(
    topology: &Topology,
    job: &Job,
    options: &AgentOptions,
    schedule: &Schedule,
) -> Result<AgentRun, AgentError> {
    let build = |kept| Either::new(job, options, MODEL, kept);
    run_sequencer(topology, job, options, schedule, build)
}

/// Runs a job's agents around a sequencer that `build` creates from a server's checkpoint.
///
/// # Errors
/// As for [`run_agents`].
pub fn run_sequencer<S: Sequencer>(
    topology: &Topology,
    job: &Job,
    options: &AgentOptions,
    schedule: &Schedule,
    build: impl FnMut(Checkpoint) -> Result<S, AgentError>,
) -> Result<AgentRun, AgentError> {
    check(job, options)?;
    let Some(planning) = Planning::new(topology, job) else {
        let (what, fix) = (format!("job {}", job.name), "name a job of the network");
        return Err(AgentError::Fault { what, why: "the network does not have it", fix });
    };
    let Plan { faults, gone, restarts, access_links, server } = planning.resolve(schedule)?;
    let rule = match options.sync {
        Sync::Order(sync_model) => Rule::Order(sync_model),
        Sync::Groups { groups, .. } => Rule::Groups(groups),
    };
    let star =
        Star::new(access_links, server, bits_per_byte(job, options), SplitMix64::stream(options.seed, 1));
    let mut trainer = Trainer::new(job, options, rule, restarts, build);
    trainer.gone = gone;
    let count = job.participants.len() as u32;
    let pairs = (1..=count).map(|worker| [SERVER, PeerNo(worker)]);
    let stuck = STUCK + options.patience + options.gather;
    let timing = Timing { connect: CONNECT, idle: IDLE, stuck };
    let mut world = World::new(count + 1, pairs, star, trainer, timing)?;
    for (at, fault, _) in &faults {
        world.plan(*at, fault.clone());
    }
    let ended = world.run();
    let now = world.now();
    let (star, mut trainer, machines) = world.into_parts();
    if let Err(AgentError::Stuck(stuck, _)) = ended {
        let server = machines.first().and_then(Option::as_ref);
        return Err(AgentError::Stuck(stuck, trainer.waits(server, now)));
    }
    ended?;
    for (who, machine) in machines.iter().enumerate() {
        if let Some(machine) = machine {
            trainer.count(PeerNo(who as u32), machine)?;
        }
    }
    let model = match machines.first() {
        Some(Some(Agent::Server(agent))) => Some(agent.sequencer().values()),
        _ => None,
    };
    trainer.audit.ended(model).map_err(|wrong| trainer.wrong(wrong))?;
    let happened = faults.into_iter().filter(|(at, ..)| *at <= now);
    let faults = happened.map(|(at, _, fault)| FaultRecord { at_s: at.as_secs_f64(), fault }).collect();
    Ok(measured::run(
        job,
        options,
        rule.staleness(count as usize, restarts),
        now,
        &trainer,
        star.lost,
        faults,
    ))
}

/// Returns the bits on the wire per byte of a chunk's packet, which stands for its part of the model.
fn bits_per_byte(job: &Job, options: &AgentOptions) -> f64 {
    let tag = Tag { worker_incarnation: 1, server_incarnation: 1, ticket: 1, version: 1 };
    let packet = chunk_packet(&tag, 0, &[0.0; CHUNK_VALUES], Precision::Single);
    job.bits / f64::from(options.chunks) / packet.len() as f64
}

fn check(job: &Job, options: &AgentOptions) -> Result<(), AgentError> {
    let wanted = match options.sync {
        Sync::Order(_) => Kind::Workers,
        Sync::Groups { .. } => Kind::Clients,
    };
    if job.kind != wanted {
        let (has, sync, wanted) = (job.kind.name(), options.sync.name(), wanted.name());
        return Err(AgentError::Kind { job: job.name.clone(), has, sync, wanted });
    }
    for (what, given, least) in [("iterations", options.iterations, 2), ("chunks", options.chunks, 1)] {
        if given < least {
            return Err(AgentError::Few { what, given, least });
        }
    }
    let participants = job.participants.len();
    if participants > MOST {
        return Err(AgentError::Many { job: job.name.clone(), participants, most: MOST });
    }
    Ok(())
}
