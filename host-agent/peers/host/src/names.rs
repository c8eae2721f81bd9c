//! Peers by name and rank; coordinators.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use inart_wire::Rank;

use crate::error::HostError;

/// Who somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Peer(Rank),
    Coordinator,
}

/// The names of a job's peers, by rank, and of coordinators.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    peers: Vec<String>,
    coordinators: BTreeSet<String>,
}

impl Names {
    /// # Errors
    /// An address of somebody who is not in the job, or who is `me`; a peer other than `me` without one; a
    /// coordinator with a peer's name.
    pub fn new(
        job: &str,
        peers: &[String],
        me: &str,
        addresses: &BTreeMap<String, SocketAddr>,
        coordinators: &BTreeMap<String, SocketAddr>,
    ) -> Result<Self, HostError> {
        let others = || peers.iter().filter(|name| *name != me);
        if let Some(name) = addresses.keys().find(|name| !peers.contains(name)) {
            let known = others().cloned().collect::<Vec<_>>().join(", ");
            return Err(HostError::NoPeer { name: name.clone(), job: job.to_owned(), known });
        }
        if let Some(name) = others().find(|name| !addresses.contains_key(*name)) {
            return Err(HostError::NoAddress { name: name.clone(), me: me.to_owned() });
        }
        Self::without_addresses(peers, me, coordinators)
    }

    /// Of peers that are reached by frames.
    ///
    /// # Errors
    /// A coordinator with a peer's name.
    pub fn without_addresses(
        peers: &[String],
        me: &str,
        coordinators: &BTreeMap<String, SocketAddr>,
    ) -> Result<Self, HostError> {
        let taken = |name: &&String| peers.contains(name) || **name == me;
        if let Some(name) = coordinators.keys().find(taken) {
            return Err(HostError::NameTaken { name: name.clone() });
        }
        Ok(Names { peers: peers.to_vec(), coordinators: coordinators.keys().cloned().collect() })
    }

    pub fn who(&self, name: &str) -> Option<Who> {
        if self.coordinators.contains(name) {
            return Some(Who::Coordinator);
        }
        let at = self.peers.iter().position(|peer| peer == name)?;
        Rank::try_from(at).ok().map(Who::Peer)
    }

    pub fn rank(&self, name: &str) -> Option<Rank> {
        match self.who(name) {
            Some(Who::Peer(rank)) => Some(rank),
            _ => None,
        }
    }

    /// The names of all peers, by rank.
    pub fn peers(&self) -> &[String] {
        &self.peers
    }

    /// The names of coordinators.
    pub fn coordinators(&self) -> impl Iterator<Item = &str> {
        self.coordinators.iter().map(String::as_str)
    }

    /// The name of a peer; empty if there is none of that rank.
    pub fn of(&self, rank: Rank) -> &str {
        self.peers.get(rank.index()).map_or("", String::as_str)
    }
}
