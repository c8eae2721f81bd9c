//! Descriptions of processes without a connection.

use inart_connections::{Names, PeerNo, Transport};

/// Describes a process that is not connected: its address, and the cause of the last failed attempt.
pub(crate) fn in_words(names: &Names, network: &Transport, peer: PeerNo) -> String {
    let name = names.of(peer);
    let Some(trouble) = network.trouble(peer) else { return name.to_owned() };
    let cause = trouble.cause.map_or(String::new(), |cause| format!(" ({cause})"));
    format!("{name} ({}): no connection{cause}", trouble.address)
}
