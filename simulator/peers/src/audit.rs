//! Invariants, checked with every report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_peers_agent::{Average, Received};
use inart_protocol_peers::Outcome;
use inart_virtual::SplitMix64;

/// Rounds of a sender whose updates are kept. A later arrival counts as a defect: no multicast starts before
/// the previous one has ended.
const KEPT: u32 = 64;

/// Peer at fault, round, and problem.
pub(crate) type Wrong = (usize, u32, String);

/// Ground truth.
pub(crate) struct Audit {
    is_bsp: bool,
    /// By sender: the updates of its last rounds.
    sent: Vec<BTreeMap<u32, Arc<[f32]>>>,
    /// By receiver and sender: the round of the last update that has arrived; 0 before any.
    last: Vec<Vec<u32>>,
    /// By receiver and BSP round: the senders that reported its update as complete.
    complete: BTreeMap<(usize, u32), BTreeSet<usize>>,
    pub updates: u64,
    pub averages: u64,
    pub given_up: u64,
    pub withdrawn: u64,
}

/// Returns a model: multiples of 2⁻¹⁶ below 2⁷, so that their sums are exact in any order.
pub(crate) fn model(values: usize, draws: &mut SplitMix64) -> Vec<f32> {
    let value = |bits: u64| (bits as u32 as i32 >> 8) as f32 / UNIT as f32;
    (0..values).map(|_| value(draws.next_u64())).collect()
}

const UNIT: f64 = 65536.0;

impl Audit {
    pub fn new(peers: usize, is_bsp: bool) -> Self {
        Audit {
            is_bsp,
            sent: vec![BTreeMap::new(); peers],
            last: vec![vec![0; peers]; peers],
            complete: BTreeMap::new(),
            updates: 0,
            averages: 0,
            given_up: 0,
            withdrawn: 0,
        }
    }

    pub fn sends(&mut self, from: usize, round: u32, model: &[f32]) -> Result<(), Wrong> {
        self.sent[from].retain(|&kept, _| round.saturating_sub(kept) < KEPT);
        match self.sent[from].insert(round, model.into()) {
            None => Ok(()),
            Some(_) => Err((from, round, "has two updates".to_owned())),
        }
    }

    /// Checks that an update equals the sent one, word for word, and is received once.
    pub fn receives(&mut self, at: usize, update: &Received) -> Result<(), Wrong> {
        let (from, round) = (update.from.index(), update.round);
        let wrong = |what: &str| Err((from, round, format!("at receiver {at}: {what}")));
        let Some(sent) = self.sent[from].get(&round) else { return wrong("no peer sent that update") };
        let same = sent.iter().map(|value| value.to_bits()).eq(update.words.iter().copied());
        if !same {
            return wrong("the update is not the one that was sent");
        }
        if self.last[at][from] >= round {
            return wrong("the update was there before, or a newer one");
        }
        self.last[at][from] = round;
        self.updates += 1;
        Ok(())
    }

    /// Checks that receivers reported as complete have the update, and that every receiver is named once.
    pub fn ends(&mut self, from: usize, outcome: &Outcome) -> Result<(), Wrong> {
        let Outcome { round, complete, withdrawn, given_up, .. } = outcome;
        for to in complete.iter() {
            if self.last[to.index()][from] != *round {
                return Err((
                    from,
                    *round,
                    format!("receiver {to} is reported to have the update and has not"),
                ));
            }
            if self.is_bsp {
                self.complete.entry((to.index(), *round)).or_default().insert(from);
            }
        }
        let named: BTreeSet<_> = [complete, withdrawn, given_up].iter().flat_map(|all| all.iter()).collect();
        if named.len() != complete.len() + withdrawn.len() + given_up.len() {
            return Err((from, *round, "a receiver ended in two ways".to_owned()));
        }
        self.given_up += given_up.len() as u64;
        self.withdrawn += withdrawn.len() as u64;
        Ok(())
    }

    /// Checks that the average is the one of the updates that it names, which have arrived; in bulk
    /// synchronous rounds, of all that are complete here.
    pub fn averages(&mut self, at: usize, own: &[f32], round: u32, average: &Average) -> Result<(), Wrong> {
        let wrong = |what: String| Err((at, round, what));
        let Average { values, of, not_finite, other_length, without_own } = average;
        if not_finite.len() + other_length.len() > 0 || *without_own {
            return wrong("left finite updates, or its own, out of its average".to_owned());
        }
        let mut models = vec![own];
        for (rank, of_round) in of {
            let is_here = self.last[at][rank.index()] >= *of_round;
            match self.sent[rank.index()].get(of_round).filter(|_| is_here) {
                Some(sent) => models.push(sent),
                None => return wrong(format!("averages update {of_round} of peer {rank}, which it lacks")),
            }
        }
        for (place, value) in values.iter().enumerate() {
            let sum: i64 = models.iter().map(|model| (f64::from(model[place]) * UNIT) as i64).sum();
            let mean = (sum as f64 / UNIT / models.len() as f64) as f32;
            if value.to_bits() != mean.to_bits() {
                return wrong(format!("value {place} of its average is {value}, and not {mean}"));
            }
        }
        if self.is_bsp {
            let complete = self.complete.remove(&(at, round)).unwrap_or_default();
            let of: BTreeSet<usize> = of.iter().map(|(rank, _)| rank.index()).collect();
            if !of.is_superset(&complete) {
                return wrong(format!("averages updates of {of:?}, and {complete:?} are there"));
            }
        }
        self.averages += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use inart_protocol_peers::Receivers;
    use inart_wire::Rank;

    use super::*;

    fn rank(number: usize) -> Rank {
        Rank::try_from(number).expect("there are few")
    }

    /// Returns an audit in which peers 0 and 1 have sent their first updates.
    fn audit() -> (Audit, [Vec<f32>; 2]) {
        let mut draws = SplitMix64::new(1);
        let models = [0, 1].map(|_| model(5, &mut draws));
        let mut audit = Audit::new(2, true);
        for (from, model) in models.iter().enumerate() {
            audit.sends(from, 1, model).expect("the first one");
        }
        (audit, models)
    }

    fn received(model: &[f32], round: u32) -> Received {
        let words = model.iter().map(|value| value.to_bits()).collect();
        Received { from: rank(0), round, words: Arc::new(words) }
    }

    #[test]
    fn different_duplicate_and_unsent_updates_are_detected() {
        let (mut audit, [model, _]) = audit();
        assert!(audit.sends(0, 1, &model).is_err(), "two of one round");
        let mut other = model.clone();
        other[4] = f32::from_bits(other[4].to_bits() ^ 1);
        assert!(audit.receives(1, &received(&other, 1)).is_err(), "a bit differs");
        assert!(audit.receives(1, &received(&model[..4], 1)).is_err(), "a word is missing");
        assert!(audit.receives(1, &received(&model, 2)).is_err(), "not sent");
        assert_eq!(audit.receives(1, &received(&model, 1)), Ok(()));
        assert!(audit.receives(1, &received(&model, 1)).is_err(), "twice");
        assert_eq!(audit.updates, 1);
    }

    #[test]
    fn a_false_report_of_completion_is_detected() {
        let (mut audit, [model, _]) = audit();
        let to = Receivers::one(rank(1));
        let outcome = Outcome { round: 1, complete: to.clone(), ..Outcome::default() };
        assert!(audit.ends(0, &outcome).is_err());
        assert_eq!(audit.receives(1, &received(&model, 1)), Ok(()));
        assert_eq!(audit.ends(0, &outcome), Ok(()));
        assert!(audit.ends(0, &Outcome { given_up: to, ..outcome }).is_err(), "in two ways");
    }

    #[test]
    fn an_average_of_others_or_of_fewer_is_noticed() {
        let (mut audit, [model, own]) = audit();
        let mean: Vec<f32> = model.iter().zip(&own).map(|(a, b)| f32::midpoint(*a, *b)).collect();
        let average = Average { values: mean, of: vec![(rank(0), 1)], ..Average::default() };
        assert!(audit.averages(1, &own, 1, &average).is_err(), "the update has not arrived");
        audit.receives(1, &received(&model, 1)).expect("as it was sent");
        let alone = Average { values: own.clone(), ..Average::default() };
        let complete = Outcome { round: 1, complete: Receivers::one(rank(1)), ..Outcome::default() };
        audit.ends(0, &complete).expect("the update has arrived");
        let mut off = average.clone();
        off.values[2] = f32::from_bits(off.values[2].to_bits() + 1);
        assert!(audit.averages(1, &own, 1, &off).is_err(), "the last bit differs");
        assert_eq!(audit.averages(1, &own, 1, &average), Ok(()));
        audit.ends(0, &complete).expect("the update has arrived");
        assert!(audit.averages(1, &own, 1, &alone).is_err(), "one is left out");
    }
}
