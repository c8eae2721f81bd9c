//! Transmission policies: trees, the assignment of chunks to trees, and other paths between neighbors.

use std::collections::BTreeMap;

/// Number of a site: its position in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteNo(pub u16);

/// Number of a tree: its position in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeNo(pub u16);

/// Number of a chunk: its position in the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkNo(pub u32);

impl SiteNo {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// Tree over the sites of a job: chunks are reduced up to the root, and broadcast down from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tree {
    /// Root, at which sums are complete.
    pub root: SiteNo,
    /// Parent that each site sends its sums to, by site; `None` at the root and outside the job.
    pub up: Vec<Option<SiteNo>>,
    /// Parent that each site receives complete sums from, by site; `None` at the root and outside the job.
    pub down: Vec<Option<SiteNo>>,
}

/// Error in a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Chunk of an unknown tree.
    #[error("chunk {chunk} takes tree {tree}, and there are {trees}; give each chunk one of the trees")]
    UnknownTree {
        /// The chunk.
        chunk: u32,
        /// Tree of the chunk.
        tree: u16,
        /// Number of trees.
        trees: usize,
    },
    /// Site whose parents do not lead to the root.
    #[error("tree {tree}: site {site} has no path {way} the root; connect it")]
    Apart {
        /// The tree.
        tree: usize,
        /// The site.
        site: u16,
        /// "up to" or "down from".
        way: &'static str,
    },
    /// Parents of too few sites.
    #[error("tree {tree} has parents of {given} sites; give one for each site up to number {most}")]
    Short {
        /// The tree.
        tree: usize,
        /// Number of sites with a parent entry.
        given: usize,
        /// Number of the last site.
        most: u16,
    },
    /// Route with wrong ends.
    #[error("the route from site {from} to site {to} is {route:?}; begin and end it there, with a site once")]
    Route {
        /// Required start.
        from: u16,
        /// Required end.
        to: u16,
        /// The route.
        route: Vec<u16>,
    },
}

/// Trees of one plan, and the tree of each chunk. Site numbers are those of the network.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TransmissionPolicy {
    /// Ascending version; a site never returns to an older one.
    pub version: u64,
    /// Participating sites, ascending.
    pub sites: Vec<SiteNo>,
    /// Trees; at least one.
    pub trees: Vec<Tree>,
    /// Tree of each chunk.
    pub chunk_trees: Vec<TreeNo>,
    /// Route from a site to a tree neighbor without a direct link, including both ends.
    pub routes: BTreeMap<(SiteNo, SiteNo), Vec<SiteNo>>,
    /// Auxiliary paths from a site to a tree neighbor, best first, including both ends.
    pub auxiliary: BTreeMap<(SiteNo, SiteNo), Vec<Vec<SiteNo>>>,
}

impl TransmissionPolicy {
    /// Returns the number of chunks of a round.
    pub fn chunks(&self) -> usize {
        self.chunk_trees.len()
    }

    /// Returns the tree of a chunk; `None` if the chunk does not exist.
    pub fn tree_of(&self, chunk: ChunkNo) -> Option<&Tree> {
        let tree = self.chunk_trees.get(chunk.0 as usize)?;
        self.trees.get(usize::from(tree.0))
    }

    /// Checks all properties that a site relies on.
    ///
    /// # Errors
    /// The first error found.
    pub fn check(&self) -> Result<(), PolicyError> {
        let most = self.sites.iter().max().map_or(0, |site| site.0);
        for (tree, shape) in self.trees.iter().enumerate() {
            let given = shape.up.len().min(shape.down.len());
            if given <= usize::from(most) {
                return Err(PolicyError::Short { tree, given, most });
            }
            for &site in &self.sites {
                for (parents, way) in [(&shape.up, "up to"), (&shape.down, "down from")] {
                    if !leads(parents, site, shape.root, self.sites.len()) {
                        return Err(PolicyError::Apart { tree, site: site.0, way });
                    }
                }
            }
        }
        for (chunk, tree) in (0..).zip(&self.chunk_trees) {
            if usize::from(tree.0) >= self.trees.len() {
                return Err(PolicyError::UnknownTree { chunk, tree: tree.0, trees: self.trees.len() });
            }
        }
        let direct = self.routes.iter();
        let other =
            self.auxiliary.iter().flat_map(|(ends, routes)| routes.iter().map(move |way| (ends, way)));
        for (&(from, to), route) in direct.chain(other) {
            let mut seen = route.clone();
            seen.sort_unstable();
            seen.dedup();
            let whole = route.len() >= 2 && route.first() == Some(&from) && route.last() == Some(&to);
            if !whole || seen.len() != route.len() {
                let route = route.iter().map(|site| site.0).collect();
                return Err(PolicyError::Route { from: from.0, to: to.0, route });
            }
        }
        Ok(())
    }
}

/// Whether parents lead from a site to the root in at most `most` steps.
fn leads(parents: &[Option<SiteNo>], site: SiteNo, root: SiteNo, most: usize) -> bool {
    let mut at = site;
    for _ in 0..=most {
        match parents.get(at.index()).copied().flatten() {
            None => return at == root,
            Some(_) if at == root => return false,
            Some(parent) => at = parent,
        }
    }
    false
}
