//! Messages between a worker and the server next to chunks, as protocol buffers (docs/protocol/ps.md, "Push
//! and pull").

use bytes::{BufMut, Bytes, BytesMut};
use inart_terms::Term;
use prost::Message as _;

use crate::kinds::MESSAGE;

/// One message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    /// Incarnation of the worker.
    #[prost(fixed32, tag = "1")]
    pub worker_incarnation: u32,
    /// Incarnation of the server; 0 in a hello.
    #[prost(fixed32, tag = "2")]
    pub server_incarnation: u32,
    /// Content.
    #[prost(oneof = "Body", tags = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15")]
    pub body: Option<Body>,
}

/// The kinds of messages.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// Worker to server, first on a connection.
    #[prost(message, tag = "3")]
    Hello(Hello),
    /// Worker to server: request for the next iteration.
    #[prost(message, tag = "4")]
    Request(Request),
    /// Worker to server: request for the model.
    #[prost(message, tag = "5")]
    Pull(Pull),
    /// Server to worker: answer to a hello.
    #[prost(message, tag = "6")]
    Welcome(Welcome),
    /// Server to worker: refusal.
    #[prost(message, tag = "7")]
    Refused(Refused),
    /// Server to worker: permission to pull.
    #[prost(message, tag = "8")]
    Permit(Permit),
    /// Server to worker: outcome of a push.
    #[prost(message, tag = "9")]
    Pushed(Pushed),
    /// Server to worker: refusal of a pull.
    #[prost(message, tag = "10")]
    NotPermitted(NotPermitted),
    /// Server to worker: the worker's incarnation is unknown, or its message is for another incarnation of
    /// the server.
    #[prost(message, tag = "11")]
    Unknown(Unknown),
    /// Server to worker: end of the training.
    #[prost(message, tag = "12")]
    Over(Over),
    /// Server to worker: end of the training before its last iteration.
    #[prost(message, tag = "13")]
    Stopped(Stopped),
    /// Server to worker: permanent exclusion for the client's data.
    #[prost(message, tag = "14")]
    LeftOut(LeftOut),
    /// Server to worker: the parties that the server waits for.
    #[prost(message, tag = "15")]
    Waiting(Waiting),
}

/// Identity and progress of a worker.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// Number of the hello, counted from 1; the answer repeats it.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Fingerprint of the model.
    #[prost(fixed64, tag = "2")]
    pub model: u64,
    /// The model's values.
    #[prost(uint64, tag = "3")]
    pub values: u64,
    /// Current permission of the worker; 0 for none.
    #[prost(uint64, tag = "4")]
    pub ticket: u64,
    /// Incarnation of the server that gave the permission.
    #[prost(fixed32, tag = "5")]
    pub ticket_of: u32,
    /// Settings that server and workers must share.
    #[prost(message, repeated, tag = "6")]
    pub terms: Vec<Term>,
    /// Training that has accepted updates of this worker; 0 for none.
    #[prost(fixed64, tag = "7")]
    pub training: u64,
    /// Updates of this worker that the training has accepted.
    #[prost(uint64, tag = "8")]
    pub taken: u64,
}

/// Request for the next iteration.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Request {}

/// A range of chunks.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Span {
    /// First chunk.
    #[prost(uint32, tag = "1")]
    pub first: u32,
    /// Number of chunks.
    #[prost(uint32, tag = "2")]
    pub count: u32,
}

/// Request for the model, or for its missing chunks.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Pull {
    /// Number of the permission.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
    /// Number of the pull within this permission, from 1.
    #[prost(uint32, tag = "2")]
    pub attempt: u32,
    /// Whether the worker has chunks already.
    #[prost(bool, tag = "3")]
    pub resumes: bool,
    /// If so, the missing chunks.
    #[prost(message, repeated, tag = "4")]
    pub missing: Vec<Span>,
}

/// State of the permission in a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum Arrived {
    /// Void, or none was named: the worker requests one.
    Void = 0,
    /// Valid; chunks of its update are missing.
    Open = 1,
    /// Completed by an update that has arrived.
    Whole = 2,
}

/// Answer to a hello.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Welcome {
    /// The hello's number.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Values per chunk.
    #[prost(uint32, tag = "2")]
    pub chunk_values: u32,
    /// Whether values travel as float16.
    #[prost(bool, tag = "3")]
    pub is_half: bool,
    /// State of the permission in the hello.
    #[prost(enumeration = "Arrived", tag = "4")]
    pub arrived: i32,
    /// For an open permission, the missing chunks.
    #[prost(message, repeated, tag = "5")]
    pub missing: Vec<Span>,
    /// Number of the server's training: drawn with its first model, and kept in checkpoints.
    #[prost(fixed64, tag = "6")]
    pub training: u64,
}

/// Refusal of a worker.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Refused {
    /// Reason, in words.
    #[prost(string, tag = "1")]
    pub why: String,
}

/// A permission.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Permit {
    /// Number, never 0: the server's incarnation and a counter, so that no other permission has it.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
    /// Number of the worker's iteration.
    #[prost(uint64, tag = "2")]
    pub iteration: u64,
    /// Number of samples of the iteration.
    #[prost(uint32, tag = "3")]
    pub batch: u32,
}

/// Outcome of a push.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Pushed {
    /// Number of the permission.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
    /// Whether the push was accepted.
    #[prost(bool, tag = "2")]
    pub is_taken: bool,
    /// Defect of the values; empty for none.
    #[prost(string, tag = "3")]
    pub refusal: String,
}

/// Refusal of a pull without a permission.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NotPermitted {
    /// Permission that the pull named.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
}

/// Unknown incarnation.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Unknown {}

/// End of the training.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Over {
    /// The model's last version.
    #[prost(uint64, tag = "1")]
    pub version: u64,
}

/// Early end of the training.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Stopped {
    /// Reason, in words.
    #[prost(string, tag = "1")]
    pub why: String,
}

/// Exclusion of a client.
#[derive(Clone, PartialEq, prost::Message)]
pub struct LeftOut {
    /// Reason, in words.
    #[prost(string, tag = "1")]
    pub why: String,
}

/// Parties that the server waits for.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Waiting {
    /// Parties and reason, such as "w2: has been computing for 30 s".
    #[prost(string, tag = "1")]
    pub why: String,
}

/// Encodes a message as a packet.
pub fn message_packet(worker_incarnation: u32, server_incarnation: u32, body: Body) -> Bytes {
    let message = Message { worker_incarnation, server_incarnation, body: Some(body) };
    let mut out = BytesMut::with_capacity(1 + message.encoded_len());
    out.put_u8(MESSAGE);
    out.extend_from_slice(&message.encode_to_vec());
    out.freeze()
}
