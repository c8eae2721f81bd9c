//! Checks of a plan before a site accepts it: no part may lead outside the site's own network.

use inart_protocol_sites::{PolicyError, SiteNo, TransmissionPolicy};
use inart_topologies::units::counted;

use crate::setup::Setup;
use crate::version::fingerprint;

/// A reason to refuse a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// Wrong number of chunks.
    #[error("it has {}, and this site's job has {expected}", counted(*given, "chunk"))]
    Chunks {
        /// Number of chunks of the plan.
        given: usize,
        /// Number of chunks of the job.
        expected: usize,
    },
    /// Sites that differ from the job's.
    #[error("it is for other sites than this site's job")]
    Sites,
    /// Inconsistent trees.
    #[error(transparent)]
    TransmissionPolicy(#[from] PolicyError),
    /// Tree with a site that the job does not have.
    #[error("tree {tree} has site number {site}, which this site's job does not have")]
    Stranger {
        /// The tree.
        tree: usize,
        /// The site.
        site: u16,
    },
    /// Tree with parents of more sites than the network has.
    #[error("tree {tree} has parents of {}, and this site's network has {sites}", counted(*given, "site"))]
    Parents {
        /// The tree.
        tree: usize,
        /// Number of sites with a parent entry.
        given: usize,
        /// Number of sites of the network.
        sites: usize,
    },
    /// Hop without a link.
    #[error("{what} leads from {from} to {to}, and this site's network has no such link")]
    Link {
        /// Tree or route.
        what: String,
        /// Start of the hop.
        from: String,
        /// End of the hop.
        to: String,
    },
    /// Version that belongs to another plan.
    #[error("its version {version:#x} is that of another plan")]
    Version {
        /// Version of the plan.
        version: u64,
    },
}

impl Setup {
    /// Whether the document has a link between two sites of the job.
    pub fn are_linked(&self, a: SiteNo, b: SiteNo) -> bool {
        self.neighbors.get(a.index()).is_some_and(|near| near.binary_search(&b).is_ok())
    }

    /// Checks a plan from another process.
    ///
    /// # Errors
    /// The first mismatch with this site's own document: other sites or chunks, a tree that does not span the
    /// sites, a hop without a link, a version that is not the plan's.
    pub fn check_plan(&self, policy: &TransmissionPolicy) -> Result<(), PlanFault> {
        let (given, expected) = (policy.chunks(), self.chunk_values.len());
        if given != expected {
            return Err(PlanFault::Chunks { given, expected });
        }
        if policy.sites != self.sites {
            return Err(PlanFault::Sites);
        }
        policy.check()?;
        for (tree, shape) in policy.trees.iter().enumerate() {
            let parents = shape.up.iter().chain(&shape.down).flatten();
            let strange = parents.chain([&shape.root]).find(|site| !self.is_of_job(**site));
            if let Some(site) = strange {
                return Err(PlanFault::Stranger { tree, site: site.0 });
            }
            let (given, sites) = (shape.up.len().max(shape.down.len()), self.names.len());
            if given > sites {
                return Err(PlanFault::Parents { tree, given, sites });
            }
            let up = (0..).map(SiteNo).zip(&shape.up).filter_map(|(from, to)| Some((from, (*to)?)));
            let down = (0..).map(SiteNo).zip(&shape.down).filter_map(|(to, from)| Some(((*from)?, to)));
            for (from, to) in up.chain(down).filter(|ends| !policy.routes.contains_key(ends)) {
                self.check_hop(|| format!("tree {tree}"), from, to)?;
            }
        }
        for route in policy.routes.values().chain(policy.auxiliary.values().flatten()) {
            for hop in route.windows(2) {
                self.check_hop(|| self.route_in_words(route), hop[0], hop[1])?;
            }
        }
        let is_its_own = match policy.version == self.first_policy.version {
            true => *policy == *self.first_policy,
            false => policy.version as u32 == fingerprint(policy),
        };
        if is_its_own { Ok(()) } else { Err(PlanFault::Version { version: policy.version }) }
    }

    fn is_of_job(&self, site: SiteNo) -> bool {
        self.sites.binary_search(&site).is_ok()
    }

    fn check_hop(&self, what: impl Fn() -> String, from: SiteNo, to: SiteNo) -> Result<(), PlanFault> {
        if self.are_linked(from, to) {
            return Ok(());
        }
        Err(PlanFault::Link { what: what(), from: self.name(from), to: self.name(to) })
    }

    fn route_in_words(&self, route: &[SiteNo]) -> String {
        let names: Vec<String> = route.iter().map(|&site| self.name(site)).collect();
        format!("the route {}", names.join("-"))
    }
}
