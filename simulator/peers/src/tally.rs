//! Measurements of a run.

use std::collections::BTreeMap;

use inart_peers_agent::Sync;
use inart_protocol_peers::Outcome;

use crate::outcome::{Figures, Rounds, Stale};

/// Measurements of a run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    rounds: BTreeMap<u32, Round>,
    ended: u64,
    reached: u64,
    pub computed_s: f64,
}

#[derive(Debug, Default)]
struct Round {
    longest_s: f64,
    planned_s: f64,
    ended_ns: u64,
}

impl Tally {
    pub fn planned(&mut self, round: u32, seconds: f64) {
        let planned_s = &mut self.rounds.entry(round).or_default().planned_s;
        *planned_s = planned_s.max(seconds);
    }

    pub fn ended(&mut self, outcome: &Outcome, now_ns: u64) {
        let round = self.rounds.entry(outcome.round).or_default();
        round.longest_s = round.longest_s.max(outcome.took.as_secs_f64());
        round.ended_ns = now_ns;
        self.ended += 1;
        self.reached += outcome.complete.len() as u64;
    }

    pub fn figures(&self, sync: Sync, ended: &[u32], seconds: f64) -> Figures {
        let n = ended.len() as f64;
        let receivers_mean = self.reached as f64 / self.ended.max(1) as f64;
        if sync != Sync::Bsp {
            let most = |order: fn(u32, u32) -> u32| ended.iter().copied().reduce(order).unwrap_or(0);
            return Figures::Stale(Stale {
                utilization: self.computed_s / (n * seconds),
                scale: receivers_mean / n,
                rounds: self.ended,
                max_gap: u64::from(most(u32::max) - most(u32::min)),
            });
        }
        // The last choice may be for a round that no peer ends.
        let rounds: Vec<&Round> = self.rounds.values().filter(|round| round.ended_ns > 0).collect();
        let count = rounds.len().max(1) as f64;
        let mean = |of: fn(&Round) -> f64| rounds.iter().map(|round| of(round)).sum::<f64>() / count;
        Figures::Rounds(Rounds {
            seconds: mean(|round| round.longest_s),
            planned_s: mean(|round| round.planned_s),
            round_s: rounds.last().map_or(0.0, |round| round.ended_ns as f64 * 1e-9) / count,
            receivers_mean,
            rounds: rounds.len() as u32,
        })
    }
}
