//! The answers of a read in progress, of either server: each is made when the connection has taken the one
//! before.

use tokio::sync::{OwnedRwLockReadGuard, mpsc};
use tokio::time::{Instant, sleep_until, timeout_at};
use tonic::Status;

use super::limits;

/// A read that is made in parts.
pub(crate) trait Parts {
    /// Type of the entities read.
    type Entity;
    /// A message with some of it.
    type Answer;

    /// Makes the next part, which may be empty; `None` after the last. An error ends the read.
    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<Self::Entity>>, Status>> + Send;

    /// Returns the message with these entities.
    fn answer(found: Vec<Self::Entity>) -> Self::Answer;
}

/// Sends the answers of a read, as fast as its client takes them. Writes wait while `turn` is held, up to
/// [`limits::READ_TURN`]. A write ends a read that takes longer.
pub(crate) async fn send<P: Parts>(
    mut parts: P,
    turn: OwnedRwLockReadGuard<()>,
    out: &mpsc::Sender<Result<P::Answer, Status>>,
) {
    let over = Instant::now() + limits::READ_TURN;
    let mut turn = Some(turn);
    loop {
        let patience = Instant::now() + limits::READ_PATIENCE;
        let room = loop {
            tokio::select! {
                biased;
                () = sleep_until(over), if turn.is_some() => turn = None,
                room = timeout_at(patience, out.reserve()) => break room,
            }
        };
        // A client that takes nothing within its time, or has disconnected, loses its read.
        let Ok(Ok(room)) = room else { return };
        match parts.next().await {
            Ok(Some(found)) if found.is_empty() => drop(room),
            Ok(Some(found)) => room.send(Ok(P::answer(found))),
            Ok(None) => return,
            Err(status) => return room.send(Err(status)),
        }
        tokio::task::yield_now().await;
    }
}
