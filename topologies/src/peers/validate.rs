//! From a document to a network of peers: every name known and unique, every peer at one port, every rate
//! above 0.

use std::collections::HashMap;

use super::jobs::job_of;
use super::links::Links;
use super::network::{Mesh, PeerId};
use super::nodes::Nodes;
use crate::document::{Document, needed, usable};
use crate::error::{NetworkError, Result};
use crate::kind::Kind;

/// Most peers of a network, and most switches.
const MOST_PEERS: usize = 4096;
const MOST_SWITCHES: usize = 1024;

/// Builds the network of a document that has one of peers.
pub(crate) fn build(document: Document) -> Result<Mesh> {
    document.refuse_keys_of_others(Kind::Peers)?;
    let name = needed(0, "document", "name", document.name)?;
    let at = name.line;
    usable(at, "document", &name.value)?;
    let mut nodes = Nodes::default();
    for entry in document.nodes.into_iter().flat_map(|nodes| nodes.value) {
        nodes.add(entry)?;
    }
    for (count, most, what) in
        [(nodes.peers.len(), MOST_PEERS, "peers"), (nodes.switches.len(), MOST_SWITCHES, "switches")]
    {
        if count > most {
            let fix = format!("at most {most} are planned");
            return Err(NetworkError::new(at, "document", format!("it has {count} {what}"), fix));
        }
    }
    let mut links = Links::new(&nodes);
    for entry in document.links.into_iter().flat_map(|links| links.value) {
        links.add(entry)?;
    }
    for entry in document.traces.into_iter().flat_map(|traces| traces.value) {
        links.add_trace(entry)?;
    }
    let (peers, trunks) = links.finish()?;
    let jobs = document.jobs.map_or_else(Vec::new, |jobs| jobs.value);
    if jobs.is_empty() {
        let fix = "add one: `jobs: [{name: lstm, receivers: 5, update: 200 MB}]`";
        return Err(NetworkError::new(at, "document", "it has no job", fix));
    }
    let by_name = (0..).map(PeerId).zip(&peers).map(|(id, peer)| (peer.name.clone(), id));
    let by_name: HashMap<_, _> = by_name.collect();
    let switches = nodes.switches.into_iter().map(|(name, _)| name).collect();
    let mut mesh = Mesh { name: name.value, peers, switches, trunks, jobs: Vec::new(), by_name };
    for entry in jobs {
        let job = job_of(&mesh, entry)?;
        mesh.jobs.push(job);
    }
    Ok(mesh)
}
