//! From a network of peers to what its peers and its coordinator are told.

use std::time::Duration;

use inart_connections::draw;
use inart_peers_agent::{CoordinatorSetup, Setup, Sync};
use inart_planner_peers::Multicast;
use inart_protocol_peers::{Copies, ReceiverOptions, SenderOptions};
use inart_terms::Terms;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_wire::{Incarnation, JobId, PlanVersion, Rank, ValuesPerFrame};

use crate::options::Patience;

/// Values of a chunk, a message on a connection: 64 KiB at most, 8 KiB at least: each costs its headers
/// and the word that it was taken.
pub const CHUNK_VALUES: usize = 16 << 10;
const LEAST_CHUNK_VALUES: usize = 2 << 10;
/// An update has about so many chunks where that is between the two: a port that several senders share is as
/// full as a chunk of each makes it.
const CHUNKS: usize = 32;
/// Chunks under way to one receiver.
const WINDOW: usize = 16;
/// A receiver that takes nothing for so many peer timeouts is given up, although its peer is there.
const TIMEOUTS: u32 = 4;
const BYTES_PER_VALUE: f64 = 4.0;

/// When peers go on, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// When a peer may begin its next round.
    pub sync: Sync,
    /// The rule of k.
    pub force_after: Option<u32>,
    /// The last round; rounds count from 1.
    pub rounds: u32,
}

/// What cannot be trained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JobError {
    /// A part of a value.
    #[error(
        "job {job}: the update of {peer} is {bytes} bytes, which are not whole values of 4; give a multiple of 4"
    )]
    Values {
        /// The job.
        job: String,
        /// Whose update.
        peer: String,
        /// Its bytes.
        bytes: f64,
    },
    /// Lengths differ.
    #[error(
        "job {job}: the update of {peer} has another length than that of {first}; peers average one model, so \
         leave out `updates`"
    )]
    Lengths {
        /// The job.
        job: String,
        /// Whose update.
        peer: String,
        /// The first peer.
        first: String,
    },
    /// What is about one round.
    #[error(
        "job {job}: `required_pairs` and `rounds_since_contact` are about one round, which `inart plan` plans; leave \
         them out for a training"
    )]
    OneRound {
        /// The job.
        job: String,
    },
    /// More jobs than there are numbers on the wire.
    #[error("job {job} is not among the first 32768 of its network; split the network")]
    NoNumber {
        /// The job.
        job: String,
    },
    /// Nobody of that name.
    #[error("{name} is not a peer of job {job}; name one of {known}")]
    NoPeer {
        /// As given.
        name: String,
        /// The job.
        job: String,
        /// The peers.
        known: String,
    },
}

/// Who makes the copies of updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedBy {
    /// Hosts: a message per chunk and receiver, on connections.
    Hosts,
    /// Switches: a frame per chunk, of so many values.
    Switches(ValuesPerFrame),
}

/// How long a peer waits for others to end a round, unless [`Setup::round_patience`] is set.
const ROUND_PATIENCE: Duration = Duration::from_secs(600);

/// A job on a network of peers.
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
    /// The job as the network's document has it; hosts make the copies.
    ///
    /// # Errors
    /// Updates that are no whole values, or of several lengths; what is about one round only.
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

    /// The same job with others who make the copies.
    pub fn copied_by(self, copied_by: CopiedBy) -> Self {
        Job { copied_by, ..self }
    }

    /// Who makes the copies.
    pub fn copies(&self) -> CopiedBy {
        self.copied_by
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its peers' names, by rank.
    pub fn peers(&self) -> &[String] {
        &self.peers
    }

    /// How many values an update has.
    pub fn values(&self) -> usize {
        self.update_values
    }

    /// The rank of a peer.
    ///
    /// # Errors
    /// Nobody of that name.
    pub fn rank(&self, name: &str) -> Result<Rank, JobError> {
        let place = self.peers.iter().position(|peer| peer == name);
        place.and_then(|place| Rank::try_from(place).ok()).ok_or_else(|| JobError::NoPeer {
            name: name.to_owned(),
            job: self.name.clone(),
            known: self.peers.join(", "),
        })
    }

    /// What a peer is told, for an incarnation of its own that is drawn here.
    ///
    /// # Errors
    /// Nobody of that name.
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
            // Polls go on for as long.
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

    /// What has to be called the same everywhere.
    fn names(&self) -> Vec<String> {
        [&self.name].into_iter().chain(&self.peers).cloned().collect()
    }

    /// What a coordinator is told, which waits so long for all peers before it begins with those that are
    /// there.
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

/// Values of a chunk of an update of so many, where hosts make the copies.
fn chunk_values(update_values: usize) -> usize {
    let even = (update_values / CHUNKS).max(1).next_power_of_two();
    even.clamp(LEAST_CHUNK_VALUES, CHUNK_VALUES)
}
