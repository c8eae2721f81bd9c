//! Peers without a connection, in words.

use inart_quic::{Endpoint, Trouble};

/// Describes a peer that is not connected: its address, and the cause of the last failed attempt.
pub(crate) fn in_words(endpoint: &Endpoint, peer: &str) -> String {
    let Some(Trouble { address, cause }) = endpoint.trouble(peer) else { return peer.to_owned() };
    let cause = cause.map_or(String::new(), |cause| format!(" ({cause})"));
    format!("{peer} ({address}): no connection{cause}")
}
