//! Settings of an emulation of peers.

use std::path::PathBuf;
use std::sync::Arc;

use inart_planner_peers::{Multicast, Pairs, PlanTask, Reading, Scheme};
use inart_targets::Target;
use inart_topologies::peers::{Mesh, PeerJob};
use inart_wire::ValuesPerFrame;

use crate::machine::scale::Scaling;

/// Condition for a peer's next round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// All at once, when all copies have arrived.
    Bsp,
    /// Each by itself.
    Ssp {
        /// By how many rounds it may be ahead of the last; `None`: by any number.
        staleness: Option<u32>,
    },
}

/// Computation of peers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Workload {
    /// Weights of a real model; images per peer and round.
    Training {
        /// Images per peer and round.
        batch: usize,
    },
    /// Random numbers.
    Random,
}

/// Settings of an emulation of peers.
#[derive(Clone)]
pub struct Setting {
    /// The network, scaled already, with one job.
    pub mesh: Arc<Mesh>,
    /// By how much.
    pub scale: Scaling,
    /// Schemes that choose receivers, run one after the other.
    pub schemes: Vec<Scheme>,
    /// With the scheme `own`: the receivers that a user has chosen, by rank.
    pub given: Option<Arc<Pairs>>,
    /// Nodes that copy the updates.
    pub multicast: Multicast,
    /// Values per frame, if switches copy the updates.
    pub values_per_frame: ValuesPerFrame,
    /// Kind of the switches.
    pub target: &'static dyn Target,
    /// Synchronization of peers.
    pub sync: Sync,
    /// The rule of k.
    pub force_after: Option<u32>,
    /// Reading of Algorithm 2.
    pub reading: Reading,
    /// Updates that peers send.
    pub workload: Workload,
    /// Rounds of every peer.
    pub rounds: u32,
    /// Decides data, weights, draws and losses.
    pub seed: u64,
    /// The `inart` program.
    pub program: PathBuf,
    /// Congestion control of connections: cubic or bbr.
    pub congestion: String,
}

impl Setting {
    /// The job.
    pub fn job(&self) -> &PeerJob {
        &self.mesh.jobs()[0]
    }

    /// Returns its peers' names, by rank.
    pub fn names(&self) -> Vec<String> {
        let job = self.job();
        (0..job.peers.len()).map(|rank| self.mesh.name_of(job, rank).to_owned()).collect()
    }

    /// The receivers that a user has chosen, as the tasks of a plan.
    pub fn given_tasks(&self) -> Vec<PlanTask> {
        let Some(given) = &self.given else { return Vec::new() };
        let names = self.names();
        let to = |from| given.receivers(from).map(|to| names[to].clone()).collect();
        names.iter().enumerate().map(|(at, from)| PlanTask { from: from.clone(), to: to(at) }).collect()
    }

    /// Returns the number of values of each update.
    pub fn values(&self) -> usize {
        (self.job().update_bytes[0] / 4.0) as usize
    }

    /// Bits that an update has on its way once, as coordinators count them: of values, or of whole frames.
    pub fn update_bits(&self) -> f64 {
        match self.multicast {
            Multicast::Hosts => 8.0 * self.job().update_bytes[0],
            Multicast::Switch => {
                let frame = self.values_per_frame;
                8.0 * (self.values().div_ceil(frame.get()) * frame.frame_bytes()) as f64
            }
        }
    }

    /// Returns whether peers compute as long as the job states: in stale synchronous training, where the
    /// compute time decides which peer waits for which.
    pub fn is_compute_stated(&self) -> bool {
        self.sync != Sync::Bsp && !self.job().computes.is_empty()
    }
}
