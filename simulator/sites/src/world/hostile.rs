//! Sites with a valid certificate that speak as other sites, and sites that repeat themselves.

use bytes::Bytes;
use inart_protocol_sites::{Policy, SiteNo};
use inart_sites_agent::message::{AskMessage, Body, ChunkMessage, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Peer, version};
use rand::Rng;

use super::{Event, World, peer};
use crate::connections::pair;
use crate::fault::Fault;

/// A site that repeats itself sends this part of its chunks this number of times more.
const REPEATED: f64 = 0.1;
const REPEATS: usize = 20;
/// A site that speaks as others forges a message beside this part of its chunks.
const FORGED: f64 = 0.2;
/// How long messages may take a detour after the link is back (`inart-sites-agent`), and a moment more, in
/// seconds.
const DETOURED_S: f64 = 61.0;
/// The count of a plan that no scheduler has made.
const OWN_PLAN: u32 = 1 << 30;

impl World<'_> {
    /// Counts something that happened.
    pub(super) fn count(&mut self, what: &'static str) {
        *self.outcome.seen.entry(what).or_default() += 1;
    }

    /// Whether a fault lasts now.
    pub(super) fn is_active(&self, fault: Fault) -> bool {
        let now_s = self.now_s();
        self.faults.iter().any(|planned| planned.fault == fault && planned.lasts_at(now_s))
    }

    /// Whether some site repeats itself in this run.
    pub(super) fn does_repeat(&self) -> bool {
        self.faults.iter().any(|planned| matches!(planned.fault, Fault::Repeats(_)))
    }

    /// Sends more than a site's driver does, if the site is one that does so.
    pub(super) fn misbehave(&mut self, by: SiteNo, to: SiteNo, connection: u64, chunk: &ChunkMessage) {
        if self.is_active(Fault::Repeats(by)) && self.draws.random_bool(REPEATED) {
            let (delay_s, body) = (self.traffic.delay_s(by, to), Body::Chunk(chunk.clone()));
            let data = encode(body);
            for _ in 0..REPEATS {
                let (from, to, data) = (Peer::Site(by), Peer::Site(to), data.clone());
                // Behind the chunk itself, mostly: that one takes the link's rate.
                let in_s = delay_s + self.draws.random_range(0.0..2.0);
                self.after(in_s, Event::Arrives { from, to, connection, id: u64::MAX, data });
            }
            self.count("chunk repeated");
        }
        if self.is_active(Fault::Impostor(by)) && self.draws.random_bool(FORGED) {
            let body = self.forge(by, to, chunk);
            let name = match &body {
                Body::Chunk(chunk) => Some(SiteNo(chunk.from as u16)),
                Body::Ask(ask) => Some(SiteNo(ask.from as u16)),
                _ => None,
            };
            let in_s = self.traffic.delay_s(by, to) + self.draws.random_range(0.0..2.0);
            self.after(in_s, Event::Forged { by, name, to, connection, data: encode(body) });
        }
    }

    /// A message of a site that is another's, or that was not asked for.
    fn forge(&mut self, by: SiteNo, to: SiteNo, chunk: &ChunkMessage) -> Body {
        let others: Vec<u32> = (0..self.sites.len() as u32).collect();
        let other = others[self.draws.random_range(0..others.len())];
        match self.draws.random_range(0..8) {
            0 => {
                let chunks = (0..self.setups[0].chunk_values.len() as u32).collect();
                Body::Ask(AskMessage {
                    round: chunk.round,
                    from: other,
                    to: to.0.into(),
                    route: vec![],
                    chunks,
                })
            }
            1 => {
                // The plan that all sites begin with, as a newer one.
                let mut plan = Policy::clone(&self.setups[by.index()].first_policy);
                plan.version = version(OWN_PLAN + self.draws.random_range(0..1000), &plan);
                let message = policy_message(&plan);
                self.refused.push(plan.into());
                Body::Offer(message)
            }
            _ => {
                let words = chunk.words.iter().map(|byte| byte ^ 0x15).collect::<Vec<_>>().into();
                Body::Chunk(ChunkMessage {
                    round: chunk.round + self.draws.random_range(0..2),
                    way: self.draws.random_range(0..3),
                    from: other,
                    to: to.0.into(),
                    path: 0,
                    route: vec![],
                    words,
                    ..chunk.clone()
                })
            }
        }
    }

    /// Delivers a message that `by` forged in the name of another site, or in none. A message that `by` may
    /// send is not forged: it stays away.
    pub(super) fn forged(
        &mut self,
        by: SiteNo,
        name: Option<SiteNo>,
        to: SiteNo,
        connection: u64,
        data: Bytes,
    ) {
        let is_up = self.connections.number(Peer::Site(by), Peer::Site(to)) == Some(connection);
        if !is_up || self.is_cut(Peer::Site(by), Peer::Site(to)) {
            return;
        }
        if name.is_some_and(|name| name == to || self.may_speak_for(by, name, to)) {
            return;
        }
        let dropped = |world: &Self| {
            let counters = world.sites[to.index()].as_ref().map(|site| site.driver.counters());
            counters
                .map_or(0, |(site, own)| own.impostors + own.unasked + own.refused_offers + site.dropped())
        };
        let before = dropped(self);
        let now = self.now();
        self.tell(to.index(), |driver| driver.message(Peer::Site(by), data, now));
        self.count("message in another's name");
        if dropped(self) > before {
            self.count("message in another's name dropped");
        }
    }

    /// Whether a site may pass on a message of another site for a third one: itself, on a way of a plan, or
    /// on a detour around a link that is down or was a moment ago. A site that has restarted takes all its
    /// links for such.
    fn may_speak_for(&self, by: SiteNo, from: SiteNo, to: SiteNo) -> bool {
        if by == from || self.restarted.contains(&to.index()) {
            return true;
        }
        let ends = pair(peer(from.index()), peer(to.index()));
        let is_linked = self.traffic.link(from, to).is_some();
        let was_cut = self.cut_s.get(&ends).is_some_and(|at_s| self.now_s() - at_s < DETOURED_S);
        if is_linked && (was_cut || self.connections.number(ends.0, ends.1).is_none()) {
            return true;
        }
        self.plans.values().any(|plan| {
            let route = plan.routes.get(&(from, to)).into_iter();
            let mut ways = route.chain(plan.auxiliary.get(&(from, to)).into_iter().flatten());
            ways.any(|way| way.len() >= 2 && way[way.len() - 2] == by)
        })
    }

    /// Notes a chunk that arrives before its round.
    pub(super) fn note_early(&mut self, to: SiteNo, chunk: &ChunkMessage) {
        let round = self.sites[to.index()].as_ref().and_then(|site| site.driver.round());
        if Some(chunk.round) > round && chunk.to == u32::from(to.0) {
            self.early[to.index()].insert((chunk.round, chunk.chunk, chunk.way, chunk.from));
        }
    }
}
