//! Candidate trees of InArt's scheme: their chunks, and the time of a round.

use crate::chunks;
use crate::graph::Graph;
use crate::latency;
use crate::policy::policy_of;
use crate::rounds;
use crate::scheme::Scheme;
use crate::schemes::Weighted;
use inart_topologies::sites::{Overlay, Rates, SiteJob};

/// Planning problem.
pub(crate) struct Case<'a> {
    pub overlay: &'a Overlay,
    pub job: &'a SiteJob,
    pub graph: &'a Graph,
    pub rates: &'a Rates,
    /// Size of each chunk, in bytes.
    pub sizes: &'a [u64],
    /// Lower bound on the time of a round, in seconds.
    pub bound_s: f64,
}

/// Trees with shares that sum to 1.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub trees: Vec<Weighted>,
    /// Tree of each chunk.
    takes: Vec<usize>,
    /// Lower bound on its round from the load of its links, in seconds.
    pub least_s: f64,
}

/// Played round of a candidate.
#[derive(Clone)]
pub(crate) struct Played {
    pub seconds: f64,
    /// Time when the last chunk of each tree was complete everywhere, in seconds.
    pub ends_s: Vec<f64>,
}

impl Case<'_> {
    /// Returns the bits of a gradient.
    pub fn gradient_bits(&self) -> f64 {
        self.sizes.iter().sum::<u64>() as f64 * 8.0
    }

    /// Returns the bits of the longest chunk.
    pub fn chunk_bits(&self) -> f64 {
        self.sizes.iter().copied().max().unwrap_or(0) as f64 * 8.0
    }

    /// Plays a round of a candidate; `None` if it cannot end.
    pub fn play(&self, candidate: &Candidate) -> Option<Played> {
        let trees = candidate.trees.iter().map(|weighted| weighted.tree.clone()).collect();
        let policy = policy_of(self.graph, &[], self.overlay, trees, candidate.takes.clone(), 0);
        let ended = rounds::alone(self.overlay, self.rates, &policy, self.sizes, Scheme::Optimized)?;
        let mut ends_s = vec![0.0; candidate.trees.len()];
        for &(_, chunk, at_s) in &ended.completed {
            let end: &mut f64 = &mut ends_s[candidate.takes[chunk.0 as usize]];
            *end = end.max(at_s);
        }
        Some(Played { seconds: ended.ended_s, ends_s })
    }

    /// Creates a candidate from trees, sorted by root, with shares that sum to 1.
    pub fn candidate(&self, mut trees: Vec<Weighted>) -> Candidate {
        trees.retain(|weighted| weighted.weight > 0.0);
        trees.sort_by_key(|weighted| weighted.tree.root);
        if trees.is_empty() {
            return Candidate { trees, takes: Vec::new(), least_s: f64::INFINITY };
        }
        // With the shares of the document, so that each reader of it assigns chunks in the same way.
        let sum: f64 = trees.iter().map(|weighted| weighted.weight).sum();
        trees.iter_mut().for_each(|weighted| weighted.weight /= sum);
        let shares: Vec<f64> = trees.iter().map(|weighted| weighted.weight).collect();
        let takes = chunks::by_rate(self.sizes, &shares);
        let mut bytes = vec![0; trees.len()];
        takes.iter().zip(self.sizes).for_each(|(&tree, size)| bytes[tree] += size);
        let least_s = self.least_s(&trees, &bytes);
        Candidate { trees, takes, least_s }
    }

    /// Returns a lower bound on the round of another scheme with these trees, in seconds; other schemes
    /// assign the job's own chunks by quota.
    pub fn least_by_quota_s(&self, trees: &[Weighted]) -> f64 {
        let qualities: Vec<f64> = trees.iter().map(|weighted| weighted.weight).collect();
        let sizes = chunks::cut(&self.job.tensors_bytes, self.job.chunk_bytes);
        let mut bytes = vec![0; trees.len()];
        let takes = chunks::by_quota(&sizes, &qualities);
        takes.iter().zip(&sizes).for_each(|(&tree, size)| bytes[tree] += size);
        self.least_s(trees, &bytes)
    }

    /// Returns a lower bound on a round with these trees from the load of each link direction, in seconds.
    fn least_s(&self, trees: &[Weighted], bytes: &[u64]) -> f64 {
        let mut bits = vec![0.0; self.rates.0.len()];
        for (weighted, &bytes) in trees.iter().zip(bytes) {
            for arc in latency::arcs_of(self.graph, &weighted.tree) {
                bits[arc.index()] += bytes as f64 * 8.0;
            }
        }
        let used = self.overlay.arcs().filter(|arc| bits[arc.index()] > 0.0);
        let seconds =
            used.map(|arc| bits[arc.index()] / self.rates.of(arc) + self.overlay.delay_seconds(arc));
        seconds.fold(self.bound_s, f64::max)
    }

    /// Returns a packing's trees with shares such that all end at one time: a tree of rate r with chunk
    /// latency l carries r (t - l) of the gradient in a time t, and the sum over the trees gives t. A tree
    /// with l >= t carries nothing.
    pub fn filled(&self, packed: &[Weighted]) -> Vec<Weighted> {
        let chunk = self.chunk_bits();
        let late = |weighted: &Weighted| latency::of_tree_s(self.graph, &weighted.tree, chunk);
        let mut by_latency: Vec<(f64, &Weighted)> = packed.iter().map(|tree| (late(tree), tree)).collect();
        by_latency.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut rate_bps, mut late_bits, mut end_s) = (0.0, 0.0, f64::INFINITY);
        for (late_s, weighted) in &by_latency {
            if *late_s >= end_s {
                break;
            }
            rate_bps += weighted.weight;
            late_bits += weighted.weight * late_s;
            end_s = (self.gradient_bits() + late_bits) / rate_bps;
        }
        let carried = |(late_s, weighted): (f64, &Weighted)| Weighted {
            tree: weighted.tree.clone(),
            weight: weighted.weight * (end_s - late_s).max(0.0),
        };
        by_latency.into_iter().map(carried).collect()
    }

    /// Returns the network without the links of at least this delay; `None` if that separates sites.
    pub fn without_delays_from(&self, least_s: f64) -> Option<Graph> {
        let mut rates = self.rates.clone();
        for arc in self.overlay.arcs().filter(|&arc| self.overlay.delay_seconds(arc) >= least_s) {
            rates.0[arc.index()] = 0.0;
        }
        let graph = Graph::new(self.overlay, self.job, &rates);
        graph.apart().is_none().then_some(graph)
    }

    /// Returns the number of transfers in a round.
    pub fn transfers(&self) -> usize {
        2 * self.graph.members.len() * self.sizes.len()
    }

    /// Returns the delays of all links, the longest first.
    pub fn delays_s(&self) -> Vec<f64> {
        let mut delays: Vec<f64> = self.overlay.links().iter().map(|link| link.delay_seconds).collect();
        delays.sort_by(|a, b| b.total_cmp(a));
        delays.dedup();
        delays
    }
}
