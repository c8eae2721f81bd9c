//! Connecting, again and again.

use std::sync::Arc;
use std::time::Duration;

use quinn::ClientConfig;
use tokio::time::timeout;

use crate::connection::serve;
use crate::shared::Shared;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// An attempt that takes longer is begun anew.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Keeps a connection to a peer.
pub(crate) async fn dial(shared: Arc<Shared>, endpoint: quinn::Endpoint, config: ClientConfig, peer: String) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(address) = shared.peers().get(&peer).map(|entry| entry.address) else { return };
        let connecting = match endpoint.connect_with(config.clone(), address, &peer) {
            Ok(connecting) => connecting,
            Err(quinn::ConnectError::EndpointStopping) => return,
            Err(error) => {
                tracing::warn!("cannot connect to {peer} at {address}: {error}");
                wait(&shared, LONGEST_PAUSE).await;
                continue;
            }
        };
        match timeout(ATTEMPT, connecting).await {
            Ok(Ok(connection)) => {
                // The handshake has checked that the certificate is for this name.
                let began = tokio::time::Instant::now();
                serve(shared.clone(), peer.clone(), connection).await;
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

/// Waits, but not when an address has changed.
async fn wait(shared: &Shared, pause: Duration) {
    let _ = timeout(pause, shared.changed.notified()).await;
}
