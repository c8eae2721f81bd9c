//! Messages in control frames.

use core::fmt;

use crate::{ChunkSeq, Frame, Incarnation, MacAddr, Rank, ShardId, ShortText, Transcript, WireError};

/// Reason why a job is aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum AbortReason {
    /// The culprit's gradient has a NaN or an infinity.
    NotFinite,
    /// Silence of the culprit for longer than the peer timeout.
    Silent,
    /// The culprit was stopped.
    Stopped,
    /// The culprit's gradient has another length than its peers'.
    Mismatch {
        /// Values of the culprit's gradient.
        seen: u32,
        /// Length of its peers' gradients. Equal to `seen` if all report equal lengths and only the culprit's
        /// frames differ.
        expected: u32,
    },
    /// Silence of the server of that shard to the culprit.
    ServerLost(ShardId),
    /// The server of that shard was restarted: the culprit knows another incarnation of it.
    ServerRestarted(ShardId),
    /// Invalid values of the culprit, or a maximum below the culprit's own.
    OtherNumbers,
    /// Two incarnations of the culprit are in one run of the job.
    WorkerRestarted,
    /// End of the larger job of which this one is a part: culprit and action there. The culprit is not in
    /// this job.
    Elsewhere(ShortText),
    /// The culprit sends from another address than the server's assignment has for it: this one. Ends that
    /// process only.
    OtherAddress(MacAddr),
    /// The culprit and its peers started different tensors: one of those from `first` to `last`, counted from
    /// 0 in the run.
    OtherTensors {
        /// The tensor after the last one that is known to be the same.
        first: u32,
        /// The first tensor that is known to be preceded by, or to be, a different one.
        last: u32,
    },
    /// A reason this crate has no name for.
    Unknown(u32),
}

impl AbortReason {
    /// Returns the words of a message: the reason with its argument in the upper half, and two lengths.
    const fn words(self) -> [u32; 3] {
        match self {
            Self::NotFinite => [1, 0, 0],
            Self::Silent => [2, 0, 0],
            Self::Stopped => [3, 0, 0],
            Self::Mismatch { seen, expected } => [4, seen, expected],
            Self::ServerLost(shard) => [5 | (shard.get() as u32) << 16, 0, 0],
            Self::ServerRestarted(shard) => [6 | (shard.get() as u32) << 16, 0, 0],
            Self::OtherNumbers => [7, 0, 0],
            Self::WorkerRestarted => [8, 0, 0],
            Self::Elsewhere(_) => [9, 0, 0],
            Self::OtherAddress(MacAddr([a, b, c, d, e, f])) => {
                [10, u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([0, 0, e, f])]
            }
            Self::OtherTensors { first, last } => [11, first, last],
            Self::Unknown(code) => [code, 0, 0],
        }
    }

    /// `more`: the words behind those that every message has.
    fn from_words([code, seen, expected]: [u32; 3], more: impl Iterator<Item = u32>) -> Self {
        match code {
            1 => Self::NotFinite,
            2 => Self::Silent,
            3 => Self::Stopped,
            4 => Self::Mismatch { seen, expected },
            7 => Self::OtherNumbers,
            8 => Self::WorkerRestarted,
            9 => Self::Elsewhere(ShortText::of_words(more)),
            10 => {
                let ([a, b, c, d], [_, _, e, f]) = (seen.to_be_bytes(), expected.to_be_bytes());
                Self::OtherAddress(MacAddr([a, b, c, d, e, f]))
            }
            11 => Self::OtherTensors { first: seen, last: expected },
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
            Self::Silent => f.write_str("is silent"),
            Self::Stopped => f.write_str("was stopped"),
            Self::Mismatch { seen, expected } if seen == expected => {
                f.write_str("sends chunks of other lengths than its peers")
            }
            Self::Mismatch { seen, expected } => {
                write!(f, "has a gradient of {seen} values, others have {expected}")
            }
            Self::ServerLost(shard) => {
                write!(f, "receives nothing from the parameter server of shard {shard}")
            }
            Self::ServerRestarted(shard) => {
                write!(f, "was in a run that the restarted parameter server of shard {shard} does not know")
            }
            Self::OtherNumbers => f.write_str(
                "and its peers do not agree on the numbers of the job: do all hosts and switches run the \
                 same version?",
            ),
            Self::WorkerRestarted => f.write_str("was restarted, or runs twice; start each worker once"),
            Self::Elsewhere(reason) => write!(f, "stopped: {reason}"),
            Self::OtherAddress(mac) => write!(f, "is {mac} in the parameter server's assignment"),
            Self::OtherTensors { first, last } if first == last => {
                write!(f, "and its peers started different tensors as tensor {last}")
            }
            Self::OtherTensors { first, last } => {
                write!(f, "and its peers started different tensors as one of the tensors {first} to {last}")
            }
            Self::Unknown(code) => {
                write!(f, "made the job end (reason {code}, which this version has no name for)")
            }
        }
    }
}

/// Workers that keep another one waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Awaited {
    /// The lowest rank of them.
    pub first: Rank,
    /// Number of workers, at least 1.
    pub count: u16,
    /// Whether they have joined, and have not started the tensor of the receiver's oldest chunk.
    pub has_joined: bool,
}

impl Awaited {
    /// Returns the second, third and fourth word of an answer.
    fn words(awaited: Option<Self>) -> (u32, [u32; 2]) {
        awaited.map_or((0, [0; 2]), |awaited| {
            (awaited.count.into(), [awaited.first.get().into(), awaited.has_joined.into()])
        })
    }

    fn from_words(second: u32, [third, fourth]: [u32; 2]) -> Option<Self> {
        let count = u16::try_from(second).ok().filter(|count| *count > 0)?;
        Some(Self { first: Rank::try_from(i64::from(third)).ok()?, count, has_joined: fourth != 0 })
    }
}

/// Content of a control frame; its words are the frame's values. Chunk, worker and run are in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlMessage {
    /// Server to worker: send this chunk by bypass.
    RequestBypass,
    /// Worker to server: the worker runs.
    KeepAlive {
        /// The oldest chunk without a result at the worker.
        oldest: ChunkSeq,
        /// Number of values of the tensor that this chunk is of, if the worker has started it.
        tensor_len: Option<u32>,
        /// The tensors that the worker has started.
        transcript: Transcript,
    },
    /// Answer of a server to a worker's keep-alive.
    KeepAliveAnswer {
        /// Whether that incarnation of the worker is bound to this run.
        bound: bool,
        /// The workers that keep that worker waiting, as far as the server knows.
        awaited: Option<Awaited>,
    },
    /// Server to worker, worker to server: the job is aborted because of the culprit.
    Abort {
        /// Reason.
        reason: AbortReason,
        /// Culprit.
        culprit: Rank,
    },
    /// A code this crate has no name for.
    Unknown(u32),
}

impl ControlMessage {
    /// Number of words of every message: a code, two arguments, the worker's incarnation, two more arguments.
    /// A text or more marks of a transcript follow them.
    pub const WORDS: usize = 6;
    /// Number of words of the longest message.
    pub const MOST_WORDS: usize = Self::WORDS + ShortText::WORDS;
    /// Length of a tensor that is not started yet.
    const NO_LENGTH: u32 = u32::MAX;

    /// The message as a frame's values. `host` is the incarnation of the worker that sends it or that it is
    /// for.
    pub fn words(self, host: Incarnation) -> MessageWords {
        let (code, first, second, more) = match self {
            Self::RequestBypass => (1, 0, 0, [0; 2]),
            Self::KeepAlive { oldest, tensor_len, transcript } => (
                2,
                oldest.get(),
                tensor_len.map_or(Self::NO_LENGTH, |len| len.min(Self::NO_LENGTH - 1)),
                transcript.words().0,
            ),
            Self::Abort { reason, culprit } => {
                let [reason, seen, expected] = reason.words();
                (3, reason, culprit.get().into(), [seen, expected])
            }
            Self::KeepAliveAnswer { bound, awaited } => {
                let (second, more) = Awaited::words(awaited);
                (4, bound.into(), second, more)
            }
            Self::Unknown(code) => (code, 0, 0, [0; 2]),
        };
        let mut words = [0; Self::MOST_WORDS];
        words[..Self::WORDS].copy_from_slice(&[code, first, second, host.get(), more[0], more[1]]);
        let mut length = Self::WORDS;
        if let Self::Abort { reason: AbortReason::Elsewhere(reason), .. } = self {
            words[Self::WORDS..].copy_from_slice(&reason.words());
            length = Self::MOST_WORDS;
        }
        if let Self::KeepAlive { transcript, .. } = self {
            let (_, more) = transcript.words();
            length = Self::WORDS + more.len();
            words[Self::WORDS..length].copy_from_slice(&more);
        }
        MessageWords { words: words.map(|word| word as i32), length }
    }

    /// Reads the message of a frame of kind control, and the incarnation of the worker that it is from or
    /// for.
    ///
    /// # Errors
    /// [`WireError::Message`] if the frame has fewer values than a message has words.
    pub fn parse<T: AsRef<[u8]>>(frame: &Frame<T>) -> Result<(Self, Incarnation), WireError> {
        if usize::from(frame.length()) < Self::WORDS {
            return Err(WireError::Message { seen: frame.length() });
        }
        let mut words = frame.values().map(|word| word as u32);
        let [code, first, second, host, third, fourth] = core::array::from_fn(|_| words.next().unwrap_or(0));
        let more = words.take(usize::from(frame.length()) - Self::WORDS);
        let message = match code {
            1 => Self::RequestBypass,
            2 => Self::KeepAlive {
                oldest: ChunkSeq::from(first),
                tensor_len: (second != Self::NO_LENGTH).then_some(second),
                transcript: Transcript::of_words([third, fourth], more),
            },
            3 => {
                let reason = AbortReason::from_words([first, third, fourth], more);
                let culprit = Rank::try_from(i64::from(second))
                    .map_err(|_| WireError::Worker { seen: second.try_into().unwrap_or(u16::MAX) })?;
                Self::Abort { reason, culprit }
            }
            4 => Self::KeepAliveAnswer {
                bound: first != 0,
                awaited: Awaited::from_words(second, [third, fourth]),
            },
            code => Self::Unknown(code),
        };
        Ok((message, Incarnation::from(host)))
    }
}

/// A message's words, as a slice.
#[derive(Clone, Copy, Debug)]
pub struct MessageWords {
    words: [i32; ControlMessage::MOST_WORDS],
    length: usize,
}

impl core::ops::Deref for MessageWords {
    type Target = [i32];

    fn deref(&self) -> &[i32] {
        &self.words[..self.length]
    }
}

impl fmt::Display for ControlMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RequestBypass => f.write_str("request-bypass"),
            Self::KeepAlive { oldest, tensor_len, transcript } => {
                write!(f, "keep-alive, results up to {oldest}")?;
                tensor_len.map_or(Ok(()), |len| write!(f, ", tensor of {len} values"))?;
                if transcript.started > 0 { write!(f, ", {transcript}") } else { Ok(()) }
            }
            Self::KeepAliveAnswer { bound, awaited } => {
                f.write_str(if *bound {
                    "keep-alive answered, bound"
                } else {
                    "keep-alive answered, not bound"
                })?;
                let Some(Awaited { first, count, has_joined }) = awaited else { return Ok(()) };
                let lacks = if *has_joined { "has not started the tensor" } else { "has not joined" };
                write!(f, ", worker {first} {lacks}")?;
                if *count > 1 { write!(f, ", nor have {} others", count - 1) } else { Ok(()) }
            }
            Self::Abort { reason, culprit } => write!(f, "abort: worker {culprit} {reason}"),
            Self::Unknown(code) => write!(f, "message-{code}"),
        }
    }
}
