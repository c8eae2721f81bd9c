//! The INART frame: Ethernet II, a 30-byte header and N 32-bit values.
//!
//! | offset | bytes | field | meaning |
//! |---:|---:|---|---|
//! | 0 | 6 | destination | Ethernet |
//! | 6 | 6 | source | Ethernet |
//! | 12 | 2 | EtherType | `0x88B5`, IEEE local experimental 1 |
//! | 14 | ½ | version | high four bits: 3 |
//! | 14 | ½ | kind | low four bits: 1 gradient, 2 partial, 3 result, 4 probe, 5 control, 6 update |
//! | 15 | 1 | flags | `0x01` resend, `0x02` bypass (on a result: other-plan version), `0x04` overflow, `0x08`
//! congestion, `0x10` last chunk |
//! | 16 | 2 | plan version | version of the installed plan that steers the frame |
//! | 18 | 2 | job | job number |
//! | 20 | 2 | shard | index of the parameter server and its part of the gradient; in an update, 16 bits for
//! its peers alone |
//! | 22 | 2 | worker | bitmap index of the sender (in a job of peers, its rank); in a partial, of the worker whose
//! frame completed it |
//! | 24 | 4 | sequence | chunk number, counts up over rounds, wraps |
//! | 28 | 8 | contributors | bitmap of the bitmap indices summed in the frame, relative to the group; in a result,
//! which is everybody's, [`Feedback`]; in an update, its receivers |
//! | 36 | 1 | group | which block of 64 bitmap indices the bitmap speaks of |
//! | 37 | 1 | exponent | signed; what the values are: −128 maxima, 127 digits of exact sums (or, in a result
//! that went on, the bits of floats), else what scaled them ([`Exponent`]) |
//! | 38 | 2 | length | number of used values; the rest are zeros |
//! | 40 | 4 | incarnation | which run of the plan version: drawn by the shard's parameter server when it starts; 0
//! if the sender does not know it; between peers, the sender's own |
//! | 44 | 4 N | values | two's complement, in an update words that only its peers read; N is 32, 64, 256,
//! 1024 or 2048 |
//!
//! Everything is big endian. [`Frame`] is a checked view of bytes, [`FrameRepr`] a value that can only hold a
//! valid frame and knows how to parse, measure and emit itself. No I/O, no allocation, no `std`.

#![no_std]
#![forbid(unsafe_code)]

mod contributors;
mod control;
mod error;
mod feedback;
mod field;
mod flags;
mod frame;
mod id;
mod input;
mod kind;
mod mac;
mod number;
mod repr;
mod sequence;
mod short_text;
mod transcript;

pub use contributors::{Contributors, Group};
pub use control::{AbortReason, Awaited, ControlMessage, MessageWords};
pub use error::WireError;
pub use feedback::{Feedback, Lacking};
pub use field::{ETHER_TYPE, ETHERNET_BYTES, HEADER_BYTES, VERSION};
pub use flags::Flags;
pub use frame::Frame;
pub use id::{BitmapIndex, Incarnation, JobId, PlanVersion, Rank, ShardId};
pub use input::{ParseError, RangeError};
pub use kind::Kind;
pub use mac::MacAddr;
pub use number::{Exponent, ValuesPerFrame};
pub use repr::{FrameRepr, HeaderRepr};
pub use sequence::ChunkSeq;
pub use short_text::ShortText;
pub use transcript::Transcript;
