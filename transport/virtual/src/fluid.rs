//! Links with fluid transfers: transfers share a link's rate, rates change while transfers are in flight, and
//! a transfer that has left arrives one delay later.

use crate::link::{Link, Sharing, Transfer};
use crate::timeline::{Seconds, Timeline};

/// Event of the links.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<T> {
    /// The last bit of a transfer has left on this link.
    Sent {
        /// The link, by its position.
        link: usize,
    },
    /// The last bit of a transfer has arrived.
    Arrived {
        /// The link, by its position.
        link: usize,
        /// Item that was sent.
        item: T,
        /// Size in bits.
        bits: f64,
        /// Departure of its first bit, in seconds.
        started_s: f64,
    },
}

/// Directed links with transfers of `T`, in streams that `K` identifies.
#[derive(Debug, Clone)]
pub struct Links<K, T> {
    links: Vec<Link<K, T>>,
    /// Transfers that have left and not arrived, with their links.
    arrivals: Timeline<(usize, Transfer<T>), Seconds>,
    now_s: f64,
}

impl<K: Clone + Eq, T> Links<K, T> {
    /// Idle links at time 0: of each its rate in bit/s, its delay in seconds, and how it is shared.
    pub fn new(links: impl IntoIterator<Item = (f64, f64, Sharing)>) -> Self {
        let links = links.into_iter().map(|(bps, delay_s, sharing)| Link::new(bps, delay_s, sharing));
        Links { links: links.collect(), arrivals: Timeline::new(), now_s: 0.0 }
    }

    /// Returns the time, in seconds.
    pub fn now_s(&self) -> f64 {
        self.now_s
    }

    /// Sets a link's rate from now on, in bit/s; transfers in flight continue at it.
    pub fn set_rate(&mut self, link: usize, bps: f64) {
        self.links[link].advance(self.now_s);
        self.links[link].set_rate(bps);
    }

    /// Gives a transfer of that many bits to a link.
    pub fn send(&mut self, link: usize, stream: K, bits: f64, item: T) {
        self.links[link].advance(self.now_s);
        self.links[link].push(stream, bits, item);
    }

    /// Moves the time to `until_s` seconds, or to the next event if that is earlier.
    pub fn pass(&mut self, until_s: f64) {
        self.now_s = self.now_s.max(until_s.min(self.next_s()));
    }

    /// Drops the transfers that wait for a link or are leaving on it. Transfers that have left still arrive.
    pub fn clear(&mut self, link: usize) {
        self.links[link].advance(self.now_s);
        self.links[link].clear();
    }

    /// Returns the departure time of the transfer that leaves next, if rates stay, in seconds, and the link;
    /// infinite without one.
    fn next_end(&self) -> (f64, usize) {
        let ends =
            self.links.iter().enumerate().filter_map(|(link, state)| Some((state.next_end_s()?, link)));
        let end = ends.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        end.unwrap_or((f64::INFINITY, 0))
    }

    fn next_arrival_s(&self) -> f64 {
        self.arrivals.next_at().map_or(f64::INFINITY, |at| at.0)
    }

    /// Returns the time of the next event, in seconds, if rates stay and nothing is sent; infinite without
    /// one.
    pub fn next_s(&self) -> f64 {
        self.next_end().0.min(self.next_arrival_s()).max(self.now_s)
    }

    /// Returns the next event, and the time moves to it; `None` if no event happens until `until_s`, and the
    /// time moves there unless it is infinite. At one time, transfers leave before others arrive.
    pub fn step(&mut self, until_s: f64) -> Option<Event<T>> {
        let (arrival_s, (end_s, link)) = (self.next_arrival_s(), self.next_end());
        let at_s = end_s.min(arrival_s);
        if at_s > until_s || at_s == f64::INFINITY {
            if until_s.is_finite() {
                self.now_s = self.now_s.max(until_s);
            }
            return None;
        }
        self.now_s = self.now_s.max(at_s);
        if end_s <= arrival_s {
            self.links[link].advance(self.now_s);
            let ended = self.links[link].pop()?;
            let at_s = self.now_s + self.links[link].delay_s;
            self.arrivals.at(Seconds(at_s), (link, ended));
            return Some(Event::Sent { link });
        }
        let (_, (link, Transfer { item, bits, started_s })) = self.arrivals.take()?;
        Some(Event::Arrived { link, item, bits, started_s })
    }

    /// Returns whether no transfer is in flight.
    pub fn is_idle(&self) -> bool {
        self.arrivals.is_empty() && self.links.iter().all(|link| link.next_end_s().is_none())
    }
}
