//! What a peer is told before it starts.

use std::time::Duration;

use inart_planner_peers::Multicast;
use inart_protocol_peers::{Copies, Cut, ReceiverOptions, SenderOptions};
use inart_terms::Terms;
use inart_wire::{Incarnation, JobId, PlanVersion, Rank};
use thiserror::Error;

/// When a peer may begin its next round, and what it averages then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// When all have ended this one: bulk synchronous. It averages the updates of this round.
    Bsp,
    /// When it is at most `staleness` rounds ahead of the last: stale synchronous. It averages the newest
    /// update of each peer that came since it averaged last.
    Ssp {
        /// Rounds.
        staleness: u32,
    },
}

impl Sync {
    /// By how many rounds one may be ahead of the last.
    pub fn staleness(self) -> u32 {
        match self {
            Sync::Bsp => 0,
            Sync::Ssp { staleness } => staleness,
        }
    }
}

/// What a peer is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Its rank.
    pub me: Rank,
    /// This incarnation of it, not [`Incarnation::UNKNOWN`].
    pub incarnation: Incarnation,
    /// The job.
    pub job: JobId,
    /// Names that have to be the same everywhere, such as the job's and, by rank, the peers'.
    pub names: Vec<String>,
    /// What peers have to share, and a coordinator does not know, such as the seed and the first weights.
    pub program: Terms,
    /// The installed plan that frames are steered by.
    pub plan_version: PlanVersion,
    /// How many values each peer's update has, by rank.
    pub update_values: Vec<usize>,
    /// How many values a chunk has.
    pub chunk_values: usize,
    /// The fewest receivers of an update (p).
    pub receivers: usize,
    /// When it may go on.
    pub sync: Sync,
    /// A peer that was not among the receivers for so many rounds is one in the next (k). `None`: nobody has
    /// to be.
    pub force_after: Option<u32>,
    /// The last round; rounds count from 1.
    pub rounds: u32,
    /// How it sends.
    pub sender: SenderOptions,
    /// When it asks.
    pub receiver: ReceiverOptions,
    /// The rate at which it sends until a coordinator says another, in bit/s.
    pub rate_bps: f64,
    /// How long it waits for the coordinator's choice of receivers before it sends to the last ones.
    pub choice_patience: Duration,
    /// A peer of which nothing is heard for that long is gone: nobody waits for it.
    pub peer_timeout: Duration,
    /// How long it waits for a coordinator that takes it in. Longer than a coordinator's gathering time.
    pub meeting_patience: Duration,
    /// How long it waits for others to end a round, while something is heard of them.
    pub round_patience: Duration,
}

/// What a setup cannot be.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SetupError {
    /// A rank beyond the last.
    #[error("peer {rank} is not in the job of {peers} peers, whose ranks are 0 to {last}", last = peers.saturating_sub(1))]
    Rank {
        /// The peer's.
        rank: Rank,
        /// How many there are.
        peers: usize,
    },
    /// More receivers than there are others.
    #[error("an update has {receivers} receivers, and there are {peers} peers; give 1 to {most}", most = peers.saturating_sub(1))]
    Receivers {
        /// As asked.
        receivers: usize,
        /// How many peers there are.
        peers: usize,
    },
    /// No values, or too many chunks.
    #[error(
        "the update of peer {rank} has {values} values in chunks of {chunk}; give at least 1 of each, and \
         fewer than 2^31 chunks"
    )]
    Cut {
        /// Whose update.
        rank: usize,
        /// Its values.
        values: usize,
        /// Values of a chunk.
        chunk: usize,
    },
    /// No life.
    #[error("peer {rank} has no incarnation; draw one that is not 0")]
    Incarnation {
        /// The peer.
        rank: Rank,
    },
    /// A rate that sends nothing.
    #[error("{rate_bps} bit/s is not a rate; give one above 0")]
    Rate {
        /// As asked.
        rate_bps: f64,
    },
}

impl Setup {
    /// How many peers the job has.
    pub fn peers(&self) -> usize {
        self.update_values.len()
    }

    /// How many bits an update has on its way once: of whole frames, or of values on connections.
    pub fn update_bits(&self, cut: Cut) -> f64 {
        match self.sender.copies {
            Copies::Switch { frame_bytes } => 8.0 * frame_bytes as f64 * f64::from(cut.chunks()),
            Copies::Sender { .. } => 32.0 * cut.values() as f64,
        }
    }

    /// How each peer's update is cut, by rank.
    ///
    /// # Errors
    /// A setup that cannot be: [`SetupError`] names what.
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

    /// What peers and their coordinator have to agree on, as a number.
    pub fn fingerprint(&self) -> u64 {
        self.agreed().fingerprint()
    }

    /// What peers and their coordinator have to agree on, and then what only peers know.
    pub fn terms(&self) -> Terms {
        self.agreed().terms().and(&self.program)
    }
}

/// What peers and their coordinator have to agree on: the job, names, lengths of updates and chunks,
/// receivers, how far one may be ahead, the rule of k, who makes the copies, and the last round.
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
    /// As settings with their values.
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
        // Few names, none of them twice.
        Terms::new(all).unwrap_or_default()
    }

    /// As a number (FNV-1a).
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
        // No name has this byte.
        let names = self.names.iter().flat_map(|name| name.bytes().chain([0xff]));
        let bytes = numbers.flat_map(u64::to_le_bytes).chain(names);
        inart_terms::fingerprint(bytes.map(u64::from))
    }
}
