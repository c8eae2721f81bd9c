//! A term as a protocol buffer.

/// One term of a hello: `repeated Term`.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Term {
    /// Setting, such as `seed`. At most [`MOST_NAME_BYTES`](crate::MOST_NAME_BYTES) bytes of UTF-8.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The value, as a user writes it. At most [`MOST_VALUE_BYTES`](crate::MOST_VALUE_BYTES) bytes of UTF-8.
    #[prost(string, tag = "2")]
    pub value: String,
}
