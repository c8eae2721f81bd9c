//! Why there is no plan, and why a plan is refused.

use crate::scheme::Scheme;
use inart_topologies::units::counted;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Links that are down leave a site without a way to the others.
    #[error("no link that is up leads to site {site} of job {job}; wait for one, or train without the site")]
    Apart {
        /// The site.
        site: String,
        /// The job.
        job: String,
    },
    /// A root for a scheme that has several.
    #[error(
        "scheme {scheme} chooses its roots itself; leave the root out, or plan with fapt, mst, star or bkt"
    )]
    SeveralRoots {
        /// The scheme.
        scheme: Scheme,
    },
    /// A number of roots for a scheme that has one.
    #[error("scheme {scheme} does not take a number of roots; plan with netstorm")]
    OneRoot {
        /// The scheme.
        scheme: Scheme,
    },
    /// More roots than sites, or none.
    #[error(
        "{} for {}; give a number of roots from 1 to {sites}",
        counted(*roots, "root"),
        counted(*sites, "site")
    )]
    Roots {
        /// As asked.
        roots: usize,
        /// How many sites the job has.
        sites: usize,
    },
    /// A tree without children.
    #[error("a degree of 0; give each site at least 1 child")]
    Degree,
    /// Auxiliary paths for a scheme that uses none.
    #[error(
        "scheme {scheme} uses no auxiliary paths; leave auxiliary paths out, or plan with netstorm, fapt or mst"
    )]
    NoAuxiliary {
        /// The scheme.
        scheme: Scheme,
    },
    /// A user's own trees are asked for, and none are given.
    #[error("scheme own has no trees of its own; give a plan with trees")]
    NoTrees,
    /// The job's name is not known.
    #[error("no site is named \"{name}\" in job {job}; name one of {known}")]
    UnknownSite {
        /// As given.
        name: String,
        /// The job.
        job: String,
        /// Its sites.
        known: String,
    },
    /// A plan that does not fit its network.
    #[error("the plan's {place}: {problem}")]
    Plan {
        /// Where in the plan.
        place: String,
        /// The error, and its fix.
        problem: String,
    },
    /// What the solver says.
    #[error("packing trees: {0}")]
    Solver(String),
}
