//! What peers and their coordinator send each other, as protocol buffers (docs/protocol/peers.md,
//! "Rounds"). Between peers there are frames, or packets, of the crate `multicast`.

use bytes::Bytes;
use prost::Message as _;
use thiserror::Error;

use crate::term::Term;

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
    /// Peer to coordinator, first.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// Peer to coordinator: it has an update, and wants receivers.
    #[prost(message, tag = "2")]
    Ready(Ready),
    /// Peer to coordinator: how much is left to send.
    #[prost(message, tag = "3")]
    Remaining(Remaining),
    /// Peer to coordinator: a multicast is over.
    #[prost(message, tag = "4")]
    Ended(Ended),
    /// Peer to coordinator: what it has measured, and who is gone.
    #[prost(message, tag = "5")]
    Seen(Seen),
    /// Peer to coordinator: a newer one is in charge.
    #[prost(message, tag = "6")]
    Refused(Term),
    /// Coordinator to peer: who takes part.
    #[prost(message, tag = "7")]
    Roster(Roster),
    /// Coordinator to peer: the receivers of an update.
    #[prost(message, tag = "8")]
    Choice(Choice),
    /// Coordinator to peer: it is not taken in, since its job is another one.
    #[prost(message, tag = "9")]
    OtherJob(OtherJob),
}

/// Who a peer is, and where.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// Its life.
    #[prost(fixed32, tag = "1")]
    pub incarnation: u32,
    /// The newest coordinator that it knows.
    #[prost(message, optional, tag = "2")]
    pub term: Option<Term>,
    /// The rounds that it has ended.
    #[prost(uint32, tag = "3")]
    pub ended: u32,
    /// Rounds since it last sent to each peer, by rank.
    #[prost(uint32, repeated, tag = "4")]
    pub waits: Vec<u32>,
    /// A fingerprint of the job: peers and coordinator have to agree on it.
    #[prost(fixed64, tag = "5")]
    pub job: u64,
    /// Whether it takes part already. One that does not begins where the last ones are.
    #[prost(bool, tag = "6")]
    pub takes_part: bool,
    /// What peers and coordinator have to agree on, by name.
    #[prost(message, repeated, tag = "7")]
    pub terms: Vec<inart_terms::Term>,
}

/// A peer that has computed.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ready {
    /// Its round.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// How long it computed, in seconds.
    #[prost(double, tag = "2")]
    pub computed_seconds: f64,
    /// Whether it has a choice of receivers for that round.
    #[prost(bool, tag = "3")]
    pub has_choice: bool,
}

/// How a multicast goes on.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Remaining {
    /// Its round.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// The part of the update that is not sent, from 0 to 1.
    #[prost(double, tag = "2")]
    pub part: f64,
}

/// How a multicast ended.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ended {
    /// Its round.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// Who has the update.
    #[prost(uint32, repeated, tag = "2")]
    pub complete: Vec<u32>,
    /// From whom it was withdrawn.
    #[prost(uint32, repeated, tag = "3")]
    pub withdrawn: Vec<u32>,
    /// Who was given up.
    #[prost(uint32, repeated, tag = "4")]
    pub given_up: Vec<u32>,
    /// How long each copy took, in seconds, in the order of `complete`; empty where switches make the copies.
    #[prost(double, repeated, tag = "5")]
    pub seconds: Vec<f64>,
}

/// What was measured at a peer's port.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Sample {
    /// Whether from the peer to the switch.
    #[prost(bool, tag = "1")]
    pub is_up: bool,
    /// What passed, in bits.
    #[prost(double, tag = "2")]
    pub bits: f64,
    /// In how many seconds.
    #[prost(double, tag = "3")]
    pub seconds: f64,
    /// Whether more would not have passed: frames were marked or lost, or left later than they were to.
    #[prost(bool, tag = "4")]
    pub is_full: bool,
}

/// What a peer has seen.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Seen {
    /// Of its own port.
    #[prost(message, repeated, tag = "1")]
    pub samples: Vec<Sample>,
    /// Peers of which it hears nothing.
    #[prost(uint32, repeated, tag = "2")]
    pub gone: Vec<u32>,
}

/// Who takes part.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Roster {
    /// Whose word it is.
    #[prost(message, optional, tag = "1")]
    pub term: Option<Term>,
    /// Each peer's incarnation, by rank; 0 for who is not there.
    #[prost(fixed32, repeated, tag = "2")]
    pub incarnations: Vec<u32>,
    /// The rounds that each has ended.
    #[prost(uint32, repeated, tag = "3")]
    pub ended: Vec<u32>,
}

/// A peer's job is not the coordinator's.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OtherJob {
    /// The fingerprint of the coordinator's.
    #[prost(fixed64, tag = "1")]
    pub job: u64,
    /// The first setting that differs, with both values, in words.
    #[prost(string, tag = "2")]
    pub why: String,
}

/// Receivers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Choice {
    /// Whose word it is.
    #[prost(message, optional, tag = "1")]
    pub term: Option<Term>,
    /// Counts up within the term: of two about one round, the higher holds.
    #[prost(uint64, tag = "2")]
    pub serial: u64,
    /// The round of the peer that it is for.
    #[prost(uint32, tag = "3")]
    pub round: u32,
    /// Ranks.
    #[prost(uint32, repeated, tag = "4")]
    pub receivers: Vec<u32>,
    /// At what rate the update is to leave, in bit/s.
    #[prost(double, tag = "5")]
    pub rate_bps: f64,
}

/// Bytes that are no message.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{0} bytes that are not a message between a peer and a coordinator")]
pub struct MessageError(pub usize);

/// A message as bytes.
pub fn encode(body: Body) -> Bytes {
    Message { body: Some(body) }.encode_to_vec().into()
}

/// Bytes as a message.
///
/// # Errors
/// They are none, or one of a kind that is not known.
pub fn decode(bytes: Bytes) -> Result<Body, MessageError> {
    let len = bytes.len();
    let message = Message::decode(bytes).map_err(|_| MessageError(len))?;
    message.body.ok_or(MessageError(len))
}
