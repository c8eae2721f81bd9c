//! From a document to a network of peers: every name known and unique, every peer at one port, every rate
//! above 0.

use std::collections::HashMap;

use inart_planner::TopologyError;

use super::entries::Document;
use super::jobs::job_of;
use super::links::Links;
use super::nodes::{Nodes, Result, usable};
use crate::network::Mesh;

/// Most peers of a network, and most switches.
const MOST_PEERS: usize = 4096;
const MOST_SWITCHES: usize = 1024;

pub(super) fn build(document: Document) -> Result<Mesh> {
    let at = document.name.referenced.line();
    usable(at, "document", &document.name.value)?;
    let mut nodes = Nodes::default();
    for entry in document.nodes {
        nodes.add(entry)?;
    }
    for (count, most, what) in
        [(nodes.peers.len(), MOST_PEERS, "peers"), (nodes.switches.len(), MOST_SWITCHES, "switches")]
    {
        if count > most {
            let fix = format!("at most {most} are planned");
            return Err(TopologyError::new(at, "document", format!("it has {count} {what}"), fix));
        }
    }
    let mut links = Links::new(&nodes);
    for entry in document.links {
        links.add(entry)?;
    }
    for entry in document.traces {
        links.add_trace(entry)?;
    }
    let (peers, trunks) = links.finish()?;
    if document.jobs.is_empty() {
        let fix = "add one: `jobs: [{name: lstm, receivers: 5, update: 200 MB}]`";
        return Err(TopologyError::new(at, "document", "it has no job", fix));
    }
    let by_name = (0..).map(crate::PeerId).zip(&peers).map(|(id, peer)| (peer.name.clone(), id));
    let by_name: HashMap<_, _> = by_name.collect();
    let switches = nodes.switches.into_iter().map(|(name, _)| name).collect();
    let mut mesh = Mesh { name: document.name.value, peers, switches, trunks, jobs: Vec::new(), by_name };
    for entry in document.jobs {
        let job = job_of(&mesh, entry)?;
        mesh.jobs.push(job);
    }
    Ok(mesh)
}
