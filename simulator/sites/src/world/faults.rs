//! What goes and comes back.

use std::collections::BTreeMap;

use inart_connections::{Machine as _, PeerNo};
use inart_protocol_sites::{Policy, SiteNo};
use inart_sites_agent::{Driver, Peer};
use inart_topologies::sites::SiteId;

use super::{CONNECT_S, Consequence, Event, IDLE_S, Process, World, peer};
use crate::connections::pair;
use crate::fault::Fault;

impl World<'_> {
    pub(super) fn begin(&mut self, number: usize) {
        let planned = self.faults[number];
        self.count(planned.kind());
        if let Some(lasts_s) = planned.lasts_s {
            self.after(lasts_s, Event::Ends(number));
        }
        let round = self.ends.keys().next_back().copied().unwrap_or(0) + 1;
        let (at_s, fault) = (self.now_s(), self.named(planned.fault));
        let consequence =
            Consequence { fault, at_s, round, noticed_s: None, noticed_round: None, without_it: None };
        self.outcome.faults.push(consequence);
        let silent = match planned.fault {
            Fault::Link(link) => {
                self.traffic.set_down(link, true);
                let [a, b] = self.overlay.links()[link].ends.map(|end| peer(end.index()));
                vec![pair(a, b)]
            }
            Fault::Site(site) => {
                self.sites[site.index()] = None;
                self.done.remove(&site.index());
                self.connections.of(Peer::Site(site))
            }
            Fault::Scheduler => {
                self.scheduler = None;
                self.connections.of(Peer::Scheduler)
            }
            Fault::Stranger(other) => {
                self.start_scheduler(Some(other));
                self.connect_all();
                Vec::new()
            }
            Fault::Impostor(_) | Fault::Repeats(_) | Fault::Hangs(_) | Fault::OtherTerms(..) => Vec::new(),
        };
        for (a, b) in silent {
            if let Some(connection) = self.connections.number(a, b) {
                self.after(IDLE_S, Event::Silent(a, b, connection));
            }
        }
    }

    /// Whether another fault of the same thing still lasts.
    fn lasts(&self, number: usize) -> bool {
        let now_s = self.now_s();
        let others = self.faults.iter().enumerate().filter(|(other, _)| *other != number);
        let mut same = others.filter(|(_, planned)| planned.fault == self.faults[number].fault);
        same.any(|(_, planned)| {
            let end_s = planned.lasts_s.map_or(f64::INFINITY, |lasts_s| planned.at_s + lasts_s);
            planned.at_s <= now_s && now_s + 1e-6 < end_s
        })
    }

    pub(super) fn end(&mut self, number: usize) {
        if self.lasts(number) {
            return;
        }
        match self.faults[number].fault {
            Fault::Link(link) => self.traffic.set_down(link, false),
            fault => self.start(fault),
        }
        self.connect_all();
    }

    /// Starts a process.
    pub(super) fn start(&mut self, fault: Fault) {
        match fault {
            Fault::Site(site) => {
                if self.sites[site.index()].is_none() {
                    // Its peers notice by its new connection that the old one is over.
                    for (a, b) in self.connections.of(Peer::Site(site)) {
                        self.disconnect(a, b);
                    }
                    if self.now_s() > 0.0 {
                        self.restarted.insert(site.index());
                        self.early[site.index()].clear();
                    }
                    let driver = Driver::new(self.setups[site.index()].clone());
                    self.sites[site.index()] =
                        Some(Process { driver, computing: None, open: BTreeMap::new() });
                }
            }
            Fault::Scheduler | Fault::Stranger(_) => self.start_scheduler(None),
            Fault::Link(_)
            | Fault::Impostor(_)
            | Fault::Repeats(_)
            | Fault::Hangs(_)
            | Fault::OtherTerms(..) => {}
        }
    }

    /// Whether nothing gets from one to the other.
    pub(super) fn is_cut(&self, a: Peer, b: Peer) -> bool {
        let lives = |peer: Peer| match peer {
            Peer::Site(site) => self.sites[site.index()].is_some(),
            Peer::Scheduler => self.scheduler.is_some(),
        };
        let is_down = match (a, b) {
            (Peer::Site(a), Peer::Site(b)) => {
                self.traffic.link(a, b).is_some_and(|link| self.traffic.is_down(link))
            }
            _ => false,
        };
        is_down || !lives(a) || !lives(b)
    }

    /// Who has heard nothing for long enough gives the connection up.
    pub(super) fn silent(&mut self, a: Peer, b: Peer, connection: u64) {
        if self.connections.number(a, b) == Some(connection) && self.is_cut(a, b) {
            self.disconnect(a, b);
        }
    }

    pub(super) fn disconnect(&mut self, a: Peer, b: Peer) {
        let Some(connection) = self.connections.number(a, b) else { return };
        self.connections.end(pair(a, b));
        self.cut_s.insert(pair(a, b), self.now_s());
        self.notice(a, b);
        if let (Peer::Site(a), Peer::Site(b)) = (a, b) {
            self.traffic.clear(a, b);
            self.parts_s.retain(|ends, _| *ends != (a, b) && *ends != (b, a));
        }
        let now = self.now();
        for (me, other) in [(a, b), (b, a)] {
            let Peer::Site(site) = me else {
                self.leaves_scheduler(other);
                continue;
            };
            let Some(process) = &mut self.sites[site.index()] else { continue };
            let lost = process.open.iter().filter(|(_, (_, of))| *of == connection).map(|(&id, _)| id);
            let lost: Vec<u64> = lost.collect();
            process.open.retain(|id, _| !lost.contains(id));
            self.tell(site.index(), |driver| {
                driver.down(other, now);
                lost.into_iter().for_each(|id| driver.failed(id, now));
            });
        }
    }

    /// The scheduler's connection to a site has ended.
    fn leaves_scheduler(&mut self, other: Peer) {
        let now = self.now();
        if let (Some(scheduler), Peer::Site(site)) = (&mut self.scheduler, other) {
            scheduler.down(PeerNo(site.0.into()), now);
        }
    }

    fn notice(&mut self, a: Peer, b: Peer) {
        let now_s = self.now_s();
        let link = match (a, b) {
            (Peer::Site(a), Peer::Site(b)) => self.traffic.link(a, b).map(Fault::Link),
            _ => None,
        };
        let ends = [a, b].map(|peer| match peer {
            Peer::Site(site) => Fault::Site(site),
            Peer::Scheduler => Fault::Scheduler,
        });
        let names: Vec<String> = ends.into_iter().chain(link).map(|fault| self.named(fault)).collect();
        let newest = self.sites.iter().flatten().filter_map(|site| site.driver.round()).max();
        for seen in self.outcome.faults.iter_mut().filter(|seen| names.contains(&seen.fault)) {
            if seen.noticed_s.is_none() {
                (seen.noticed_s, seen.noticed_round) = (Some(now_s), newest);
            }
        }
    }

    /// Connects whoever can be and is not.
    pub(super) fn connect_all(&mut self) {
        let links = self.overlay.links().iter().map(|link| link.ends.map(|end| peer(end.index())));
        let mut pairs: Vec<_> = links.map(|[a, b]| pair(a, b)).collect();
        pairs.extend((0..self.sites.len()).map(|site| pair(peer(site), Peer::Scheduler)));
        for (a, b) in pairs {
            if !self.is_cut(a, b) && self.connections.number(a, b).is_none() {
                self.after(CONNECT_S, Event::Connect(a, b));
            }
        }
    }

    pub(super) fn connect(&mut self, a: Peer, b: Peer) {
        if self.is_cut(a, b) || !self.connections.make(pair(a, b)) {
            return;
        }
        let now = self.now();
        for (me, other) in [(a, b), (b, a)] {
            match me {
                Peer::Site(site) => self.tell(site.index(), |driver| driver.up(other, now)),
                Peer::Scheduler => {
                    if let Peer::Site(site) = other {
                        self.meets_scheduler(site);
                    }
                }
            }
        }
    }

    fn named(&self, fault: Fault) -> String {
        let name = |site: SiteId| self.overlay.site_name(site).to_owned();
        match fault {
            Fault::Link(link) => {
                let [a, b] = self.overlay.links()[link].ends.map(name);
                format!("link {a} to {b}")
            }
            Fault::Site(site) => format!("site {}", self.overlay.sites()[site.index()]),
            Fault::Scheduler => "scheduler".to_owned(),
            Fault::Stranger(_) => "scheduler of the sites' document".to_owned(),
            Fault::Impostor(site) => {
                format!("site {} by its own name alone", self.overlay.sites()[site.index()])
            }
            Fault::Repeats(site) => format!("once what site {} sends", self.overlay.sites()[site.index()]),
            Fault::Hangs(site) => format!("program of site {}", self.overlay.sites()[site.index()]),
            Fault::OtherTerms(site, _) => format!("terms of site {}", self.overlay.sites()[site.index()]),
        }
    }

    /// Which round was the first without a link that was gone.
    pub(super) fn follow_up(&self, consequence: &mut Consequence) {
        let Some(noticed_s) = consequence.noticed_s else { return };
        let link =
            (0..self.overlay.links().len()).find(|&link| self.named(Fault::Link(link)) == consequence.fault);
        let Some(link) = link else { return };
        let [a, b] = self.overlay.links()[link].ends.map(|end| SiteNo(end.index() as u16));
        let newest = consequence.noticed_round.unwrap_or(0);
        let mut after = self.ends.iter().filter(|(_, (_, ended_s, _))| *ended_s > noticed_s);
        let without = |version: &u64| self.plans.get(version).is_some_and(|plan| !uses(plan, a, b));
        let first = after.find(|(_, (_, _, version))| without(version));
        consequence.without_it = first.map(|(&round, _)| (round, round.saturating_sub(newest)));
    }
}

/// Whether a plan's trees or routes have the link.
fn uses(plan: &Policy, a: SiteNo, b: SiteNo) -> bool {
    let is_link = |from: SiteNo, to: SiteNo| (from, to) == (a, b) || (from, to) == (b, a);
    let is_used = |from: SiteNo, to: SiteNo| match plan.routes.get(&(from, to)) {
        Some(route) => route.windows(2).any(|hop| is_link(hop[0], hop[1])),
        None => is_link(from, to),
    };
    let ends = [(a, b), (b, a)];
    plan.trees.iter().any(|tree| {
        let edge =
            |at: usize, next: &Option<SiteNo>| next.is_some_and(|next| is_used(SiteNo(at as u16), next));
        let up = tree.up.iter().enumerate().any(|(at, next)| edge(at, next));
        let down = tree
            .down
            .iter()
            .enumerate()
            .any(|(at, next)| next.is_some_and(|next| is_used(next, SiteNo(at as u16))));
        up || down
    }) || ends.iter().any(|ends| plan.auxiliary.contains_key(ends))
}
