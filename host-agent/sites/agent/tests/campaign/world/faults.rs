//! Failures and recoveries.

use inart_planner_sites::Options;
use inart_sites_agent::{Driver, Peer, Scheduler};

use super::{Event, Site, World, peer};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    Link(usize),
    Site(u16),
    Scheduler,
}

impl World {
    pub fn plan_fault(&mut self, at: f64, lasts: f64, fault: Fault) {
        self.at(at + 1.5, Event::Begins(fault));
        self.at(at + 1.5 + lasts, Event::Ends(fault));
    }

    pub(super) fn begin(&mut self, fault: Fault) {
        *self.down_counts.entry(format!("{fault:?}")).or_default() += 1;
        match fault {
            Fault::Link(link) => {
                let [a, b] = self.overlay.links()[link].ends.map(|end| end.index() as u16);
                self.down_links.insert((a.min(b), a.max(b)));
                self.disconnect(peer(a.into()), peer(b.into()));
            }
            Fault::Site(site) => {
                self.sites[usize::from(site)] = None;
                let all: Vec<_> = self.connections.iter().copied().collect();
                for (a, b) in
                    all.into_iter().filter(|&(a, b)| a == peer(site.into()) || b == peer(site.into()))
                {
                    self.disconnect(a, b);
                }
            }
            Fault::Scheduler => {
                self.scheduler = None;
                let all: Vec<_> = self.connections.iter().copied().collect();
                for (a, b) in all.into_iter().filter(|&(_, b)| b == Peer::Scheduler) {
                    self.disconnect(a, b);
                }
            }
        }
    }

    pub(super) fn end(&mut self, fault: Fault) {
        let count = self.down_counts.entry(format!("{fault:?}")).or_insert(1);
        *count = count.saturating_sub(1);
        if *count > 0 {
            return;
        }
        self.incarnations += 1;
        match fault {
            Fault::Link(link) => {
                let [a, b] = self.overlay.links()[link].ends.map(|end| end.index() as u16);
                self.down_links.remove(&(a.min(b), a.max(b)));
            }
            Fault::Site(site) if self.sites[usize::from(site)].is_none() => {
                let setup = self.setups[usize::from(site)].clone();
                let weights = vec![0.5; setup.values()];
                self.chunk_sums.retain(|&(of, _), _| of != usize::from(site));
                self.sites[usize::from(site)] =
                    Some(Site { driver: Driver::new(setup), weights, incarnation: self.incarnations });
            }
            Fault::Site(_) => {}
            Fault::Scheduler => {
                let job = self.overlay.jobs()[0].clone();
                let options = Options::new(self.scheme);
                self.scheduler = Some(Scheduler::new(self.overlay.clone(), job, options, 5e6));
            }
        }
        self.connect_all();
    }
}
