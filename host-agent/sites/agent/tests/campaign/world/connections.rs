//! Connections, and messages on them.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use inart_sites_agent::Peer;
use inart_sites_agent::message::{Body, Hello, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_virtual::Timeline;
use rand::Rng;

use super::{Event, World, peer};

impl World {
    /// Connects all processes that can be connected and are not.
    pub(super) fn connect_all(&mut self) {
        let mut pairs: Vec<(Peer, Peer)> = Vec::new();
        for link in self.overlay.links() {
            let [a, b] = link.ends.map(|end| end.index());
            pairs.push((peer(a.min(b)), peer(a.max(b))));
        }
        pairs.extend((0..self.sites.len()).map(|site| (peer(site), Peer::Scheduler)));
        for (a, b) in pairs {
            if self.can_connect(a, b) && !self.connections.contains(&(a, b)) {
                let delay = self.draws.random_range(0.01..0.3);
                self.at(delay, Event::Connect(a, b));
            }
        }
    }

    fn can_connect(&self, a: Peer, b: Peer) -> bool {
        let incarnations = |peer: Peer| match peer {
            Peer::Site(site) => self.sites[site.index()].is_some(),
            Peer::Scheduler => self.scheduler.is_some(),
        };
        let is_down = match (a, b) {
            (Peer::Site(a), Peer::Site(b)) => self.down_links.contains(&(a.0, b.0)),
            _ => false,
        };
        incarnations(a) && incarnations(b) && !is_down
    }

    pub(super) fn connect(&mut self, a: Peer, b: Peer) {
        if !self.can_connect(a, b) || self.connections.contains(&(a, b)) {
            return;
        }
        self.incarnations += 1;
        self.connections.insert((a, b));
        let now = self.now();
        for (me, other) in [(a, b), (b, a)] {
            match me {
                Peer::Site(site) => {
                    self.sites[site.index()].as_mut().unwrap().driver.up(other, now);
                    self.carry_out(site.index());
                }
                Peer::Scheduler => {
                    let terms = self.setups[0].plan_terms.message();
                    let hello = Body::Hello(Hello { terms, ..Hello::default() });
                    self.transmit(me, other, u64::MAX, encode(hello));
                    let offered = self.scheduler.as_ref().and_then(|scheduler| scheduler.offered().cloned());
                    if let Some(policy) = offered {
                        self.transmit(me, other, u64::MAX, encode(Body::Offer(policy_message(&policy))));
                    }
                }
            }
        }
    }

    /// Drops the messages on a connection. Their senders learn of the loss and of the end of the connection.
    pub(super) fn disconnect(&mut self, a: Peer, b: Peer) {
        if !self.connections.remove(&(a, b)) {
            return;
        }
        let on_it = |event: &Event| match event {
            Event::Arrives { from, to, .. } => (*from, *to) == (a, b) || (*from, *to) == (b, a),
            _ => false,
        };
        let (mut kept, mut failed) = (Timeline::new(), VecDeque::new());
        while let Some((at, event)) = self.events.take() {
            match event {
                event if !on_it(&event) => kept.at(at, event),
                Event::Arrives { from: Peer::Site(from), id, .. } => failed.push_back((from, id)),
                _ => {}
            }
        }
        self.events = kept;
        // Failures and the end of the connection come in either order.
        let down_first = self.draws.random_bool(0.5);
        let now = self.now();
        let down = |world: &mut World| {
            for (me, other) in [(a, b), (b, a)] {
                if let Peer::Site(site) = me
                    && let Some(state) = &mut world.sites[site.index()]
                {
                    state.driver.down(other, now);
                    world.carry_out(site.index());
                }
            }
        };
        if down_first {
            down(self);
        }
        for (from, id) in failed {
            let incarnation = self.sites[from.index()].as_ref().map_or(0, |site| site.incarnation);
            self.notify(from, incarnation, |driver, now| driver.failed(id, now));
        }
        if !down_first {
            down(self);
        }
    }

    pub(super) fn transmit(&mut self, from: Peer, to: Peer, id: u64, data: Bytes) {
        let pair = (from.min(to), from.max(to));
        let incarnation = match from {
            Peer::Site(site) => self.sites[site.index()].as_ref().map_or(0, |site| site.incarnation),
            Peer::Scheduler => 0,
        };
        if !self.connections.contains(&pair) {
            if let Peer::Site(at) = from {
                self.at(0.0, Event::Failed { at, incarnation, id });
            }
            return;
        }
        // Messages to a neighbor mostly keep their order, as on a QUIC connection.
        let takes = self.draws.random_range(0.001..0.08);
        let after = self.busy.get(&(from, to)).copied().unwrap_or(0).max(self.now);
        let arrives = after + self.draws.random_range(0..5_000_000) + (takes * 1e8) as u64;
        self.busy.insert((from, to), arrives);
        let jitter = if self.draws.random_bool(0.2) { self.draws.random_range(0.0..0.05) } else { 0.0 };
        let in_seconds = (arrives - self.now) as f64 * 1e-9 + 0.01 + jitter;
        let started = self.now_s() + in_seconds * 0.5;
        self.at(in_seconds, Event::Arrives { from, to, incarnation, id, data, started });
    }

    pub(super) fn arrive(
        &mut self,
        from: Peer,
        to: Peer,
        incarnation: u64,
        id: u64,
        data: Bytes,
        started: f64,
    ) {
        let (now, began) = (self.now(), Duration::from_secs_f64(started));
        if let Peer::Site(at) = from {
            self.at(0.01, Event::Delivered { at, incarnation, id });
        }
        match to {
            Peer::Site(site) => {
                if let Some(state) = &mut self.sites[site.index()] {
                    if let Peer::Site(neighbor) = from {
                        let seconds = (now.saturating_sub(began)).as_secs_f64();
                        state.driver.measured(neighbor, data.len() as f64 * 8.0, seconds);
                    }
                    state.driver.message(from, data, now);
                    self.carry_out(site.index());
                }
            }
            Peer::Scheduler => self.report(from, data),
        }
    }
}
