//! Places, shared out among the addresses that ask for them.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use super::listener::Origin;

/// Holder that loses its place when all are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The oldest of the address that holds the most. A newcomer always gets a place.
    OldestOfHeaviest,
    /// The newest of the address that holds the most, if the newcomer's address holds fewer even with the
    /// newcomer. Otherwise the newcomer gets no place.
    NewestOfHeavier,
}

/// A number of places.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    rule: Rule,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    count: usize,
    /// The places of each address by age. Dropping the sender notifies the holder to leave.
    by_origin: HashMap<Origin, BTreeMap<u64, oneshot::Sender<()>>>,
}

impl Held {
    fn of(&self, origin: &Origin) -> usize {
        self.by_origin.get(origin).map_or(0, BTreeMap::len)
    }

    /// Returns the address that holds the most; of those with equal numbers, the one with the oldest place.
    fn heaviest(&self) -> Option<Origin> {
        let order = |held: &BTreeMap<u64, _>| {
            (held.len(), std::cmp::Reverse(held.first_key_value().map(|(id, _)| *id)))
        };
        self.by_origin.iter().max_by_key(|(_, held)| order(held)).map(|(origin, _)| *origin)
    }

    fn remove(&mut self, origin: &Origin, id: u64) {
        let Some(held) = self.by_origin.get_mut(origin) else { return };
        if held.remove(&id).is_some() {
            self.count -= 1;
        }
        if held.is_empty() {
            self.by_origin.remove(origin);
        }
    }

    /// Makes one holder leave by the rule; the address that lost a place.
    fn displace(&mut self, rule: Rule, newcomer: Option<&Origin>) -> Option<Origin> {
        let heaviest = self.heaviest()?;
        let held = &self.by_origin[&heaviest];
        let id = match (rule, newcomer) {
            (Rule::OldestOfHeaviest, _) => held.first_key_value(),
            (Rule::NewestOfHeavier, Some(newcomer)) if held.len() > self.of(newcomer) + 1 => {
                held.last_key_value()
            }
            (Rule::NewestOfHeavier, _) => None,
        };
        let id = *id?.0;
        self.remove(&heaviest, id);
        Some(heaviest)
    }
}

/// Origin of a place.
#[derive(Debug)]
pub(super) struct Admitted {
    pub place: Place,
    /// The address that lost a place for it.
    pub displaced: Option<Origin>,
}

impl Places {
    pub fn new(most: usize, rule: Rule) -> Self {
        Self { most, rule, held: Mutex::default() }
    }

    /// Takes a place for a connection of that address.
    pub fn enter(self: &Arc<Self>, origin: Origin) -> Option<Admitted> {
        let mut held = self.lock();
        let displaced = match held.count < self.most {
            true => None,
            false => Some(held.displace(self.rule, Some(&origin))?),
        };
        let id = held.next;
        held.next += 1;
        held.count += 1;
        let (leave, stay) = oneshot::channel();
        held.by_origin.entry(origin).or_default().insert(id, leave);
        let place = Place { places: self.clone(), origin, id, stay };
        Some(Admitted { place, displaced })
    }

    /// Makes one holder leave, as a newcomer would. Returns whether one did.
    pub fn make_room(&self) -> bool {
        self.lock().displace(self.rule, None).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    origin: Origin,
    id: u64,
    stay: oneshot::Receiver<()>,
}

impl Place {
    /// Ready when the holder has to leave.
    pub fn poll_lost(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.stay.is_terminated() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.stay).poll(context).map(|_| ())
    }

    /// Waits until the holder has to leave.
    pub async fn lost(&mut self) {
        std::future::poll_fn(|context| self.poll_lost(context)).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().remove(&self.origin, self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::task::Waker;

    use super::*;

    fn from(address: &str) -> Origin {
        Origin::from(address.parse::<IpAddr>().expect("an address"))
    }

    fn is_lost(place: &mut Place) -> bool {
        place.poll_lost(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// Takes the places of a full house.
    fn fill(places: &Arc<Places>, origins: &[&str]) -> Vec<Place> {
        origins.iter().map(|origin| places.enter(from(origin)).expect("a place").place).collect()
    }

    fn lost(held: &mut [Place]) -> Vec<usize> {
        (0..held.len()).filter(|index| is_lost(&mut held[*index])).collect()
    }

    #[test]
    fn the_oldest_handshake_of_the_heaviest_address_gives_way() {
        let places = Arc::new(Places::new(4, Rule::OldestOfHeaviest));
        let mut held = fill(&places, &["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3"]);
        let admitted = places.enter(from("10.0.0.9")).expect("always");
        assert_eq!(admitted.displaced, Some(from("10.0.0.2")));
        assert_eq!(lost(&mut held), [1]);
        // All have one: the oldest of all.
        let again = places.enter(from("10.0.0.9")).expect("always");
        assert_eq!(lost(&mut held), [0, 1]);
        drop((admitted, again, held));
        assert_eq!(places.lock().count, 0);
        assert!(places.lock().by_origin.is_empty());
    }

    #[test]
    fn an_address_with_many_connections_loses_its_newest_to_one_with_few_and_to_no_equal() {
        let places = Arc::new(Places::new(3, Rule::NewestOfHeavier));
        let mut held = fill(&places, &["10.0.0.1", "10.0.0.1", "10.0.0.1"]);
        assert!(places.enter(from("10.0.0.1")).is_none(), "no more of its own");
        held.push(places.enter(from("10.0.0.2")).expect("a place").place);
        assert_eq!(lost(&mut held), [2]);
        assert!(places.enter(from("10.0.0.2")).is_none(), "two against two");
        held.push(places.enter(from("10.0.0.3")).expect("a place").place);
        assert_eq!(lost(&mut held), [1, 2]);
        assert!(places.enter(from("10.0.0.4")).is_none(), "all have one");
        held.truncate(1);
        assert!(places.enter(from("10.0.0.4")).is_some());
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_as_one() {
        assert_eq!(from("2001:db8::1"), from("2001:db8::ffff:1"));
        assert_ne!(from("2001:db8::1"), from("2001:db8:0:1::1"));
        assert_eq!(from("::ffff:10.0.0.1"), from("10.0.0.1"));
        assert_ne!(from("10.0.0.1"), from("10.0.0.2"));
    }
}
