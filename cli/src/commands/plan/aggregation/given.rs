//! The plans that a user gives to a command that runs them.

use std::path::Path;

use anyhow::Context;
use inart_planner_aggregation::{Options, Plan, schemes};
use inart_topologies::switched::Topology;

use crate::commands::plan::aggregation::{check, complete};

/// Reads plans that hold on this topology, or routes, which are completed to one; errors name flag and file.
/// A document without a rate has routes.
pub fn read_given(flag: &str, topology: &Topology, path: &Path) -> anyhow::Result<Vec<Plan>> {
    let place = || format!("{flag} {}", path.display());
    let text = crate::commands::document::read(path).with_context(place)?;
    let is_whole = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(document) => ["rate_bps", "plans"].iter().any(|field| document.get(field).is_some()),
        // The reader of plans names the error.
        Err(_) => true,
    };
    if is_whole {
        return check::read_all(topology, path).with_context(|| flag.to_owned());
    }
    let (plan, _) = complete::run(flag, topology, path, &Options::new(schemes::DEFAULT))?;
    Ok(vec![plan])
}
