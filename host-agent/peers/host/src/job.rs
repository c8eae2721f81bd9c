//! Setups of the peers and the coordinator of a job, from a topology of peers.

use std::time::Duration;

use inart_connections::draw;
use inart_peers_agent::{CoordinatorSetup, Setup, Sync};
use inart_planner_peers::Multicast;
use inart_protocol_peers::{Copies, ReceiverOptions, SenderOptions};
use inart_terms::Terms;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_wire::{Incarnation, JobId, PlanVersion, Rank, ValuesPerFrame};

use crate::options::Patience;

/// Most values of a chunk, a message on a connection: 64 KiB; the least is 8 KiB. Each chunk costs its
/// headers and an acknowledgement.
pub const CHUNK_VALUES: usize = 16 << 10;
const LEAST_CHUNK_VALUES: usize = 2 << 10;
/// Target number of chunks of an update within the bounds of the chunk length: a port that several senders
/// share queues one chunk of each.
const CHUNKS: usize = 32;
/// Chunks in flight to one receiver.
const WINDOW: usize = 16;
/// Peer timeouts after which a receiver that accepts nothing is abandoned, although its peer is alive.
const TIMEOUTS: u32 = 4;
const BYTES_PER_VALUE: f64 = 4.0;

/// Synchronization and length of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Rule by which a peer starts its next round.
    pub sync: Sync,
    /// Fairness bound k.
    pub force_after: Option<u32>,
    /// The last round; rounds count from 1.
    pub rounds: u32,
}

/// Reason for which a job cannot be trained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JobError {
    /// Update that is not a whole number of values.
    #[error(
        "job {job}: the update of {peer} is {bytes} bytes, which are not whole values of 4; give a multiple of 4"
    )]
    Values {
        /// The job.
        job: String,
        /// Sender of the update.
        peer: String,
        /// Bytes of the update.
        bytes: f64,
    },
    /// Updates of different lengths.
    #[error(
        "job {job}: the update of {peer} has another length than that of {first}; peers average one model, so \
         leave out `updates`"
    )]
    Lengths {
        /// The job.
        job: String,
        /// Sender of the update.
        peer: String,
        /// The first peer.
        first: String,
    },
    /// Settings for one round only.
    #[error(
        "job {job}: `required_pairs` and `rounds_since_contact` are about one round, which `inart plan` plans; leave \
         them out for a training"
    )]
    OneRound {
        /// The job.
        job: String,
    },
    /// More jobs than job numbers on the wire.
    #[error("job {job} is not among the first 32768 of its network; split the network")]
    NoNumber {
        /// The job.
        job: String,
    },
    /// Unknown name.
    #[error("{name} is not a peer of job {job}; name one of {known}")]
    NoPeer {
        /// Given name.
        name: String,
        /// The job.
        job: String,
        /// The peers.
        known: String,
    },
}

/// Maker of the copies of updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedBy {
    /// Hosts: a message per chunk and receiver, on connections.
    Hosts,
    /// Switches: a frame per chunk, with this number of values.
    Switches(ValuesPerFrame),
}

/// Default of [`Setup::round_patience`].
const ROUND_PATIENCE: Duration = Duration::from_secs(600);

/// A job on a topology of peers.
#[derive(Debug, Clone)]
pub struct Job {
    name: String,
    id: JobId,
    copied_by: CopiedBy,
    peers: Vec<String>,
    update_values: usize,
    receivers: usize,
    ports: inart_topologies::peers::Ports,
    schedule: Schedule,
}

impl Job {
    /// Creates a job from the topology; hosts make the copies.
    ///
    /// # Errors
    /// Updates are not a whole number of values, or differ in length; settings are for one round only.
    pub fn new(mesh: &Mesh, job: &PeerJob, schedule: Schedule) -> Result<Self, JobError> {
        let name = job.name.clone();
        if !job.required.is_empty() || !job.waited.is_empty() {
            return Err(JobError::OneRound { job: name });
        }
        let peers: Vec<String> = job.peers.iter().map(|&peer| mesh.peer(peer).name.clone()).collect();
        for (peer, &bytes) in peers.iter().zip(&job.update_bytes) {
            if bytes % BYTES_PER_VALUE != 0.0 {
                return Err(JobError::Values { job: name, peer: peer.clone(), bytes });
            }
            if bytes != job.update_bytes[0] {
                return Err(JobError::Lengths { job: name, peer: peer.clone(), first: peers[0].clone() });
            }
        }
        let place = mesh.jobs().iter().position(|other| other.name == job.name).unwrap_or(0);
        Ok(Job {
            name,
            id: JobId::from(
                mesh.job_number(place).ok_or_else(|| JobError::NoNumber { job: job.name.clone() })?,
            ),
            copied_by: CopiedBy::Hosts,
            peers,
            update_values: (job.update_bytes[0] / BYTES_PER_VALUE) as usize,
            receivers: job.receivers,
            ports: mesh.ports_at(job, 0.0),
            schedule,
        })
    }

    /// Sets the maker of the copies.
    pub fn copied_by(self, copied_by: CopiedBy) -> Self {
        Job { copied_by, ..self }
    }

    /// Returns the maker of the copies.
    pub fn copies(&self) -> CopiedBy {
        self.copied_by
    }

    /// Returns the job's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the peers' names, by rank.
    pub fn peers(&self) -> &[String] {
        &self.peers
    }

    /// Returns the number of values of an update.
    pub fn values(&self) -> usize {
        self.update_values
    }

    /// Returns the rank of a peer.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn rank(&self, name: &str) -> Result<Rank, JobError> {
        let place = self.peers.iter().position(|peer| peer == name);
        place.and_then(|place| Rank::try_from(place).ok()).ok_or_else(|| JobError::NoPeer {
            name: name.to_owned(),
            job: self.name.clone(),
            known: self.peers.join(", "),
        })
    }

    /// Returns the setup of a peer, with a random incarnation.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn setup(&self, name: &str, patience: &Patience) -> Result<Setup, JobError> {
        let me = self.rank(name)?;
        let (sender, receiver, chunk_values) = match self.copied_by {
            CopiedBy::Hosts => {
                let patience = patience.peer_timeout.saturating_mul(TIMEOUTS);
                let chunk_values = chunk_values(self.update_values);
                let chunk_bytes = chunk_values * BYTES_PER_VALUE as usize;
                let copies = Copies::Sender { window: WINDOW, chunk_bytes };
                let sender = SenderOptions { patience, ..SenderOptions::new(copies) };
                (sender, ReceiverOptions::connections(), chunk_values)
            }
            // Polls continue for as long.
            CopiedBy::Switches(values) => {
                let copies = Copies::Switch { frame_bytes: values.frame_bytes() };
                let sender =
                    SenderOptions { patience: patience.peer_timeout / 2, ..SenderOptions::new(copies) };
                (sender, ReceiverOptions::frames(values.get()), values.get())
            }
        };
        Ok(Setup {
            program: Terms::default(),
            round_patience: ROUND_PATIENCE,
            me,
            incarnation: Incarnation::new(draw()),
            job: self.id,
            names: self.names(),
            plan_version: PlanVersion::from(1),
            update_values: vec![self.update_values; self.peers.len()],
            chunk_values,
            receivers: self.receivers,
            sync: self.schedule.sync,
            force_after: self.schedule.force_after,
            rounds: self.schedule.rounds,
            sender,
            receiver,
            rate_bps: self.ports.up_bps[me.index()],
            choice_patience: patience.choice,
            peer_timeout: patience.peer_timeout,
            meeting_patience: patience.meeting,
        })
    }

    /// Returns the names that must agree everywhere.
    fn names(&self) -> Vec<String> {
        [&self.name].into_iter().chain(&self.peers).cloned().collect()
    }

    /// Returns the setup of a coordinator that waits at most `gather` for all peers before the first round.
    pub fn coordinator_setup(&self, gather: Duration) -> CoordinatorSetup {
        let n = self.peers.len();
        let (multicast, chunk_values, bits) = match self.copied_by {
            CopiedBy::Hosts => {
                let bits = 8.0 * BYTES_PER_VALUE * self.update_values as f64;
                (Multicast::Hosts, chunk_values(self.update_values), bits)
            }
            CopiedBy::Switches(values) => {
                let frames = self.update_values.div_ceil(values.get());
                (Multicast::Switch, values.get(), 8.0 * (frames * values.frame_bytes()) as f64)
            }
        };
        CoordinatorSetup {
            job: self.id,
            names: self.names(),
            update_values: vec![self.update_values; n],
            chunk_values,
            update_bits: vec![bits; n],
            receivers: self.receivers,
            sync: self.schedule.sync,
            force_after: self.schedule.force_after,
            multicast,
            rounds: self.schedule.rounds,
            ports: self.ports.clone(),
            gather,
            holder: draw(),
        }
    }
}

/// Returns the values per chunk of an update of this length, where hosts make the copies.
fn chunk_values(update_values: usize) -> usize {
    let even = (update_values / CHUNKS).max(1).next_power_of_two();
    even.clamp(LEAST_CHUNK_VALUES, CHUNK_VALUES)
}
