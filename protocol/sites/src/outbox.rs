//! Chunks that a site has to send: their paths, and the load of each link.

use std::collections::{BTreeMap, VecDeque};

use crate::choice::{AuxiliaryChoice, AuxiliaryUse, Sending};
use crate::policy::{ChunkNo, SiteNo, TransmissionPolicy};
use crate::transfer::{ChunkTransfer, Direction, Output};

/// Chunks without a path yet, and the number of chunks that wait or are being sent on each link, over all
/// trees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Outbox<S> {
    me: SiteNo,
    sending: Sending,
    on_link: BTreeMap<SiteNo, u32>,
    unassigned: VecDeque<ChunkTransfer<S>>,
    /// Chunks that wait for a link, where chunks are sent in order of their number.
    ordered: BTreeMap<SiteNo, BTreeMap<Turn, ChunkTransfer<S>>>,
    /// Failed links, and the detours around them.
    down: BTreeMap<SiteNo, Option<Vec<SiteNo>>>,
    lost: u64,
    outputs: VecDeque<Output<S>>,
}

/// Sending order: rounds, then chunks; then sums on their way down.
type Turn = (u32, ChunkNo, std::cmp::Reverse<Direction>, SiteNo, SiteNo);

impl<S> Outbox<S> {
    pub fn new(me: SiteNo, sending: Sending) -> Self {
        let (on_link, unassigned, ordered, down, outputs) = Default::default();
        Outbox { me, sending, on_link, unassigned, ordered, down, lost: 0, outputs }
    }

    /// Accepts a chunk for a tree neighbor; its route is chosen here or later.
    pub fn give(&mut self, transfer: ChunkTransfer<S>, policy: &TransmissionPolicy) {
        match self.sending {
            Sending::Auxiliary(AuxiliaryUse { choice: AuxiliaryChoice::Lazy, .. }) => {
                // A site that asks again while a chunk waits gets the chunk once.
                if !self.unassigned.iter().any(|other| name(other) == name(&transfer)) {
                    self.unassigned.push_back(transfer);
                }
                self.assign(policy);
            }
            Sending::Auxiliary(AuxiliaryUse { choice: AuxiliaryChoice::Eager, .. }) => {
                let way = self.free_way(&transfer, policy).unwrap_or(0);
                self.send_by(way, transfer, policy);
            }
            Sending::AtOnce | Sending::InOrder { .. } => self.send_by(0, transfer, policy),
        }
    }

    /// Forwards a chunk along the rest of its route.
    pub fn forward(&mut self, mut transfer: ChunkTransfer<S>) {
        if transfer.route.is_empty() {
            return;
        }
        let next = transfer.route.remove(0);
        self.send(next, transfer);
    }

    /// Records that a chunk has left on the link to a neighbor.
    pub fn sent(&mut self, next: SiteNo, policy: &TransmissionPolicy) {
        if let Some(held) = self.on_link.get_mut(&next) {
            *held = held.saturating_sub(1);
        }
        self.feed(next);
        self.assign(policy);
    }

    /// Handles a chunk that was lost on a link. `None`: the chunk is no longer needed.
    pub fn failed(&mut self, next: SiteNo, transfer: Option<ChunkTransfer<S>>, policy: &TransmissionPolicy) {
        if let Some(held) = self.on_link.get_mut(&next) {
            *held = held.saturating_sub(1);
        }
        if let Some(transfer) = transfer {
            self.send(next, transfer);
        }
        self.feed(next);
        self.assign(policy);
    }

    /// Uses the detour for chunks of the failed link from now on.
    pub fn link_down(&mut self, next: SiteNo, detour: Option<Vec<SiteNo>>) {
        let detour = detour.filter(|route| {
            route.len() > 2 && route.first() == Some(&self.me) && route.last() == Some(&next)
        });
        self.down.insert(next, detour);
        for transfer in self.ordered.remove(&next).unwrap_or_default().into_values() {
            self.send(next, transfer);
        }
    }

    /// Uses the recovered link again.
    pub fn link_up(&mut self, next: SiteNo) {
        self.down.remove(&next);
    }

    /// Returns the number of chunks that had no path.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the next hop to a site and the sites after it: the route, or the detour. `None` if no path
    /// exists.
    pub fn way_to(&self, to: SiteNo, policy: &TransmissionPolicy) -> Option<(SiteNo, Vec<SiteNo>)> {
        let (next, behind) = match policy.routes.get(&(self.me, to)) {
            Some(route) => (route[1], route[2..].to_vec()),
            None => (to, Vec::new()),
        };
        self.around(next, behind)
    }

    /// Returns a next hop and the sites after it, with the detour if the link is down.
    fn around(&self, next: SiteNo, behind: Vec<SiteNo>) -> Option<(SiteNo, Vec<SiteNo>)> {
        let Some(detour) = self.down.get(&next) else { return Some((next, behind)) };
        let detour = detour.as_ref().filter(|route| !self.down.contains_key(&route[1]))?;
        Some((detour[1], [&detour[2..], &behind].concat()))
    }

    /// Adds an output for the site's owner.
    pub fn emit(&mut self, output: Output<S>) {
        self.outputs.push_back(output);
    }

    /// Returns the next output.
    pub fn next(&mut self) -> Option<Output<S>> {
        self.outputs.pop_front()
    }

    /// Checks all chunks without a path in order, and sends those that may go.
    fn assign(&mut self, policy: &TransmissionPolicy) {
        let waiting = std::mem::take(&mut self.unassigned);
        for transfer in waiting {
            match self.free_way(&transfer, policy) {
                Some(way) => self.send_by(way, transfer, policy),
                None => self.unassigned.push_back(transfer),
            }
        }
    }

    /// Returns the first path that may take a chunk: 0 is the tree's, 1 the first auxiliary path.
    fn free_way(&self, transfer: &ChunkTransfer<S>, policy: &TransmissionPolicy) -> Option<u8> {
        let Sending::Auxiliary(use_) = self.sending else { return Some(0) };
        let ends = (transfer.from, transfer.to);
        let first_of_tree = policy.routes.get(&ends).map_or(transfer.to, |route| route[1]);
        if !use_.is_busy(self.held(first_of_tree)) {
            return Some(0);
        }
        let others = policy.auxiliary.get(&ends).into_iter().flatten();
        (1..=u8::MAX).zip(others).find(|(_, route)| use_.has_room(self.held(route[1]))).map(|(way, _)| way)
    }

    /// Returns the number of chunks that wait for a link or are being sent on it.
    pub fn load(&self, next: SiteNo) -> usize {
        self.held(next) as usize + self.ordered.get(&next).map_or(0, BTreeMap::len)
    }

    fn held(&self, next: SiteNo) -> u32 {
        self.on_link.get(&next).copied().unwrap_or(0)
    }

    fn send_by(&mut self, way: u8, mut transfer: ChunkTransfer<S>, policy: &TransmissionPolicy) {
        let ends = (transfer.from, transfer.to);
        let route = match way {
            0 => policy.routes.get(&ends),
            other => policy.auxiliary.get(&ends).and_then(|routes| routes.get(usize::from(other) - 1)),
        };
        transfer.path = way;
        let Some(route) = route else {
            transfer.route.clear();
            return self.send(transfer.to, transfer);
        };
        transfer.route = route[2..].to_vec();
        self.send(route[1], transfer);
    }

    fn send(&mut self, next: SiteNo, mut transfer: ChunkTransfer<S>) {
        // A forwarded chunk takes no detour. Otherwise two sites might send it to each other forever.
        let behind = std::mem::take(&mut transfer.route);
        let is_free = transfer.from == self.me || !self.down.contains_key(&next);
        let Some((next, behind)) = self.around(next, behind).filter(|_| is_free) else {
            self.lost += 1;
            return;
        };
        transfer.route = behind;
        let Sending::InOrder { .. } = self.sending else { return self.put(next, transfer) };
        let turn = (
            transfer.round,
            transfer.chunk,
            std::cmp::Reverse(transfer.direction),
            transfer.from,
            transfer.to,
        );
        self.ordered.entry(next).or_default().insert(turn, transfer);
        self.feed(next);
    }

    /// Gives a link the next chunks, while it has room.
    fn feed(&mut self, next: SiteNo) {
        let Sending::InOrder { on_link } = self.sending else { return };
        while self.held(next) < on_link {
            let waiting = self.ordered.get_mut(&next).and_then(BTreeMap::pop_first);
            let Some((_, transfer)) = waiting else { return };
            self.put(next, transfer);
        }
    }

    fn put(&mut self, next: SiteNo, transfer: ChunkTransfer<S>) {
        *self.on_link.entry(next).or_default() += 1;
        self.outputs.push_back(Output::Send { next, transfer });
    }
}

/// Returns the identity of a chunk in transfer.
fn name<S>(transfer: &ChunkTransfer<S>) -> (u32, u64, ChunkNo, Direction, SiteNo, SiteNo) {
    (transfer.round, transfer.version, transfer.chunk, transfer.direction, transfer.from, transfer.to)
}
