//! Messages that arrive undecoded: the service decodes them when it knows the sender.

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::{Buf, Bytes};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Encodes answers of a type, and gives requests as their bytes.
pub(super) struct Undecoded<T>(PhantomData<T>);

impl<T> Default for Undecoded<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Message + 'static> Codec for Undecoded<T> {
    type Encode = T;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self::default()
    }

    fn decoder(&mut self) -> Self {
        Self::default()
    }
}

impl<T: Message> Encoder for Undecoded<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

impl<T> Decoder for Undecoded<T> {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
