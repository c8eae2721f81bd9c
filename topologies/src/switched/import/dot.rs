//! DOT, the whole grammar of <https://graphviz.org/doc/info/lang.html> in time linear in the text and its
//! edges.
//!
//! Our own, since no available parser with a license that fits ours reads groups such as `{rank=same; a; b}`
//! and edges between groups, and bounds its work on hostile text.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::attributes::Attributes;
use super::dot_tokens::{Token, tokens};
use super::graph::Graph;
use crate::NetworkError;

/// Groups within groups.
const MAX_DEPTH: usize = 64;

/// Default attributes, which a group takes over from the one around it.
#[derive(Clone, Default)]
struct Scope {
    node: Rc<Attributes>,
    edge: Rc<Attributes>,
}

struct Parser {
    tokens: Vec<(Token, u64)>,
    at: usize,
    graph: Graph,
    /// Whether the text has set the attributes of a node yet: defaults count for new ones only.
    seen: BTreeSet<usize>,
}

pub(super) fn read(text: &str) -> Result<Graph, NetworkError> {
    let tokens = tokens(text).map_err(|(line, problem)| {
        NetworkError::new(line, "dot", problem, "quote names that are not plain")
    })?;
    let mut parser = Parser { tokens, at: 0, graph: Graph::new("dot"), seen: BTreeSet::new() };
    parser.graph.strict = parser.keyword("strict");
    parser.graph.multigraph = !parser.graph.strict;
    parser.at += usize::from(parser.graph.strict);
    parser.graph.directed = parser.keyword("digraph");
    if !parser.graph.directed && !parser.keyword("graph") {
        return Err(parser.wrong("`graph` or `digraph` is expected"));
    }
    parser.at += 1;
    if let Some(Token::Id { .. }) = parser.peek() {
        parser.at += 1;
    }
    parser.group(&Scope::default(), 0)?;
    if parser.at < parser.tokens.len() {
        let line = parser.tokens[parser.at].1;
        parser
            .graph
            .notes
            .push(format!("line {line} and what follows left out: the first graph ends before it"));
    }
    Ok(parser.graph)
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn keyword(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Id { text, bare: true }) if text.eq_ignore_ascii_case(word))
    }

    /// Steps over a mark, if it is next.
    fn mark(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    fn id(&mut self, what: &str) -> Result<String, NetworkError> {
        let Some(Token::Id { text, .. }) = self.peek() else {
            return Err(self.wrong(format!("{what} is expected")));
        };
        let text = text.clone();
        self.at += 1;
        Ok(text)
    }

    fn wrong(&self, problem: impl Into<String>) -> NetworkError {
        let line = self.tokens.get(self.at).or(self.tokens.last()).map(|(_, line)| *line);
        let found = match self.peek() {
            Some(Token::Id { text, .. }) => format!(", not {text:?}"),
            Some(Token::EdgeOp) => ", not an edge".to_owned(),
            Some(Token::Mark(mark)) => format!(", not {mark:?}"),
            None => ", not the end".to_owned(),
        };
        NetworkError::new(line, "dot", problem.into() + &found, "check the file with `dot -Tsvg`")
    }

    /// `{ ... }`: the nodes in it.
    fn group(&mut self, around: &Scope, depth: usize) -> Result<BTreeSet<usize>, NetworkError> {
        if depth == MAX_DEPTH {
            return Err(self
                .graph
                .wrong(format!("groups are nested more than {MAX_DEPTH} deep"), "flatten them"));
        }
        if !self.mark('{') {
            return Err(self.wrong("`{` is expected"));
        }
        let mut scope = around.clone();
        let mut members = BTreeSet::new();
        while !self.mark('}') {
            if !self.mark(';') && !self.mark(',') {
                self.statement(&mut scope, &mut members, depth)?;
            }
        }
        Ok(members)
    }

    fn statement(
        &mut self,
        scope: &mut Scope,
        members: &mut BTreeSet<usize>,
        depth: usize,
    ) -> Result<(), NetworkError> {
        let following = self.tokens.get(self.at + 1).map(|(token, _)| token);
        if following == Some(&Token::Mark('[')) {
            for word in ["graph", "node", "edge"] {
                if self.keyword(word) {
                    self.at += 1;
                    match word {
                        "node" => scope.node = Rc::new(self.attributes(&scope.node)?),
                        "edge" => scope.edge = Rc::new(self.attributes(&scope.edge)?),
                        _ => drop(self.attributes(&Attributes::default())?),
                    }
                    return Ok(());
                }
            }
        }
        if following == Some(&Token::Mark('=')) {
            self.id("a name")?;
            self.at += 1;
            self.id("a value")?;
            return Ok(());
        }
        let one_node = matches!(self.peek(), Some(Token::Id { .. })) && !self.keyword("subgraph");
        let mut chain = vec![self.operand(scope, depth)?];
        while self.peek() == Some(&Token::EdgeOp) {
            self.at += 1;
            chain.push(self.operand(scope, depth)?);
        }
        if let [lone] = &chain[..] {
            if one_node {
                for &node in lone {
                    let own = self.attributes(&self.graph.nodes[node].attributes.clone())?;
                    self.graph.nodes[node].attributes = own;
                }
            }
        } else {
            let attributes = Rc::new(self.attributes(&scope.edge)?);
            for pair in chain.windows(2) {
                for &a in &pair[0] {
                    for &b in &pair[1] {
                        self.graph.edge([a, b], &attributes)?;
                    }
                }
            }
        }
        members.extend(chain.into_iter().flatten());
        Ok(())
    }

    /// Returns a node, or the nodes of a group.
    fn operand(&mut self, scope: &Scope, depth: usize) -> Result<BTreeSet<usize>, NetworkError> {
        let named = self.keyword("subgraph");
        if named {
            self.at += 1;
            if let Some(Token::Id { .. }) = self.peek() {
                self.at += 1;
            }
        }
        if named || self.peek() == Some(&Token::Mark('{')) {
            return self.group(scope, depth + 1);
        }
        let id = self.id("a node")?;
        // A port and a compass point: which side of the node an edge is drawn to.
        while self.mark(':') {
            self.id("a port")?;
        }
        let node = self.graph.node(&id)?;
        if self.seen.insert(node) {
            self.graph.nodes[node].attributes = Attributes::clone(&scope.node);
        }
        Ok(BTreeSet::from([node]))
    }

    /// Returns any number of `[name=value, ...]`, set over `before`.
    fn attributes(&mut self, before: &Attributes) -> Result<Attributes, NetworkError> {
        let mut attributes = before.clone();
        while self.mark('[') {
            while !self.mark(']') {
                let name = self.id("an attribute")?;
                let value = if self.mark('=') { self.id("a value")? } else { "true".to_owned() };
                attributes.set(&name, &value);
                if !self.mark(',') {
                    self.mark(';');
                }
            }
        }
        Ok(attributes)
    }
}
