//! Peers, their coordinator, and what is under way between them.

mod sending;
mod tally;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo};
use inart_peers_agent::{
    Coordinator, CoordinatorNews, CoordinatorProcess, Framing, Peer, PeerNews, PeerProcess, Schemes, Setup,
    Start, Sync,
};
use inart_protocol_peers::{FrameWriter, Receivers};
use inart_topologies::peers::{Compute, Mesh, PeerJob};
use inart_virtual::{SplitMix64, Timeline};
use inart_wire::{Contributors, MacAddr};

use crate::audit::{self, Audit};
use crate::error::SimulationError;
use crate::fabric::Fabric;
use crate::options::Options;
use crate::outcome::Outcome;
use crate::port::ns;
use crate::setup::{FRAME, Setting};
use tally::Tally;

/// Between a peer and its coordinator, which has links of its own.
const WORD_NS: u64 = 500_000;
/// A peer has something to do no more often, as where it paces frames in `inart peer`.
const SHORTEST_SLEEP_NS: u64 = 20_000;
/// When nothing is under way and nobody computes for so long, or for ten times as long as a peer may be
/// silent, nothing will come of it.
const IDLE_NS: u64 = 600_000_000_000;
/// Nor will it after so long: thirty years.
const MOST_NS: u64 = 1_000_000_000_000_000_000;

/// For whom something is.
#[derive(Debug, Clone, Copy)]
enum To {
    One(usize),
    Block(Contributors),
}

/// Something that is under way.
#[derive(Debug, Clone)]
struct Parcel {
    bytes: Bytes,
    /// On the wire.
    bits: f64,
    is_chunk: bool,
    /// The number of a message on a connection.
    id: u64,
}

enum Event {
    Wake(usize),
    Computed(usize),
    /// It was lost on a connection, and leaves again.
    Again {
        from: usize,
        to: usize,
        parcel: Parcel,
    },
    /// At the sender's switch.
    Switch {
        from: usize,
        to: To,
        parcel: Parcel,
    },
    Here {
        from: usize,
        to: usize,
        parcel: Parcel,
    },
    /// The sender hears that a connection took a chunk.
    Taken {
        from: usize,
        id: u64,
    },
    Report {
        from: usize,
        data: Bytes,
    },
    Word {
        to: usize,
        data: Bytes,
    },
}

struct Host {
    peer: PeerProcess,
    draws: SplitMix64,
    compute: Option<Compute>,
    model: Vec<f32>,
    wakes_ns: Option<u64>,
    has_finished: bool,
}

struct World {
    setting: Setting,
    names: Vec<String>,
    now_ns: u64,
    events: Timeline<Event, u64>,
    hosts: Vec<Host>,
    coordinator: CoordinatorProcess<Schemes>,
    fabric: Fabric,
    audit: Audit,
    tally: Tally,
    /// Chunks on their way, and peers that compute.
    under_way: usize,
    computing: usize,
    /// When something was, last.
    busy_ns: u64,
    idle_ns: u64,
}

/// Runs a job's peers and their coordinator, all of which begin at 0.
///
/// # Errors
/// What cannot be run, by name; an update or an average that is not what it has to be, which is a defect.
pub fn simulate(mesh: &Mesh, job: &PeerJob, options: &Options) -> Result<Outcome, SimulationError> {
    let mut world = World::new(mesh, job, options)?;
    world.run()?;
    Ok(world.outcome(options))
}

impl World {
    fn new(mesh: &Mesh, job: &PeerJob, options: &Options) -> Result<Self, SimulationError> {
        let setting = Setting::new(mesh, job, options)?;
        let n = setting.ranks.len();
        // Streams of random numbers: of the links, then of each peer.
        let draws = |index: usize| SplitMix64::stream(options.seed, index as u64);
        let fabric = Fabric::new(mesh, job, setting.chunk_bits(), draws(0));
        let mut idle_ns = IDLE_NS;
        let mut hosts = Vec::with_capacity(n);
        for rank in 0..n {
            let setup = setting.peer(rank, fabric.least_bps());
            idle_ns = idle_ns.max((setup.peer_timeout.as_nanos() as u64).saturating_mul(10));
            hosts.push(Host {
                peer: process(setup, &setting)?,
                draws: draws(rank + 1),
                compute: job.computes.get(rank).copied(),
                model: Vec::new(),
                wakes_ns: None,
                has_finished: false,
            });
        }
        let schemes = Schemes::new(options.scheme, options.reading.clone(), options.seed, &job.name);
        let schemes = schemes.following(options.given.clone());
        Ok(World {
            names: (0..n).map(|rank| mesh.name_of(job, rank).to_owned()).collect(),
            now_ns: 0,
            events: Timeline::new(),
            hosts,
            coordinator: CoordinatorProcess::new(Coordinator::new(setting.coordinator(), schemes)),
            fabric,
            audit: Audit::new(n, options.sync == Sync::Bsp),
            tally: Tally::default(),
            under_way: 0,
            computing: 0,
            busy_ns: 0,
            idle_ns,
            setting,
        })
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.now_ns)
    }

    fn after(&mut self, wait_ns: u64, event: Event) {
        self.events.at(self.now_ns.saturating_add(wait_ns), event);
    }

    fn run(&mut self) -> Result<(), SimulationError> {
        self.coordinator.tick(Duration::ZERO);
        let coordinator = self.coordinator_no();
        for at in 0..self.hosts.len() {
            self.coordinator.up(PeerNo(at as u32), Duration::ZERO);
            self.with(at, |peer, now| peer.up(coordinator, now))?;
        }
        while !self.hosts.iter().all(|host| host.has_finished) {
            let Some((at_ns, event)) = self.events.take() else { return Err(self.stuck()) };
            if at_ns >= self.setting.end_ns {
                self.now_ns = self.setting.end_ns;
                return Ok(());
            }
            self.now_ns = at_ns;
            if self.under_way + self.computing > 0 {
                self.busy_ns = at_ns;
            }
            if at_ns > MOST_NS || at_ns - self.busy_ns > self.idle_ns {
                return Err(self.stuck());
            }
            self.take(event)?;
        }
        Ok(())
    }

    fn stuck(&self) -> SimulationError {
        let waits = self.hosts.iter().find(|host| !host.has_finished);
        let told = waits.map_or(String::new(), |host| host.peer.peer().told());
        SimulationError::Stuck { seconds: self.now().as_secs_f64(), told }
    }

    fn take(&mut self, event: Event) -> Result<(), SimulationError> {
        match event {
            Event::Wake(at) => {
                // Another wake may have been set since.
                if self.hosts[at].wakes_ns != Some(self.now_ns) {
                    return Ok(());
                }
                self.hosts[at].wakes_ns = None;
                self.with(at, |peer, now| peer.tick(now))
            }
            Event::Computed(at) => self.computed(at),
            Event::Again { from, to, parcel } => {
                self.tally.again += 1;
                self.leave(from, To::One(to), parcel);
                Ok(())
            }
            Event::Switch { from, to, parcel } => {
                self.forward(from, to, &parcel);
                Ok(())
            }
            Event::Here { from, to, parcel } => self.arrive(from, to, &parcel),
            Event::Taken { from, id } => self.with(from, |peer, now| peer.ended(id, true, now)),
            Event::Report { from, data } => {
                let now = self.now();
                self.coordinator.received(PeerNo(from as u32), &data, None, now);
                self.carry_out_coordinator()
            }
            Event::Word { to, data } => {
                let from = self.coordinator_no();
                self.with(to, |peer, now| peer.received(from, &data, None, now))
            }
        }
    }

    fn with(
        &mut self,
        at: usize,
        tell: impl FnOnce(&mut PeerProcess, Duration),
    ) -> Result<(), SimulationError> {
        let now = self.now();
        tell(&mut self.hosts[at].peer, now);
        self.carry_out(at)
    }

    /// Does what a peer wants.
    fn carry_out(&mut self, at: usize) -> Result<(), SimulationError> {
        let now = self.now();
        while let Some(output) = self.hosts[at].peer.next(now) {
            match output {
                Output::Send { to, id, data, .. } if to == self.coordinator_no() => {
                    self.after(WORD_NS, Event::Report { from: at, data });
                    self.hosts[at].peer.ended(id, true, now);
                }
                Output::Send { to, id, data, priority } => self.send(at, to.index(), id, data, priority),
                Output::Copy(frame) => self.copy(at, frame),
                Output::Tell(news) => self.take_news(at, news)?,
                // A peer that has left hears nothing that matters.
                Output::Work(_) | Output::Over => {}
            }
        }
        let Some(due) = self.hosts[at].peer.wake_at() else { return Ok(()) };
        let least_ns = self.now_ns.saturating_add(SHORTEST_SLEEP_NS);
        let wake_ns = u64::try_from(due.as_nanos()).unwrap_or(u64::MAX).max(least_ns);
        if self.hosts[at].wakes_ns.is_none_or(|known| wake_ns < known) {
            self.hosts[at].wakes_ns = Some(wake_ns);
            self.events.at(wake_ns, Event::Wake(at));
        }
        Ok(())
    }

    /// The coordinator's number at peers.
    fn coordinator_no(&self) -> PeerNo {
        PeerNo(self.setting.ranks.len() as u32)
    }

    fn take_news(&mut self, at: usize, news: PeerNews) -> Result<(), SimulationError> {
        match news {
            PeerNews::Received(update) => {
                let found = self.audit.receives(at, &update);
                self.check(found)?;
            }
            PeerNews::Ended { outcome, .. } => {
                let found = self.audit.ends(at, &outcome);
                self.check(found)?;
                self.tally.ended(&outcome, self.now_ns);
            }
            PeerNews::Compute(start) => {
                self.average(at, &start)?;
                self.compute(at);
            }
            PeerNews::Finished(start) => {
                self.average(at, &start)?;
                self.hosts[at].has_finished = true;
            }
            PeerNews::NotTakenIn(_) => return Err(self.stuck()),
            PeerNews::Update(error) => {
                return Err(SimulationError::Wrong {
                    peer: self.names[at].clone(),
                    round: self.hosts[at].peer.peer().round(),
                    what: error.to_string(),
                });
            }
        }
        Ok(())
    }

    fn check(&self, found: Result<(), audit::Wrong>) -> Result<(), SimulationError> {
        found.map_err(|(peer, round, what)| SimulationError::Wrong {
            peer: self.names[peer].clone(),
            round,
            what,
        })
    }

    fn average(&mut self, at: usize, start: &Start) -> Result<(), SimulationError> {
        let Some(average) = &start.average else { return Ok(()) };
        let found = self.audit.averages(at, &self.hosts[at].model, start.round - 1, average);
        self.check(found)
    }

    fn compute(&mut self, at: usize) {
        let Host { draws, compute, .. } = &mut self.hosts[at];
        let takes = compute.map(|Compute { mean_seconds, cv }| draws.log_normal(mean_seconds, cv));
        let takes_ns = takes.map_or(0, ns);
        let until_ns = self.now_ns.saturating_add(takes_ns).min(self.setting.end_ns);
        self.tally.computed_s += (until_ns - self.now_ns) as f64 * 1e-9;
        self.computing += 1;
        self.after(takes_ns, Event::Computed(at));
    }

    fn computed(&mut self, at: usize) -> Result<(), SimulationError> {
        self.computing -= 1;
        let values = self.setting.values();
        let host = &mut self.hosts[at];
        host.model = audit::model(values, &mut host.draws);
        let (model, round) = (host.model.clone(), host.peer.peer().round());
        let found = self.audit.sends(at, round, &model);
        self.check(found)?;
        self.with(at, |peer, now| peer.command(model, now))
    }

    /// Does what the coordinator wants.
    fn carry_out_coordinator(&mut self) -> Result<(), SimulationError> {
        let now = self.now();
        while let Some(output) = self.coordinator.next(now) {
            match output {
                Output::Send { to, id, data, .. } => {
                    self.after(WORD_NS, Event::Word { to: to.index(), data });
                    self.coordinator.ended(id, true, now);
                }
                Output::Tell(CoordinatorNews::Chosen { round, rate_bps, .. }) => {
                    self.tally.planned(round, self.setting.update_bits() / rate_bps);
                }
                Output::Tell(CoordinatorNews::NotChosen { why }) => {
                    return Err(SimulationError::NotChosen { why });
                }
                Output::Tell(
                    CoordinatorNews::OtherJob { .. }
                    | CoordinatorNews::Superseded { .. }
                    | CoordinatorNews::Alone { .. },
                ) => return Err(self.stuck()),
                // It sends to single peers, and ends when all have finished.
                Output::Tell(CoordinatorNews::InCharge { .. })
                | Output::Copy(_)
                | Output::Work(_)
                | Output::Over => {}
            }
        }
        Ok(())
    }

    fn outcome(&self, options: &Options) -> Outcome {
        let ended: Vec<u32> = self.hosts.iter().map(|host| host.peer.peer().round() - 1).collect();
        let counters = || self.hosts.iter().map(|host| host.peer.peer().counters());
        Outcome {
            scheme: options.scheme.name(),
            multicast: options.multicast.name(),
            figures: self.tally.figures(options.sync, &ended, self.now().as_secs_f64()),
            virtual_s: self.now().as_secs_f64(),
            updates_compared: self.audit.updates,
            averages_compared: self.audit.averages,
            given_up: self.audit.given_up,
            withdrawn: self.audit.withdrawn,
            gone: counters().map(|(peer, ..)| peer.gone).sum(),
            without_choice: counters().map(|(peer, ..)| peer.without_choice).sum(),
            repairs: counters().map(|(_, sender, _)| sender.repairs).sum::<u64>() + self.tally.again,
            lost: self.fabric.lost,
            overflowed: self.fabric.overflowed,
        }
    }
}

/// The Ethernet address of a peer.
fn address(rank: usize) -> MacAddr {
    let [.., high, low] = (rank as u32).to_be_bytes();
    MacAddr([2, 0, 0, 1, high, low])
}

/// A peer as its host runs it.
fn process(setup: Setup, setting: &Setting) -> Result<PeerProcess, SimulationError> {
    let (me, peers) = (setup.me, setting.ranks.len());
    let writer = FrameWriter::new(address(me.index()), MacAddr::results_of(setup.job), FRAME);
    let process = PeerProcess::new(Peer::new(Arc::new(setup))?, me, peers);
    Ok(match setting.by_switch {
        true => process.by_frames(Framing::new(writer, (0..peers).map(address).collect())),
        false => process,
    })
}

impl To {
    /// Ranks.
    fn all(self) -> Vec<usize> {
        match self {
            To::One(to) => vec![to],
            To::Block(block) => Receivers::of_block(block).iter().map(|rank| rank.index()).collect(),
        }
    }
}
