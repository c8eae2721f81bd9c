//! Common form of all formats: nodes and edges with their attributes as written.

use std::collections::HashMap;
use std::rc::Rc;

use super::attributes::{Attributes, Role};
use crate::NetworkError;

/// Generous enough for a fat-tree of 65,536 hosts, tight enough that a hostile text cannot take the machine.
const MAX_NODES: usize = 100_000;
const MAX_EDGES: usize = 1_000_000;

pub(super) struct Node {
    pub id: String,
    /// Role of the node by the format; attributes may replace it.
    pub role: Option<Role>,
    pub attributes: Attributes,
}

pub(super) struct Edge {
    pub ends: [usize; 2],
    pub attributes: Rc<Attributes>,
}

pub(super) struct Graph {
    /// The format's name, which is the place of errors about the whole.
    pub format: &'static str,
    /// Whether an edge is one direction of a link.
    pub directed: bool,
    /// Whether a pair of nodes may have several edges, so that opposite ones may be two cables.
    pub multigraph: bool,
    /// Whether a further edge of a pair only adds attributes to the first.
    pub strict: bool,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub notes: Vec<String>,
    by_id: HashMap<String, usize>,
    /// Creates a strict graph.
    by_ends: HashMap<[usize; 2], usize>,
}

impl Graph {
    pub fn new(format: &'static str) -> Self {
        Graph {
            format,
            directed: false,
            multigraph: false,
            strict: false,
            nodes: Vec::new(),
            edges: Vec::new(),
            notes: Vec::new(),
            by_id: HashMap::new(),
            by_ends: HashMap::new(),
        }
    }

    /// Returns the node of that id, made if need be.
    pub fn node(&mut self, id: &str) -> Result<usize, NetworkError> {
        if let Some(&node) = self.by_id.get(id) {
            return Ok(node);
        }
        if self.nodes.len() == MAX_NODES {
            return Err(self.wrong(format!("more than {MAX_NODES} nodes"), "import a part of the network"));
        }
        self.by_id.insert(id.to_owned(), self.nodes.len());
        self.nodes.push(Node { id: id.to_owned(), role: None, attributes: Attributes::default() });
        Ok(self.nodes.len() - 1)
    }

    /// Returns a node that the text declares; twice is an error.
    pub fn declare(&mut self, id: &str) -> Result<&mut Node, NetworkError> {
        if self.by_id.contains_key(id) {
            let place = format!("{} node {id:?}", self.format);
            return Err(NetworkError::new(None, place, "declared twice", "give each node its own id"));
        }
        let node = self.node(id)?;
        Ok(&mut self.nodes[node])
    }

    /// Returns the node of that id, which an edge names as its end.
    pub fn end(&self, id: &str) -> Result<usize, NetworkError> {
        self.by_id.get(id).copied().ok_or_else(|| {
            let place = format!("{} edge", self.format);
            NetworkError::new(None, place, format!("unknown node {id:?}"), "declare it as a node")
        })
    }

    pub fn edge(&mut self, ends: [usize; 2], attributes: &Rc<Attributes>) -> Result<(), NetworkError> {
        if self.edges.len() == MAX_EDGES {
            return Err(self.wrong(format!("more than {MAX_EDGES} links"), "import a part of the network"));
        }
        if self.strict {
            let [a, b] = ends;
            let pair = if self.directed { ends } else { [a.min(b), a.max(b)] };
            if let Some(&known) = self.by_ends.get(&pair) {
                let known = Rc::make_mut(&mut self.edges[known].attributes);
                attributes.0.iter().for_each(|(name, value)| known.set(name, value));
                return Ok(());
            }
            self.by_ends.insert(pair, self.edges.len());
        }
        self.edges.push(Edge { ends, attributes: Rc::clone(attributes) });
        Ok(())
    }

    pub fn wrong(&self, problem: impl Into<String>, fix: &str) -> NetworkError {
        NetworkError::new(None, self.format, problem, fix)
    }
}
