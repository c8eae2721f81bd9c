//! Names of peers and coordinators, by number: peers by rank, then coordinators.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use inart_connections::Names;

use crate::error::HostError;

/// Checks the addresses of peers that reach each other by connections.
///
/// # Errors
/// An address of a process outside the job, or of `me`; a peer other than `me` without an address.
pub(crate) fn check_addresses(
    job: &str,
    peers: &[String],
    me: &str,
    addresses: &BTreeMap<String, SocketAddr>,
) -> Result<(), HostError> {
    let others = || peers.iter().filter(|name| *name != me);
    if let Some(name) = addresses.keys().find(|name| !peers.contains(name)) {
        let known = others().cloned().collect::<Vec<_>>().join(", ");
        return Err(HostError::NoPeer { name: name.clone(), job: job.to_owned(), known });
    }
    match others().find(|name| !addresses.contains_key(*name)) {
        Some(name) => Err(HostError::NoAddress { name: name.clone(), me: me.to_owned() }),
        None => Ok(()),
    }
}

/// Returns the names of all peers, and of coordinators.
///
/// # Errors
/// A coordinator with a peer's name.
pub(crate) fn names(
    peers: &[String],
    me: &str,
    coordinators: &BTreeMap<String, SocketAddr>,
) -> Result<Names, HostError> {
    let taken = |name: &&String| peers.contains(name) || **name == me;
    if let Some(name) = coordinators.keys().find(taken) {
        return Err(HostError::NameTaken { name: name.clone() });
    }
    Ok(Names { me: me.to_owned(), all: peers.iter().chain(coordinators.keys()).cloned().collect() })
}
