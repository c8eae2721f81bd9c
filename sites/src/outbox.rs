//! What a site has to send: by which way, and how much each of its links holds.

use std::collections::{BTreeMap, VecDeque};

use crate::choice::{AuxiliaryChoice, AuxiliaryUse, Sending};
use crate::parcel::{Output, Parcel, Way};
use crate::policy::{ChunkNo, Policy, SiteNo};

/// Parcels without a way yet, and the number of chunks that wait or are being sent on each link, of all trees
/// together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Outbox<S> {
    sending: Sending,
    on_link: BTreeMap<SiteNo, u32>,
    unassigned: VecDeque<Parcel<S>>,
    /// What waits for a link, where chunks go in order of their number.
    ordered: BTreeMap<SiteNo, BTreeMap<Turn, Parcel<S>>>,
    outputs: VecDeque<Output<S>>,
}

/// Whose turn it is: rounds, then chunks, in order; then sums on their way down.
type Turn = (u32, ChunkNo, std::cmp::Reverse<Way>, SiteNo, SiteNo);

impl<S> Outbox<S> {
    pub fn new(sending: Sending) -> Self {
        let (on_link, unassigned, ordered, outputs) = Default::default();
        Outbox { sending, on_link, unassigned, ordered, outputs }
    }

    /// Takes a parcel for a tree neighbour; its route is chosen here or later.
    pub fn give(&mut self, parcel: Parcel<S>, policy: &Policy) {
        match self.sending {
            Sending::Auxiliary(AuxiliaryUse { choice: AuxiliaryChoice::Lazy, .. }) => {
                self.unassigned.push_back(parcel);
                self.assign(policy);
            }
            Sending::Auxiliary(AuxiliaryUse { choice: AuxiliaryChoice::Eager, .. }) => {
                let way = self.free_way(&parcel, policy).unwrap_or(0);
                self.send_by(way, parcel, policy);
            }
            Sending::AtOnce | Sending::InOrder { .. } => self.send_by(0, parcel, policy),
        }
    }

    /// Sends a parcel on along the rest of its route.
    pub fn forward(&mut self, mut parcel: Parcel<S>) {
        if parcel.route.is_empty() {
            return;
        }
        let next = parcel.route.remove(0);
        self.send(next, parcel);
    }

    /// A chunk has left on the link to a neighbour.
    pub fn sent(&mut self, next: SiteNo, policy: &Policy) {
        if let Some(held) = self.on_link.get_mut(&next) {
            *held = held.saturating_sub(1);
        }
        self.feed(next);
        self.assign(policy);
    }

    /// Tells the site's owner something.
    pub fn tell(&mut self, output: Output<S>) {
        self.outputs.push_back(output);
    }

    /// What is to be done next.
    pub fn next(&mut self) -> Option<Output<S>> {
        self.outputs.pop_front()
    }

    /// Looks at all parcels without a way in order; what may go goes.
    fn assign(&mut self, policy: &Policy) {
        let waiting = std::mem::take(&mut self.unassigned);
        for parcel in waiting {
            match self.free_way(&parcel, policy) {
                Some(way) => self.send_by(way, parcel, policy),
                None => self.unassigned.push_back(parcel),
            }
        }
    }

    /// The first way that may take a parcel: 0 is the tree's, 1 the first auxiliary path.
    fn free_way(&self, parcel: &Parcel<S>, policy: &Policy) -> Option<u8> {
        let Sending::Auxiliary(use_) = self.sending else { return Some(0) };
        let ends = (parcel.from, parcel.to);
        let first_of_tree = policy.routes.get(&ends).map_or(parcel.to, |route| route[1]);
        if !use_.is_busy(self.held(first_of_tree)) {
            return Some(0);
        }
        let others = policy.auxiliary.get(&ends).into_iter().flatten();
        (1..=u8::MAX).zip(others).find(|(_, route)| use_.has_room(self.held(route[1]))).map(|(way, _)| way)
    }

    fn held(&self, next: SiteNo) -> u32 {
        self.on_link.get(&next).copied().unwrap_or(0)
    }

    fn send_by(&mut self, way: u8, mut parcel: Parcel<S>, policy: &Policy) {
        let ends = (parcel.from, parcel.to);
        let route = match way {
            0 => policy.routes.get(&ends),
            other => policy.auxiliary.get(&ends).and_then(|routes| routes.get(usize::from(other) - 1)),
        };
        parcel.path = way;
        let Some(route) = route else {
            parcel.route.clear();
            return self.send(parcel.to, parcel);
        };
        parcel.route = route[2..].to_vec();
        self.send(route[1], parcel);
    }

    fn send(&mut self, next: SiteNo, parcel: Parcel<S>) {
        let Sending::InOrder { .. } = self.sending else { return self.put(next, parcel) };
        let turn = (parcel.round, parcel.chunk, std::cmp::Reverse(parcel.way), parcel.from, parcel.to);
        self.ordered.entry(next).or_default().insert(turn, parcel);
        self.feed(next);
    }

    /// Gives a link the chunks whose turn it is, while it has room.
    fn feed(&mut self, next: SiteNo) {
        let Sending::InOrder { on_link } = self.sending else { return };
        while self.held(next) < on_link {
            let waiting = self.ordered.get_mut(&next).and_then(BTreeMap::pop_first);
            let Some((_, parcel)) = waiting else { return };
            self.put(next, parcel);
        }
    }

    fn put(&mut self, next: SiteNo, parcel: Parcel<S>) {
        *self.on_link.entry(next).or_default() += 1;
        self.outputs.push_back(Output::Send { next, parcel });
    }
}
