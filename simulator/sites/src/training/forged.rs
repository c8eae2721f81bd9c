//! Messages in the name of another site, and chunks that arrive before their round.

use std::time::Duration;

use inart_connections::PeerNo;
use inart_protocol_sites::SiteNo;
use inart_sites_agent::{Driver, Peer};
use inart_world::Transfer;

use super::Training;
use crate::agent::Agent;
use crate::common::{process, site};
use crate::fault::Fault;
use crate::hostile::{FORGED, chunk_key, named_sender};

/// Time for which messages may take a detour after the link has recovered (`inart-sites-agent`), with a
/// margin, in seconds.
const DETOURED_S: f64 = 61.0;

impl Training {
    /// Whether a site sends duplicates in this run.
    pub(super) fn does_repeat(&self) -> bool {
        self.faults.iter().any(|planned| matches!(planned.fault, Fault::Repeats(_)))
    }

    /// Whether a message arrives. A forged message that its sender is allowed to send is not a forgery: it
    /// does not arrive.
    pub(super) fn may_arrive(&mut self, transfer: &Transfer, machine: &Agent, now: Duration) -> bool {
        let Some(driver) = machine.driver() else { return true };
        if transfer.id == FORGED {
            self.dropped = dropped(driver);
            let [by, to] = [transfer.from, transfer.to].map(site);
            let name = named_sender(&transfer.data);
            return !name.is_some_and(|name| name == to || self.may_speak_for(by, name, to, driver, now));
        }
        if self.does_repeat() {
            self.note_early(transfer, driver);
        }
        true
    }

    /// Handles a message that was accepted by its receiver.
    pub(super) fn was_taken(&mut self, transfer: &Transfer, machine: &Agent) {
        let Some(driver) = machine.driver().filter(|_| transfer.id == FORGED) else { return };
        self.count("message in another's name");
        if dropped(driver) > self.dropped {
            self.count("message in another's name dropped");
        }
    }

    /// Whether a site may forward a message of another site for a third one: its own messages, messages on a
    /// path of a plan, or on a detour around a link that is down or has just recovered. A restarted site
    /// treats all its links as such.
    fn may_speak_for(&self, by: SiteNo, from: SiteNo, to: SiteNo, receiver: &Driver, now: Duration) -> bool {
        if by == from || self.restarted.contains(&to.index()) {
            return true;
        }
        let [a, b] = [from, to].map(process);
        let ends = self.overlay.links().iter().map(|link| link.ends.map(|end| PeerNo(end.index() as u32)));
        let is_linked = ends.into_iter().any(|ends| ends == [a, b] || ends == [b, a]);
        let now_s = self.shared.borrow().seconds(now);
        let was_cut = self.cut_s.get(&[a.min(b), a.max(b)]).is_some_and(|at_s| now_s - at_s < DETOURED_S);
        if is_linked && (was_cut || !receiver.is_up(Peer::Site(from))) {
            return true;
        }
        self.shared.borrow().plans.values().any(|plan| {
            let route = plan.routes.get(&(from, to)).into_iter();
            let mut ways = route.chain(plan.auxiliary.get(&(from, to)).into_iter().flatten());
            ways.any(|way| way.len() >= 2 && way[way.len() - 2] == by)
        })
    }

    /// Records a chunk that arrives before its round.
    fn note_early(&mut self, transfer: &Transfer, receiver: &Driver) {
        let to = site(transfer.to);
        let key = chunk_key(&transfer.data, to).filter(|(round, ..)| Some(*round) > receiver.round());
        self.early[to.index()].extend(key);
    }
}

/// Returns the number of messages that a site has refused or dropped.
fn dropped(driver: &Driver) -> u64 {
    let (site, own) = driver.counters();
    own.impostors + own.unasked + own.refused_offers + site.dropped()
}
