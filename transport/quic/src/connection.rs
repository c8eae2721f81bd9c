//! Established connections: the peer, and the end of the connection.

use std::sync::Arc;

use inart_terms::one_line;
use inart_tls::MutualTls;
use quinn::{Connection, ConnectionError, VarInt};
use rustls::pki_types::CertificateDer;

use crate::event::Event;
use crate::pair::Pair;
use crate::shared::{Counts, Shared};
use crate::streams::{answers, receive_all};

/// The application's codes of connections that are closed.
pub(crate) const CLOSED: VarInt = VarInt::from_u32(0);
/// Close reason of a closed endpoint.
pub(crate) const ENDS: &[u8] = b"the site ends";
const STRANGER: VarInt = VarInt::from_u32(1);
const REPLACED: VarInt = VarInt::from_u32(2);
pub(crate) const UNLABELED: VarInt = VarInt::from_u32(3);
const DUPLICATE: VarInt = VarInt::from_u32(4);
const ANSWERED: VarInt = VarInt::from_u32(5);
/// In the reason of a connection that was refused since another process has its name.
const ALREADY: &str = "already runs (connected from ";

/// Returns whether a connection has ended because another process of this one's name is connected there.
pub(crate) fn is_duplicate(reason: &ConnectionError) -> bool {
    matches!(reason, ConnectionError::ApplicationClosed(closed) if closed.error_code == DUPLICATE)
}

/// Returns the message of a process that has no peer of this one's name, if it has ended the connection.
pub(crate) fn stranger(reason: &ConnectionError) -> Option<String> {
    match reason {
        ConnectionError::ApplicationClosed(closed) if closed.error_code == STRANGER => {
            Some(one_line(&String::from_utf8_lossy(&closed.reason)))
        }
        _ => None,
    }
}

/// Returns whether the reason of an [`Event::Down`] reports that another live process of this one's name is
/// connected to that peer: this process is rejected.
pub fn names_another_process(reason: &str) -> bool {
    reason.contains(ALREADY)
}

/// Returns whether the reason of an [`Event::Down`] reports that the peer has ended regularly.
pub fn is_regular_end(reason: &str) -> bool {
    reason.contains("the site ends (code 0)")
}

/// Returns the text for another process of a peer's name, if one is connected and answers.
async fn other_process(shared: &Shared, peer: &str, incarnation: u64) -> Option<String> {
    let current =
        shared.peers().get(peer)?.connection.clone().filter(|current| current.incarnation != incarnation)?;
    if !answers(&current.sending).await {
        return None;
    }
    let address = current.sending.remote_address();
    let why = format!("{peer} {ALREADY}{address}); stop one of the two");
    tracing::warn!("a second process called {peer} was refused: {why}");
    Some(why)
}

/// Answers a peer that asks why it is not connected.
pub(crate) async fn answer(shared: &Shared, peer: &str, incarnation: u64, connection: &Connection) {
    match other_process(shared, peer, incarnation).await {
        Some(why) => connection.close(DUPLICATE, why.as_bytes()),
        None => {
            // It is there: no need to wait until the next attempt.
            shared.changed.notify_waiters();
            connection.close(ANSWERED, b"no other process of that name is connected");
        }
    }
}

/// Returns the names in the certificate that the other side has shown.
pub(crate) fn names(connection: &Connection) -> Vec<String> {
    let shown = connection.peer_identity();
    let chain = shown.and_then(|shown| shown.downcast::<Vec<CertificateDer<'static>>>().ok());
    chain.and_then(|chain| chain.first().map(|own| MutualTls::names(own))).unwrap_or_default()
}

/// Returns the peer of that certificate; `None` rejects the connection.
pub(crate) fn known(shared: &Shared, connection: &Connection) -> Option<String> {
    let names = names(connection);
    let peers = shared.peers();
    if let Some(name) = names.iter().find(|name| peers.contains_key(*name)) {
        return Some(name.clone());
    }
    drop(peers);
    // A closing endpoint has no peers, and does not count unknown senders for that.
    if shared.is_closed() {
        return None;
    }
    Counts::add(&shared.counts.unknown_senders);
    let all = names.join(" or ");
    let reason = format!("{} has no peer called {all}; give both the same names", shared.name);
    connection.close(STRANGER, reason.as_bytes());
    if shared.may_warn(&one_line(&all), "stranger") {
        shared.notify(Event::Stranger { address: connection.remote_address(), names });
    }
    None
}

/// Serves both connections to a peer until one ends, and ends the other. Newer ones to the same peer replace
/// older ones.
pub(crate) async fn serve(shared: Arc<Shared>, peer: String, pair: Pair) {
    // A process that connects again replaces its own connection; another process only replaces one that has
    // ended.
    if let Some(why) = other_process(&shared, &peer, pair.incarnation).await {
        return pair.close(DUPLICATE, why.as_bytes());
    }
    let id = pair.sending.stable_id();
    let last = {
        let mut peers = shared.peers();
        let Some(entry) = peers.get_mut(&peer) else { return };
        let last = entry.connection.replace(pair.clone());
        entry.obstacle = None;
        if last.is_some() {
            let reason = "a newer connection has replaced it".to_owned();
            shared.notify(Event::Down { peer: peer.clone(), reason });
        }
        // In the same critical section, so that ups and downs are reported in order.
        shared.notify(Event::Up { peer: peer.clone() });
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
        entry.obstacle = Some(reason.to_string());
        shared.notify(Event::Down { peer, reason: reason.to_string() });
    }
}
