//! A long body in slices, so that the connection asks for its end only when the client has taken almost all
//! of it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame};
use prost::bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

/// Size of a slice. The connection queues a piece of any length whole, then asks for the next one, of which
/// it queues none until there is room.
const SLICE_BYTES: usize = 256 << 10;

/// A body whose call keeps its place until the client has taken all but two slices.
pub(super) struct Sliced<B> {
    inner: B,
    left: Bytes,
    _place: OwnedSemaphorePermit,
}

impl<B> Sliced<B> {
    pub fn new(inner: B, place: OwnedSemaphorePermit) -> Self {
        Self { inner, left: Bytes::new(), _place: place }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Sliced<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.left.is_empty() {
            let frame = match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) => self.left = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let bytes = self.left.len().min(SLICE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.left.split_to(bytes)))))
    }
}
