//! Connections that are up: who is at the other end, and until when.

use std::sync::Arc;

use inart_tls::MutualTls;
use quinn::{Connection, VarInt};
use rustls::pki_types::CertificateDer;

use crate::event::Event;
use crate::pair::Pair;
use crate::shared::{Counts, Shared};
use crate::streams::receive_all;

/// The application's codes of connections that are closed.
pub(crate) const CLOSED: VarInt = VarInt::from_u32(0);
/// What an endpoint that is closed says.
pub(crate) const ENDS: &[u8] = b"the site ends";
const STRANGER: VarInt = VarInt::from_u32(1);
const REPLACED: VarInt = VarInt::from_u32(2);
pub(crate) const UNLABELLED: VarInt = VarInt::from_u32(3);

/// The names in the certificate that the other side has shown.
pub(crate) fn names(connection: &Connection) -> Vec<String> {
    let shown = connection.peer_identity();
    let chain = shown.and_then(|shown| shown.downcast::<Vec<CertificateDer<'static>>>().ok());
    chain.and_then(|chain| chain.first().map(|own| MutualTls::names(own))).unwrap_or_default()
}

/// The peer of that certificate, or nobody, who is turned away.
pub(crate) fn known(shared: &Shared, connection: &Connection) -> Option<String> {
    let names = names(connection);
    let peers = shared.peers();
    if let Some(name) = names.iter().find(|name| peers.contains_key(*name)) {
        return Some(name.clone());
    }
    drop(peers);
    // When it closes, nobody is a peer any more, and nobody is a stranger for that.
    if shared.is_closed() {
        return None;
    }
    Counts::add(&shared.counts.strangers);
    let reason = format!("{} has no peer called {}", shared.name, names.join(" or "));
    connection.close(STRANGER, reason.as_bytes());
    shared.tell(Event::Stranger { address: connection.remote_address(), names });
    None
}

/// Serves both connections to a peer until one ends, and ends the other. Newer ones to the same peer replace
/// older ones.
pub(crate) async fn serve(shared: Arc<Shared>, peer: String, pair: Pair) {
    let id = pair.sending.stable_id();
    let last = {
        let mut peers = shared.peers();
        let Some(entry) = peers.get_mut(&peer) else { return };
        let last = entry.connection.replace(pair.clone());
        if last.is_some() {
            let reason = "a newer connection has replaced it".to_owned();
            shared.tell(Event::Down { peer: peer.clone(), reason });
        }
        // In the same critical section, so that ups and downs are told in order.
        shared.tell(Event::Up { peer: peer.clone() });
        last
    };
    if let Some(last) = last {
        last.close(REPLACED, b"replaced by a newer connection");
    }
    tokio::spawn(receive_all(shared.clone(), peer.clone(), pair.receiving.clone()));
    let reason = tokio::select! {
        reason = pair.sending.closed() => reason,
        reason = pair.receiving.closed() => reason,
    };
    let why = if shared.is_closed() { ENDS } else { b"the connection of the other direction has ended" };
    pair.close(CLOSED, why);
    let mut peers = shared.peers();
    if let Some(entry) = peers.get_mut(&peer)
        && entry.connection.as_ref().is_some_and(|current| current.sending.stable_id() == id)
    {
        entry.connection = None;
        shared.tell(Event::Down { peer, reason: reason.to_string() });
    }
}
