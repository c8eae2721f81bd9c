//! Invariants, checked with every output, and counts of events.

use std::collections::{BTreeMap, BTreeSet};

use inart_peers_agent::{Average, Received, Start, Sync};
use inart_protocol_peers::Outcome;

use super::trial::Trial;

/// Counts of events, summed over trials.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub received: u64,
    pub averaged: u64,
    pub given_up: u64,
    pub withdrawn: u64,
    pub gone: u64,
    pub back: u64,
    pub abandoned: u64,
    pub rounds_with_previous_receivers: u64,
    pub forced: u64,
    pub repairs: u64,
    pub repeated: u64,
    pub late: u64,
    pub old_term: u64,
    pub superseded_coordinators: u64,
    pub superseded_updates: u64,
    pub stale_incarnation: u64,
    pub restarts: u64,
    pub overflowed: u64,
    pub failed: u64,
    /// Peers that started when no other could admit them.
    pub rejected: u64,
    /// Peers that restarted and resumed from others' updates.
    pub adopted: u64,
    /// Rounds that restarted peers skipped.
    pub passed: u64,
    /// Restarted peers for which no other had an update.
    pub restarted_from_init: u64,
    /// Messages of coordinators and peers with invalid numbers, and unusable packets.
    pub wild_choices: u64,
    pub wild_reports: u64,
    pub hostile: u64,
    /// Peers refused because of another setting.
    pub refused: u64,
    /// Programs that hung, and peers that ended with an error that names them.
    pub hung: u64,
    pub ended_by_name: u64,
    /// Shortest and longest time of a multicast, relative to the planned time.
    pub over_plan_least: f64,
    pub over_plan_most: f64,
}

impl Seen {
    pub fn list(&self) -> [(&'static str, u64); 22] {
        [
            ("an update received", self.received),
            ("a model averaged", self.averaged),
            ("a receiver timed out", self.given_up),
            ("a receiver withdrawn", self.withdrawn),
            ("a peer declared failed", self.gone),
            ("a peer declared failed was alive", self.back),
            ("an update abandoned", self.abandoned),
            ("a round without a choice", self.rounds_with_previous_receivers),
            ("a receiver forced by the rule of k", self.forced),
            ("a repair", self.repairs),
            ("a chunk twice", self.repeated),
            ("a chunk of an older round", self.late),
            ("an older coordinator refused", self.old_term),
            ("a coordinator superseded", self.superseded_coordinators),
            ("an update replaced by a newer one", self.superseded_updates),
            ("something from another incarnation", self.stale_incarnation),
            ("a restart", self.restarts),
            ("a queue overflowed", self.overflowed),
            ("a connection that takes nothing", self.failed),
            ("a model of others adopted", self.adopted),
            ("a round passed over", self.passed),
            ("no peer with a model", self.restarted_from_init),
        ]
    }

    /// Returns counts of forbidden acts of peers, coordinators and programs, and of their consequences.
    pub fn odd(&self) -> [(&'static str, u64); 6] {
        [
            ("a wild choice", self.wild_choices),
            ("a wild report", self.wild_reports),
            ("a hostile packet", self.hostile),
            ("a peer with other rounds", self.refused),
            ("a program that hangs", self.hung),
            ("a peer that ends with its name", self.ended_by_name),
        ]
    }

    pub fn add(&mut self, other: &Seen) {
        let Seen { over_plan_least, over_plan_most, .. } = *self;
        macro_rules! add {
            ($($field:ident)*) => { $(self.$field += other.$field;)* };
        }
        add!(received averaged given_up withdrawn gone back abandoned rounds_with_previous_receivers forced
            repairs repeated late old_term superseded_coordinators superseded_updates stale_incarnation
            restarts overflowed failed rejected adopted passed restarted_from_init wild_choices
            wild_reports hostile refused hung ended_by_name);
        self.over_plan_least = over_plan_least.min(other.over_plan_least);
        self.over_plan_most = over_plan_most.max(other.over_plan_most);
    }
}

/// A peer in one of its incarnations.
pub type Incarnation = (usize, u32);

/// Ground truth.
pub struct Audit {
    trial: Trial,
    /// Each update: the words that its sender had.
    sent: BTreeMap<(Incarnation, u32), Vec<u32>>,
    /// Receiver, sender, round.
    received: BTreeSet<(Incarnation, Incarnation, u32)>,
    /// By BSP round and receiver: the senders that reported it as complete.
    complete: BTreeMap<(Incarnation, u32), BTreeSet<usize>>,
    /// Whether some peer has declared another failed: that one is no receiver, and no peer waits for it.
    pub is_anybody_gone: bool,
    /// The rounds since a sender's update was complete at each peer.
    waits: BTreeMap<Incarnation, Vec<u32>>,
    pub seen: Seen,
}

impl Audit {
    pub fn new(trial: &Trial) -> Self {
        Audit {
            trial: trial.clone(),
            sent: BTreeMap::new(),
            received: BTreeSet::new(),
            complete: BTreeMap::new(),
            is_anybody_gone: false,
            waits: BTreeMap::new(),
            seen: Seen { over_plan_least: f64::INFINITY, ..Seen::default() },
        }
    }

    pub fn sends(&mut self, from: Incarnation, round: u32, model: &[f32]) {
        let words = model.iter().map(|value| value.to_bits()).collect();
        assert!(
            self.sent.insert((from, round), words).is_none(),
            "{from:?} has two updates of round {round}"
        );
    }

    /// Checks that an update equals the sender's one of that round, and is received once.
    pub fn receives(&mut self, at: Incarnation, update: &Received) {
        let from = update.from.index();
        let incarnations = self.sent.range(((from, 0), 0)..((from + 1, 0), 0));
        let same =
            incarnations.filter(|((_, round), words)| *round == update.round && **words == *update.words);
        let incarnations: Vec<Incarnation> = same.map(|((incarnation, _), _)| *incarnation).collect();
        assert_eq!(
            incarnations.len(),
            1,
            "{at:?}: update {} of peer {from} was not sent by it",
            update.round
        );
        let is_new = self.received.insert((at, incarnations[0], update.round));
        assert!(is_new, "{at:?} has update {} of {:?} twice", update.round, incarnations[0]);
        self.seen.received += 1;
    }

    /// Checks an outcome: peers reported as complete have the update, every receiver is named once, and the
    /// receivers that the fairness bound forces are among them.
    #[allow(clippy::needless_range_loop, reason = "the number is a peer's")]
    pub fn ends(&mut self, from: Incarnation, outcome: &Outcome, current: &[Option<u32>]) {
        let parts = [&outcome.complete, &outcome.withdrawn, &outcome.given_up];
        let n = self.trial.peers;
        let rank = |peer: usize| inart_wire::Rank::try_from(peer).unwrap();
        for peer in 0..n {
            let named = parts.iter().filter(|part| part.contains(rank(peer))).count();
            assert!(named <= 1, "{from:?}: peer {peer} ended in {named} ways");
            if outcome.complete.contains(rank(peer)) {
                let any = |at: &(Incarnation, Incarnation, u32)| {
                    at.0.0 == peer && at.1 == from && at.2 == outcome.round
                };
                assert!(
                    self.received.iter().any(any),
                    "{from:?}: peer {peer} does not have update {}",
                    outcome.round
                );
                if let Some(incarnation) = current[peer] {
                    self.complete.entry(((peer, incarnation), outcome.round)).or_default().insert(from.0);
                }
            }
        }
        let forces = self.trial.force_after.filter(|_| self.is_fault_free());
        let waits = self.waits.entry(from).or_insert_with(|| vec![0; n]);
        for (peer, waited) in waits.iter_mut().enumerate() {
            let is_there = current[peer].is_some() && peer != from.0;
            let was_tried = outcome.complete.contains(rank(peer)) || outcome.given_up.contains(rank(peer));
            if let Some(k) = forces.filter(|_| is_there) {
                assert!(*waited < k || was_tried, "{from:?}: peer {peer} has waited for {waited} rounds");
            }
            *waited = if outcome.complete.contains(rank(peer)) { 0 } else { *waited + 1 };
        }
        self.seen.given_up += outcome.given_up.len() as u64;
        self.seen.withdrawn += outcome.withdrawn.len() as u64;
    }

    /// Returns whether no peer is killed or disconnected; absent peers cannot receive.
    fn is_fault_free(&self) -> bool {
        use super::trial::Fault::{CoordinatorBegins, CoordinatorDies};
        let harmless = |fault: &super::trial::Fault| matches!(fault, CoordinatorBegins | CoordinatorDies);
        self.trial.faults.iter().all(|(_, fault)| harmless(fault)) && !self.is_anybody_gone
    }

    /// Checks that the average is the one of the updates it names, which were received; in bulk synchronous
    /// rounds without faults, of all that were complete here.
    pub fn averages(&mut self, at: Incarnation, own: &[f32], start: &Start) {
        let Some(Average { values, of, not_finite, other_length, without_own }) = &start.average else {
            return;
        };
        assert!(not_finite.is_empty() && other_length.is_empty());
        self.seen.averaged += 1;
        self.seen.abandoned += start.lacking.len() as u64;
        // An incarnation that has sent nothing, and only such a one, has no model of its own.
        assert_eq!(*without_own, own.is_empty(), "{at:?}, round {}", start.round);
        self.seen.adopted += u64::from(*without_own);
        let own = Some(own).filter(|own| !own.is_empty());
        let own = own.map(|own| own.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
        let mut models: Vec<Vec<u32>> = own.into_iter().collect();
        for (rank, round) in of {
            let from = self
                .received
                .iter()
                .filter(|(to, from, is)| *to == at && from.0 == rank.index() && is == round);
            let from: Vec<Incarnation> = from.map(|(_, from, _)| *from).collect();
            // The later of two incarnations.
            let incarnation = from
                .last()
                .unwrap_or_else(|| panic!("{at:?} averages update {round} of {rank}, which it lacks"));
            models.push(self.sent[&(*incarnation, *round)].clone());
        }
        // Values are multiples of 2^-16 below 2^9: their sum is exact.
        let unit = 65536.0;
        for (at_value, value) in values.iter().enumerate() {
            let sum: i64 =
                models.iter().map(|model| (f64::from(f32::from_bits(model[at_value])) * unit) as i64).sum();
            let mean = (sum as f64 / unit / models.len() as f64) as f32;
            assert_eq!(value.to_bits(), mean.to_bits(), "{at:?}, round {}, value {at_value}", start.round);
        }
        let round = start.round - 1;
        if self.trial.sync == Sync::Bsp {
            assert!(of.iter().all(|(_, is)| *is == round), "{at:?}: {of:?} in round {round}");
            let complete = self.complete.get(&(at, round)).cloned().unwrap_or_default();
            let of: BTreeSet<usize> = of.iter().map(|(rank, _)| rank.index()).collect();
            assert!(
                !self.is_fault_free() || of == complete,
                "{at:?}: {of:?}, and {complete:?} reported completion"
            );
        }
    }
}
