//! GraphML, as the Topology Zoo, NetworkX, igraph and yEd write it.

use std::collections::HashMap;
use std::rc::Rc;

use roxmltree::{Document, Node, ParsingOptions};

use super::attributes::Attributes;
use super::graph::Graph;
use crate::NetworkError;
use crate::units::counted;

/// Elements, texts and comments of one document.
const MAX_XML_NODES: u32 = 20_000_000;

/// Declaration of `<key>`: the attribute's name, and a default for nodes or edges without `<data>` for it.
struct Key<'a> {
    name: &'a str,
    of: &'a str,
    default: Option<&'a str>,
}

/// Returns whether a `<!DOCTYPE` has a part of its own that declares entities, by which a short text may mean
/// a long one.
fn declares_entities(text: &str) -> bool {
    let Some((_, declaration)) = text.split_once("<!DOCTYPE") else { return false };
    match declaration.find(['[', '>']) {
        Some(at) if declaration[at..].starts_with('[') => declaration[at..].contains("<!ENTITY"),
        _ => false,
    }
}

pub(super) fn read(text: &str) -> Result<Graph, NetworkError> {
    let mut graph = Graph::new("graphml");
    if declares_entities(text) {
        let fix = "delete `<!DOCTYPE ...>`, and write what its entities stand for";
        return Err(graph.wrong("its DTD declares entities, which are not read", fix));
    }
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_XML_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let line = u64::from(error.pos().row);
        let problem = error.to_string();
        let problem = problem.split(" at ").next().unwrap_or_default().to_owned();
        NetworkError::new(line, "graphml", problem, "export the file again, as GraphML")
    })?;
    graph.multigraph = true;
    let elements =
        |name| document.descendants().filter(move |node: &Node<'_, '_>| node.tag_name().name() == name);
    let Some(root) = elements("graph").next() else {
        return Err(graph.wrong("it has no <graph>", "name its format"));
    };
    graph.directed = root.attribute("edgedefault") == Some("directed");
    let keys: HashMap<&str, Key<'_>> = elements("key")
        .filter_map(|key| {
            let id = key.attribute("id")?;
            let default = key.children().find(|child| child.tag_name().name() == "default");
            let key = Key {
                name: key.attribute("attr.name").unwrap_or(id),
                of: key.attribute("for").unwrap_or("all"),
                default: default.and_then(|default| default.text()),
            };
            Some((id, key))
        })
        .collect();
    let attributes = |element: Node<'_, '_>, of: &str| {
        let mut attributes = Attributes::default();
        for key in keys.values().filter(|key| key.of == of || key.of == "all") {
            if let Some(default) = key.default {
                attributes.set(key.name, default);
            }
        }
        for data in element.children().filter(|child| child.tag_name().name() == "data") {
            let key = data.attribute("key").unwrap_or_default();
            attributes.set(keys.get(key).map_or(key, |key| key.name), data.text().unwrap_or_default());
        }
        attributes
    };
    for node in elements("node") {
        let Some(id) = node.attribute("id") else {
            return Err(graph.wrong("a <node> has no id", "give each node an id"));
        };
        graph.declare(id)?.attributes = attributes(node, "node");
    }
    for edge in elements("edge") {
        let (Some(source), Some(target)) = (edge.attribute("source"), edge.attribute("target")) else {
            return Err(graph.wrong("an <edge> has no source or no target", "name both nodes"));
        };
        let ends = [graph.end(source)?, graph.end(target)?];
        graph.edge(ends, &Rc::new(attributes(edge, "edge")))?;
    }
    let hyperedges = elements("hyperedge").count();
    if hyperedges > 0 {
        graph.notes.push(format!("{} left out: a link has two ends", counted(hyperedges, "hyperedge")));
    }
    Ok(graph)
}
