//! Peers without a connection, in words.

use inart_quic::Endpoint;

/// Describes a peer that is not connected: its address, and the cause of the last failed attempt.
pub(crate) fn in_words(endpoint: &Endpoint, peer: &str) -> String {
    let address = endpoint.address_of(peer).map_or(String::new(), |address| format!(" ({address})"));
    let cause = endpoint.obstacle(peer).map_or(String::new(), |cause| format!(" ({cause})"));
    format!("{peer}{address}: no connection{cause}")
}
