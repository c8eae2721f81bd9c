//! Links between sites, and each site's connection to the scheduler. A link treats messages by kind: chunks
//! take the link's rate, parts of a state take their own time, and short messages use no capacity.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_connections::{PeerNo, Seen};
use inart_sites_agent::PART_BYTES;
use inart_sites_agent::message::{Body, ChunkMessage, decode};
use inart_world::{Later, LinkEvent, Links, Transfer};

use crate::common::{Shared, nanos, seconds, site};
use crate::hostile::{FORGED, Hostile, REPEATED};
use crate::traffic::{Arrived, Traffic};

/// Time to or from the scheduler, in seconds.
const SCHEDULER_S: f64 = 0.03;
/// Time after which a connection resends messages that a failed link has lost, in seconds.
const AGAIN_S: f64 = 0.2;
/// Time that a whole part of a state is on a link, in seconds. Links are as slow as the gradient is short;
/// parts are not shorter, so they do not take the links' rates.
const PART_S: f64 = 1.5;

/// Failure or recovery of a link, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Failure of the link.
    Down(usize),
    /// Recovery of the link.
    Up(usize),
}

/// Event on the links.
#[derive(Debug)]
pub(crate) enum Event {
    /// Arrival of a message at its receiver.
    Here(Transfer, Option<Seen>),
    /// Notice to a sender that a message was accepted, without the message.
    Taken(Transfer),
}

/// All links of a job.
pub(crate) struct SiteLinks<'o> {
    traffic: Traffic<'o>,
    hostile: Hostile,
    shared: Shared,
    scheduler: PeerNo,
    /// Time until which parts of states occupy a link, by direction, in seconds.
    parts_s: BTreeMap<[PeerNo; 2], f64>,
    /// Ends of connections between sites that have carried a message.
    ends: BTreeMap<u64, [PeerNo; 2]>,
    /// Time at which rates follow their traces next; `None` if rates are constant.
    rates_at: Option<Duration>,
    now: Duration,
}

impl<'o> SiteLinks<'o> {
    pub fn new(traffic: Traffic<'o>, hostile: Hostile, shared: Shared, sites: u32) -> Self {
        let (parts_s, ends) = Default::default();
        let (scheduler, rates_at, now) = (PeerNo(sites), None, Duration::ZERO);
        SiteLinks { traffic, hostile, shared, scheduler, parts_s, ends, rates_at, now }
    }

    /// Advances the links' time to the world's. An event of the links has happened in the previous
    /// nanosecond.
    fn follow_clock(&mut self, now: Duration) {
        if now > self.now {
            self.traffic.pass(seconds(now));
            self.set_clock(now);
        }
    }

    fn set_clock(&mut self, now: Duration) {
        self.now = now;
        self.shared.borrow_mut().clock = (self.traffic.now_s(), now);
    }

    /// Returns the time until a moment in `seconds` seconds.
    fn wait(&self, seconds: f64) -> Duration {
        let at = Duration::from_nanos(nanos(self.traffic.now_s() + seconds));
        at.saturating_sub(self.now)
    }

    fn is_between_sites(&self, a: PeerNo, b: PeerNo) -> bool {
        a.max(b) < self.scheduler
    }

    /// Returns the propagation delay, in seconds.
    fn delay_s(&self, from: PeerNo, to: PeerNo) -> f64 {
        match self.is_between_sites(from, to) {
            true => self.traffic.delay_s(site(from), site(to)),
            false => SCHEDULER_S,
        }
    }

    fn is_down(&self, a: PeerNo, b: PeerNo) -> bool {
        let link = || self.traffic.link(site(a), site(b));
        self.is_between_sites(a, b) && link().is_some_and(|link| self.traffic.is_down(link))
    }

    fn chunk(&mut self, transfer: Transfer, chunk: &ChunkMessage, later: &mut Later<Event>) {
        let ends = [site(transfer.from), site(transfer.to)];
        let delay_s = self.traffic.delay_s(ends[0], ends[1]);
        for (in_s, more) in self.hostile.beside(&transfer, chunk, self.traffic.now_s(), delay_s) {
            later.push((self.wait(in_s), Event::Here(more, None)));
        }
        let tree = {
            let common = self.shared.borrow();
            let plan = common.plans.get(&chunk.version);
            plan.and_then(|plan| plan.chunk_trees.get(chunk.chunk as usize)).map_or(0, |tree| tree.0)
        };
        let key = (tree, chunk.from, chunk.to, chunk.way, chunk.path);
        self.traffic.send(ends, transfer, key, chunk.words.len() as f64 * 8.0);
    }

    /// Returns the transfer time of a part of a state, after the parts before it, without the link's delay,
    /// in seconds.
    fn part_takes_s(&mut self, ends: [PeerNo; 2], bytes: usize) -> f64 {
        let now_s = self.traffic.now_s();
        let free_s = self.parts_s.entry(ends).or_insert(0.0);
        *free_s = free_s.max(now_s) + PART_S * bytes as f64 / PART_BYTES as f64;
        *free_s - now_s
    }

    /// Handles a message at its receiver. A message on a failed link is resent until the link recovers or the
    /// connection closes. Messages of dead processes do not arrive.
    fn here(
        &mut self,
        transfer: Transfer,
        seen: Option<Seen>,
        later: &mut Later<Event>,
    ) -> Option<LinkEvent> {
        let Transfer { from, to, connection, id, .. } = transfer;
        if self.shared.borrow().dead.contains(&from) {
            return None;
        }
        if self.is_down(from, to) {
            if id != FORGED && self.ends.contains_key(&connection) {
                later.push((self.wait(AGAIN_S), Event::Here(transfer, seen)));
            }
            return None;
        }
        Some(LinkEvent::Arrived { transfer, seen })
    }

    /// Lets rates follow the traces after their start.
    fn begin_traces(&mut self) -> bool {
        let began_s = self.shared.borrow().traces_began_s;
        let begin = began_s.filter(|_| self.traffic.traces_began_s().is_none());
        if let Some(began_s) = begin {
            self.traffic.begin_traces(began_s);
            self.plan_rates(self.now);
        }
        begin.is_some()
    }

    fn plan_rates(&mut self, least: Duration) {
        let change_s = self.traffic.next_change_s();
        self.rates_at = change_s.map(|at_s| Duration::from_nanos(nanos(at_s)).max(least));
    }
}

impl Links for SiteLinks<'_> {
    type Change = Change;
    type Event = Event;

    fn send(&mut self, transfer: Transfer, now: Duration, later: &mut Later<Event>) {
        self.follow_clock(now);
        let Transfer { from, to, connection, .. } = transfer;
        let delay_s = self.delay_s(from, to);
        if !self.is_between_sites(from, to) {
            if from == self.scheduler
                && let Ok(Body::Offer(offer)) = decode(transfer.data.clone())
            {
                self.shared.borrow_mut().offered.insert(offer.version);
            }
            return later.push((self.wait(delay_s), Event::Here(transfer, None)));
        }
        self.ends.insert(connection, [from, to]);
        let takes_s = match decode(transfer.data.clone()) {
            Ok(Body::Chunk(chunk)) if !chunk.words.is_empty() => return self.chunk(transfer, &chunk, later),
            Ok(Body::State(part)) => self.part_takes_s([from, to], part.training.len()),
            Ok(Body::StateWanted(wanted)) => {
                if wanted.offset > 0 {
                    self.shared.borrow_mut().count("state resumed after its first parts");
                }
                0.0
            }
            // Short messages are sent first, and use no capacity.
            _ => 0.0,
        };
        later.push((self.wait(delay_s + takes_s), Event::Here(transfer, None)));
    }

    fn answer(&mut self, transfer: &Transfer, now: Duration, later: &mut Later<Event>) {
        self.follow_clock(now);
        if ![FORGED, REPEATED].contains(&transfer.id) {
            let taken = Transfer { data: bytes::Bytes::new(), ..*transfer };
            later.push((self.wait(self.delay_s(transfer.to, transfer.from)), Event::Taken(taken)));
        }
    }

    fn due(&mut self, event: Event, now: Duration, later: &mut Later<Event>) -> Option<LinkEvent> {
        self.follow_clock(now);
        match event {
            Event::Here(transfer, seen) => self.here(transfer, seen, later),
            Event::Taken(Transfer { from: sender, to: receiver, connection, id, .. }) => {
                Some(LinkEvent::Ended { sender, receiver, connection, id, is_taken: true })
            }
        }
    }

    /// Traces that have started come first.
    fn next_at(&self) -> Option<Duration> {
        if self.shared.borrow().traces_began_s.is_some() && self.traffic.traces_began_s().is_none() {
            return Some(self.now);
        }
        let next = Some(self.traffic.next_s()).filter(|next_s| next_s.is_finite());
        let next = next.map(|next_s| Duration::from_nanos(nanos(next_s)));
        next.into_iter().chain(self.rates_at).min()
    }

    fn next(&mut self, now: Duration, later: &mut Later<Event>) -> Option<LinkEvent> {
        if self.begin_traces() {
            return None;
        }
        let next_ns = nanos(self.traffic.next_s());
        let rates_at = self.rates_at.filter(|at| *at < Duration::from_nanos(next_ns));
        if let Some(at) = rates_at.filter(|at| *at <= now) {
            self.follow_clock(now);
            self.traffic.follow();
            self.plan_rates(at + Duration::from_nanos(1));
            return None;
        }
        if Duration::from_nanos(next_ns) > now {
            return None;
        }
        let arrived = self.traffic.step();
        self.set_clock(now);
        let Arrived { transfer, bits, seconds } = arrived?;
        self.here(transfer, Some(Seen { bits, seconds }), later)
    }

    fn clear(&mut self, connection: u64, now: Duration) {
        self.follow_clock(now);
        let Some([a, b]) = self.ends.remove(&connection) else { return };
        self.traffic.clear(site(a), site(b));
        self.parts_s.retain(|ends, _| *ends != [a, b] && *ends != [b, a]);
    }

    fn is_cut(&self, a: PeerNo, b: PeerNo) -> bool {
        self.is_down(a, b)
    }

    fn change(&mut self, change: &Change, now: Duration) {
        self.follow_clock(now);
        match *change {
            Change::Down(link) => self.traffic.set_down(link, true),
            Change::Up(link) => self.traffic.set_down(link, false),
        }
    }
}
