//! Sending of messages and ordered chunks, and detours around failed links.

use inart_protocol_sites::{ChunkTransfer, Direction, Output as SiteOutput, Sending, SiteNo};

use crate::detour::detour;
use crate::gradient::ChunkSum;
use crate::lanes::Lane;
use crate::message::{Body, ask_message, chunk_message, encode};

use super::{Driver, Output, Peer, Sent, Warning};

impl Driver {
    /// Returns the neighbors without a connection.
    pub(super) fn gone(&self) -> Vec<SiteNo> {
        let neighbors = self.setup.my_neighbors().iter().copied();
        neighbors.filter(|&site| !self.up.contains(&Peer::Site(site))).collect()
    }

    /// Computes detours around all failed links.
    pub(super) fn detour_all(&mut self) {
        let gone = self.gone();
        for &site in &gone {
            let way = detour(&self.setup.neighbors, self.setup.me, site, &gone);
            self.site.link_down(site, way);
        }
    }

    /// Sends a message and returns its number. A message for a site without a link is dropped, counted, and
    /// warned of once, because it has no connection.
    pub(super) fn send(&mut self, to: Peer, body: Body, priority: i32) -> Option<u64> {
        if let Peer::Site(site) = to
            && !self.setup.my_neighbors().contains(&site)
        {
            self.counters.astray += 1;
            let name = self.setup.name(site);
            self.warn(to, Warning::Link, format!("dropped a message for {name}: no link to it"));
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.outputs.push_back(Output::Send { to, id, data: encode(body), priority });
        Some(id)
    }

    pub(super) fn warn(&mut self, of: Peer, warning: Warning, text: String) {
        if self.warned.insert((of, warning)) {
            self.outputs.push_back(Output::Warned(text));
        }
    }

    pub(super) fn take_outputs(&mut self) {
        while let Some(output) = self.site.next_output() {
            match output {
                SiteOutput::Send { next, transfer } => {
                    let tag = self.tag(next, &transfer);
                    let body = Body::Chunk(chunk_message(&transfer));
                    match self.send(Peer::Site(next), body, -tag) {
                        Some(id) => drop(self.sending.insert(id, Sent { next, transfer, tag })),
                        None => self.site.sent(next),
                    }
                }
                SiteOutput::Ask { next, ask } => {
                    if ask.from == self.setup.me {
                        self.asked.insert(ask.to);
                    }
                    self.send(Peer::Site(next), Body::Ask(ask_message(&ask)), i32::MAX);
                }
                SiteOutput::Complete { chunk, data } => self.complete(chunk, data),
            }
        }
    }

    /// Returns the tag of a chunk; lower tags are sent first. In order, tags follow chunk numbers; otherwise
    /// lanes share the link.
    fn tag(&mut self, next: SiteNo, transfer: &ChunkTransfer<ChunkSum>) -> i32 {
        if let Sending::InOrder { .. } = self.setup.sending {
            let before = i64::from(transfer.round) * self.setup.chunk_values.len() as i64;
            let turn =
                2 * (before + i64::from(transfer.chunk.0)) + i64::from(transfer.direction == Direction::Push);
            return i32::try_from(turn).unwrap_or(i32::MAX);
        }
        let tree = self.site.policy().chunk_trees.get(transfer.chunk.0 as usize).map_or(0, |tree| tree.0);
        let ChunkTransfer { from, to, direction, path, .. } = *transfer;
        self.lanes.tag(next, Lane { tree, from, to, direction, path })
    }
}
