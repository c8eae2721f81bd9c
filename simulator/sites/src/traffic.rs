//! Chunks on links.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use inart_protocol_sites::SiteNo;
use inart_topologies::sites::{ArcId, Overlay, SiteId};
use inart_virtual::{Event, Links, Sharing};
use inart_world::Transfer;

/// Rate of a link that is down, in bit/s: chunks on it do not advance.
const STOPPED_BPS: f64 = 1e-9;

/// Key of chunks that keep their order: a tree's edge in one direction, on one path.
pub type StreamKey = (u16, u32, u32, u32, u32);

/// Chunk that has arrived.
pub struct Arrived {
    pub transfer: Transfer,
    pub bits: f64,
    /// Time from the departure of its first bit to that of its last one, in seconds.
    pub seconds: f64,
}

/// Chunk that waits for its turn.
struct Waiting {
    key: StreamKey,
    bits: f64,
    transfer: Transfer,
}

/// Links of the network.
pub struct Traffic<'o> {
    overlay: &'o Overlay,
    links: Links<StreamKey, Transfer>,
    /// Time at which the next chunk leaves or arrives; `None` until it is recomputed.
    next_s: Cell<Option<f64>>,
    down: BTreeSet<usize>,
    /// Where chunks go one by one: for each directed link, the waiting chunks in order of priority and
    /// arrival; and whether one is leaving.
    waiting: Option<Vec<(BTreeMap<Turn, Waiting>, bool)>>,
    given: u64,
    /// Start of the traces; `None` before.
    traces_began_s: Option<f64>,
}

/// Sending order: by descending priority, then in order.
type Turn = (Reverse<i32>, u64);

impl<'o> Traffic<'o> {
    pub fn new(overlay: &'o Overlay, sharing: Sharing) -> Self {
        let rates = overlay.rates_at(0.0);
        let links = overlay.arcs().map(|arc| (rates.of(arc), overlay.delay_seconds(arc), sharing));
        let one_by_one = sharing == Sharing::Fifo;
        let waiting = one_by_one.then(|| overlay.arcs().map(|_| (BTreeMap::new(), false)).collect());
        Traffic {
            overlay,
            links: Links::new(links),
            next_s: Cell::new(None),
            down: BTreeSet::new(),
            waiting,
            given: 0,
            traces_began_s: None,
        }
    }

    pub fn now_s(&self) -> f64 {
        self.links.now_s()
    }

    fn arc(&self, from: SiteNo, to: SiteNo) -> Option<ArcId> {
        let site = |number: SiteNo| self.overlay.site_ids().nth(number.index());
        self.overlay.arc_between(site(from)?, site(to)?)
    }

    /// Returns the propagation delay from a site to its neighbor.
    pub fn delay_s(&self, from: SiteNo, to: SiteNo) -> f64 {
        self.arc(from, to).map_or(0.0, |arc| self.overlay.delay_seconds(arc))
    }

    /// Gives a chunk to a link. Where chunks go one by one, higher priorities are sent first.
    pub fn send(&mut self, [from, to]: [SiteNo; 2], transfer: Transfer, key: StreamKey, bits: f64) {
        let Some(arc) = self.arc(from, to) else { return };
        self.next_s.set(None);
        let Some(waiting) = &mut self.waiting else {
            return self.links.send(arc.index(), key, bits, transfer);
        };
        self.given += 1;
        let turn = (Reverse(transfer.priority), self.given);
        waiting[arc.index()].0.insert(turn, Waiting { key, bits, transfer });
        self.feed(arc.index());
    }

    fn feed(&mut self, arc: usize) {
        let Some((queue, is_busy)) = self.waiting.as_mut().and_then(|waiting| waiting.get_mut(arc)) else {
            return;
        };
        if !*is_busy && let Some((_, Waiting { key, bits, transfer })) = queue.pop_first() {
            *is_busy = true;
            self.links.send(arc, key, bits, transfer);
        }
    }

    fn has_left(&mut self, arc: usize) {
        if let Some(waiting) = &mut self.waiting {
            waiting[arc].1 = false;
            self.feed(arc);
        }
    }

    /// Returns the time of the next departure or arrival, in seconds; infinite without a chunk.
    pub fn next_s(&self) -> f64 {
        let next_s = self.next_s.get().unwrap_or_else(|| self.links.next_s());
        self.next_s.set(Some(next_s));
        next_s
    }

    /// Advances to the next departure or arrival. Returns the chunk that arrives.
    pub fn step(&mut self) -> Option<Arrived> {
        let next_s = self.next_s();
        self.next_s.set(None);
        match self.links.step(next_s)? {
            Event::Sent { link } => {
                self.has_left(link);
                None
            }
            Event::Arrived { link, item: transfer, bits, started_s } => {
                let delay_s = self.overlay.delay_seconds(self.overlay.arcs().nth(link)?);
                Some(Arrived { transfer, bits, seconds: self.now_s() - started_s - delay_s })
            }
        }
    }

    /// Advances to `until_s` seconds; no chunk leaves or arrives before.
    pub fn pass(&mut self, until_s: f64) {
        self.links.pass(until_s);
    }

    /// Sets whether a link is down.
    pub fn set_down(&mut self, link: usize, is_down: bool) {
        if is_down {
            self.down.insert(link);
        } else {
            self.down.remove(&link);
        }
        self.follow();
    }

    pub fn is_down(&self, link: usize) -> bool {
        self.down.contains(&link)
    }

    /// Drops the chunks that wait on a link, because its connection has closed.
    pub fn clear(&mut self, a: SiteNo, b: SiteNo) {
        self.next_s.set(None);
        for (from, to) in [(a, b), (b, a)] {
            if let Some(arc) = self.arc(from, to) {
                self.links.clear(arc.index());
                if let Some(waiting) = &mut self.waiting {
                    waiting[arc.index()] = (BTreeMap::new(), false);
                }
            }
        }
    }

    /// Returns the start of the traces, in seconds; `None` before.
    pub fn traces_began_s(&self) -> Option<f64> {
        self.traces_began_s
    }

    /// Sets time 0 of traces, in seconds.
    pub fn begin_traces(&mut self, began_s: f64) {
        self.traces_began_s = Some(began_s);
    }

    /// Returns the time since the start of the traces, in seconds.
    fn trace_s(&self) -> f64 {
        self.traces_began_s.map_or(0.0, |began_s| self.now_s() - began_s)
    }

    /// Returns the time of the next rate change; `None` if rates are constant or traces have not started.
    pub fn next_change_s(&self) -> Option<f64> {
        let began_s = self.traces_began_s?;
        Some(began_s + self.overlay.next_change(self.trace_s())?)
    }

    /// Applies the current rates.
    pub fn follow(&mut self) {
        self.next_s.set(None);
        let rates = self.overlay.rates_at(self.trace_s());
        for arc in self.overlay.arcs().collect::<Vec<_>>() {
            let ends = self.overlay.ends(arc);
            let is_down = self.link_of(ends.0, ends.1).is_some_and(|link| self.down.contains(&link));
            let bps = if is_down { STOPPED_BPS } else { rates.of(arc) };
            self.links.set_rate(arc.index(), bps);
        }
    }

    fn link_of(&self, a: SiteId, b: SiteId) -> Option<usize> {
        self.overlay.links().iter().position(|link| link.ends == [a, b] || link.ends == [b, a])
    }

    /// Returns the link between two sites.
    pub fn link(&self, a: SiteNo, b: SiteNo) -> Option<usize> {
        let site = |number: SiteNo| self.overlay.site_ids().nth(number.index());
        self.link_of(site(a)?, site(b)?)
    }
}
