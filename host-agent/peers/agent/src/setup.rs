//! Settings of a peer.

use std::time::Duration;

use inart_planner_peers::Multicast;
use inart_protocol_peers::{Copies, Cut, ReceiverOptions, SenderOptions};
use inart_terms::Terms;
use inart_wire::{Incarnation, JobId, PlanVersion, Rank};
use thiserror::Error;

/// Rule by which a peer starts its next round, and the updates that it averages then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Bulk synchronous: when all have ended this round. The peer averages the updates of this round.
    Bsp,
    /// Stale synchronous: when the peer is at most `staleness` rounds ahead of the slowest. It averages the
    /// newest update of each peer that arrived since the last average.
    Ssp {
        /// Lead bound in rounds.
        staleness: u32,
    },
}

impl Sync {
    /// Returns by how many rounds a peer may be ahead of the slowest.
    pub fn staleness(self) -> u32 {
        match self {
            Sync::Bsp => 0,
            Sync::Ssp { staleness } => staleness,
        }
    }
}

/// Settings of a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Rank of the peer.
    pub me: Rank,
    /// Incarnation of the peer, not [`Incarnation::UNKNOWN`].
    pub incarnation: Incarnation,
    /// The job.
    pub job: JobId,
    /// Names that must agree everywhere, such as the job's and, by rank, the peers'.
    pub names: Vec<String>,
    /// Settings that peers must share and a coordinator does not know, such as the seed and the first
    /// weights.
    pub program: Terms,
    /// Plan version that steers frames.
    pub plan_version: PlanVersion,
    /// Values of each peer's update, by rank.
    pub update_values: Vec<usize>,
    /// Values per chunk.
    pub chunk_values: usize,
    /// Least number of receivers of an update (p).
    pub receivers: usize,
    /// Rule by which the peer starts its next round.
    pub sync: Sync,
    /// Fairness bound k: a peer that was not among the receivers for this many rounds is one in the next.
    /// `None`: no bound.
    pub force_after: Option<u32>,
    /// The last round; rounds count from 1.
    pub rounds: u32,
    /// Options of the sender.
    pub sender: SenderOptions,
    /// Options of the receiver.
    pub receiver: ReceiverOptions,
    /// Sending rate until a coordinator sets another, in bit/s.
    pub rate_bps: f64,
    /// Longest wait for the coordinator's choice; then the peer sends to the last receivers.
    pub choice_patience: Duration,
    /// Time without a sign of life after which a peer counts as failed.
    pub peer_timeout: Duration,
    /// Longest wait for admission by a coordinator. Must exceed a coordinator's gathering time.
    pub meeting_patience: Duration,
    /// Longest wait for others to end a round while they show signs of life.
    pub round_patience: Duration,
}

/// Reason for which a setup is invalid.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SetupError {
    /// A rank beyond the last.
    #[error("peer {rank} is not in the job of {peers} peers, whose ranks are 0 to {last}", last = peers.saturating_sub(1))]
    Rank {
        /// Rank of the peer.
        rank: Rank,
        /// Number of peers.
        peers: usize,
    },
    /// More receivers than other peers.
    #[error("an update has {receivers} receivers, and there are {peers} peers; give 1 to {most}", most = peers.saturating_sub(1))]
    Receivers {
        /// Given number of receivers.
        receivers: usize,
        /// Number of peers.
        peers: usize,
    },
    /// No values, or too many chunks.
    #[error(
        "the update of peer {rank} has {values} values in chunks of {chunk}; give at least 1 of each, and \
         fewer than 2^31 chunks"
    )]
    Cut {
        /// Rank of the sender.
        rank: usize,
        /// Values of the update.
        values: usize,
        /// Values per chunk.
        chunk: usize,
    },
    /// No incarnation.
    #[error("peer {rank} has no incarnation; draw one that is not 0")]
    Incarnation {
        /// The peer.
        rank: Rank,
    },
    /// A rate that sends nothing.
    #[error("{rate_bps} bit/s is not a rate; give one above 0")]
    Rate {
        /// Given rate.
        rate_bps: f64,
    },
}

impl Setup {
    /// Returns the number of peers of the job.
    pub fn peers(&self) -> usize {
        self.update_values.len()
    }

    /// Returns the bits of one update on the wire: of complete frames, or of values on connections.
    pub fn update_bits(&self, cut: Cut) -> f64 {
        match self.sender.copies {
            Copies::Switch { frame_bytes } => 8.0 * frame_bytes as f64 * f64::from(cut.chunks()),
            Copies::Sender { .. } => 32.0 * cut.values() as f64,
        }
    }

    /// Returns the cut of each peer's update into chunks, by rank.
    ///
    /// # Errors
    /// [`SetupError`] names the invalid setting.
    pub fn cuts(&self) -> Result<Vec<Cut>, SetupError> {
        let (me, peers, chunk) = (self.me, self.peers(), self.chunk_values);
        if me.index() >= peers {
            return Err(SetupError::Rank { rank: me, peers });
        }
        if self.receivers == 0 || self.receivers >= peers {
            return Err(SetupError::Receivers { receivers: self.receivers, peers });
        }
        if self.incarnation == Incarnation::UNKNOWN {
            return Err(SetupError::Incarnation { rank: me });
        }
        if self.rate_bps.is_nan() || self.rate_bps <= 0.0 {
            return Err(SetupError::Rate { rate_bps: self.rate_bps });
        }
        let cut = |(rank, &values): (usize, &usize)| {
            Cut::new(values, chunk).ok_or(SetupError::Cut { rank, values, chunk })
        };
        self.update_values.iter().enumerate().map(cut).collect()
    }

    fn agreed(&self) -> Agreed<'_> {
        let multicast = match self.sender.copies {
            Copies::Switch { .. } => Multicast::Switch,
            Copies::Sender { .. } => Multicast::Hosts,
        };
        let Setup { job, chunk_values, receivers, sync, force_after, rounds, .. } = *self;
        let (names, update_values) = (&self.names, &self.update_values);
        Agreed { job, names, update_values, chunk_values, receivers, sync, force_after, multicast, rounds }
    }

    /// Returns a fingerprint of the settings that peers and coordinator must agree on.
    pub fn fingerprint(&self) -> u64 {
        self.agreed().fingerprint()
    }

    /// Returns the settings that peers and coordinator must agree on, followed by those that only peers know.
    pub fn terms(&self) -> Terms {
        self.agreed().terms().and(&self.program)
    }
}

/// Settings that peers and coordinator must agree on: the job, names, lengths of updates and chunks,
/// receivers, lead bound, fairness bound k, maker of the copies, and the last round.
pub(crate) struct Agreed<'a> {
    pub job: JobId,
    pub names: &'a [String],
    pub update_values: &'a [usize],
    pub chunk_values: usize,
    pub receivers: usize,
    pub sync: Sync,
    pub force_after: Option<u32>,
    pub multicast: Multicast,
    pub rounds: u32,
}

impl Agreed<'_> {
    /// Returns the settings with their values.
    pub fn terms(&self) -> Terms {
        let lengths = match self.update_values {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.to_string(),
            all => all.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
        };
        let sync = match self.sync {
            Sync::Bsp => "bsp".to_owned(),
            Sync::Ssp { staleness } => format!("ssp with a staleness of {staleness}"),
        };
        let multicast = match self.multicast {
            Multicast::Switch => "by switches",
            Multicast::Hosts => "by hosts",
        };
        let all = [
            ("names of the job and its peers", self.names.join(", ")),
            ("number of the job", self.job.to_string()),
            ("rounds", self.rounds.to_string()),
            ("synchronization", sync),
            ("rule of k", self.force_after.map_or("none".to_owned(), |rounds| rounds.to_string())),
            ("multicast", multicast.to_owned()),
            ("values of an update", lengths),
            ("values of a chunk", self.chunk_values.to_string()),
            ("receivers", self.receivers.to_string()),
        ];
        // The names are few and distinct.
        Terms::new(all).unwrap_or_default()
    }

    /// Returns the settings as a number (FNV-1a).
    pub fn fingerprint(&self) -> u64 {
        let after = self.force_after.map_or(u64::MAX, u64::from);
        let rest = [
            u64::from(self.job.get()),
            self.chunk_values as u64,
            self.receivers as u64,
            u64::from(self.sync == Sync::Bsp),
            self.sync.staleness().into(),
            after,
            u64::from(self.multicast == Multicast::Switch),
            self.rounds.into(),
        ];
        let numbers = self.update_values.iter().map(|&values| values as u64).chain(rest);
        // Names do not contain this byte.
        let names = self.names.iter().flat_map(|name| name.bytes().chain([0xff]));
        let bytes = numbers.flat_map(u64::to_le_bytes).chain(names);
        inart_terms::fingerprint(bytes.map(u64::from))
    }
}
