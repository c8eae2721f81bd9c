//! Messages on their way. What a link does with a message depends on its kind: chunks take the link's rate,
//! parts of a state take their own time, and short messages take no room.

use bytes::Bytes;
use inart_connections::{Machine as _, PeerNo};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::Peer;
use inart_sites_agent::message::{Body, decode};

use super::{Event, SCHEDULER_S, World};
use crate::traffic::{Arrived, Sent};

impl World<'_> {
    pub(super) fn send(&mut self, at: usize, to: Peer, id: u64, data: Bytes, priority: i32) {
        let (me, now) = (Peer::Site(SiteNo(at as u16)), self.now());
        let Some(connection) = self.connections.number(me, to) else {
            // A site may want to send in the same moment in which the connection ends.
            if let Some(site) = &mut self.sites[at] {
                site.driver.failed(id, now);
            }
            return;
        };
        if let Some(site) = &mut self.sites[at] {
            site.open.insert(id, (to, connection));
        }
        let (from, Peer::Site(neighbour)) = (SiteNo(at as u16), to) else {
            return self.after(SCHEDULER_S, Event::Arrives { from: me, to, connection, id, data });
        };
        match decode(data.clone()) {
            Ok(Body::Chunk(chunk)) if !chunk.words.is_empty() => {
                let bits = chunk.words.len() as f64 * 8.0;
                let plan = self.plans.get(&chunk.version);
                let tree = plan.and_then(|plan| plan.chunk_trees.get(chunk.chunk as usize));
                let tree = tree.map_or(0, |tree| tree.0);
                self.misbehave(from, neighbour, connection, &chunk);
                let sent = Sent { from, to: neighbour, connection, id, data };
                let key = (tree, chunk.from, chunk.to, chunk.way, chunk.path);
                self.traffic.send(sent, key, bits, priority);
            }
            Ok(Body::State(part)) => {
                let takes_s = self.part_takes_s(from, neighbour, part.training.len());
                let delay_s = self.traffic.delay_s(from, neighbour) + takes_s;
                self.after(delay_s, Event::Arrives { from: me, to, connection, id, data });
            }
            // Short messages go first, and take no room.
            short => {
                if let Ok(Body::StateWanted(wanted)) = short {
                    self.wants_state(wanted.offset);
                }
                let delay_s = self.traffic.delay_s(from, neighbour);
                self.after(delay_s, Event::Arrives { from: me, to, connection, id, data });
            }
        }
    }

    /// A chunk is there.
    pub(super) fn arrived(&mut self, arrived: Arrived) {
        let Arrived { sent: Sent { from, to, connection, id, data }, bits, seconds } = arrived;
        let (sender, receiver) = (Peer::Site(from), Peer::Site(to));
        if self.connections.number(sender, receiver) == Some(connection) {
            self.tell(to.index(), |driver| driver.measured(from, bits, seconds));
            self.arrives(sender, receiver, connection, id, data);
        }
    }

    /// A message is there.
    pub(super) fn arrives(&mut self, from: Peer, to: Peer, connection: u64, id: u64, data: Bytes) {
        if self.connections.number(from, to) != Some(connection) {
            return;
        }
        let now = self.now();
        if self.is_cut(from, to) {
            // It is sent again until the link is back, or the connection ends.
            return self.after(super::TICK_S, Event::Arrives { from, to, connection, id, data });
        }
        if let Peer::Site(sender) = from {
            let back_s = match to {
                Peer::Site(receiver) => self.traffic.delay_s(receiver, sender),
                Peer::Scheduler => SCHEDULER_S,
            };
            self.after(back_s, Event::Delivered { from: sender, connection, id });
        }
        match (to, from) {
            (Peer::Site(site), _) => {
                if self.does_repeat()
                    && let Ok(Body::Chunk(chunk)) = decode(data.clone())
                {
                    self.note_early(site, &chunk);
                }
                self.tell(site.index(), |driver| driver.message(from, data, now));
            }
            (Peer::Scheduler, Peer::Site(site)) => {
                let number = PeerNo(site.0.into());
                let scheduler = self.scheduler.iter_mut();
                scheduler.for_each(|scheduler| scheduler.received(number, &data, None, now));
                self.carry_out_scheduler();
            }
            (Peer::Scheduler, Peer::Scheduler) => {}
        }
    }

    /// The receiver's answer is there.
    pub(super) fn delivered(&mut self, from: SiteNo, connection: u64, id: u64) {
        let now = self.now();
        let Some(site) = &mut self.sites[from.index()] else { return };
        if site.open.get(&id).is_some_and(|(_, of)| *of == connection) {
            site.open.remove(&id);
            self.tell(from.index(), |driver| driver.delivered(id, now));
        }
    }

    /// Sends what the scheduler offers to a site.
    pub(super) fn offer(&mut self, to: Peer, data: Bytes) {
        if let Some(connection) = self.connections.number(Peer::Scheduler, to) {
            let arrives = Event::Arrives { from: Peer::Scheduler, to, connection, id: u64::MAX, data };
            self.after(SCHEDULER_S, arrives);
        }
    }
}
