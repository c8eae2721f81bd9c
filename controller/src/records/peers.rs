//! Installations of the network of peers on the same switches.

use std::collections::{BTreeSet, VecDeque};

use inart_topologies::NetworkError;
use inart_topologies::peers::Mesh;
use inart_wire::{JobId, ValuesPerFrame};
use serde::{Deserialize, Serialize};

use crate::peers::Peers;

/// Installed network of peers with all its jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeersPush {
    /// Document of the network.
    pub mesh: String,
    /// Values per frame of the switches' program.
    pub values: ValuesPerFrame,
    /// Jobs that were removed since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub removed: BTreeSet<JobId>,
}

impl PeersPush {
    /// Reads the network.
    ///
    /// # Errors
    /// A record whose document is not a network of peers.
    pub fn peers(&self) -> Result<Peers, NetworkError> {
        Ok(Peers { mesh: Mesh::from_yaml(&self.mesh)?, removed: self.removed.clone() })
    }
}

/// Installed networks of peers that were not rolled back, oldest first; the last one is live.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PeersRecord(VecDeque<PeersPush>);

impl PeersRecord {
    /// Returns whether no network of peers is installed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the documents of the networks.
    pub(super) fn documents_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.0.iter_mut().map(|push| &mut push.mesh)
    }

    /// Returns the active network.
    pub fn live(&self) -> Option<&PeersPush> {
        self.0.back()
    }

    /// Returns the network before the active one.
    pub fn before_last(&self) -> Option<&PeersPush> {
        self.0.iter().rev().nth(1)
    }

    /// Adds a network in place of the last `struck` ones, unless it is active, and keeps the last `most`.
    pub(super) fn add(&mut self, struck: usize, push: PeersPush, most: usize) {
        if struck == 0 && self.live() == Some(&push) {
            return;
        }
        self.0.truncate(self.0.len().saturating_sub(struck));
        if self.0.len() == most {
            self.0.pop_front();
        }
        self.0.push_back(push);
    }

    /// Records the removal of a job. After the last one, no network is left for a rollback.
    pub(super) fn remove(&mut self, job: JobId) {
        let Some(live) = self.0.back_mut() else { return };
        live.removed.insert(job);
        if live.peers().is_ok_and(|peers| peers.jobs().next().is_none()) {
            self.0.clear();
        }
    }
}
