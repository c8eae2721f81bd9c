//! Settings of peers and their coordinator.

use std::time::Duration;

use inart_peers_agent::{CoordinatorSetup, Setup, Sync};
use inart_planner_peers::{Multicast, Scheme};
use inart_protocol_peers::{Copies, ReceiverOptions, SenderOptions};
use inart_topologies::peers::{Mesh, PeerJob, Ports};
use inart_wire::{Incarnation, JobId, PlanVersion, Rank, ValuesPerFrame};

use crate::error::SimulationError;
use crate::options::{Options, Until};

/// Words that stand for a chunk's values.
pub(crate) const WORDS: usize = 8;
/// Frames that hold these words, and messages.
pub(crate) const FRAME: ValuesPerFrame = ValuesPerFrame::N32;
/// Length of a message on the wire where switches make the copies: frames have one length, the default of
/// `inart peer --values`.
pub(crate) const MESSAGE_FRAME: ValuesPerFrame = ValuesPerFrame::N256;
/// Chunks in flight to one receiver, as in `inart peer`.
const WINDOW: usize = 16;
/// Most rounds of a run.
const MOST_ROUNDS: u32 = 1_000_000;
/// Patience for the coordinator's choice of `inart peer`, a lower limit for slow chunks.
const CHOICE_PATIENCE: Duration = Duration::from_secs(2);
const PEER_TIMEOUT_S: f64 = 5.0;
const QUIET_S: f64 = 0.05;
/// A peer times out, or requests chunks, only after this many times the duration of a chunk of every peer at
/// the slowest port.
const CROWDS: f64 = 4.0;
/// Timeouts after which a receiver that accepts nothing is abandoned, as in `inart peer`.
const TIMEOUTS: u32 = 4;
/// Longest timeout, in seconds.
const LONGEST_S: f64 = 1e9;
/// Least time without an update or an average after which a run is stuck, in seconds.
const IDLE_S: f64 = 600.0;
/// Least time, as a multiple of the duration of all peers' updates at a port, and of the peer timeout.
const IDLE_TIMES: f64 = 10.0;

/// A job as it is run.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub ranks: Vec<Rank>,
    pub by_switch: bool,
    pub chunks: u32,
    /// Bytes of the update that a chunk stands for.
    pub chunk_bytes: usize,
    pub rounds: u32,
    /// Latest end, in nanoseconds.
    pub end_ns: u64,
    receivers: usize,
    sync: Sync,
    force_after: Option<u32>,
    ports: Ports,
}

impl Setting {
    pub fn new(mesh: &Mesh, job: &PeerJob, options: &Options) -> Result<Self, SimulationError> {
        check(mesh, job, options)?;
        let wrong = |problem: String| SimulationError::Job { job: job.name.clone(), problem };
        let ranks: Result<Vec<Rank>, _> = (0..job.peers.len()).map(Rank::try_from).collect();
        let too_many = |_| wrong(format!("frames have no room for the ranks of {} peers", job.peers.len()));
        let bytes = job.update_bytes[0];
        if bytes / f64::from(options.chunks) < 1.0 {
            let (chunks, most) = (options.chunks, bytes.floor());
            return Err(wrong(format!(
                "its update of {bytes} bytes cannot be cut into {chunks} chunks; give at most {most}"
            )));
        }
        let (rounds, end_ns) = match options.until {
            Until::Rounds(rounds) => (rounds, u64::MAX),
            Until::Seconds(seconds) => (MOST_ROUNDS, crate::port::ns(seconds)),
        };
        Ok(Setting {
            ranks: ranks.map_err(too_many)?,
            by_switch: options.multicast == Multicast::Switch,
            chunks: options.chunks,
            chunk_bytes: (bytes / f64::from(options.chunks)).ceil() as usize,
            rounds,
            end_ns,
            receivers: job.receivers,
            sync: options.sync,
            force_after: options.force_after,
            ports: mesh.ports_at(job, 0.0),
        })
    }

    /// Returns the words of an update.
    pub fn values(&self) -> usize {
        self.chunks as usize * WORDS
    }

    pub fn chunk_bits(&self) -> f64 {
        8.0 * self.chunk_bytes as f64
    }

    /// Returns the bits of one update on the wire.
    pub fn update_bits(&self) -> f64 {
        self.chunk_bits() * f64::from(self.chunks)
    }

    /// Returns how long `times` chunks of every peer take at a port of this rate, in seconds.
    fn crowd_s(&self, times: f64, least_bps: f64) -> f64 {
        times * self.ranks.len() as f64 * self.chunk_bits() / least_bps
    }

    /// Returns the longest time without a report of any peer while none computes, in a run that ends.
    /// `least_bps`: the slowest port's rate.
    pub fn longest_silence(&self, least_bps: f64) -> Duration {
        let timeout_s = self.crowd_s(CROWDS, least_bps).max(PEER_TIMEOUT_S);
        let longest_s = IDLE_TIMES * self.crowd_s(f64::from(self.chunks), least_bps).max(timeout_s);
        Duration::from_secs_f64(longest_s.clamp(IDLE_S, LONGEST_S))
    }

    /// Returns the settings of a peer. `least_bps`: the slowest port's rate.
    pub fn peer(&self, rank: usize, least_bps: f64) -> Setup {
        let crowd_s = self.crowd_s(CROWDS, least_bps);
        let seconds = |least: f64| Duration::from_secs_f64(least.max(crowd_s).min(LONGEST_S));
        let timeout = seconds(PEER_TIMEOUT_S);
        let (copies, patience) = match self.by_switch {
            true => (Copies::Switch { frame_bytes: self.chunk_bytes }, timeout / 2),
            false => (Copies::Sender { window: WINDOW, chunk_bytes: self.chunk_bytes }, timeout * TIMEOUTS),
        };
        let receiver = match self.by_switch {
            true => ReceiverOptions { quiet: Some(seconds(QUIET_S)), ..ReceiverOptions::frames(FRAME.get()) },
            false => ReceiverOptions::connections(),
        };
        Setup {
            program: inart_peers_agent::Terms::default(),
            round_patience: Duration::MAX,
            me: self.ranks[rank],
            incarnation: Incarnation::new(rank as u32 + 1),
            job: JobId::from(0),
            names: Vec::new(),
            plan_version: PlanVersion::from(1),
            update_values: vec![self.values(); self.ranks.len()],
            chunk_values: WORDS,
            receivers: self.receivers,
            sync: self.sync,
            force_after: self.force_after,
            rounds: self.rounds,
            sender: SenderOptions { patience, ..SenderOptions::new(copies) },
            receiver,
            rate_bps: self.ports.up_bps[rank],
            choice_patience: CHOICE_PATIENCE,
            peer_timeout: timeout,
            meeting_patience: Duration::from_secs(300),
        }
    }

    pub fn coordinator(&self) -> CoordinatorSetup {
        let n = self.ranks.len();
        CoordinatorSetup {
            job: JobId::from(0),
            names: Vec::new(),
            update_values: vec![self.values(); n],
            chunk_values: WORDS,
            update_bits: vec![self.update_bits(); n],
            receivers: self.receivers,
            sync: self.sync,
            force_after: self.force_after,
            multicast: if self.by_switch { Multicast::Switch } else { Multicast::Hosts },
            rounds: self.rounds,
            ports: self.ports.clone(),
            gather: Duration::from_secs(60),
            holder: 1,
        }
    }
}

fn check(mesh: &Mesh, job: &PeerJob, options: &Options) -> Result<(), SimulationError> {
    let name = || job.name.clone();
    if !job.required.is_empty() || !job.waited.is_empty() {
        return Err(SimulationError::OneRound { job: name() });
    }
    if let Some(rank) = job.update_bytes.iter().position(|&bytes| bytes != job.update_bytes[0]) {
        let [peer, first] = [rank, 0].map(|rank| mesh.name_of(job, rank).to_owned());
        return Err(SimulationError::Lengths { job: name(), peer, first });
    }
    if options.chunks == 0 {
        return Err(SimulationError::Nothing { what: "the number of chunks" });
    }
    if options.sync != Sync::Bsp && options.scheme == Scheme::Optimal {
        return Err(SimulationError::RoundsOnly);
    }
    match options.until {
        Until::Rounds(0) => Err(SimulationError::Nothing { what: "the number of rounds" }),
        Until::Rounds(_) => Ok(()),
        Until::Seconds(seconds) if seconds > 0.0 => {
            let means = job.computes.iter().map(|compute| compute.mean_seconds);
            let shortest = means.fold(f64::INFINITY, f64::min);
            let rounds = seconds / shortest;
            match (job.computes.is_empty(), rounds > f64::from(MOST_ROUNDS)) {
                (true, _) => Err(SimulationError::NoCompute { job: name() }),
                (_, true) => Err(SimulationError::TooLong { job: name(), rounds, most: MOST_ROUNDS }),
                _ => Ok(()),
            }
        }
        Until::Seconds(_) => Err(SimulationError::Nothing { what: "the duration" }),
    }
}
