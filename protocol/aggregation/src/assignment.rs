//! The controller's assignment to the hosts of a job.

use alloc::string::String;
use alloc::vec::Vec;

use inart_wire::{BitmapIndex, JobId, MacAddr, PlanVersion, Rank, ShardId, ValuesPerFrame};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The controller's assignment to the hosts of a job: addresses, shares of the gradient, and sending rates.
/// Every host of the job holds an equal assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// Job number, in every frame.
    pub job: JobId,
    /// Job name, for people.
    pub name: String,
    /// The installed plan that steers the job's frames.
    pub plan_version: PlanVersion,
    /// Values per frame, as the switches' program is compiled.
    pub values_per_frame: ValuesPerFrame,
    /// Chunks in flight per worker and shard, and slots per (job, shard, switch): a power of two.
    pub window_chunks: u32,
    /// Whether the sums of tensors of any length are exact ([`crate::exact_sum`]). Sums of short tensors
    /// always are.
    #[serde(default, rename = "exact", skip_serializing_if = "core::ops::Not::not")]
    pub exact_sums: bool,
    /// The workers, in the order of their ranks.
    pub workers: Vec<WorkerAddress>,
    /// The shards, in the order of their numbers.
    pub shards: Vec<ShardAssignment>,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerAddress {
    /// Name in the topology.
    pub name: String,
    /// Ethernet address of the interface it sends from.
    pub mac: MacAddr,
}

/// A parameter server and its part of the gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardAssignment {
    /// Name of the server in the topology.
    pub server: String,
    /// Ethernet address of the interface it sends from.
    pub mac: MacAddr,
    /// Share of the gradient's values, from 0 to 1; the shares of a job sum to 1.
    pub share: f64,
    /// Rate at which each worker sends to this shard, in bits of Ethernet frames (header and values, without
    /// preamble, check sequence and gap) per second.
    pub rate_bps: f64,
    /// The worker's bitmap index in this shard's frames (`worker` and `contributors`), by rank. A switch can
    /// sum frames of one block of 64 bitmap indices. In a larger job the workers that are summed together
    /// share a block, which differs from shard to shard, and some bitmap indices may be free. If empty, every
    /// worker's bitmap index is its rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bitmap_indices: Vec<BitmapIndex>,
}

/// Error in an assignment.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AssignmentError {
    /// No worker.
    #[error("workers: none listed; a job needs at least one")]
    NoWorkers,
    /// No parameter server.
    #[error("shards: none listed; a job needs at least one")]
    NoShards,
    /// More workers than ranks.
    #[error("workers: {0} listed; ranks go up to {max}", max = Rank::MAX)]
    TooManyWorkers(usize),
    /// More shards than shard numbers.
    #[error("shards: {0} listed; shard numbers go up to {max}", max = ShardId::MAX)]
    TooManyShards(usize),
    /// The window is not a power of two.
    #[error("window_chunks: {0}; expected a power of two from 1 to {max}", max = Assignment::MAX_WINDOW_CHUNKS)]
    Window(u32),
    /// A share out of range.
    #[error("shards[{index}].share: {share} for {server}; expected a number from 0 to 1")]
    Share {
        /// Index of the shard.
        index: usize,
        /// Server of the shard.
        server: String,
        /// Share.
        share: f64,
    },
    /// Shares that do not sum to 1.
    #[error("shards: shares sum to {0}; expected 1")]
    ShareSum(f64),
    /// A rate out of range.
    #[error("shards[{index}].rate_bps: {rate_bps} for {server}; expected a rate above 0 bit/s")]
    Rate {
        /// Index of the shard.
        index: usize,
        /// Server of the shard.
        server: String,
        /// Rate.
        rate_bps: f64,
    },
    /// Number of bitmap indices that differs from the number of workers.
    #[error(
        "shards[{index}].bitmap indices: {bitmap_indices} for {server}; expected one for each of {workers} workers, or none"
    )]
    BitmapIndices {
        /// Index of the shard.
        index: usize,
        /// Server of the shard.
        server: String,
        /// Number of bitmap indices.
        bitmap_indices: usize,
        /// Number of workers.
        workers: usize,
    },
    /// Two workers have the same bitmap index.
    #[error(
        "shards[{index}].bitmap indices: {bitmap_index} for both {first} and {second}; give each worker its own"
    )]
    SharedBitmapIndex {
        /// Index of the shard.
        index: usize,
        /// The bitmap index.
        bitmap_index: BitmapIndex,
        /// The worker listed first.
        first: String,
        /// The worker listed later.
        second: String,
    },
    /// Two hosts share an address.
    #[error("mac: {mac} belongs to both {first} and {second}; give each host its own")]
    DuplicateMac {
        /// Address.
        mac: MacAddr,
        /// The host listed first.
        first: String,
        /// The host listed later.
        second: String,
    },
    /// A host's address is a group address.
    #[error("mac: {mac} of {name} is a multicast address; a host needs a unicast address")]
    MulticastMac {
        /// Address.
        mac: MacAddr,
        /// Host.
        name: String,
    },
    /// A rank the assignment does not list.
    #[error("rank {rank}: the job {job} has ranks 0 to {last}")]
    NoSuchRank {
        /// Requested rank.
        rank: Rank,
        /// The job's name.
        job: String,
        /// The highest rank.
        last: usize,
    },
    /// A shard the assignment does not list.
    #[error("shard {shard}: the job {job} has shards 0 to {last}")]
    NoSuchShard {
        /// Requested shard.
        shard: ShardId,
        /// The job's name.
        job: String,
        /// The highest shard number.
        last: usize,
    },
}

impl Assignment {
    /// Longest window: half of the sequences that a server can distinguish.
    pub const MAX_WINDOW_CHUNKS: u32 = 1 << 16;

    /// Largest difference of the sum of the shares from 1.
    const SHARE_TOLERANCE: f64 = 1e-6;

    /// Checks the rules that the types do not express.
    ///
    /// # Errors
    /// The first inconsistency: no worker, no shard, a bad share, rate, window, bitmap index or address.
    pub fn validate(&self) -> Result<(), AssignmentError> {
        if self.workers.is_empty() {
            return Err(AssignmentError::NoWorkers);
        }
        if self.shards.is_empty() {
            return Err(AssignmentError::NoShards);
        }
        if self.workers.len() > Rank::MAX.index() + 1 {
            return Err(AssignmentError::TooManyWorkers(self.workers.len()));
        }
        if self.shards.len() > ShardId::MAX.index() + 1 {
            return Err(AssignmentError::TooManyShards(self.shards.len()));
        }
        if !self.window_chunks.is_power_of_two() || self.window_chunks > Self::MAX_WINDOW_CHUNKS {
            return Err(AssignmentError::Window(self.window_chunks));
        }
        for (index, shard) in self.shards.iter().enumerate() {
            if !(0.0..=1.0).contains(&shard.share) {
                return Err(AssignmentError::Share {
                    index,
                    server: shard.server.clone(),
                    share: shard.share,
                });
            }
            if !(shard.rate_bps > 0.0 && shard.rate_bps.is_finite()) {
                let (server, rate_bps) = (shard.server.clone(), shard.rate_bps);
                return Err(AssignmentError::Rate { index, server, rate_bps });
            }
            self.validate_bitmap_indices(index, shard)?;
        }
        let sum: f64 = self.shards.iter().map(|shard| shard.share).sum();
        if (sum - 1.0).abs() > Self::SHARE_TOLERANCE {
            return Err(AssignmentError::ShareSum(sum));
        }
        self.validate_addresses()
    }

    fn validate_bitmap_indices(&self, index: usize, shard: &ShardAssignment) -> Result<(), AssignmentError> {
        let (bitmap_indices, workers) = (shard.bitmap_indices.len(), self.workers.len());
        if bitmap_indices != 0 && bitmap_indices != workers {
            return Err(AssignmentError::BitmapIndices {
                index,
                server: shard.server.clone(),
                bitmap_indices,
                workers,
            });
        }
        let mut taken: Vec<_> = shard.bitmap_indices.iter().zip(&self.workers).collect();
        taken.sort_by_key(|(bitmap_index, _)| **bitmap_index);
        match taken.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(AssignmentError::SharedBitmapIndex {
                index,
                bitmap_index: *pair[0].0,
                first: pair[0].1.name.clone(),
                second: pair[1].1.name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// One host may be both a worker and a server, or serve two shards, but it is one host then.
    fn validate_addresses(&self) -> Result<(), AssignmentError> {
        let workers = self.workers.iter().map(|worker| (worker.mac, &worker.name));
        let servers = self.shards.iter().map(|shard| (shard.mac, &shard.server));
        let mut hosts: Vec<_> = workers.chain(servers).collect();
        if let Some((mac, name)) = hosts.iter().find(|(mac, _)| mac.is_multicast()) {
            return Err(AssignmentError::MulticastMac { mac: *mac, name: (*name).clone() });
        }
        hosts.sort_by_key(|(mac, _)| *mac);
        match hosts.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1) {
            Some(pair) => Err(AssignmentError::DuplicateMac {
                mac: pair[0].0,
                first: pair[0].1.clone(),
                second: pair[1].1.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The worker of that rank.
    ///
    /// # Errors
    /// [`AssignmentError::NoSuchRank`] for a rank that the job does not have.
    pub fn worker(&self, rank: Rank) -> Result<&WorkerAddress, AssignmentError> {
        self.workers.get(rank.index()).ok_or_else(|| AssignmentError::NoSuchRank {
            rank,
            job: self.name.clone(),
            last: self.workers.len().saturating_sub(1),
        })
    }

    /// The shard of that number.
    ///
    /// # Errors
    /// [`AssignmentError::NoSuchShard`] for a shard that the job does not have.
    pub fn shard(&self, shard: ShardId) -> Result<&ShardAssignment, AssignmentError> {
        self.shards.get(shard.index()).ok_or_else(|| AssignmentError::NoSuchShard {
            shard,
            job: self.name.clone(),
            last: self.shards.len().saturating_sub(1),
        })
    }
}
