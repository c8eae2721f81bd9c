//! What sites are told: trees, which chunk takes which, and other ways between neighbours.

use std::collections::BTreeMap;

/// A site, by its position in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteNo(pub u16);

/// A tree, by its position in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeNo(pub u16);

/// A chunk, by its position in the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkNo(pub u32);

impl SiteNo {
    /// As an index.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// A tree over the sites of a job: chunks are reduced up to the root, and go down from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tree {
    /// Where sums are complete.
    pub root: SiteNo,
    /// Whom each site sends its sums to, by site; `None` at the root and outside the job.
    pub up: Vec<Option<SiteNo>>,
    /// Whom each site has complete sums from, by site; `None` at the root and outside the job.
    pub down: Vec<Option<SiteNo>>,
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A chunk of a tree that is not there.
    #[error("chunk {chunk} takes tree {tree}, and there are {trees}; give each chunk one of the trees")]
    UnknownTree {
        /// The chunk.
        chunk: u32,
        /// The tree that it names.
        tree: u16,
        /// How many there are.
        trees: usize,
    },
    /// A site from which parents do not lead to the root.
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
        /// How many it has.
        given: usize,
        /// The last site's number.
        most: u16,
    },
    /// A route that does not lead where it should.
    #[error("the route from site {from} to site {to} is {route:?}; begin and end it there, with a site once")]
    Route {
        /// Where it should begin.
        from: u16,
        /// Where it should end.
        to: u16,
        /// As given.
        route: Vec<u16>,
    },
}

/// Trees of one moment, and which chunk takes which. Site numbers are those of the network.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TransmissionPolicy {
    /// Counts up; a site never goes back to an older one.
    pub version: u64,
    /// The sites that take part, ascending.
    pub sites: Vec<SiteNo>,
    /// At least one.
    pub trees: Vec<Tree>,
    /// The tree of each chunk.
    pub chunk_trees: Vec<TreeNo>,
    /// The route from a site to a tree neighbour that it has no link to, both ends included.
    pub routes: BTreeMap<(SiteNo, SiteNo), Vec<SiteNo>>,
    /// Other ways from a site to a tree neighbour, best first, both ends included.
    pub auxiliary: BTreeMap<(SiteNo, SiteNo), Vec<Vec<SiteNo>>>,
}

impl TransmissionPolicy {
    /// How many chunks a round has.
    pub fn chunks(&self) -> usize {
        self.chunk_trees.len()
    }

    /// The tree of a chunk; `None` if there is no such chunk.
    pub fn tree_of(&self, chunk: ChunkNo) -> Option<&Tree> {
        let tree = self.chunk_trees.get(chunk.0 as usize)?;
        self.trees.get(usize::from(tree.0))
    }

    /// Looks at everything that a site relies on.
    ///
    /// # Errors
    /// The first thing that is wrong.
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
