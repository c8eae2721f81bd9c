//! Checks whether switches can distinguish the passes of a worker's frames. On one server's shard a worker's
//! gradient may cross a switch several times, on its own and in sums: the switch distinguishes frames by
//! input port.

use std::collections::HashSet;

use crate::plan::Plan;

/// Returns the flows and trunks on which frames of a worker reach a switch from a node from which they have
/// arrived before: name and problem.
pub(super) fn ambiguous(plan: &Plan) -> Vec<(String, String)> {
    let flows = plan.flows.iter().map(|flow| (&flow.server, std::slice::from_ref(&flow.worker), &flow.path));
    let trunks = plan.trunks.iter().map(|trunk| (&trunk.server, trunk.workers.as_slice(), &trunk.path));
    let mut seen: HashSet<[&str; 4]> = HashSet::new();
    let mut found = Vec::new();
    for (server, workers, path) in flows.chain(trunks) {
        let hops = || path.windows(2).filter(|hop| hop[1] != *server);
        let mut frames = workers.iter().flat_map(|worker| hops().map(move |hop| (worker, &hop[0], &hop[1])));
        if let Some((worker, from, to)) =
            frames.find(|(worker, from, to)| !seen.insert([server, worker, from, to]))
        {
            found.push((
                format!("path {} for {server}", path.join(" ")),
                format!(
                    "frames of {worker} arrive at {to} from {from} on two paths: a switch distinguishes \
                     them by the port only"
                ),
            ));
        }
    }
    found
}
