//! The nodes of a document, by name.

use std::collections::HashMap;

use inart_planner::TopologyError;
use serde_saphyr::Spanned;

use super::entries::NodeEntry;

pub(super) type Result<T> = std::result::Result<T, TopologyError>;

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
    /// Adds a node.
    pub fn add(&mut self, entry: Spanned<NodeEntry>) -> Result<()> {
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
