//! What sites and their scheduler send each other, as protocol buffers (docs/protocol/sites.md,
//! "Connections").

use bytes::Bytes;
use inart_protocol_sites::{Ask, ChunkNo, MOST_NAMED, Parcel, Way};
use inart_terms::Term;
use prost::Message as _;

use crate::gradient::{ChunkSum, Run};
use crate::message_error::{MessageError, site, sites};
use crate::policy_message::PolicyMessage;

/// One message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    /// What it says.
    #[prost(oneof = "Body", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub body: Option<Body>,
}

/// The kinds of messages.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// The first message on every connection.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// A chunk on its way.
    #[prost(message, tag = "2")]
    Chunk(ChunkMessage),
    /// A site asks for chunks.
    #[prost(message, tag = "3")]
    Ask(AskMessage),
    /// A policy for a later round.
    #[prost(message, tag = "4")]
    Offer(PolicyMessage),
    /// What a site has measured: to the scheduler.
    #[prost(message, tag = "5")]
    Report(Report),
    /// Asks for a policy by its version.
    #[prost(message, tag = "6")]
    PolicyWanted(PolicyWanted),
    /// A site that restarts asks for what it needs to join.
    #[prost(message, tag = "7")]
    StateWanted(StateWanted),
    /// A part of the answer.
    #[prost(message, tag = "8")]
    State(State),
    /// A site ends the job at all.
    #[prost(message, tag = "9")]
    Ended(Ended),
}

/// Where a site is. A scheduler's has its terms alone.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// The round that it is in; none before its first.
    #[prost(uint32, optional, tag = "1")]
    pub round: Option<u32>,
    /// The version of its policy.
    #[prost(uint64, tag = "2")]
    pub version: u64,
    /// That round was its last, and it has all sums.
    #[prost(bool, tag = "4")]
    pub is_finished: bool,
    /// It was asked for sums of that round, and does not have them.
    #[prost(uint32, optional, tag = "5")]
    pub cannot_answer: Option<u32>,
    /// What the sender shares with all sites, or with its scheduler.
    #[prost(message, repeated, tag = "6")]
    pub terms: Vec<Term>,
}

/// A chunk.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChunkMessage {
    /// The round.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// The version of the policy.
    #[prost(uint64, tag = "2")]
    pub version: u64,
    /// Which chunk.
    #[prost(uint32, tag = "3")]
    pub chunk: u32,
    /// 0 push, 1 pull, 2 answer.
    #[prost(uint32, tag = "4")]
    pub way: u32,
    /// The site that it is from.
    #[prost(uint32, tag = "5")]
    pub from: u32,
    /// The site that it is for.
    #[prost(uint32, tag = "6")]
    pub to: u32,
    /// 0 on the tree's own link or route, else the number of the auxiliary path.
    #[prost(uint32, tag = "7")]
    pub path: u32,
    /// The sites behind the next one.
    #[prost(uint32, repeated, tag = "8")]
    pub route: Vec<u32>,
    /// With the last chunk: the versions that all hold, or the one that the next round follows.
    #[prost(uint64, repeated, tag = "9")]
    pub policies: Vec<u64>,
    /// The least site with a NaN or an infinity.
    #[prost(uint32, optional, tag = "11")]
    pub not_finite: Option<u32>,
    /// By run of 256 values: the number of its unit, and of the words of a value.
    #[prost(bytes = "bytes", tag = "13")]
    pub runs: Bytes,
    /// The words of all values.
    #[prost(bytes = "bytes", tag = "14")]
    pub words: Bytes,
}

/// A question.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AskMessage {
    /// The round.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// The site that it is from.
    #[prost(uint32, tag = "2")]
    pub from: u32,
    /// The site that it is for.
    #[prost(uint32, tag = "3")]
    pub to: u32,
    /// The sites behind the next one.
    #[prost(uint32, repeated, tag = "4")]
    pub route: Vec<u32>,
    /// The chunks.
    #[prost(uint32, repeated, tag = "5")]
    pub chunks: Vec<u32>,
}

/// What a site has measured and seen.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Report {
    /// The round that it is in.
    #[prost(uint32, optional, tag = "1")]
    pub round: Option<u32>,
    /// The version of its policy.
    #[prost(uint64, tag = "2")]
    pub version: u64,
    /// What arrived on its links.
    #[prost(message, repeated, tag = "3")]
    pub samples: Vec<SampleMessage>,
    /// Neighbours that it has no connection to.
    #[prost(uint32, repeated, tag = "4")]
    pub down: Vec<u32>,
}

/// What chunks on a link say of its rate.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SampleMessage {
    /// The neighbour that they came from.
    #[prost(uint32, tag = "1")]
    pub from: u32,
    /// How much, in bits.
    #[prost(double, tag = "2")]
    pub bits: f64,
    /// In which time, in seconds.
    #[prost(double, tag = "3")]
    pub seconds: f64,
}

/// Asks for a policy.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PolicyWanted {
    /// The version of the policy.
    #[prost(uint64, tag = "1")]
    pub version: u64,
}

/// Asks for a state, or for the rest of one.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StateWanted {
    /// SHA-256 of the state whose beginning the site has; empty if it has none.
    #[prost(bytes = "bytes", tag = "1")]
    pub digest: Bytes,
    /// Bytes of the state that the site has.
    #[prost(uint64, tag = "2")]
    pub offset: u64,
    /// The site wants no more parts.
    #[prost(bool, tag = "3")]
    pub is_over: bool,
}

/// Part of the state that a site needs to join a round.
#[derive(Clone, PartialEq, prost::Message)]
pub struct State {
    /// The round before which the state held.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// With the first part: the policy of that round.
    #[prost(message, optional, tag = "2")]
    pub policy: Option<PolicyMessage>,
    /// Bytes of the training program's state, as the program gave them.
    #[prost(bytes = "bytes", tag = "4")]
    pub training: Bytes,
    /// There are no more rounds: the training ended with this state.
    #[prost(bool, tag = "5")]
    pub is_finished: bool,
    /// Place of the first of these bytes.
    #[prost(uint64, tag = "6")]
    pub offset: u64,
    /// Length of the whole state, in bytes.
    #[prost(uint64, tag = "7")]
    pub total: u64,
    /// SHA-256 of the whole state.
    #[prost(bytes = "bytes", tag = "8")]
    pub digest: Bytes,
}

/// A site ends the job at all: each that learns it tells its other neighbours.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ended {
    /// Which site, and who did what there.
    #[prost(string, tag = "1")]
    pub told: String,
    /// Only sites that have not begun end: a neighbor of theirs has other terms.
    #[prost(bool, tag = "2")]
    pub is_before_start: bool,
}

/// Reads a message.
///
/// # Errors
/// Bytes that are none.
pub fn decode(data: Bytes) -> Result<Body, MessageError> {
    let length = data.len();
    let message = Message::decode(data).ok().and_then(|message| message.body);
    message.ok_or(MessageError::Unknown(length))
}

/// Writes a message.
pub fn encode(body: Body) -> Bytes {
    Message { body: Some(body) }.encode_to_vec().into()
}

/// A chunk as a message.
pub fn chunk_message(parcel: &Parcel<ChunkSum>) -> ChunkMessage {
    ChunkMessage {
        round: parcel.round,
        version: parcel.version,
        chunk: parcel.chunk.0,
        way: match parcel.way {
            Way::Push => 0,
            Way::Pull => 1,
            Way::Answer => 2,
        },
        from: parcel.from.0.into(),
        to: parcel.to.0.into(),
        path: parcel.path.into(),
        route: parcel.route.iter().map(|site| site.0.into()).collect(),
        policies: parcel.policies.clone(),
        not_finite: parcel.data.not_finite.map(|site| site.0.into()),
        runs: parcel.data.runs.iter().flat_map(|run| [run.unit, run.words]).collect(),
        words: parcel.data.words.clone(),
    }
}

/// A message as a chunk.
///
/// # Errors
/// A field out of its range.
pub fn parcel(message: ChunkMessage) -> Result<Parcel<ChunkSum>, MessageError> {
    let way = match message.way {
        0 => Way::Push,
        1 => Way::Pull,
        2 => Way::Answer,
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
    Ok(Parcel {
        round: message.round,
        version: message.version,
        chunk: ChunkNo(message.chunk),
        way,
        from: site("from", message.from)?,
        to: site("to", message.to)?,
        path: path.map_err(wrong)?,
        route: sites("route", message.route)?,
        policies: message.policies,
        data,
    })
}

/// A question as a message.
pub fn ask_message(ask: &Ask) -> AskMessage {
    AskMessage {
        round: ask.round,
        from: ask.from.0.into(),
        to: ask.to.0.into(),
        route: ask.route.iter().map(|site| site.0.into()).collect(),
        chunks: ask.chunks.iter().map(|chunk| chunk.0).collect(),
    }
}

/// A message as a question.
///
/// # Errors
/// A field out of its range.
pub fn ask(message: AskMessage) -> Result<Ask, MessageError> {
    Ok(Ask {
        round: message.round,
        from: site("from", message.from)?,
        to: site("to", message.to)?,
        route: sites("route", message.route)?,
        chunks: message.chunks.into_iter().map(ChunkNo).collect(),
    })
}
