//! Changes on the paths of an older plan: removed nodes and links, and ports with another number.

use std::collections::BTreeSet;

use inart_planner_aggregation::Plan;
use inart_topologies::switched::Topology;

use crate::ports::PortMap;
use crate::records::Push;

/// Returns the differences on the paths of a push, against the topology of today, in words without
/// duplicates. Returns none if the topology of the push cannot be read.
pub(crate) fn since(push: &Push, today: &Topology) -> Vec<String> {
    let before = Topology::from_yaml(&push.topology).ok().and_then(|before| PortMap::new(&before).ok());
    match (before, PortMap::new(today)) {
        (Some(before), Ok(now)) => of_plan(&push.plan, &before, &now),
        _ => Vec::new(),
    }
}

fn of_plan(plan: &Plan, before: &PortMap, now: &PortMap) -> Vec<String> {
    let paths =
        || plan.flows.iter().map(|flow| &flow.path).chain(plan.trunks.iter().map(|trunk| &trunk.path));
    let is_node = |ports: &PortMap, name: &str| ports.is_switch(name) || ports.mac(name).is_some();
    let nodes: BTreeSet<&str> = paths().flatten().map(String::as_str).collect();
    let removed = |name: &&&str| is_node(before, name) && !is_node(now, name);
    let removed = nodes.iter().filter(removed).map(|name| format!("node {name} was removed"));
    let steps = paths().flat_map(|path| path.windows(2));
    let steps = steps.flat_map(|step| [(&step[0], &step[1]), (&step[1], &step[0])]);
    // Both ends of every link; those at switches have ports.
    let ends: BTreeSet<(&String, &String)> = steps.collect();
    let (mut links, mut ports) = (BTreeSet::new(), Vec::new());
    for (switch, peer) in ends {
        match (before.port(switch, peer), now.port(switch, peer)) {
            (Some(_), None) if is_node(now, switch) && is_node(now, peer) => {
                links.insert(format!("link {}-{} was removed", switch.min(peer), switch.max(peer)));
            }
            (Some(port), Some(moved)) if port != moved => {
                ports.push(format!("the port of {switch} to {peer} was {port} and is {moved}"));
            }
            _ => {}
        }
    }
    removed.chain(links).chain(ports).collect()
}
