//! Messages: a stream each. Eight bytes give the length, then the message follows; the peer answers with one
//! byte when its consumer has the message.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn::{Connection, ReadError, ReadExactError, RecvStream, SendStream, VarInt, WriteError};

use crate::event::Event;
use crate::shared::{Counts, Shared};
use crate::stream_error::StreamError;
use crate::unfinished::{OneUnfinished, Unfinished};

/// The application's codes of streams that are stopped.
const TOO_LONG: VarInt = VarInt::from_u32(1);
const TOO_MANY: VarInt = VarInt::from_u32(2);
/// Memory for a message before any of it has arrived, in bytes; more is taken as bytes arrive.
const FIRST_BYTES: usize = 64 << 10;
const TAKEN: u8 = 1;
/// In place of a length: a question whether the process is there.
const PROBE: u64 = u64::MAX;
/// A process that does not answer within this time, and four round trips, has failed.
const ANSWER: Duration = Duration::from_millis(1500);

/// Returns whether the process at the other end answers.
pub(crate) async fn answers(connection: &Connection) -> bool {
    let question = async {
        let (mut send, mut receive) = connection.open_bi().await?;
        send.set_priority(i32::MAX)?;
        send.write_all(&PROBE.to_be_bytes()).await?;
        send.finish()?;
        receive.read_exact(&mut [0]).await?;
        Ok::<_, StreamError>(())
    };
    tokio::time::timeout(ANSWER + 4 * connection.rtt(), question).await.is_ok_and(|answer| answer.is_ok())
}

/// Returns a text for the sender.
pub(crate) fn reason(error: &StreamError) -> String {
    match error {
        StreamError::Write(WriteError::Stopped(TOO_LONG))
        | StreamError::Read(ReadExactError::ReadError(ReadError::Reset(TOO_LONG))) => {
            "it is longer than the peer allows; send less at once, or allow more there".to_owned()
        }
        StreamError::Write(WriteError::Stopped(TOO_MANY))
        | StreamError::Read(ReadExactError::ReadError(ReadError::Reset(TOO_MANY))) => {
            "the peer holds too many bytes of unfinished messages; send fewer messages at once".to_owned()
        }
        // "connection lost" does not name the cause.
        other => other.connection().map_or_else(|| other.to_string(), ToString::to_string),
    }
}

/// Sends a message and waits until it was taken.
pub(crate) async fn send(connection: &Connection, data: Bytes, priority: i32) -> Result<(), StreamError> {
    let (mut send, mut receive) = connection.open_bi().await?;
    send.set_priority(priority)?;
    let length = Bytes::copy_from_slice(&(data.len() as u64).to_be_bytes());
    send.write_all_chunks(&mut [length, data]).await?;
    send.finish()?;
    let mut answer = [0];
    receive.read_exact(&mut answer).await?;
    Ok(())
}

/// Takes the messages of a connection until it ends.
pub(crate) async fn receive_all(shared: std::sync::Arc<Shared>, peer: String, connection: Connection) {
    let unfinished = Unfinished::new(shared.held_bytes);
    while let Ok((send, receive)) = connection.accept_bi().await {
        let (shared, peer, unfinished) = (shared.clone(), peer.clone(), unfinished.begin());
        tokio::spawn(async move {
            if let Err(error) = receive_one(&shared, peer, unfinished, send, receive).await {
                tracing::debug!("a message was not received: {error}");
            }
        });
    }
}

async fn receive_one(
    shared: &Shared,
    peer: String,
    unfinished: OneUnfinished,
    mut send: SendStream,
    mut receive: RecvStream,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut length = [0; 8];
    receive.read_exact(&mut length).await?;
    let started = Instant::now();
    let length = u64::from_be_bytes(length);
    if length == PROBE {
        send.write_all(&[TAKEN]).await?;
        send.finish()?;
        return Ok(());
    }
    if length > shared.most_bytes {
        Counts::add(&shared.counts.too_long);
        tracing::warn!("{peer} sends a message of {length} bytes, at most {} are allowed", shared.most_bytes);
        receive.stop(TOO_LONG)?;
        send.reset(TOO_LONG)?;
        return Ok(());
    }
    let mut data = BytesMut::with_capacity(FIRST_BYTES.min(length as usize));
    while (data.len() as u64) < length {
        // While the consumer is behind, nothing is read, and flow control stops the sender. The consumer has
        // something to take then, so this cannot be for ever.
        if shared.received.capacity() == 0 {
            drop(shared.received.reserve().await?);
        }
        shared.untaken.room().await;
        let rest = (length - data.len() as u64) as usize;
        match receive.read_chunk(rest, true).await? {
            Some(chunk) => {
                shared.arrived(&peer, chunk.bytes.len() as u64);
                shared.counts.read_bytes.fetch_add(chunk.bytes.len() as u64, Relaxed);
                data.extend_from_slice(&chunk.bytes);
                if !unfinished.add(chunk.bytes.len() as u64) {
                    Counts::add(&shared.counts.too_many);
                    receive.stop(TOO_MANY)?;
                    send.reset(TOO_MANY)?;
                    return Ok(());
                }
            }
            None => return Err("it ends too early".into()),
        }
    }
    let ended = Instant::now();
    shared.untaken.add(data.len());
    drop(unfinished);
    let event = Event::Received { peer, data: data.freeze(), started, ended };
    shared.received.send(event).await?;
    Counts::add(&shared.counts.received);
    send.write_all(&[TAKEN]).await?;
    send.finish()?;
    Ok(())
}
