//! Connecting, again and again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use inart_terms::one_line;
use quinn::{ClientConfig, Connecting, ConnectionError};
use tokio::time::timeout;

use crate::connection::{is_duplicate, serve, stranger};
use crate::event::Event;
use crate::pair::{Label, Pair};
use crate::shared::Shared;
use crate::stream_error::StreamError;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Limit of an attempt, after which a new one starts.
const ATTEMPT: Duration = Duration::from_secs(5);
/// Time after which a side that waits for a connection asks for the reason, and then again.
const FIRST_QUESTION: Duration = Duration::from_secs(2);
const QUESTIONS: Duration = Duration::from_secs(5);
const NO_ANSWER: &str = "no answer";

/// Keeps connections to a peer.
pub(crate) async fn dial(shared: Arc<Shared>, endpoint: quinn::Endpoint, config: ClientConfig, peer: String) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(address) = shared.peers().get(&peer).map(|entry| entry.address) else { return };
        let connect = || endpoint.connect_with(config.clone(), address, &peer);
        let connecting = match connect().and_then(|first| Ok((first, connect()?))) {
            Ok(connecting) => connecting,
            Err(quinn::ConnectError::EndpointStopping) => return,
            Err(error) => {
                tracing::warn!("cannot connect to {peer} at {address}: {error}");
                shared.note(&peer, &error);
                wait(&shared, LONGEST_PAUSE).await;
                continue;
            }
        };
        match timeout(ATTEMPT, both(connecting, shared.incarnation)).await {
            Ok(Ok(pair)) => {
                // The handshakes have checked that the certificate is for this name.
                let began = tokio::time::Instant::now();
                serve(shared.clone(), peer.clone(), pair).await;
                // A peer that ends every connection immediately is not asked in a loop.
                if began.elapsed() > LONGEST_PAUSE {
                    pause = FIRST_PAUSE;
                }
            }
            Ok(Err(error)) => failed(&shared, &peer, address, &error),
            Err(_) => shared.note(&peer, NO_ANSWER),
        }
        wait(&shared, pause).await;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Asks an unconnected peer for the reason: another process of this name may be connected.
pub(crate) async fn ask(shared: Arc<Shared>, endpoint: quinn::Endpoint, config: ClientConfig, peer: String) {
    let mut pause = FIRST_QUESTION;
    loop {
        tokio::time::sleep(pause).await;
        pause = QUESTIONS;
        if shared.is_closed() {
            return;
        }
        let Some((address, is_up)) =
            shared.peers().get(&peer).map(|entry| (entry.address, entry.connection.is_some()))
        else {
            return;
        };
        if is_up {
            continue;
        }
        let Ok(connecting) = endpoint.connect_with(config.clone(), address, &peer) else { continue };
        let question = async {
            let connection = connecting.await?;
            Label::question(shared.incarnation).send(&connection).await?;
            Ok::<_, StreamError>(connection.closed().await)
        };
        match timeout(ATTEMPT, question).await {
            Ok(Ok(reason)) if is_duplicate(&reason) => {
                shared.notify(Event::Down { peer: peer.clone(), reason: reason.to_string() });
            }
            Ok(Ok(_)) => {}
            Ok(Err(error)) => failed(&shared, &peer, address, &error),
            Err(_) => shared.note(&peer, NO_ANSWER),
        }
    }
}

/// Notes why there is no connection to a peer. If one of the two has refused the other, that is logged.
fn failed(shared: &Shared, peer: &str, address: SocketAddr, error: &StreamError) {
    tracing::debug!("no connection to {peer} at {address}: {error}");
    let Some(lost) = error.connection() else { return shared.note(peer, error) };
    let refused =
        shared.refusal(lost).or_else(|| stranger(lost).map(|why| format!("it refuses this process: {why}")));
    match (refused, lost) {
        (Some(cause), _) => shared.warn(peer, address, cause),
        (None, ConnectionError::TimedOut) => shared.note(peer, NO_ANSWER),
        (None, lost) => shared.note(peer, one_line(&lost.to_string())),
    }
}

/// Waits for both connections, and labels them.
async fn both((first, second): (Connecting, Connecting), incarnation: u64) -> Result<Pair, StreamError> {
    let (sending, receiving) = tokio::try_join!(first, second)?;
    let [mine, yours] = Label::both(incarnation);
    let incarnation = mine.send(&sending).await?;
    yours.send(&receiving).await?;
    Ok(Pair { sending, receiving, incarnation })
}

/// Waits, but not when an address has changed.
async fn wait(shared: &Shared, pause: Duration) {
    let _ = timeout(pause, shared.changed.notified()).await;
}
