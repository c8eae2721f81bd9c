//! A network of peers: hosts at the ports of one switch fabric, with a rate in each direction, and the jobs
//! that train on them.

use std::collections::HashMap;

use crate::trace::Trace;

/// The rates of the switch's ports, in bit/s, each above 0. By peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Ports {
    /// From each peer into the switch: the SELMCAST paper's ingress.
    pub up_bps: Vec<f64>,
    /// From the switch to each peer: the SELMCAST paper's egress.
    pub down_bps: Vec<f64>,
}

/// Index of a peer in [`Mesh::peers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u32);

impl PeerId {
    /// Returns the position in [`Mesh::peers`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A peer with its link to a switch.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// Unique name.
    pub name: String,
    /// The switch that it is linked to, by its position in [`Mesh::switches`].
    pub switch: usize,
    /// From the peer into the switch, in bit/s; above 0. The SELMCAST paper's ingress.
    pub up_bps: f64,
    /// From the switch to the peer, in bit/s; above 0. The SELMCAST paper's egress.
    pub down_bps: f64,
    /// Propagation delay of the link in seconds.
    pub delay_seconds: f64,
    /// The part of frames that is lost on the link, from 0 to below 1.
    pub loss: f64,
    /// Replaces `up_bps` over time.
    pub up_trace: Option<Trace>,
    /// Replaces `down_bps` over time.
    pub down_trace: Option<Trace>,
}

/// A link between two switches, which is never the slowest part of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct TrunkLink {
    /// The switches, by their positions in [`Mesh::switches`].
    pub ends: [usize; 2],
    /// bit/s from the first to the second, and back.
    pub rates_bps: [f64; 2],
    /// Propagation delay in seconds.
    pub delay_seconds: f64,
    /// The part of frames that is lost, from 0 to below 1.
    pub loss: f64,
}

/// Log-normal compute time of a peer between two updates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compute {
    /// Mean in seconds; above 0.
    pub mean_seconds: f64,
    /// Coefficient of variation: deviation / mean; 0 or above.
    pub cv: f64,
}

/// A job whose peers train replicas of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerJob {
    /// Unique name.
    pub name: String,
    /// At least two, in the document's order: their ranks.
    pub peers: Vec<PeerId>,
    /// The fewest receivers of an update; at least 1, less than there are peers.
    pub receivers: usize,
    /// The size of each peer's update in bytes, by rank; above 0.
    pub update_bytes: Vec<f64>,
    /// Required transfers of the next round, as sender and receiver by rank.
    pub required: Vec<(usize, usize)>,
    /// The rounds since one last sent to another, by rank; 0 for those not listed.
    pub waited: Vec<(usize, usize, u32)>,
    /// Compute time of each peer, by rank; empty if the document has none.
    pub computes: Vec<Compute>,
}

/// A validated network of peers with its jobs.
#[derive(Debug, Clone)]
pub struct Mesh {
    pub(crate) name: String,
    pub(crate) peers: Vec<Peer>,
    pub(crate) switches: Vec<String>,
    pub(crate) trunks: Vec<TrunkLink>,
    pub(crate) jobs: Vec<PeerJob>,
    pub(crate) by_name: HashMap<String, PeerId>,
}

impl Mesh {
    /// Returns the document's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all peers; [`PeerId`] is the position.
    pub fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// Returns one peer.
    pub fn peer(&self, peer: PeerId) -> &Peer {
        &self.peers[peer.index()]
    }

    /// Returns the peer of that name.
    pub fn peer_named(&self, name: &str) -> Option<PeerId> {
        self.by_name.get(name).copied()
    }

    /// Returns the names of all switches; at least one.
    pub fn switches(&self) -> &[String] {
        &self.switches
    }

    /// Returns the links between switches: a tree.
    pub fn trunks(&self) -> &[TrunkLink] {
        &self.trunks
    }

    /// Returns all jobs, at least one.
    pub fn jobs(&self) -> &[PeerJob] {
        &self.jobs
    }

    /// Returns the job of that name.
    pub fn job_named(&self, name: &str) -> Option<&PeerJob> {
        self.jobs.iter().find(|job| job.name == name)
    }

    /// Returns the name of a job's peer, by rank.
    pub fn name_of(&self, job: &PeerJob, rank: usize) -> &str {
        &self.peer(job.peers[rank]).name
    }

    /// Returns the ports of a job's peers at a time, in seconds from the start, by rank.
    pub fn ports_at(&self, job: &PeerJob, seconds: f64) -> Ports {
        let rate =
            |bps: f64, trace: &Option<Trace>| trace.as_ref().map_or(bps, |trace| trace.rate_at(seconds));
        let of = || job.peers.iter().map(|&peer| self.peer(peer));
        Ports {
            up_bps: of().map(|peer| rate(peer.up_bps, &peer.up_trace)).collect(),
            down_bps: of().map(|peer| rate(peer.down_bps, &peer.down_trace)).collect(),
        }
    }

    /// Returns the next time at which a port of a job's peers changes its rate, in seconds from the start;
    /// `None` if none does.
    pub fn next_change(&self, job: &PeerJob, after_seconds: f64) -> Option<f64> {
        let traces = job.peers.iter().map(|&peer| self.peer(peer));
        let traces = traces.flat_map(|peer| peer.up_trace.iter().chain(&peer.down_trace));
        traces.filter_map(|trace| trace.next_change(after_seconds)).min_by(f64::total_cmp)
    }
}

impl PeerJob {
    /// Updates in bits, by rank.
    pub fn update_bits(&self) -> Vec<f64> {
        self.update_bytes.iter().map(|bytes| bytes * 8.0).collect()
    }
}
