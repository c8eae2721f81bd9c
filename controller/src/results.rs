//! Result trees: the tree of each shard in the plan.

use std::collections::BTreeMap;

use inart_planner_aggregation::Plan;

use crate::plan_error::PlanError;
use crate::ports::PortMap;
use crate::routes;

/// Parent of each node of a shard's tree: a switch or the server.
pub type Parents<'a> = BTreeMap<&'a str, &'a str>;

/// Returns the tree of `server` in `plan`; shortest paths for plans without a tree.
///
/// # Errors
/// A link of the tree that the network lacks, or a node that gets results twice.
pub fn parents<'a>(
    ports: &'a PortMap,
    plan: &'a Plan,
    server: &'a str,
    workers: &[&'a str],
) -> Result<Parents<'a>, PlanError> {
    let Some(tree) = plan.results.iter().find(|tree| tree.server == server) else {
        let attached = workers.iter().filter_map(|&worker| Some((worker, ports.attachment(worker)?)));
        return Ok(routes::from_host(ports, server).parent.into_iter().chain(attached).collect());
    };
    let mut parents = Parents::new();
    for [from, to] in &tree.links {
        let leads = |a: &str, b: &str| ports.port(a, b).is_some() || ports.attachment(a) == Some(b);
        if !leads(from, to) && !leads(to, from) {
            return Err(PlanError::NoLink {
                path: format!("of results of server {server}"),
                from: from.clone(),
                to: to.clone(),
            });
        }
        if to == server || parents.insert(to.as_str(), from.as_str()).is_some() {
            return Err(PlanError::ResultsTwice { server: server.to_owned(), node: to.clone() });
        }
    }
    Ok(parents)
}
