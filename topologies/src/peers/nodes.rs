//! The nodes of a document, by name.

use std::collections::HashMap;

use crate::document::{At, NodeEntry, required, unknown, usable};
use crate::error::{NetworkError, Result};

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
    pub fn add(&mut self, entry: At<NodeEntry>) -> Result<()> {
        let at = entry.line;
        let name = required(at, "node", "name", entry.value.name)?;
        usable(at, "node", &name)?;
        let place = format!("node {name}");
        let kind = required(at, &place, "kind", entry.value.kind)?;
        let wrong = |problem: String, fix: &str| Err(NetworkError::new(at, &*place, problem, fix));
        let (node, all) = match &*kind {
            "peer" => (Node::Peer(self.peers.len()), &mut self.peers),
            "switch" => (Node::Switch(self.switches.len()), &mut self.switches),
            "site" | "server" | "worker" => {
                let fix = "keep peers and switches here";
                return wrong(format!("a {kind} in a network of peers"), fix);
            }
            _ => return wrong(format!("kind is \"{kind}\""), "write `kind: peer` or `kind: switch`"),
        };
        if self.by_name.insert(name.clone(), node).is_some() {
            return wrong("this name is taken already".to_owned(), "give each node its own name");
        }
        all.push((name, at));
        Ok(())
    }

    /// Returns the node of that name.
    pub fn known(&self, at: u64, place: &str, name: &str) -> Result<Node> {
        let names = self.peers.iter().chain(&self.switches).map(|(name, _)| name.as_str());
        self.by_name.get(name).copied().ok_or_else(|| unknown(at, place, "node", name, names))
    }
}
