//! A network of both levels, and how it is run.

use std::ffi::OsString;
use std::time::Duration;

use inart_planner_aggregation::Plan;
use inart_topologies::sites::{Contributor, Hierarchy};
use inart_wire::ValuesPerFrame;

use super::super::setting::{Setting, Workload};

/// A network of both levels, and how it is run.
pub struct BothSetting {
    /// Settings between the sites; its overlay is the network's.
    pub between: Setting,
    /// The network, scaled already, with one job between sites.
    pub hierarchy: Hierarchy,
    /// The plans of its insides, in their order.
    pub plans: Vec<Plan>,
    /// Flags of sites and `inart scheduler` for the planning of trees.
    pub flags: Vec<String>,
    /// The scheme of the trees.
    pub scheme: inart_planner_sites::Scheme,
    /// Rounds to run.
    pub rounds: u32,
    /// Values per frame inside sites.
    pub values: ValuesPerFrame,
    /// Chunks in flight per worker inside sites.
    pub window_chunks: u32,
    /// Peer timeout of hosts.
    pub peer_timeout: Duration,
}

impl BothSetting {
    /// Values of a gradient.
    pub fn gradient_values(&self) -> usize {
        (self.hierarchy.overlay.jobs()[0].gradient_bytes() / 4) as usize
    }

    /// Returns the contributors of gradients.
    pub fn contributors(&self) -> Vec<Contributor> {
        self.hierarchy.contributors(&self.hierarchy.overlay.jobs()[0])
    }

    /// Images per contributor and round; none without training.
    pub fn batch(&self) -> Option<usize> {
        match self.between.workload {
            Workload::Training { batch } => Some(batch),
            Workload::Random => None,
        }
    }
}

/// An argument of a command.
pub fn argument(text: impl Into<OsString>) -> OsString {
    text.into()
}
