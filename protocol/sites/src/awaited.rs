//! Sites whose chunks a round lacks.

use std::collections::BTreeSet;

use crate::policy::SiteNo;
use crate::site::Site;
use crate::summand::Summand;

impl<S: Summand> Site<S> {
    /// Returns the sites that have not sent what this site needs to complete the round, ascending: children
    /// whose sums are missing, this site if its own values are, else the parent that has not sent the
    /// complete sum. Empty if the round is complete.
    pub fn awaited(&self) -> Vec<SiteNo> {
        let mut awaited = BTreeSet::new();
        for (chunk, held) in self.chunks.iter().enumerate().filter(|(_, held)| held.complete.is_none()) {
            let Some(tree) = self.policy.chunk_trees.get(chunk).map(|tree| usize::from(tree.0)) else {
                continue;
            };
            let children = self.children[tree][0].iter().chain([&self.me]);
            let parent = held.pushed.as_ref().and(self.policy.trees[tree].down[self.me.index()]);
            match parent {
                Some(parent) => awaited.insert(parent),
                None => {
                    awaited.extend(children.filter(|site| !held.from.contains(site)));
                    true
                }
            };
        }
        awaited.into_iter().collect()
    }
}
