//! Gradients of the sites, and comparison of every sum.

use std::time::Duration;

use inart_protocol_sites::SiteNo;
use inart_sites_agent::audit::sum_of_sites;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Event, World, state};

fn gradient(weights: &[f32], site: u16, round: u32) -> Vec<f32> {
    let value = |(at, weight): (usize, &f32)| {
        let mut draws =
            ChaCha8Rng::seed_from_u64(u64::from(site) << 48 | u64::from(round) << 24 | (at as u64 / 7));
        let size = [1.0, 1e-3, 1e3, 0.0][(at / 50 + round as usize) % 4];
        draws.random_range(-1.0f32..1.0) * size + weight * 0.01
    };
    weights.iter().enumerate().map(value).collect()
}

fn apply(weights: &mut [f32], sum: &[f32]) {
    weights.iter_mut().zip(sum).for_each(|(weight, sum)| *weight -= 0.05 * sum);
}

impl World {
    pub(super) fn compute(&mut self, at: usize, incarnation: u64, round: u32) {
        let takes = self.draws.random_range(0.0..0.5);
        self.at(takes, Event::Computed { at: SiteNo(at as u16), incarnation, round });
    }

    pub(super) fn computed(&mut self, at: SiteNo, incarnation: u64, round: u32) {
        let now = self.now();
        let Some(site) = self.sites[at.index()].as_mut().filter(|site| site.incarnation == incarnation)
        else {
            return;
        };
        let gradient = gradient(&site.weights, at.0, round);
        // Every third site that never died passes its chunks one by one, every other time in reverse order,
        // where chunks are whole blocks.
        let setup = &self.setups[0];
        let is_whole = setup.tensors.iter().all(|tensor| *tensor <= 256) || setup.chunk_values[0] >= 256;
        let is_by_chunk = (u32::from(at.0) + round).is_multiple_of(3) && incarnation == 1 && is_whole;
        if !is_by_chunk || site.driver.begin(now).is_err() {
            site.driver.all_reduce(gradient, now).unwrap();
            return self.carry_out(at.index());
        }
        let mut first = 0;
        let mut chunks = Vec::new();
        for (chunk, &values) in self.setups[0].chunk_values.iter().enumerate() {
            chunks.push((chunk, gradient[first..first + values].to_vec()));
            first += values;
        }
        if round.is_multiple_of(2) {
            chunks.reverse();
        }
        for (chunk, values) in chunks {
            let Some(site) = &mut self.sites[at.index()] else { return };
            site.driver.contribute(chunk, values, now).unwrap();
            self.carry_out(at.index());
        }
        self.outcome.by_chunk += 1;
    }

    /// Handles the sum of a chunk, which arrives before the round's sum.
    pub(super) fn summed(&mut self, at: usize, round: u32, chunk: usize, values: Vec<f32>) {
        let of_round = self.chunk_sums.entry((at, round)).or_default();
        assert!(of_round.insert(chunk, values).is_none(), "reported once");
    }

    pub(super) fn reduced(&mut self, at: usize, incarnation: u64, round: u32, sum: &[f32]) {
        while self.rounds.len() <= round as usize {
            let next = self.rounds.len() as u32;
            let expected = self.expected(next);
            apply(&mut self.reference, &expected);
            self.rounds.push(expected);
        }
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(sum), bits(&self.rounds[round as usize]), "site {at}, round {round}");
        if let Some(chunk_sums) = self.chunk_sums.remove(&(at, round)) {
            let chunk_sums: Vec<f32> = chunk_sums.into_values().flatten().collect();
            assert_eq!(bits(&chunk_sums), bits(sum), "site {at}, round {round}, chunk by chunk");
        }
        let (last, site) = (self.last_round, self.sites[at].as_mut().unwrap());
        apply(&mut site.weights, sum);
        let (seen, agent) = site.driver.counters();
        self.outcome.asks += agent.asks;
        self.outcome.answered += seen.answered;
        self.outcome.malformed += agent.malformed;
        self.outcome.failed += agent.failed;
        self.outcome.version = self.outcome.version.max(site.driver.policy_version());
        if round >= last {
            self.done.insert(at);
            let now = Duration::from_nanos(self.now);
            site.driver.finish(state(&site.weights), now).unwrap();
        } else {
            self.compute(at, incarnation, round + 1);
        }
    }

    fn expected(&self, round: u32) -> Vec<f32> {
        let all: Vec<Vec<f32>> =
            (0..self.sites.len()).map(|site| gradient(&self.reference, site as u16, round)).collect();
        sum_of_sites(&all.iter().map(|values| &values[..]).collect::<Vec<_>>(), &self.setups[0].tensors)
    }
}
