//! A training program that records everything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use inart_peers_agent::{Average, Received};
use inart_peers_host::{Ending, PeerHost, Start, Training};
use inart_protocol_peers::Outcome;

use super::Action;

/// Sent and received updates of a peer in one incarnation.
#[derive(Debug)]
pub struct Recorded {
    pub rank: usize,
    /// By round: the bits of the peer's update.
    pub sent: BTreeMap<u32, Vec<u32>>,
    /// Sender, round and bits.
    pub received: Vec<(usize, u32, Arc<Vec<u32>>)>,
    /// Outcome of each multicast, by round.
    pub outcomes: BTreeMap<u32, Outcome>,
    /// Averages, by the round of their updates.
    pub averages: BTreeMap<u32, Average>,
    pub rounds_with_previous_receivers: usize,
    pub ending: Option<Ending>,
}

impl Recorded {
    /// Returns the receivers that were reported to have the update of that round.
    pub fn complete(&self, round: u32) -> Vec<usize> {
        self.outcomes[&round].complete.iter().map(|rank| rank.index()).collect()
    }
}

pub struct Recorder {
    recorded: Recorded,
    values: usize,
    actions: Vec<(String, u32, Action)>,
    pub takes: Duration,
    pub spoils: Option<u32>,
    crashes_in: Option<u32>,
}

/// Returns a peer's update: multiples of 2^-16 below 2^8, which have exact sums.
fn update(rank: usize, round: u32, values: usize) -> Vec<f32> {
    let value = |at: usize| {
        let place = (at as u64) << 24 ^ (rank as u64) << 16 ^ u64::from(round);
        let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (((mixed >> 40) as i64) - (1 << 23)) as f32 / 65536.0
    };
    (0..values).map(value).collect()
}

impl Recorder {
    pub fn new(rank: usize, values: usize, actions: Vec<(String, u32, Action)>) -> Self {
        let recorded = Recorded {
            rank,
            sent: BTreeMap::new(),
            received: Vec::new(),
            outcomes: BTreeMap::new(),
            averages: BTreeMap::new(),
            rounds_with_previous_receivers: 0,
            ending: None,
        };
        Recorder { recorded, values, actions, takes: Duration::ZERO, spoils: None, crashes_in: None }
    }

    pub fn ended(mut self, ending: Option<Ending>) -> Recorded {
        self.recorded.ending = ending;
        self.recorded
    }

    /// Runs a peer until it computes a round: there the program panics, and the peer is dropped.
    pub fn crash_in(mut self, round: u32, host: PeerHost) -> Recorded {
        self.crashes_in = Some(round);
        let run = std::panic::AssertUnwindSafe(|| host.run(&mut self));
        assert!(std::panic::catch_unwind(run).is_err(), "the peer must crash in round {round}");
        self.ended(None)
    }

    fn average(&mut self, start: &Start) {
        if let Some(average) = &start.average {
            let is_new = self.recorded.averages.insert(start.round - 1, average.clone()).is_none();
            assert!(is_new, "round {} is averaged twice", start.round - 1);
        }
    }
}

impl Training for Recorder {
    fn compute(&mut self, start: &Start) -> Vec<f32> {
        self.average(start);
        assert!(self.crashes_in != Some(start.round), "this program crashes here on purpose");
        while let Some(at) = self.actions.iter().position(|(_, round, _)| *round <= start.round) {
            let (_, _, action) = self.actions.remove(at);
            action();
        }
        std::thread::sleep(self.takes);
        let mut update = update(self.recorded.rank, start.round, self.values);
        let words = update.iter().map(|value| value.to_bits()).collect();
        assert!(
            self.recorded.sent.insert(start.round, words).is_none(),
            "round {} is computed twice",
            start.round
        );
        if self.spoils == Some(start.round) {
            update[7] = f32::NAN;
        }
        update
    }

    fn finish(&mut self, start: &Start) {
        self.average(start);
    }

    fn received(&mut self, update: &Received) {
        self.recorded.received.push((update.from.index(), update.round, update.words.clone()));
    }

    fn ended(&mut self, outcome: &Outcome, rounds_with_previous_receivers: bool) {
        self.recorded.outcomes.insert(outcome.round, outcome.clone());
        self.recorded.rounds_with_previous_receivers += usize::from(rounds_with_previous_receivers);
    }
}
