//! Access links of participants and servers, and the effects of a fault schedule on them.

use inart_topologies::faults::LinkFaults;
use inart_topologies::switched::{LinkId, NodeId, Topology};
use inart_virtual::SplitMix64;

/// Owner of access links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// A participant, by position.
    Participant(usize),
    /// All servers.
    Server,
}

/// Change of an endpoint's rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Owner of the links.
    pub place: Endpoint,
    /// Remaining part of the rates, from 0, at which nothing passes.
    pub part: f64,
}

/// Effects of one direction of a link on messages.
#[derive(Debug, Clone, Default)]
pub struct Random {
    loss: f64,
    /// Part of the messages, and the longest delay in seconds.
    late: [(f64, f64); 2],
}

impl Random {
    /// Returns the combined effects of several links.
    pub fn of<'f>(faults: impl Iterator<Item = &'f LinkFaults>) -> Self {
        let mut all = Random::default();
        for link in faults {
            // A damaged frame is lost, and its message with it.
            let passes = (1.0 - link.drop.get()) * (1.0 - link.corrupt.get());
            all.loss = 1.0 - (1.0 - all.loss) * passes;
            let late = [(link.reorder, link.reorder_by), (link.delay, link.delay_by)];
            for ((part, most_s), (share, by)) in all.late.iter_mut().zip(late) {
                *part = part.max(share.get());
                *most_s = most_s.max(by.map_or(0.0, |by| by.duration().as_secs_f64()));
            }
        }
        all
    }

    /// Returns a message's delay in seconds; `None` if it is lost. Links without faults draw no random
    /// numbers.
    pub fn draw(&self, draws: &mut SplitMix64) -> Option<f64> {
        if self.loss > 0.0 && draws.fraction() < self.loss {
            return None;
        }
        let mut more_s = 0.0;
        for (part, most_s) in self.late {
            if part > 0.0 && draws.fraction() < part {
                more_s += draws.uniform(0.0, most_s);
            }
        }
        Some(more_s)
    }
}

/// Access links of one endpoint.
#[derive(Debug, Clone)]
pub struct AccessLink {
    /// Rates towards the server, and away from it, in bit/s.
    pub rates_bps: [f64; 2],
    /// Delay to the server, in seconds; 0 for the server itself.
    pub delay_s: f64,
    /// Faults of both directions.
    pub faults: [Random; 2],
    /// Remaining part of the rates.
    pub part: f64,
}

impl AccessLink {
    /// Returns whether anything passes.
    pub fn passes(&self) -> bool {
        self.part > 0.0
    }

    /// Returns the current rate of a direction, in bit/s.
    pub fn bps(&self, direction: usize) -> f64 {
        self.rates_bps[direction] * self.part
    }
}

/// The links of all endpoints while a schedule changes them.
pub struct Access<'t> {
    topology: &'t Topology,
    /// Endpoints with their hosts.
    places: Vec<(Endpoint, Vec<NodeId>)>,
    /// By link: the number of faults that have it down, and the rate that it is slowed to.
    down: Vec<u32>,
    slow_bps: Vec<Option<f64>>,
}

impl<'t> Access<'t> {
    /// Creates the links of these endpoints as the topology has them.
    pub fn new(topology: &'t Topology, places: Vec<(Endpoint, Vec<NodeId>)>) -> Self {
        let links = topology.links().len();
        Access { topology, places, down: vec![0; links], slow_bps: vec![None; links] }
    }

    /// Returns the endpoints of a link.
    pub fn places_of(&self, link: LinkId) -> Vec<Endpoint> {
        let ends = self.topology.link(link).ends;
        let has_end = |hosts: &[NodeId]| hosts.iter().any(|host| ends.contains(host));
        self.places.iter().filter(|(_, hosts)| has_end(hosts)).map(|(place, _)| *place).collect()
    }

    /// Takes a link down, or up again.
    pub fn set_down(&mut self, link: LinkId, is_down: bool) -> Vec<Change> {
        let down = &mut self.down[link.index()];
        *down = if is_down { *down + 1 } else { down.saturating_sub(1) };
        self.changes(link)
    }

    /// Sets a link's rate, in bit/s; `None` restores its own.
    pub fn set_rate(&mut self, link: LinkId, bps: Option<f64>) -> Vec<Change> {
        self.slow_bps[link.index()] = bps;
        self.changes(link)
    }

    fn changes(&self, link: LinkId) -> Vec<Change> {
        self.places_of(link).into_iter().map(|place| Change { place, part: self.part(place) }).collect()
    }

    /// Returns the remaining part of an endpoint's rates.
    fn part(&self, place: Endpoint) -> f64 {
        let hosts = self.places.iter().find(|(known, _)| *known == place);
        let (mut now, mut all) = (0.0, 0.0);
        for &host in hosts.into_iter().flat_map(|(_, hosts)| hosts) {
            for (_, link) in self.topology.neighbors(host) {
                let own_bps = self.topology.link(link).rate_bps();
                all += own_bps;
                if self.down[link.index()] == 0 {
                    now += self.slow_bps[link.index()].unwrap_or(own_bps);
                }
            }
        }
        if all > 0.0 { now / all } else { 1.0 }
    }
}
