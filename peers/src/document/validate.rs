//! From a document to a network of peers: every name known and unique, every peer at one port, every rate
//! above 0.

use std::collections::HashMap;

use inart_planner::TopologyError;
use serde_saphyr::Spanned;

use super::entries::{Document, NodeEntry};
use super::jobs::job_of;
use super::links::Links;
use crate::network::Mesh;

pub(super) type Result<T> = std::result::Result<T, TopologyError>;

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

/// A node, by its position among those of its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    Peer(usize),
    Switch(usize),
}

/// The nodes by name, each with the line that it stands at.
#[derive(Default)]
pub(super) struct Nodes {
    pub peers: Vec<(String, u64)>,
    pub switches: Vec<(String, u64)>,
    by_name: HashMap<String, Node>,
}

impl Nodes {
    fn add(&mut self, entry: Spanned<NodeEntry>) -> Result<()> {
        let at = entry.referenced.line();
        let NodeEntry { name, kind, site, aggregation, ingress, board } = entry.value;
        usable(at, "node", &name)?;
        let place = format!("node {name}");
        let wrong = |problem: String, fix: &str| Err(TopologyError::new(at, &*place, problem, fix));
        let (node, all) = match &*kind {
            "peer" => (Node::Peer(self.peers.len()), &mut self.peers),
            "switch" => (Node::Switch(self.switches.len()), &mut self.switches),
            "site" | "server" | "worker" => {
                let fix = "keep peers and switches here";
                return wrong(format!("a {kind} in a network of peers"), fix);
            }
            _ => return wrong(format!("kind is \"{kind}\""), "write `kind: peer` or `kind: switch`"),
        };
        if site.is_some() || aggregation.is_some() || ingress.is_some() || board.is_some() {
            let problem = "nodes of a network of peers have no `site`, `aggregation`, `ingress` or `board`";
            return wrong(problem.to_owned(), "leave them out");
        }
        if self.by_name.insert(name.clone(), node).is_some() {
            return wrong("this name is taken already".to_owned(), "give each node its own name");
        }
        all.push((name, at));
        Ok(())
    }

    /// The node of that name.
    pub fn known(&self, at: u64, place: &str, name: &str) -> Result<Node> {
        let names = self.peers.iter().chain(&self.switches).map(|(name, _)| name.as_str());
        self.by_name.get(name).copied().ok_or_else(|| unknown(at, place, "node", name, names))
    }
}

/// An unknown name, with a known one that is like it.
pub(super) fn unknown<'n>(
    at: u64,
    place: &str,
    what: &str,
    name: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> TopologyError {
    let fix = match known.find(|known| known.eq_ignore_ascii_case(name)) {
        Some(near) => format!("did you mean \"{near}\"? Else add it under nodes"),
        None => "add it under nodes".to_owned(),
    };
    TopologyError::new(at, place, format!("unknown {what} \"{name}\""), fix)
}

pub(super) fn usable(at: u64, place: &str, name: &str) -> Result<()> {
    if !name.is_empty() && name.chars().all(|c| !c.is_whitespace() && !c.is_control()) {
        return Ok(());
    }
    let problem = format!("the name {name:?} is empty or holds blanks");
    Err(TopologyError::new(at, place, problem, "give it a name without blanks"))
}
