//! Consequences of faults.

use std::time::Duration;

use inart_connections::PeerNo;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_topologies::sites::SiteId;

use super::Training;
use crate::agent::Agent;
use crate::common::site;
use crate::fault::Fault;
use crate::outcome::Consequence;

impl Training {
    /// Records the start of a planned fault.
    pub fn begins(&mut self, number: usize, now: Duration) {
        let planned = self.faults[number];
        self.count(planned.kind());
        let round = self.ends.keys().next_back().copied().unwrap_or(0) + 1;
        let (at_s, fault) = (now.as_secs_f64(), self.named(planned.fault));
        let consequence =
            Consequence { fault, at_s, round, noticed_s: None, noticed_round: None, without_it: None };
        self.outcome.faults.push(consequence);
    }

    /// Handles a closed connection: a failed process is noticed.
    pub(super) fn notice(&mut self, ends: [PeerNo; 2], machines: &[Option<Agent>], now: Duration) {
        let [a, b] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let now_s = self.shared.borrow().seconds(now);
        self.cut_s.insert([a, b], now_s);
        let is_site = |end: &PeerNo| end.index() < self.setups.len();
        let link = self.overlay.links().iter().position(|link| {
            let ends = link.ends.map(|end| PeerNo(end.index() as u32));
            ends == [a, b] || ends == [b, a]
        });
        let ends = [a, b].map(|end| if is_site(&end) { Fault::Site(site(end)) } else { Fault::Scheduler });
        let link = link.map(Fault::Link);
        let names: Vec<String> = ends.into_iter().chain(link).map(|fault| self.named(fault)).collect();
        let newest = machines.iter().flatten().filter_map(|machine| machine.driver()?.round()).max();
        for seen in self.outcome.faults.iter_mut().filter(|seen| names.contains(&seen.fault)) {
            if seen.noticed_s.is_none() {
                (seen.noticed_s, seen.noticed_round) = (Some(now_s), newest);
            }
        }
    }

    fn named(&self, fault: Fault) -> String {
        let name = |site: SiteId| self.overlay.site_name(site).to_owned();
        let site = |site: SiteNo| &self.overlay.sites()[site.index()];
        match fault {
            Fault::Link(link) => {
                let [a, b] = self.overlay.links()[link].ends.map(name);
                format!("link {a} to {b}")
            }
            Fault::Site(at) => format!("site {}", site(at)),
            Fault::Scheduler => "scheduler".to_owned(),
            Fault::Stranger(_) => "scheduler of the sites' document".to_owned(),
            Fault::Impostor(at) => format!("site {} by its own name alone", site(at)),
            Fault::Repeats(at) => format!("once what site {} sends", site(at)),
            Fault::Hangs(at) => format!("program of site {}", site(at)),
            Fault::OtherTerms(at, _) => format!("terms of site {}", site(at)),
        }
    }

    /// Finds the first round without a failed link.
    pub(super) fn follow_up(&self, consequence: &mut Consequence) {
        let Some(noticed_s) = consequence.noticed_s else { return };
        let link =
            (0..self.overlay.links().len()).find(|&link| self.named(Fault::Link(link)) == consequence.fault);
        let Some(link) = link else { return };
        let [a, b] = self.overlay.links()[link].ends.map(|end| SiteNo(end.index() as u16));
        let newest = consequence.noticed_round.unwrap_or(0);
        let mut after = self.ends.iter().filter(|(_, end)| end.ended_s > noticed_s);
        let common = self.shared.borrow();
        let without = |version: &u64| common.plans.get(version).is_some_and(|plan| !uses(plan, a, b));
        let first = after.find(|(_, end)| without(&end.version));
        consequence.without_it = first.map(|(&round, _)| (round, round.saturating_sub(newest)));
    }
}

/// Whether a plan's trees or routes use the link.
fn uses(plan: &TransmissionPolicy, a: SiteNo, b: SiteNo) -> bool {
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
