//! What can be wrong with a network of two levels.

use inart_planner_aggregation::PlanError;
use inart_planner_sites::{PlanError as OverlayError, RunError};
use inart_topologies::switched::TopologyError;

/// What is wrong, and where.
#[derive(Debug, thiserror::Error)]
pub enum HierarchyError {
    /// The document, or what it says of the links between sites.
    #[error(transparent)]
    Document(#[from] TopologyError),
    /// No plan for a site's inside.
    #[error("inside site {site}: {error}")]
    InsidePlan {
        /// Which site.
        site: String,
        /// Why.
        error: PlanError,
    },
    /// No plan between sites.
    #[error("between sites: {0}")]
    Between(#[from] OverlayError),
    /// A round between sites that failed.
    #[error("between sites: {0}")]
    Run(#[from] RunError),
}
