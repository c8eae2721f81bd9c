//! Messages that a site forwards over a link that has not come up yet. Neighbors may start the first round
//! before this site has connected to all of its own neighbors. Their messages wait here. Otherwise they would
//! be dropped, and the round would stall until a site requests the chunks.

use inart_protocol_sites::SiteNo;

use super::phase::Passing;
use super::{Driver, Peer};

impl Driver {
    /// Keeps a message for a link that has not been up since this process started; returns any other message.
    /// After a link has been up and fails, messages for the link are dropped and requested again.
    pub(super) fn keep_for_link(&mut self, next: Option<SiteNo>, passing: Passing) -> Option<Passing> {
        let next = next.filter(|&next| {
            let is_mine = self.setup.my_neighbors().contains(&next);
            is_mine && !self.up.contains(&Peer::Site(next)) && !self.down_at.contains_key(&next)
        });
        let Some(next) = next else { return Some(passing) };
        let waiting = self.for_links.entry(next).or_default();
        if waiting.len() < self.setup.most_on_link() {
            waiting.push(passing);
        } else {
            self.counters.crowded += 1;
        }
        None
    }

    /// Forwards the messages that waited for a link.
    pub(super) fn pass_on_waiting(&mut self, next: SiteNo) {
        for passing in self.for_links.remove(&next).unwrap_or_default() {
            match passing {
                Passing::Chunk(transfer) => self.site.receive(transfer),
                Passing::Request(ask) => self.site.asked(ask),
            }
        }
    }
}
