//! What sites and their scheduler send each other, as protocol buffers (docs/protocol/sites.md,
//! "Connections").

use bytes::Bytes;
use inart_protocol_sites::{Ask, ChunkNo, ChunkTransfer, Direction, MOST_NAMED};
use inart_terms::Term;
use prost::Message as _;

use crate::gradient::{ChunkSum, Run};
use crate::message_error::{MessageError, site, sites};
use crate::policy_message::PolicyMessage;

/// One message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    /// Body of the message.
    #[prost(oneof = "Body", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub body: Option<Body>,
}

/// Kinds of messages.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// First message on every connection.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// Chunk in transfer.
    #[prost(message, tag = "2")]
    Chunk(ChunkMessage),
    /// Request for missing chunks.
    #[prost(message, tag = "3")]
    Ask(AskMessage),
    /// Policy for a later round.
    #[prost(message, tag = "4")]
    Offer(PolicyMessage),
    /// Measurements of a site, for the scheduler.
    #[prost(message, tag = "5")]
    Report(Report),
    /// Request for a policy by version.
    #[prost(message, tag = "6")]
    PolicyWanted(PolicyWanted),
    /// Request of a restarted site for the state that it needs to join.
    #[prost(message, tag = "7")]
    StateWanted(StateWanted),
    /// Part of a training state.
    #[prost(message, tag = "8")]
    State(State),
    /// Notice that a site aborts the job.
    #[prost(message, tag = "9")]
    Ended(Ended),
}

/// Progress and terms of the sender. A scheduler sends only its terms.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// Current round of the sender; absent before its first round.
    #[prost(uint32, optional, tag = "1")]
    pub round: Option<u32>,
    /// Version of the sender's policy.
    #[prost(uint64, tag = "2")]
    pub version: u64,
    /// Set when `round` was the sender's last round and the sender has all sums.
    #[prost(bool, tag = "4")]
    pub is_finished: bool,
    /// Round for which the sender was asked for sums that it does not have.
    #[prost(uint32, optional, tag = "5")]
    pub cannot_answer: Option<u32>,
    /// Terms that the sender shares with all sites, or with its scheduler.
    #[prost(message, repeated, tag = "6")]
    pub terms: Vec<Term>,
}

/// Chunk on the wire.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChunkMessage {
    /// Round of the chunk.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// Version of the policy.
    #[prost(uint64, tag = "2")]
    pub version: u64,
    /// Number of the chunk.
    #[prost(uint32, tag = "3")]
    pub chunk: u32,
    /// 0 push, 1 pull, 2 answer.
    #[prost(uint32, tag = "4")]
    pub way: u32,
    /// Origin site.
    #[prost(uint32, tag = "5")]
    pub from: u32,
    /// Destination site.
    #[prost(uint32, tag = "6")]
    pub to: u32,
    /// 0 on the tree's own link or route, else the number of the auxiliary path.
    #[prost(uint32, tag = "7")]
    pub path: u32,
    /// Sites after the next hop.
    #[prost(uint32, repeated, tag = "8")]
    pub route: Vec<u32>,
    /// With the last chunk: the policy versions that all sites hold, or the version of the next round.
    #[prost(uint64, repeated, tag = "9")]
    pub policies: Vec<u64>,
    /// Lowest-numbered site with a NaN or an infinity.
    #[prost(uint32, optional, tag = "11")]
    pub not_finite: Option<u32>,
    /// For each run of 256 values: its unit and the words per value.
    #[prost(bytes = "bytes", tag = "13")]
    pub runs: Bytes,
    /// Words of all values.
    #[prost(bytes = "bytes", tag = "14")]
    pub words: Bytes,
}

/// Request for missing chunks on the wire.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AskMessage {
    /// Round of the chunks.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// Origin site.
    #[prost(uint32, tag = "2")]
    pub from: u32,
    /// Destination site.
    #[prost(uint32, tag = "3")]
    pub to: u32,
    /// Sites after the next hop.
    #[prost(uint32, repeated, tag = "4")]
    pub route: Vec<u32>,
    /// Numbers of the chunks.
    #[prost(uint32, repeated, tag = "5")]
    pub chunks: Vec<u32>,
}

/// Measurements and link state of a site.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Report {
    /// Current round of the site.
    #[prost(uint32, optional, tag = "1")]
    pub round: Option<u32>,
    /// Version of the site's policy.
    #[prost(uint64, tag = "2")]
    pub version: u64,
    /// Samples of the links to the site.
    #[prost(message, repeated, tag = "3")]
    pub samples: Vec<SampleMessage>,
    /// Neighbors without a connection to the site.
    #[prost(uint32, repeated, tag = "4")]
    pub down: Vec<u32>,
}

/// Rate sample of a link.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SampleMessage {
    /// Neighbor that sent the chunks.
    #[prost(uint32, tag = "1")]
    pub from: u32,
    /// Amount of data, in bits.
    #[prost(double, tag = "2")]
    pub bits: f64,
    /// Transfer time, in seconds.
    #[prost(double, tag = "3")]
    pub seconds: f64,
}

/// Request for a policy.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PolicyWanted {
    /// Version of the policy.
    #[prost(uint64, tag = "1")]
    pub version: u64,
}

/// Request for a state, or for the rest of one.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StateWanted {
    /// SHA-256 of the state that the site has partially received; empty if none.
    #[prost(bytes = "bytes", tag = "1")]
    pub digest: Bytes,
    /// Bytes of the state that the site has.
    #[prost(uint64, tag = "2")]
    pub offset: u64,
    /// Set when the site wants no more parts.
    #[prost(bool, tag = "3")]
    pub is_over: bool,
}

/// Part of the state that a site needs to join a round.
#[derive(Clone, PartialEq, prost::Message)]
pub struct State {
    /// Round before which the state was taken.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// With the first part: the policy of that round.
    #[prost(message, optional, tag = "2")]
    pub policy: Option<PolicyMessage>,
    /// Opaque bytes of the training program's state.
    #[prost(bytes = "bytes", tag = "4")]
    pub training: Bytes,
    /// Set when the training has ended with this state.
    #[prost(bool, tag = "5")]
    pub is_finished: bool,
    /// Offset of the first of these bytes.
    #[prost(uint64, tag = "6")]
    pub offset: u64,
    /// Length of the whole state, in bytes.
    #[prost(uint64, tag = "7")]
    pub total: u64,
    /// SHA-256 of the whole state.
    #[prost(bytes = "bytes", tag = "8")]
    pub digest: Bytes,
}

/// Notice that a site aborts the job. Each receiver forwards the notice to its other neighbors.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ended {
    /// Failed site and reason.
    #[prost(string, tag = "1")]
    pub reason: String,
    /// Set when only sites that have not started end: a neighbor of the sender has other terms.
    #[prost(bool, tag = "2")]
    pub is_before_start: bool,
}

/// Decodes a message.
///
/// # Errors
/// Bytes that are not a message.
pub fn decode(data: Bytes) -> Result<Body, MessageError> {
    let length = data.len();
    let message = Message::decode(data).ok().and_then(|message| message.body);
    message.ok_or(MessageError::Unknown(length))
}

/// Encodes a message.
pub fn encode(body: Body) -> Bytes {
    Message { body: Some(body) }.encode_to_vec().into()
}

/// Encodes a chunk.
pub fn chunk_message(transfer: &ChunkTransfer<ChunkSum>) -> ChunkMessage {
    ChunkMessage {
        round: transfer.round,
        version: transfer.version,
        chunk: transfer.chunk.0,
        way: match transfer.direction {
            Direction::Push => 0,
            Direction::Pull => 1,
            Direction::Answer => 2,
        },
        from: transfer.from.0.into(),
        to: transfer.to.0.into(),
        path: transfer.path.into(),
        route: transfer.route.iter().map(|site| site.0.into()).collect(),
        policies: transfer.policies.clone(),
        not_finite: transfer.data.not_finite.map(|site| site.0.into()),
        runs: transfer.data.runs.iter().flat_map(|run| [run.unit, run.words]).collect(),
        words: transfer.data.words.clone(),
    }
}

/// Decodes a chunk.
///
/// # Errors
/// A field out of range.
pub fn transfer(message: ChunkMessage) -> Result<ChunkTransfer<ChunkSum>, MessageError> {
    let direction = match message.way {
        0 => Direction::Push,
        1 => Direction::Pull,
        2 => Direction::Answer,
        other => return Err(MessageError::Field { field: "way", value: other.into(), most: 2 }),
    };
    let named = message.policies.len();
    if named > MOST_NAMED {
        return Err(MessageError::Field {
            field: "the number of versions",
            value: named as i64,
            most: MOST_NAMED as i64,
        });
    }
    let (runs, rest) = message.runs.as_chunks();
    if !rest.is_empty() {
        return Err(MessageError::Runs(message.runs.len()));
    }
    let data = ChunkSum {
        runs: runs.iter().map(|&[unit, words]| Run { unit, words }).collect(),
        words: message.words,
        not_finite: message.not_finite.map(|value| site("not_finite", value)).transpose()?,
    };
    let path = u8::try_from(message.path);
    let wrong = |_| MessageError::Field { field: "path", value: message.path.into(), most: 255 };
    Ok(ChunkTransfer {
        round: message.round,
        version: message.version,
        chunk: ChunkNo(message.chunk),
        direction,
        from: site("from", message.from)?,
        to: site("to", message.to)?,
        path: path.map_err(wrong)?,
        route: sites("route", message.route)?,
        policies: message.policies,
        data,
    })
}

/// Encodes a request for chunks.
pub fn ask_message(ask: &Ask) -> AskMessage {
    AskMessage {
        round: ask.round,
        from: ask.from.0.into(),
        to: ask.to.0.into(),
        route: ask.route.iter().map(|site| site.0.into()).collect(),
        chunks: ask.chunks.iter().map(|chunk| chunk.0).collect(),
    }
}

/// Decodes a request for chunks.
///
/// # Errors
/// A field out of range.
pub fn ask(message: AskMessage) -> Result<Ask, MessageError> {
    Ok(Ask {
        round: message.round,
        from: site("from", message.from)?,
        to: site("to", message.to)?,
        route: sites("route", message.route)?,
        chunks: message.chunks.into_iter().map(ChunkNo).collect(),
    })
}
