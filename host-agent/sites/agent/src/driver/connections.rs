//! Connections that open and close, and the messages on them.

use std::time::Duration;

use super::phase::SchedulerTerms;
use super::{Driver, Peer, Phase, Sent};

impl Driver {
    /// Handles an established connection. `now`: time since a fixed moment, common to all calls.
    pub fn up(&mut self, peer: Peer, now: Duration) {
        self.up.insert(peer);
        self.say_hello(peer);
        if let Peer::Site(site) = peer {
            self.site.link_up(site);
            self.detour_all();
            self.pass_on_waiting(site);
        }
        self.report();
        match self.phase {
            Phase::Reducing => self.ask(0),
            Phase::Lacks { .. } => self.want_policy(),
            _ => {}
        }
        self.go_on(now);
    }

    /// Handles a closed connection. Undelivered messages are reported by [`failed`](Self::failed).
    pub fn down(&mut self, peer: Peer, now: Duration) {
        self.up.remove(&peer);
        match peer {
            Peer::Site(site) => {
                self.heard.remove(&site);
                self.giving.down(site);
                self.down_at.insert(site, now);
                self.detour_all();
                self.send_again();
                // Messages of the site may have taken a detour before this site learned that the link failed.
                if self.refused_senders.remove(&site) && self.phase == Phase::Reducing {
                    self.ask(0);
                }
            }
            Peer::Scheduler => {
                self.scheduler_terms = SchedulerTerms::Unknown;
                self.early_offer = None;
            }
        }
        self.report();
        self.go_on(now);
    }

    /// Handles a delivered message.
    pub fn delivered(&mut self, id: u64, now: Duration) {
        self.farewells.remove(&id);
        self.final_report.ended(id, true);
        self.part_delivered(id);
        if let Some(Sent { next, tag, .. }) = self.sending.remove(&id) {
            self.lanes.carried(next, tag);
            self.site.sent(next);
        }
        self.go_on(now);
    }

    /// Handles an undelivered message. If the connection is down, the chunk takes another path now. If the
    /// connection is up, it may be about to close, so the chunk is sent again with the next
    /// [`tick`](Self::tick) or when the connection closes. An immediate retry could fail forever.
    pub fn failed(&mut self, id: u64, now: Duration) {
        self.farewells.remove(&id);
        self.final_report.ended(id, false);
        self.giving.failed(id);
        if let Some(Sent { next, transfer, .. }) = self.sending.remove(&id) {
            self.counters.failed += 1;
            match self.up.contains(&Peer::Site(next)) {
                _ if !self.setup.my_neighbors().contains(&next) => self.site.sent(next),
                true => self.held_back.push((next, transfer)),
                false => self.site.failed(next, transfer),
            }
        }
        self.go_on(now);
    }

    /// Resends messages that failed on connections that were up.
    pub(super) fn send_again(&mut self) {
        let held_back = std::mem::take(&mut self.held_back);
        held_back.into_iter().for_each(|(next, transfer)| self.site.failed(next, transfer));
    }
}
