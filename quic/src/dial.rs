//! Connecting, again and again.

use std::sync::Arc;
use std::time::Duration;

use quinn::{ClientConfig, Connecting};
use tokio::time::timeout;

use crate::connection::serve;
use crate::pair::{Label, Pair};
use crate::shared::Shared;
use crate::stream_error::StreamError;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// An attempt that takes longer is begun anew.
const ATTEMPT: Duration = Duration::from_secs(5);

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
                wait(&shared, LONGEST_PAUSE).await;
                continue;
            }
        };
        match timeout(ATTEMPT, both(connecting)).await {
            Ok(Ok(pair)) => {
                // The handshakes have checked that the certificate is for this name.
                let began = tokio::time::Instant::now();
                serve(shared.clone(), peer.clone(), pair).await;
                // A peer that ends every connection at once is not asked in a loop.
                if began.elapsed() > LONGEST_PAUSE {
                    pause = FIRST_PAUSE;
                }
            }
            Ok(Err(error)) => tracing::debug!("no connection to {peer} at {address}: {error}"),
            Err(_) => tracing::debug!("no connection to {peer} at {address}: no answer"),
        }
        wait(&shared, pause).await;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Waits for both connections, and says what they are for.
async fn both((first, second): (Connecting, Connecting)) -> Result<Pair, StreamError> {
    let (sending, receiving) = tokio::try_join!(first, second)?;
    let [mine, yours] = Label::both();
    mine.say(&sending).await?;
    yours.say(&receiving).await?;
    Ok(Pair { sending, receiving })
}

/// Waits, but not when an address has changed.
async fn wait(shared: &Shared, pause: Duration) {
    let _ = timeout(pause, shared.changed.notified()).await;
}
