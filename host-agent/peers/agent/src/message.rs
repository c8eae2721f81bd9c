//! Messages between peers and their coordinator, as protocol buffers (docs/protocol/peers.md, "Rounds").
//! Between peers there are frames, or packets, of the crate `inart-protocol-peers`.

use bytes::Bytes;
use prost::Message as _;
use thiserror::Error;

use crate::term::Term;

/// One message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    /// Content.
    #[prost(oneof = "Body", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub body: Option<Body>,
}

/// The kinds of messages.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// Peer to coordinator, first.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// Peer to coordinator: an update is ready and needs receivers.
    #[prost(message, tag = "2")]
    Ready(Ready),
    /// Peer to coordinator: the rest of an update to send.
    #[prost(message, tag = "3")]
    Remaining(Remaining),
    /// Peer to coordinator: end of a multicast.
    #[prost(message, tag = "4")]
    Ended(Ended),
    /// Peer to coordinator: measurements, and lost peers.
    #[prost(message, tag = "5")]
    Seen(Seen),
    /// Peer to coordinator: a newer one is in charge.
    #[prost(message, tag = "6")]
    Refused(Term),
    /// Coordinator to peer: members.
    #[prost(message, tag = "7")]
    Roster(Roster),
    /// Coordinator to peer: the receivers of an update.
    #[prost(message, tag = "8")]
    Choice(Choice),
    /// Coordinator to peer: refusal because of another job configuration.
    #[prost(message, tag = "9")]
    OtherJob(OtherJob),
}

/// Identity and progress of a peer.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// Incarnation.
    #[prost(fixed32, tag = "1")]
    pub incarnation: u32,
    /// Newest known coordinator.
    #[prost(message, optional, tag = "2")]
    pub term: Option<Term>,
    /// Rounds that the peer has ended.
    #[prost(uint32, tag = "3")]
    pub ended: u32,
    /// Rounds since the peer last sent to each other, by rank.
    #[prost(uint32, repeated, tag = "4")]
    pub waits: Vec<u32>,
    /// Fingerprint of the job: peers and coordinator must agree.
    #[prost(fixed64, tag = "5")]
    pub job: u64,
    /// Whether the peer takes part already. A new one starts where the slowest peers are.
    #[prost(bool, tag = "6")]
    pub takes_part: bool,
    /// Settings that peers and coordinator must agree on, by name.
    #[prost(message, repeated, tag = "7")]
    pub terms: Vec<inart_terms::Term>,
}

/// Completion of a computation.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ready {
    /// Round of the peer.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// Compute time, in seconds.
    #[prost(double, tag = "2")]
    pub computed_seconds: f64,
    /// Whether the peer has a choice of receivers for that round.
    #[prost(bool, tag = "3")]
    pub has_choice: bool,
}

/// Progress of a multicast.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Remaining {
    /// Round of the multicast.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// Part of the update that is not sent, from 0 to 1.
    #[prost(double, tag = "2")]
    pub part: f64,
}

/// End of a multicast.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ended {
    /// Round of the multicast.
    #[prost(uint32, tag = "1")]
    pub round: u32,
    /// Receivers that have the update.
    #[prost(uint32, repeated, tag = "2")]
    pub complete: Vec<u32>,
    /// Receivers that were withdrawn.
    #[prost(uint32, repeated, tag = "3")]
    pub withdrawn: Vec<u32>,
    /// Receivers that timed out.
    #[prost(uint32, repeated, tag = "4")]
    pub given_up: Vec<u32>,
    /// Duration of each copy, in seconds, in the order of `complete`; empty where switches make the copies.
    #[prost(double, repeated, tag = "5")]
    pub seconds: Vec<f64>,
}

/// Measurement of a peer's port.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Sample {
    /// Whether the direction is from the peer to the switch.
    #[prost(bool, tag = "1")]
    pub is_up: bool,
    /// Bits that passed.
    #[prost(double, tag = "2")]
    pub bits: f64,
    /// Duration in seconds.
    #[prost(double, tag = "3")]
    pub seconds: f64,
    /// Whether the port was full: frames were marked or lost, or left later than planned.
    #[prost(bool, tag = "4")]
    pub is_full: bool,
}

/// Observations of a peer.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Seen {
    /// Samples of the peer's own port.
    #[prost(message, repeated, tag = "1")]
    pub samples: Vec<Sample>,
    /// Peers that this one has lost.
    #[prost(uint32, repeated, tag = "2")]
    pub gone: Vec<u32>,
}

/// Members.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Roster {
    /// Term of the sender.
    #[prost(message, optional, tag = "1")]
    pub term: Option<Term>,
    /// Each peer's incarnation, by rank; 0 for an absent one.
    #[prost(fixed32, repeated, tag = "2")]
    pub incarnations: Vec<u32>,
    /// Rounds that each peer has ended.
    #[prost(uint32, repeated, tag = "3")]
    pub ended: Vec<u32>,
}

/// Refusal because a peer's job is not the coordinator's.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OtherJob {
    /// Fingerprint of the coordinator's job.
    #[prost(fixed64, tag = "1")]
    pub job: u64,
    /// First setting that differs, with both values, in words.
    #[prost(string, tag = "2")]
    pub why: String,
}

/// Choice of receivers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Choice {
    /// Term of the sender.
    #[prost(message, optional, tag = "1")]
    pub term: Option<Term>,
    /// Serial number within the term: of two choices for one round, the higher is active.
    #[prost(uint64, tag = "2")]
    pub serial: u64,
    /// Round of the peer that gets the choice.
    #[prost(uint32, tag = "3")]
    pub round: u32,
    /// Ranks.
    #[prost(uint32, repeated, tag = "4")]
    pub receivers: Vec<u32>,
    /// Sending rate, in bit/s.
    #[prost(double, tag = "5")]
    pub rate_bps: f64,
}

/// Bytes that are not a message.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{0} bytes that are not a message between a peer and a coordinator")]
pub struct MessageError(pub usize);

/// Encodes a message.
pub fn encode(body: Body) -> Bytes {
    Message { body: Some(body) }.encode_to_vec().into()
}

/// Decodes a message.
///
/// # Errors
/// The bytes are not a message, or are of an unknown kind.
pub fn decode(bytes: Bytes) -> Result<Body, MessageError> {
    let len = bytes.len();
    let message = Message::decode(bytes).map_err(|_| MessageError(len))?;
    message.body.ok_or(MessageError(len))
}
