//! Who may speak for whom. A neighbour speaks for itself; for another site only where a plan that this site
//! knows, or the detour around a link that is down, leads that site's messages over the neighbour.

use std::time::Duration;

use inart_protocol_sites::SiteNo;

use super::{Driver, Peer, Phase, Warning};

/// What took a detour may arrive for so long after the link is back.
const DETOURED: Duration = Duration::from_secs(60);

/// What a message says of its way, and the connection on which it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    /// The site at the other end of the connection.
    pub by: SiteNo,
    /// Whose message it says it is.
    pub from: SiteNo,
    /// Whom it is for.
    pub to: SiteNo,
    /// The sites behind this one.
    pub route: &'a [SiteNo],
}

impl Driver {
    /// Whether the sender that a message names fits the connection on which it came; counts it and warns once
    /// per neighbour if not.
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
                "{by_name} sent {what} for {to_name} by a way that the network does not have; dropped"
            );
            self.warn(Peer::Site(by), Warning::Way, text);
        } else {
            self.counters.impostors += 1;
            // Asked for as soon as it may come this way.
            self.refused_senders.insert(from);
            let text = format!(
                "{by_name} sent {what} in the name of {from_name}, whose way here is another; dropped"
            );
            self.warn(Peer::Site(by), Warning::Sender, text);
        }
        false
    }

    /// Whether a plan leads the sender's messages for this site over the neighbour; or, where they take a
    /// route of several hops, a detour around the first of them, which may meet this site before it meets the
    /// route.
    fn comes_over(&self, named: Named<'_>) -> bool {
        let Named { by, from, route, .. } = named;
        let is_around = |way: &[SiteNo]| way.len() > 2 && route.ends_with(&way[1..]);
        let ways = self.ways(from, self.setup.me);
        ways.iter().any(|way| way.len() >= 2 && (way[way.len() - 2] == by || is_around(way)))
    }

    /// Whether the link to a site is down, or was until a moment ago: then its messages may take any detour.
    fn is_detoured(&self, from: SiteNo, now: Duration) -> bool {
        let was_down = self.down_at.get(&from).is_some_and(|at| now.saturating_sub(*at) < DETOURED);
        self.setup.are_linked(self.setup.me, from) && (was_down || !self.up.contains(&Peer::Site(from)))
    }

    /// Returns the number of sites of the longest route: with a detour it may meet a site twice, but no route
    /// is longer than a detour and a way of a plan.
    pub(super) fn longest_route(&self) -> usize {
        2 * self.setup.sites.len()
    }

    /// Whether what is to be passed on takes links of the network to another site.
    fn leads(&self, named: Named<'_>) -> bool {
        let Named { from, to, route, .. } = named;
        let hops = [&[self.setup.me], route].concat();
        from != self.setup.me
            && from != to
            && route.last() == Some(&to)
            && route.len() <= self.longest_route()
            && hops.windows(2).all(|hop| self.setup.are_linked(hop[0], hop[1]))
    }

    /// Whether a plan leads the sender's messages for another site over the neighbour and this site, or may
    /// with a detour around the sender's first link. A site that does not know the plan yet passes everything
    /// on: the site that a message is for looks at it, too.
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

    /// The ways between two sites by the document and all plans that this site knows: the link, routes,
    /// auxiliary paths.
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
