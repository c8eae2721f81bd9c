//! Messages that a site passes on over a link that has not come up yet. Neighbors may begin the first round
//! before this site has met all of its own. Their messages wait here: if they were dropped, the round would
//! stand still until a site asks for them.

use inart_protocol_sites::SiteNo;

use super::phase::Passing;
use super::{Driver, Peer};

impl Driver {
    /// Keeps what goes on over a link that has not been up since this process began; returns the rest.
    /// Once a link has been up and goes down, what was to take it is lost and asked for.
    pub(super) fn keep_for_link(&mut self, next: Option<SiteNo>, passing: Passing) -> Option<Passing> {
        let next = next.filter(|&next| {
            let is_mine = self.setup.my_neighbours().contains(&next);
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

    /// A link is up: what waited for it goes on.
    pub(super) fn pass_on_waiting(&mut self, next: SiteNo) {
        for passing in self.for_links.remove(&next).unwrap_or_default() {
            match passing {
                Passing::Chunk(parcel) => self.site.receive(parcel),
                Passing::Question(ask) => self.site.asked(ask),
            }
        }
    }
}
