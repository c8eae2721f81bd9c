//! Chunks on links.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use inart_protocol_sites::SiteNo;
use inart_topologies::sites::{ArcId, Overlay, SiteId};
use inart_virtual::{Event, Links, Sharing};
use inart_world::Transfer;

/// The rate of a link that is down: what is on it stands still.
const STOPPED_BPS: f64 = 1e-9;

/// Chunks of one key follow each other: a tree's edge in one direction, by one path.
pub type StreamKey = (u16, u32, u32, u32, u32);

/// A chunk that has arrived.
pub struct Arrived {
    pub transfer: Transfer,
    pub bits: f64,
    /// From its first bit's leaving to its last one's, in seconds.
    pub seconds: f64,
}

/// A chunk that waits for its turn.
struct Waiting {
    key: StreamKey,
    bits: f64,
    transfer: Transfer,
}

/// The network's links.
pub struct Traffic<'o> {
    overlay: &'o Overlay,
    links: Links<StreamKey, Transfer>,
    /// When the next chunk leaves or arrives; `None` until that is computed again.
    next_s: Cell<Option<f64>>,
    down: BTreeSet<usize>,
    /// Where chunks go one by one: of each directed link those that wait, the first next, by priority and
    /// order; and whether one is leaving.
    waiting: Option<Vec<(BTreeMap<Turn, Waiting>, bool)>>,
    given: u64,
    /// When traces began; none: not yet.
    traces_began_s: Option<f64>,
}

/// What has more priority goes first.
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

    /// The time that a bit takes from one site to its neighbour.
    pub fn delay_s(&self, from: SiteNo, to: SiteNo) -> f64 {
        self.arc(from, to).map_or(0.0, |arc| self.overlay.delay_seconds(arc))
    }

    /// Gives a chunk to a link. Where chunks go one by one, what has more priority goes first.
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

    /// When the next chunk leaves or arrives, in seconds; infinite without one.
    pub fn next_s(&self) -> f64 {
        let next_s = self.next_s.get().unwrap_or_else(|| self.links.next_s());
        self.next_s.set(Some(next_s));
        next_s
    }

    /// The time moves to that of the next chunk that leaves or arrives. Returns the chunk that arrives.
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

    /// The time moves to `until_s` seconds; no chunk leaves or arrives before.
    pub fn pass(&mut self, until_s: f64) {
        self.links.pass(until_s);
    }

    /// A link goes down or comes back.
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

    /// What waits on a link is forgotten: its connection has ended.
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

    /// When traces began, in seconds; `None` before that.
    pub fn traces_began_s(&self) -> Option<f64> {
        self.traces_began_s
    }

    /// Sets time 0 of traces, in seconds.
    pub fn begin_traces(&mut self, began_s: f64) {
        self.traces_began_s = Some(began_s);
    }

    /// How long traces have gone on, in seconds.
    fn trace_s(&self) -> f64 {
        self.traces_began_s.map_or(0.0, |began_s| self.now_s() - began_s)
    }

    /// When rates change next; none if they stay, or traces have not begun.
    pub fn next_change_s(&self) -> Option<f64> {
        let began_s = self.traces_began_s?;
        Some(began_s + self.overlay.next_change(self.trace_s())?)
    }

    /// Rates as they are now.
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

    /// The link between two sites.
    pub fn link(&self, a: SiteNo, b: SiteNo) -> Option<usize> {
        let site = |number: SiteNo| self.overlay.site_ids().nth(number.index());
        self.link_of(site(a)?, site(b)?)
    }
}
