//! Checks of senders. A neighbor may send messages in its own name. It may send messages of another site only
//! where a plan known to this site, or a detour around a failed link, routes messages of that site through
//! the neighbor.

use std::time::Duration;

use inart_protocol_sites::SiteNo;

use super::{Driver, Peer, Phase, Warning};

/// Messages that took a detour may arrive for this time after the link has recovered.
const DETOURED: Duration = Duration::from_secs(60);

/// Addresses and route in a message, and the connection that delivered it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    /// Site at the other end of the connection.
    pub by: SiteNo,
    /// Origin site that the message names.
    pub from: SiteNo,
    /// Destination site.
    pub to: SiteNo,
    /// Sites after this one.
    pub route: &'a [SiteNo],
}

impl Driver {
    /// Whether the origin that a message names fits the connection that delivered it. Counts a mismatch, and
    /// warns once per neighbor.
    pub(super) fn is_sender(&mut self, what: &str, named: Named<'_>, now: Duration) -> bool {
        let Named { by, from, to, .. } = named;
        let (does_lead, fits) = match to == self.setup.me {
            true => (true, from == by || self.comes_over(named) || self.is_detoured(from, now)),
            false => (self.leads(named), from == by || self.passes_here(named, now)),
        };
        if does_lead && fits {
            return true;
        }
        let (by_name, from_name, to_name) = (self.setup.name(by), self.setup.name(from), self.setup.name(to));
        if fits {
            self.counters.astray += 1;
            let text = format!(
                "{by_name} sent {what} for {to_name} over links that the network does not have; dropped"
            );
            self.warn(Peer::Site(by), Warning::Route, text);
        } else {
            self.counters.impostors += 1;
            // The plan is requested as soon as its messages may take this path.
            self.refused_senders.insert(from);
            let text = format!(
                "{by_name} sent {what} in the name of {from_name}, whose messages do not pass through it; dropped"
            );
            self.warn(Peer::Site(by), Warning::Sender, text);
        }
        false
    }

    /// Whether a plan routes the origin's messages for this site through the neighbor. On a route of several
    /// hops, the message may also take a detour around the first hop that reaches this site before it reaches
    /// the route.
    fn comes_over(&self, named: Named<'_>) -> bool {
        let Named { by, from, route, .. } = named;
        let is_around = |way: &[SiteNo]| way.len() > 2 && route.ends_with(&way[1..]);
        let ways = self.ways(from, self.setup.me);
        ways.iter().any(|way| way.len() >= 2 && (way[way.len() - 2] == by || is_around(way)))
    }

    /// Whether the link to a site is down or has recently recovered: its messages may then take any detour.
    fn is_detoured(&self, from: SiteNo, now: Duration) -> bool {
        let was_down = self.down_at.get(&from).is_some_and(|at| now.saturating_sub(*at) < DETOURED);
        self.setup.are_linked(self.setup.me, from) && (was_down || !self.up.contains(&Peer::Site(from)))
    }

    /// Returns the number of sites of the longest route. A detour may visit a site twice, but no route is
    /// longer than a detour plus a path of a plan.
    pub(super) fn longest_route(&self) -> usize {
        2 * self.setup.sites.len()
    }

    /// Whether a forwarded message follows links of the network to another site.
    fn leads(&self, named: Named<'_>) -> bool {
        let Named { from, to, route, .. } = named;
        let hops = [&[self.setup.me], route].concat();
        from != self.setup.me
            && from != to
            && route.last() == Some(&to)
            && route.len() <= self.longest_route()
            && hops.windows(2).all(|hop| self.setup.are_linked(hop[0], hop[1]))
    }

    /// Whether a plan routes the origin's messages for another site through the neighbor and this site,
    /// possibly with a detour around the origin's first link. A site that does not know the plan yet forwards
    /// every message: the destination checks it, too.
    fn passes_here(&self, named: Named<'_>, now: Duration) -> bool {
        let Named { by, from, to, route } = named;
        match self.phase {
            Phase::Meeting | Phase::Joining { .. } | Phase::Lacks { .. } => return true,
            Phase::Ready { join: Some(_), .. } => return true,
            _ => {}
        }
        self.ways(from, to).iter().any(|way| {
            let here = way.iter().position(|site| *site == self.setup.me);
            let is_here = here.is_some_and(|at| {
                let is_next = at > 0 && way[at - 1] == by;
                way[at + 1..] == *route && (is_next || at == 1 && self.is_detoured(from, now))
            });
            is_here || route.ends_with(&way[1..])
        })
    }

    /// Returns the paths between two sites by the document and by all plans that this site knows: the link,
    /// routes, and auxiliary paths.
    fn ways(&self, from: SiteNo, to: SiteNo) -> Vec<Vec<SiteNo>> {
        let begun = self.starts.iter().map(|start| &start.policy);
        let offered: Vec<_> = self.site.offers().collect();
        let known = begun.chain([self.site.policy(), &self.setup.first_policy]).chain(&offered);
        let mut ways: Vec<Vec<SiteNo>> = Vec::new();
        for policy in known {
            ways.extend(policy.routes.get(&(from, to)).cloned());
            ways.extend(policy.auxiliary.get(&(from, to)).into_iter().flatten().cloned());
        }
        if self.setup.are_linked(from, to) {
            ways.push(vec![from, to]);
        }
        ways
    }
}
