//! Queue of messages for one controller, bounded in messages and bytes.

use std::pin::Pin;
use std::sync::Arc;

use inart_p4runtime::p4::v1::StreamMessageResponse;
use prost::Message;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::Status;

use super::limits;

/// A message with the room that it takes until the connection has it.
type Waiting = (Result<StreamMessageResponse, Status>, Option<OwnedSemaphorePermit>);

/// The server's end of a controller's stream.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    queue: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// Messages in flight to a controller.
pub(super) type Answers = Pin<Box<dyn Stream<Item = Result<StreamMessageResponse, Status>> + Send>>;

impl Outbox {
    /// Creates an empty queue, and the stream of its messages.
    pub fn new() -> (Self, Answers) {
        let (queue, waiting) = mpsc::channel(limits::WAITING);
        let room = Arc::new(Semaphore::new(limits::WAITING_BYTES));
        let answers = ReceiverStream::new(waiting).map(|(message, _)| message);
        (Self { queue, room }, Box::pin(answers))
    }

    /// Sends a message; false when the queue is full. A disconnected client's queue drops messages and
    /// returns true.
    pub fn send(&self, message: StreamMessageResponse) -> bool {
        let bytes = u32::try_from(message.encoded_len()).unwrap_or(u32::MAX);
        let Ok(room) = self.room.clone().try_acquire_many_owned(bytes) else { return false };
        !matches!(self.queue.try_send((Ok(message), Some(room))), Err(mpsc::error::TrySendError::Full(_)))
    }

    /// Ends the stream with an error, after the queued messages.
    pub async fn end(&self, status: Status) {
        // A disconnected client needs no notice.
        let _ = self.queue.send((Err(status), None)).await;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use inart_p4runtime::p4::v1::{PacketIn, stream_message_response::Update};

    use super::*;

    fn packet(bytes: usize) -> StreamMessageResponse {
        let packet = PacketIn { payload: vec![0; bytes], metadata: Vec::new() };
        StreamMessageResponse { update: Some(Update::Packet(packet)) }
    }

    #[tokio::test]
    async fn a_slow_controller_has_a_limited_queue_of_messages_and_bytes() {
        let (outbox, mut answers) = Outbox::new();
        assert_eq!((0..2 * limits::WAITING).filter(|_| outbox.send(packet(1))).count(), limits::WAITING);
        answers.next().await.unwrap().unwrap();
        assert!(outbox.send(packet(1)));

        let (outbox, mut answers) = Outbox::new();
        let long = limits::WAITING_BYTES / 8;
        assert_eq!((0..limits::WAITING).filter(|_| outbox.send(packet(long))).count(), 7);
        answers.next().await.unwrap().unwrap();
        assert!(outbox.send(packet(long)), "a taken message frees its room");
    }
}
