//! InArt's choice among all candidate trees: those with the shortest predicted round.
//!
//! The packing has the highest goodput, which matters for long gradients. With long delays or few chunks,
//! other trees may be faster, including those of every other scheme. So each candidate is played, unless its
//! links alone would take longer than the best round so far. Then chunks are shifted from the trees that end
//! last to others while the round gets shorter.

use crate::candidate::{Candidate, Case, Played};
use crate::latency;
use crate::plan_error::PlanError;
use crate::scheme::Scheme;
use crate::schemes::{self, Options, Weighted};

/// Ratio of a round to the bound at which the search ends.
const ENOUGH: f64 = 1.02;

/// Maximum number of transfers over all rounds that the search plays. The search plays no rounds if the limit
/// allows fewer than [`LEAST_ROUNDS`].
const MOST_TRANSFERS: usize = 30_000;
const LEAST_ROUNDS: usize = 8;

/// Factor on the limit while another scheme's round is shorter than the best.
const FOR_A_RIVAL: usize = 60;

/// Maximum number of packings without links of long delays.
const RESTRICTED: usize = 4;

/// Parts of the gradient that are shifted from one tree to another at once.
const MOVED: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.031_25, 0.015_625];

/// A round is shorter than another one if it takes less than this fraction of its time.
const LESS: f64 = 1.0 - 1e-9;

/// Best candidate so far, and state of the search.
struct Search<'a> {
    case: &'a Case<'a>,
    effort: Effort<'a>,
    best: Option<(Played, Candidate)>,
    /// Every tree of a candidate, once.
    pool: Vec<Weighted>,
    /// Shortest predicted round of another scheme with its own way of sending, in seconds.
    rival_s: f64,
    transfers: usize,
}

/// Trees of another scheme, or single trees of low latency.
struct Other {
    scheme: Option<Scheme>,
    /// Lower bound on their round if their scheme assigns the chunks, in seconds.
    own_least_s: f64,
    candidate: Candidate,
}

/// Effort of the search.
#[derive(Clone, Copy)]
pub(crate) struct Effort<'a> {
    /// Whether the plan is kept for long: then the search always looks for shorter rounds. A plan that is
    /// soon remade uses the packing or the trees of other schemes, and is searched like a kept plan only if
    /// another scheme's round is shorter.
    pub is_kept: bool,
    /// Returns the time of another scheme's round with its own way of sending, in seconds.
    pub rival_s: &'a dyn Fn(Scheme) -> Option<f64>,
}

/// Returns the trees of the shortest round, with shares that sum to 1.
///
/// # Errors
/// No scheme has trees: the solver's error on the packing.
pub(crate) fn trees(case: &Case<'_>, effort: Effort<'_>) -> Result<Vec<Weighted>, PlanError> {
    let (best, pool) = (None, Vec::new());
    let mut search = Search { case, effort, best, pool, rival_s: f64::INFINITY, transfers: 0 };
    let packed = schemes::packed(case.graph);
    let others = search.others();
    if let Ok(trees) = &packed {
        search.offer(&case.candidate(trees.clone()));
        if effort.is_kept && search.best_s() > case.bound_s * ENOUGH {
            search.offer(&case.candidate(case.filled(trees)));
        }
    }
    let rivals = search.offer_others(others);
    if !effort.is_kept && search.best_s() > search.rival_s {
        return trees(case, Effort { is_kept: true, ..effort });
    }
    if search.can_improve() {
        restricted(case).iter().for_each(|candidate| search.offer(candidate));
        search.best.clone().into_iter().for_each(|best| search.shift(best));
    }
    // The search may end elsewhere when it starts from this candidate.
    for candidate in rivals {
        if search.best_s() > search.rival_s
            && let Some(played) = search.play(&candidate)
        {
            search.shift((played, candidate));
        }
    }
    search.draw();
    match search.best {
        Some((_, best)) => Ok(best.trees),
        None => packed.map(|trees| case.candidate(trees).trees),
    }
}

/// Returns packings without the links of the longest delays, with shares by delay.
fn restricted(case: &Case<'_>) -> Vec<Candidate> {
    let graphs = case.delays_s().into_iter().map_while(|delay_s| case.without_delays_from(delay_s));
    let packed = graphs.take(RESTRICTED).filter_map(|graph| schemes::packed(&graph).ok());
    packed.map(|trees| case.candidate(case.filled(&trees))).collect()
}

impl Search<'_> {
    fn best_s(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(played, _)| played.seconds)
    }

    /// Whether the round can still be improved, and effort is left.
    fn can_improve(&self) -> bool {
        let best_s = self.best_s();
        if !self.effort.is_kept {
            return false;
        }
        if best_s > self.rival_s {
            return self.transfers < FOR_A_RIVAL * MOST_TRANSFERS;
        }
        let is_quick = LEAST_ROUNDS * self.case.transfers() <= MOST_TRANSFERS;
        is_quick && best_s > self.case.bound_s * ENOUGH && self.transfers < MOST_TRANSFERS
    }

    /// Returns the trees of every other scheme, and single trees of low latency; the most promising ones
    /// first.
    fn others(&self) -> Vec<Other> {
        let (gradient, chunk) = (self.case.gradient_bits(), self.case.chunk_bits());
        let mut all = Vec::new();
        for scheme in Scheme::ALL.into_iter().filter(|&scheme| scheme != Scheme::Optimized) {
            // A construction that fails does not stop the others.
            if let Ok(trees) = schemes::trees(self.case.graph, &Options::new(scheme)) {
                let own_least_s = self.case.least_by_quota_s(&trees);
                all.push(Other { scheme: Some(scheme), own_least_s, candidate: self.case.candidate(trees) });
            }
        }
        for tree in latency::trees(self.case.graph, &[chunk, gradient], gradient, chunk) {
            let candidate = self.case.candidate(vec![tree]);
            all.push(Other { scheme: None, own_least_s: candidate.least_s, candidate });
        }
        all.sort_by(|a, b| a.candidate.least_s.total_cmp(&b.candidate.least_s));
        all
    }

    /// Plays candidates. Returns those whose scheme's own round is shorter than the best.
    fn offer_others(&mut self, all: Vec<Other>) -> Vec<Candidate> {
        let mut rivals = Vec::new();
        for Other { scheme, own_least_s, candidate } in all {
            if own_least_s < self.best_s() {
                let seconds = scheme.and_then(self.effort.rival_s).unwrap_or(f64::INFINITY);
                self.rival_s = self.rival_s.min(seconds);
                rivals.extend((seconds < self.best_s()).then(|| candidate.clone()));
            }
            self.offer(&candidate);
        }
        rivals
    }

    /// Plays a round of a candidate that may be the best.
    fn offer(&mut self, candidate: &Candidate) {
        candidate.trees.iter().for_each(|weighted| self.know(weighted));
        if !candidate.trees.is_empty() && candidate.least_s < self.best_s() {
            self.play(candidate);
        }
    }

    /// Plays a round, and keeps the candidate if it is the best.
    fn play(&mut self, candidate: &Candidate) -> Option<Played> {
        self.transfers += self.case.transfers();
        let played = self.case.play(candidate)?;
        if played.seconds < self.best_s() * LESS {
            self.best = Some((played.clone(), candidate.clone()));
        }
        Some(played)
    }

    /// Shifts parts of the gradient between trees of a candidate while the round gets shorter.
    fn shift(&mut self, (mut played, mut candidate): (Played, Candidate)) {
        while let Some(shorter) = self.shifted(&played, &candidate) {
            (played, candidate) = shorter;
        }
    }

    /// Returns a shorter round with a part shifted from the tree that ends last; while another scheme's round
    /// is shorter, from any tree.
    fn shifted(&mut self, played: &Played, candidate: &Candidate) -> Option<(Played, Candidate)> {
        let least = 0.5 / self.case.sizes.len() as f64;
        let mut from: Vec<(f64, &Weighted)> = played.ends_s.iter().copied().zip(&candidate.trees).collect();
        from.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all = if self.best_s() > self.rival_s { from.len() } else { 1 };
        for (_, last) in from.into_iter().take(all) {
            for part in MOVED.into_iter().filter(|&part| part >= least && part < 2.0 * last.weight) {
                for to in 0..self.pool.len() {
                    if !self.can_improve() {
                        return None;
                    }
                    if self.pool[to].tree == last.tree {
                        continue;
                    }
                    let next = self.case.candidate(moved(&candidate.trees, last, &self.pool[to], part));
                    if next.least_s < played.seconds
                        && let Some(next_played) = self.play(&next)
                        && next_played.seconds < played.seconds * LESS
                    {
                        return Some((next_played, next));
                    }
                }
            }
        }
        None
    }

    /// While another scheme's round is shorter, shifts parts of the gradient between trees drawn at random,
    /// including trees of low latency to every site.
    fn draw(&mut self) {
        let (gradient, chunk) = (self.case.gradient_bits(), self.case.chunk_bits());
        if self.best_s() > self.rival_s {
            let more = latency::of_all_roots(self.case.graph, &[chunk, gradient]);
            more.into_iter().for_each(|tree| self.know(&tree));
        }
        let mut draws = Draws(1);
        while self.best_s() > self.rival_s && self.can_improve() {
            let Some((_, best)) = &self.best else { return };
            let mut trees = best.trees.clone();
            for _ in 0..1 + draws.below(4) {
                let from = trees[draws.below(trees.len())].clone();
                let to = &self.pool[draws.below(self.pool.len())];
                let part = from.weight * (1 + draws.below(16)) as f64 / 16.0;
                trees = moved(&trees, &from, to, part);
            }
            let candidate = self.case.candidate(trees);
            // Candidates that are not played also cost time.
            self.transfers += self.case.transfers();
            self.offer(&candidate);
        }
    }

    /// Adds a tree to the pool.
    fn know(&mut self, weighted: &Weighted) {
        if !self.pool.iter().any(|known| known.tree == weighted.tree) {
            self.pool.push(weighted.clone());
        }
    }
}

/// Reproducible random numbers (Knuth's linear congruential generator).
struct Draws(u64);

impl Draws {
    /// Returns a number from 0 to below `most`, which is above 0.
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Returns the trees with a part of the gradient shifted from one to the other, at most all of it.
fn moved(trees: &[Weighted], from: &Weighted, to: &Weighted, part: f64) -> Vec<Weighted> {
    let part = part.min(from.weight);
    let mut trees = trees.to_vec();
    trees.iter_mut().filter(|weighted| weighted.tree == from.tree).for_each(|has| has.weight -= part);
    match trees.iter_mut().find(|weighted| weighted.tree == to.tree) {
        Some(has) => has.weight += part,
        None => trees.push(Weighted { tree: to.tree.clone(), weight: part }),
    }
    trees
}
