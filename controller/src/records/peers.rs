//! Pushes of the network of peers that is on the same switches.

use std::collections::{BTreeSet, VecDeque};

use inart_topologies::NetworkError;
use inart_topologies::peers::Mesh;
use inart_wire::{JobId, ValuesPerFrame};
use serde::{Deserialize, Serialize};

use crate::peers::Peers;

/// A network of peers that was pushed, with all its jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeersPush {
    /// Its document.
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
    /// Records with a document that is not a network of peers.
    pub fn peers(&self) -> Result<Peers, NetworkError> {
        Ok(Peers { mesh: Mesh::from_yaml(&self.mesh)?, removed: self.removed.clone() })
    }
}

/// The pushes of networks of peers that succeeded and were not rolled back, oldest first; the last is live.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PeersRecord(VecDeque<PeersPush>);

impl PeersRecord {
    /// Whether no network of peers is installed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The networks' documents.
    pub(super) fn documents_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.0.iter_mut().map(|push| &mut push.mesh)
    }

    /// The push that is in force.
    pub fn live(&self) -> Option<&PeersPush> {
        self.0.back()
    }

    /// The push before it.
    pub fn before_last(&self) -> Option<&PeersPush> {
        self.0.iter().rev().nth(1)
    }

    /// Adds a push in place of the last `struck`, unless it is in force, and keeps the `most` last ones.
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

    /// Notes that a job was removed. When the last one is, nothing is left to go back to.
    pub(super) fn remove(&mut self, job: JobId) {
        let Some(live) = self.0.back_mut() else { return };
        live.removed.insert(job);
        if live.peers().is_ok_and(|peers| peers.jobs().next().is_none()) {
            self.0.clear();
        }
    }
}
