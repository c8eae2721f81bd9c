//! A network of peers as its switches have it: the numbers of its jobs, and its hosts and links.

use super::network::Mesh;
use crate::document::{At, Document, LinkEntry, NodeEntry, section};
use crate::error::Result;
use crate::switched::validate::build;
use crate::switched::{NodeKind, Topology};

/// The number of the first job of peers on the wire. Jobs with servers, which the same switches may serve,
/// have the numbers below.
pub const FIRST_JOB: u16 = 0x8000;

impl Mesh {
    /// Returns the number on the wire of the job at this place in [`Mesh::jobs`]; `None` behind the 32768th.
    pub fn job_number(&self, place: usize) -> Option<u16> {
        u16::try_from(place).ok()?.checked_add(FIRST_JOB)
    }

    /// Returns the network as one of switches and hosts without jobs: links of peers in the order of the
    /// peers, then those between switches. Rates are those at the start, in bit/s.
    ///
    /// # Errors
    /// Names or rates that a network of switches refuses.
    pub fn as_topology(&self) -> Result<Topology> {
        let switch = |at: usize| self.switches[at].clone();
        let switches = self.switches.iter().map(|name| NodeEntry::new(name, NodeKind::Switch.name()));
        // A document without a server is refused; no job uses this one.
        let kind = |place| if place == 0 { NodeKind::Server } else { NodeKind::Worker };
        let hosts = self.peers.iter().enumerate();
        let hosts = hosts.map(|(place, peer)| NodeEntry::new(&peer.name, kind(place).name()));
        let ports = self.peers.iter().map(|peer| {
            let ends = [peer.name.clone(), switch(peer.switch)];
            let entry = LinkEntry::new(ends, [peer.up_bps, peer.down_bps]);
            entry.with_delay(peer.delay_seconds).with_loss(peer.loss)
        });
        let trunks = self.trunks.iter().map(|trunk| {
            let entry = LinkEntry::new(trunk.ends.map(switch), trunk.rates_bps);
            entry.with_delay(trunk.delay_seconds).with_loss(trunk.loss)
        });
        let topology = build(Document {
            name: Some(At::new(self.name.clone())),
            nodes: section(switches.chain(hosts)),
            links: section(ports.chain(trunks)),
            ..Document::default()
        })?;
        Ok(topology.with_jobs(Vec::new()))
    }
}
