//! Messages in control frames.

use core::fmt;

use crate::{ChunkSeq, Frame, ShardId, WireError, WorkerId};

/// Why a job is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum AbortReason {
    /// The culprit's gradient has a NaN or an infinity.
    NotFinite,
    /// Nothing was heard from the culprit for longer than the patience.
    Silent,
    /// The culprit was told to stop.
    Stopped,
    /// The culprit's chunks are of other lengths than its peers'.
    Mismatch,
    /// The culprit hears nothing from the server of that shard.
    ServerLost(ShardId),
    /// The server of that shard was restarted: the culprit has results that it knows nothing of.
    ServerRestarted(ShardId),
    /// The culprit's values are floats and the server's sums are not, or the other way round.
    OtherNumbers,
    /// A reason this crate has no name for.
    Unknown(u32),
}

impl AbortReason {
    /// The word of a message: the reason, and above it what it is about.
    const fn code(self) -> u32 {
        match self {
            Self::NotFinite => 1,
            Self::Silent => 2,
            Self::Stopped => 3,
            Self::Mismatch => 4,
            Self::ServerLost(shard) => 5 | (shard.get() as u32) << 16,
            Self::ServerRestarted(shard) => 6 | (shard.get() as u32) << 16,
            Self::OtherNumbers => 7,
            Self::Unknown(code) => code,
        }
    }

    fn from_code(code: u32) -> Self {
        match code {
            1 => Self::NotFinite,
            2 => Self::Silent,
            3 => Self::Stopped,
            4 => Self::Mismatch,
            7 => Self::OtherNumbers,
            other => {
                let shard = ShardId::from((other >> 16) as u16);
                match other & 0xffff {
                    5 => Self::ServerLost(shard),
                    6 => Self::ServerRestarted(shard),
                    _ => Self::Unknown(other),
                }
            }
        }
    }
}

/// Reads as the end of a sentence about the culprit: "worker 3 ...".
impl fmt::Display for AbortReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("has a gradient with a NaN or an infinity"),
            Self::Silent => f.write_str("has not been heard from"),
            Self::Stopped => f.write_str("was told to stop"),
            Self::Mismatch => f.write_str("sends a gradient of another length than its peers"),
            Self::ServerLost(shard) => write!(f, "hears nothing from the parameter server of shard {shard}"),
            Self::ServerRestarted(shard) => {
                write!(f, "has results that the restarted parameter server of shard {shard} has lost")
            }
            Self::OtherNumbers => {
                f.write_str("and the parameter server were told differently whether the job is exact")
            }
            Self::Unknown(code) => {
                write!(f, "made the job end (reason {code}, which this version has no name for)")
            }
        }
    }
}

/// What a control frame says; its words are the frame's values. The chunk, the worker and the exponent spoken of
/// are in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlMessage {
    /// Server to worker: send this chunk at this exponent, by bypass.
    RequestBypass,
    /// Worker to server: I am there; server to worker: so am I.
    Alive {
        /// The oldest chunk without a result at the worker; the answer repeats it.
        oldest: ChunkSeq,
    },
    /// Server to worker, worker to server: the job is given up because of the culprit.
    Abort {
        /// Why.
        reason: AbortReason,
        /// Whose fault it is.
        culprit: WorkerId,
    },
    /// A code this crate has no name for.
    Unknown(u32),
}

impl ControlMessage {
    /// Number of words of every message: a code and two arguments.
    pub const WORDS: usize = 3;

    /// The message as a frame's values.
    pub fn words(self) -> [i32; Self::WORDS] {
        let [code, first, second] = match self {
            Self::RequestBypass => [1, 0, 0],
            Self::Alive { oldest } => [2, oldest.get(), 0],
            Self::Abort { reason, culprit } => [3, reason.code(), culprit.get().into()],
            Self::Unknown(code) => [code, 0, 0],
        };
        [code as i32, first as i32, second as i32]
    }

    /// Reads the message of a frame of kind control.
    pub fn parse<T: AsRef<[u8]>>(frame: &Frame<T>) -> Result<Self, WireError> {
        if usize::from(frame.length()) < Self::WORDS {
            return Err(WireError::Message { seen: frame.length() });
        }
        let mut words = frame.values().map(|word| word as u32);
        let mut next = || words.next().unwrap_or(0);
        Ok(match next() {
            1 => Self::RequestBypass,
            2 => Self::Alive { oldest: ChunkSeq::from(next()) },
            3 => {
                let reason = AbortReason::from_code(next());
                let rank = next();
                let culprit = WorkerId::try_from(i64::from(rank))
                    .map_err(|_| WireError::Worker { seen: rank.try_into().unwrap_or(u16::MAX) })?;
                Self::Abort { reason, culprit }
            }
            code => Self::Unknown(code),
        })
    }
}

impl fmt::Display for ControlMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RequestBypass => f.write_str("request-bypass"),
            Self::Alive { oldest } => write!(f, "alive, results up to {oldest}"),
            Self::Abort { reason, culprit } => write!(f, "abort: worker {culprit} {reason}"),
            Self::Unknown(code) => write!(f, "message-{code}"),
        }
    }
}
