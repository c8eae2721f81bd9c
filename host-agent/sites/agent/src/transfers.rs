//! Transfers of training states to restarted sites.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_protocol_sites::{SiteNo, TransmissionPolicy};

use crate::message::StateWanted;
use crate::state::{PART_BYTES, TrainingState};

/// Maximum number of parts of a state in flight to one site.
const PARTS_UNDER_WAY: usize = 8;

/// State that this site can send.
#[derive(Debug)]
pub(crate) struct Held {
    /// Round before which the state was taken.
    pub round: u32,
    /// Policy of that round; `None` if the training is over.
    pub policy: Option<Arc<TransmissionPolicy>>,
    pub training: TrainingState,
}

/// Transfer of a state to one site.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub held: Arc<Held>,
    /// Offset of the next part; none if all parts have been sent.
    next: Option<u64>,
    /// Offsets of parts that were not delivered, until the next tick.
    lost: BTreeSet<u64>,
    /// Offsets of parts to send again.
    again: BTreeSet<u64>,
    /// Offsets of parts in flight, by message number.
    pub under_way: BTreeMap<u64, u64>,
    /// Request that the site has sent since, if it has the beginning of another state.
    pub wanted: Option<StateWanted>,
}

impl Transfer {
    fn new(held: Arc<Held>, offset: u64) -> Self {
        let (lost, again, under_way, wanted) = Default::default();
        let total = held.training.total();
        let next = Some(if offset < total { offset } else { 0 });
        Transfer { held, next, lost, again, under_way, wanted }
    }

    /// Returns the offset of the part to send next, if one may be sent now.
    pub fn take_next(&mut self) -> Option<u64> {
        if self.under_way.len() >= PARTS_UNDER_WAY || self.wanted.is_some() {
            return None;
        }
        let offset = self.again.pop_first().or(self.next)?;
        if Some(offset) == self.next {
            let end = offset.saturating_add(PART_BYTES as u64);
            self.next = Some(end).filter(|end| *end < self.held.training.total());
        }
        Some(offset)
    }

    fn is_over(&self) -> bool {
        self.next.is_none() && [self.lost.len(), self.again.len(), self.under_way.len()] == [0; 3]
    }
}

/// States that this site can send, and sites that requested one.
#[derive(Debug, Default)]
pub(crate) struct Giving {
    pub wanted: BTreeMap<SiteNo, StateWanted>,
    /// Round for which the training program was asked for its state.
    pub asked: Option<u32>,
    pub held: Option<Arc<Held>>,
    pub transfers: BTreeMap<SiteNo, Transfer>,
}

impl Giving {
    /// Whether a site is being sent a state.
    pub fn is_busy(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// Records a delivered message; returns the site whose part it was.
    pub fn delivered(&mut self, id: u64) -> Option<SiteNo> {
        let (&site, transfer) = self.transfers.iter_mut().find(|(_, one)| one.under_way.contains_key(&id))?;
        transfer.under_way.remove(&id);
        if let Some(wanted) = transfer.wanted.clone().filter(|_| transfer.under_way.is_empty()) {
            self.transfers.remove(&site);
            self.wanted.insert(site, wanted);
        } else if transfer.is_over() {
            self.transfers.remove(&site);
        }
        Some(site)
    }

    /// Records an undelivered message: its part is sent again with the next tick.
    pub fn failed(&mut self, id: u64) {
        for transfer in self.transfers.values_mut() {
            if let Some(offset) = transfer.under_way.remove(&id) {
                transfer.lost.insert(offset);
            }
        }
    }

    /// Advances time: undelivered parts may be sent again.
    pub fn tick(&mut self) {
        self.transfers.values_mut().for_each(|one| one.again.append(&mut one.lost));
    }

    /// Handles a closed connection. If the site still wants the state, it asks again.
    pub fn down(&mut self, site: SiteNo) {
        self.transfers.remove(&site);
        self.wanted.remove(&site);
    }

    /// Starts transfers of the held state to waiting sites. `current`: the round whose state new requests
    /// get.
    pub fn start(&mut self, current: Option<u32>) {
        let Some(held) = self.held.clone() else { return };
        let is_right = Some(held.round) == current;
        for (site, wanted) in std::mem::take(&mut self.wanted) {
            let has_beginning = wanted.digest[..] == held.training.digest()[..];
            if !has_beginning && !is_right {
                self.wanted.insert(site, wanted);
                continue;
            }
            let offset = if has_beginning { wanted.offset } else { 0 };
            self.transfers.insert(site, Transfer::new(held.clone(), offset));
        }
    }
}
