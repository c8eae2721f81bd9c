//! The computed copies of updates that were applied, and those that may have been lost.
//!
//! An update may be wasted, or taken and not applied, only in these cases:
//! - its worker's process was killed, and this was the last that it computed;
//! - the server's process was killed, and this was the last that the worker's process computed, or that the
//!   server took of it, before the server restarted: updates that are not in the checkpoint are lost with it
//!   (docs/protocol/ps.md, U8);
//! - the server has timed out the worker meanwhile (U7, R8).

use std::collections::{BTreeMap, BTreeSet};

use super::records::{Pushed, Records, Sent};
use crate::error::Error;

/// Updates that were applied, of those that were computed.
pub struct Ledger<'a> {
    records: &'a Records,
    /// By incarnation of the server, worker and iteration.
    arrived: BTreeMap<(usize, &'a str, u64), &'a Pushed>,
    /// By life, worker and iteration: what was applied.
    applied: BTreeSet<(usize, &'a str, u64)>,
    /// By worker, iteration and place among the copies: those that were taken.
    taken: BTreeSet<(usize, u64, usize)>,
    /// Start of each update's computation by worker and process, in order.
    begun: BTreeMap<(usize, usize), Vec<u64>>,
}

impl<'a> Ledger<'a> {
    /// # Errors
    /// An update that was taken twice.
    pub fn new(records: &'a Records) -> Result<Self, Error> {
        let mut arrived = BTreeMap::new();
        for pushed in &records.pushed {
            let key = (pushed.incarnation, pushed.worker.as_str(), pushed.iteration);
            if arrived.insert(key, pushed).is_some() {
                let why = format!("its update of iteration {} was taken twice", pushed.iteration);
                return Err(Error::Failed { who: pushed.worker.clone(), why });
            }
        }
        let mut begun: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for ((worker, _), copies) in &records.sent {
            copies
                .iter()
                .for_each(|sent| begun.entry((*worker, sent.incarnation)).or_default().push(sent.began_ns));
        }
        begun.values_mut().for_each(|times| times.sort_unstable());
        Ok(Ledger { records, arrived, applied: BTreeSet::new(), taken: BTreeSet::new(), begun })
    }

    /// Returns the update of a worker that has arrived.
    pub fn arrived(&self, incarnation: usize, name: &str, iteration: u64) -> Option<&'a Pushed> {
        self.arrived.get(&(incarnation, name, iteration)).copied()
    }

    /// The copy that has arrived: the last one begun before of the same bits, or else of the same version. It
    /// counts as taken.
    pub fn copy(&mut self, worker: usize, pushed: &Pushed) -> Option<&'a Sent> {
        let copies = self.records.sent.get(&(worker, pushed.iteration))?;
        let is_free = |place: &usize| !self.taken.contains(&(worker, pushed.iteration, *place));
        let is_of =
            |place: &usize| copies[*place].base == pushed.base && copies[*place].began_ns <= pushed.at_ns;
        let free = || (0..copies.len()).rev().filter(is_free).filter(is_of);
        let place = free().find(|place| copies[*place].sent == pushed.pushed).or_else(|| free().next())?;
        self.taken.insert((worker, pushed.iteration, place));
        copies.get(place)
    }

    /// Returns an update that a server had applied, and not reported, before it restarted: the copy that it
    /// reported as arrived, or else the newest one that was not applied.
    pub fn unreported_copy(
        &mut self,
        incarnation: usize,
        worker: usize,
        name: &'a str,
        iteration: u64,
        again_ns: u64,
    ) -> Option<&'a Sent> {
        if let Some(pushed) = self.arrived(incarnation, name, iteration) {
            self.apply(incarnation, name, iteration);
            return self.copy(worker, pushed);
        }
        let copies = self.records.sent.get(&(worker, iteration))?;
        let is_free = |place: &usize| !self.taken.contains(&(worker, iteration, *place));
        let place = (0..copies.len()).rev().filter(is_free).find(|at| copies[*at].began_ns < again_ns)?;
        self.taken.insert((worker, iteration, place));
        copies.get(place)
    }

    /// An update is applied; false if it was before.
    pub fn apply(&mut self, incarnation: usize, name: &'a str, iteration: u64) -> bool {
        self.applied.insert((incarnation, name, iteration))
    }

    /// The oldest version that what is applied from a place of the record on was computed from, in that
    /// incarnation of the server; and what it may have applied without telling, if it was killed.
    pub fn oldest_base(&self, from: usize, incarnation: usize) -> Option<u64> {
        let later =
            self.records.applied[from..].iter().take_while(|applied| applied.incarnation == incarnation);
        let updates = later.flat_map(|applied| &applied.updates);
        let reported = updates
            .filter_map(|update| self.arrived(incarnation, &update.worker, update.iteration)?.base.into());
        let killed_ns = self.records.restarts.get(incarnation).map(|again| again.at_ns);
        let open = killed_ns
            .map(|at_ns| self.wasted_updates().into_iter().filter(move |(_, sent)| sent.began_ns < at_ns));
        reported.chain(open.into_iter().flatten().map(|(_, sent)| sent.base)).min()
    }

    /// Updates that have arrived, and that no version has.
    pub fn lost(&self) -> Vec<&'a Pushed> {
        let is_lost = |key: &(&(usize, &str, u64), &&Pushed)| !self.applied.contains(key.0);
        self.arrived.iter().filter(is_lost).map(|(_, pushed)| *pushed).collect()
    }

    /// Returns whether an update that has arrived may be lost: it was the last one that the server took of
    /// its worker before the server was killed.
    pub fn may_be_lost(&self, pushed: &Pushed) -> bool {
        let of = self.records.pushed.iter().filter(|other| other.worker == pushed.worker);
        let last = of.filter(|other| other.incarnation == pushed.incarnation).map(|other| other.at_ns).max();
        pushed.incarnation < self.records.restarts.len() && last == Some(pushed.at_ns)
    }

    /// Returns the updates that were computed and never applied, with their workers.
    pub fn wasted_updates(&self) -> Vec<(usize, &'a Sent)> {
        let copies = self.records.sent.iter().flat_map(|((worker, iteration), copies)| {
            copies.iter().enumerate().map(move |(place, sent)| ((*worker, *iteration, place), sent))
        });
        copies.filter(|(key, _)| !self.taken.contains(key)).map(|(key, sent)| (key.0, sent)).collect()
    }

    /// Returns whether an update may have been wasted.
    pub fn may_be_wasted(&self, worker: usize, name: &str, sent: &Sent) -> bool {
        let (before, next) = self.neighbors(worker, sent);
        let is_killed = next.is_none() && self.records.killed.contains(&(worker, sent.incarnation));
        let next = next.unwrap_or(u64::MAX);
        let is_server_killed =
            self.records.restarts.iter().any(|again| sent.began_ns < again.at_ns && again.at_ns <= next);
        let mut gone = self.records.gone.iter().filter(|gone| gone.worker == name);
        is_killed || is_server_killed || gone.any(|gone| (before..=next).contains(&gone.at_ns))
    }

    /// Returns when the same process began the update before, and the next one, if it did.
    pub fn neighbors(&self, worker: usize, sent: &Sent) -> (u64, Option<u64>) {
        let times = self.begun.get(&(worker, sent.incarnation)).map_or(&[][..], Vec::as_slice);
        let before = times.iter().rfind(|time| **time < sent.began_ns).copied().unwrap_or(0);
        (before, times.iter().find(|time| **time > sent.began_ns).copied())
    }
}

/// Returns the orders in which `count` parts are tried: all, or the order by number if those are too many.
pub fn orders(count: usize) -> Vec<Vec<usize>> {
    const MOST: usize = 5;
    if count > MOST {
        return vec![(0..count).collect()];
    }
    let mut all = vec![Vec::new()];
    for next in 0..count {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).rev().map(move |place| {
                let mut order = order.clone();
                order.insert(place, next);
                order
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
