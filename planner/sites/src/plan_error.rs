//! Errors of planning, and of refused plans.

use crate::scheme::Scheme;
use inart_topologies::units::counted;

/// Planning error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Site that failed links separate from the others.
    #[error("no link that is up leads to site {site} of job {job}; wait for one, or train without the site")]
    Apart {
        /// The site.
        site: String,
        /// The job.
        job: String,
    },
    /// Root for a scheme with several roots.
    #[error(
        "scheme {scheme} chooses its roots itself; leave the root out, or plan with fapt, mst, star or bkt"
    )]
    SeveralRoots {
        /// The scheme.
        scheme: Scheme,
    },
    /// Number of roots for a scheme with one root.
    #[error("scheme {scheme} does not take a number of roots; plan with netstorm")]
    OneRoot {
        /// The scheme.
        scheme: Scheme,
    },
    /// Invalid number of roots: 0, or more than sites.
    #[error(
        "{} for {}; give a number of roots from 1 to {sites}",
        counted(*roots, "root"),
        counted(*sites, "site")
    )]
    Roots {
        /// Requested number of roots.
        roots: usize,
        /// Number of sites of the job.
        sites: usize,
    },
    /// Degree of 0: a tree without children.
    #[error("a degree of 0; give each site at least 1 child")]
    Degree,
    /// Auxiliary paths for a scheme without them.
    #[error(
        "scheme {scheme} uses no auxiliary paths; leave auxiliary paths out, or plan with netstorm, fapt or mst"
    )]
    NoAuxiliary {
        /// The scheme.
        scheme: Scheme,
    },
    /// Scheme `own` without trees.
    #[error("scheme own has no trees of its own; give a plan with trees")]
    NoTrees,
    /// Unknown site.
    #[error("no site is named \"{name}\" in job {job}; name one of {known}")]
    UnknownSite {
        /// Name of the site.
        name: String,
        /// The job.
        job: String,
        /// Sites of the job.
        known: String,
    },
    /// Plan that does not fit its network.
    #[error("the plan's {place}: {problem}")]
    Plan {
        /// Location in the plan.
        place: String,
        /// Error and its fix.
        problem: String,
    },
    /// Error of the solver.
    #[error("packing trees: {0}")]
    Solver(String),
}
