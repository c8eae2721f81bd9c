//! The trees of results in the search for two levels.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::tree::Tree;
use crate::choices::Results;
use crate::model::{Arc, Resource};
use crate::results;

/// Added to the price of the link that results have to leave, and of a host's further links, which the
/// controller does not install.
const AWAY: f64 = 1e9;
const SECOND: f64 = 1e-2;
/// One of this many trees of results is rebuilt from its root.
const WHOLE: u32 = 4;

impl Tree<'_, '_> {
    /// Gives every server a tree of results, where results count.
    pub fn grow_results(&mut self) {
        if self.model.results == Results::Counted {
            for (s, &rate) in self.sending.iter().enumerate() {
                let cost = |arc| self.cost(arc, rate) + self.second(arc);
                let tree = self.router.trees.grow(s, &[], cost);
                tree.iter().for_each(|&arc| self.load[arc as usize] += rate);
                self.results.push(tree);
            }
        }
    }

    pub(super) fn load_results(&mut self) {
        for (tree, &rate) in self.results.iter().zip(&self.sending) {
            tree.iter().for_each(|&arc| self.load[arc as usize] += rate);
        }
    }

    fn second(&self, arc: Arc) -> f64 {
        if self.router.trees.is_second(arc) { SECOND } else { 0.0 }
    }

    /// Moves results away from a link: rebuilds the subtree below it, or (now and then) the whole tree.
    pub(super) fn regrow(&mut self, s: usize, away: Resource, rng: &mut ChaCha8Rng) {
        let rate = self.sending[s];
        let kept = match rng.random_range(0..WHOLE) {
            0 => Vec::new(),
            _ => results::without(self.model, &self.results[s], away),
        };
        self.results[s].iter().for_each(|&arc| self.load[arc as usize] -= rate);
        let away = |arc| if arc == away { AWAY } else { 0.0 };
        let cost = |arc| self.cost(arc, rate).max(0.0) + self.second(arc) + away(arc);
        let tree = self.router.trees.grow(s, &kept, cost);
        tree.iter().for_each(|&arc| self.load[arc as usize] += rate);
        self.results[s] = tree;
    }
}
