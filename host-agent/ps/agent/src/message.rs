//! What a worker and the server say to each other beside chunks, as protocol buffers (docs/protocol/ps.md,
//! "Push and pull").

use bytes::{BufMut, Bytes, BytesMut};
use inart_terms::Term;
use prost::Message as _;

use crate::kinds::MESSAGE;

/// One message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    /// The incarnation of the worker that it is from or to.
    #[prost(fixed32, tag = "1")]
    pub worker_incarnation: u32,
    /// The incarnation of the server that it is from or to; 0 in a hello.
    #[prost(fixed32, tag = "2")]
    pub server_incarnation: u32,
    /// What it says.
    #[prost(oneof = "Body", tags = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15")]
    pub body: Option<Body>,
}

/// The kinds of messages.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Body {
    /// Worker to server, first on a connection.
    #[prost(message, tag = "3")]
    Hello(Hello),
    /// Worker to server: it wants its next iteration.
    #[prost(message, tag = "4")]
    Request(Request),
    /// Worker to server: it wants the model.
    #[prost(message, tag = "5")]
    Pull(Pull),
    /// Server to worker: the answer to a hello.
    #[prost(message, tag = "6")]
    Welcome(Welcome),
    /// Server to worker: it is not taken in.
    #[prost(message, tag = "7")]
    Refused(Refused),
    /// Server to worker: it may pull.
    #[prost(message, tag = "8")]
    Permit(Permit),
    /// Server to worker: what became of its push.
    #[prost(message, tag = "9")]
    Pushed(Pushed),
    /// Server to worker: it may not pull.
    #[prost(message, tag = "10")]
    NotPermitted(NotPermitted),
    /// Server to worker: it is not known by that incarnation, or means another incarnation of the server.
    #[prost(message, tag = "11")]
    Unknown(Unknown),
    /// Server to worker: the training is over.
    #[prost(message, tag = "12")]
    Over(Over),
    /// Server to worker: the training has ended before its last iteration.
    #[prost(message, tag = "13")]
    Stopped(Stopped),
    /// Server to worker: it is left out for its data, for good.
    #[prost(message, tag = "14")]
    LeftOut(LeftOut),
    /// Server to worker: for whom the server waits.
    #[prost(message, tag = "15")]
    Waiting(Waiting),
}

/// Who a worker is, and where.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// How manieth hello it is; the answer repeats it.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// A fingerprint of the model.
    #[prost(fixed64, tag = "2")]
    pub model: u64,
    /// The model's values.
    #[prost(uint64, tag = "3")]
    pub values: u64,
    /// The permission that it works by; 0 for none.
    #[prost(uint64, tag = "4")]
    pub ticket: u64,
    /// The incarnation of the server that gave it.
    #[prost(fixed32, tag = "5")]
    pub ticket_of: u32,
    /// What the worker's training is: settings that server and workers must share.
    #[prost(message, repeated, tag = "6")]
    pub terms: Vec<Term>,
    /// The training in which updates of this worker were taken; 0 for none.
    #[prost(fixed64, tag = "7")]
    pub training: u64,
    /// Updates of this worker that were taken there.
    #[prost(uint64, tag = "8")]
    pub taken: u64,
}

/// It wants its next iteration.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Request {}

/// Chunks from one on.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Span {
    /// The first one.
    #[prost(uint32, tag = "1")]
    pub first: u32,
    /// How many.
    #[prost(uint32, tag = "2")]
    pub count: u32,
}

/// It wants the model, or what it lacks of it.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Pull {
    /// The permission.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
    /// How manieth pull of this permission it is, from 1 on.
    #[prost(uint32, tag = "2")]
    pub attempt: u32,
    /// Whether it has chunks already.
    #[prost(bool, tag = "3")]
    pub resumes: bool,
    /// If so, the chunks that it lacks.
    #[prost(message, repeated, tag = "4")]
    pub missing: Vec<Span>,
}

/// What became of the permission that a hello names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum Arrived {
    /// It is void, or none was named: the worker asks.
    Void = 0,
    /// It counts; of its update, chunks are missing.
    Open = 1,
    /// Its update has arrived whole.
    Whole = 2,
}

/// The answer to a hello.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Welcome {
    /// The hello's number.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Values of a chunk.
    #[prost(uint32, tag = "2")]
    pub chunk_values: u32,
    /// Whether values travel as float16.
    #[prost(bool, tag = "3")]
    pub is_half: bool,
    /// What became of the permission that the hello names.
    #[prost(enumeration = "Arrived", tag = "4")]
    pub arrived: i32,
    /// If it is open: the chunks that are missing.
    #[prost(message, repeated, tag = "5")]
    pub missing: Vec<Span>,
    /// The server's training: drawn when its model began, and kept with it.
    #[prost(fixed64, tag = "6")]
    pub training: u64,
}

/// Why a worker is not taken in.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Refused {
    /// In words.
    #[prost(string, tag = "1")]
    pub why: String,
}

/// A permission.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Permit {
    /// Its number, never 0: the server's incarnation, and a count. No other permission has it.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
    /// The number of the worker's iteration.
    #[prost(uint64, tag = "2")]
    pub iteration: u64,
    /// How many samples it computes with.
    #[prost(uint32, tag = "3")]
    pub batch: u32,
}

/// What became of a push.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Pushed {
    /// The permission that it was of.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
    /// Whether it was taken.
    #[prost(bool, tag = "2")]
    pub is_taken: bool,
    /// What is wrong with its values, if something is.
    #[prost(string, tag = "3")]
    pub refusal: String,
}

/// No permission stands behind a pull.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NotPermitted {
    /// The one that the pull named.
    #[prost(uint64, tag = "1")]
    pub ticket: u64,
}

/// Another life.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Unknown {}

/// The end.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Over {
    /// The model's last version.
    #[prost(uint64, tag = "1")]
    pub version: u64,
}

/// The training has ended early.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Stopped {
    /// In words.
    #[prost(string, tag = "1")]
    pub why: String,
}

/// A client is left out.
#[derive(Clone, PartialEq, prost::Message)]
pub struct LeftOut {
    /// In words.
    #[prost(string, tag = "1")]
    pub why: String,
}

/// For whom the server waits.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Waiting {
    /// In words, such as "w2: has been computing for 30 s".
    #[prost(string, tag = "1")]
    pub why: String,
}

/// A message as a packet.
pub fn message_packet(worker_incarnation: u32, server_incarnation: u32, body: Body) -> Bytes {
    let message = Message { worker_incarnation, server_incarnation, body: Some(body) };
    let mut out = BytesMut::with_capacity(1 + message.encoded_len());
    out.put_u8(MESSAGE);
    out.extend_from_slice(&message.encode_to_vec());
    out.freeze()
}
