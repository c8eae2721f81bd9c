//! The node-link JSON of NetworkX (`node_link_data`), with `links` or `edges`.

use std::borrow::Cow;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::attributes::Attributes;
use super::graph::Graph;
use crate::NetworkError;
use crate::units::counted;

pub(super) fn read(text: &str) -> Result<Graph, NetworkError> {
    let mut graph = Graph::new("networkx");
    let (text, unknown) = numbers_of_python(text);
    if unknown > 0 {
        graph.notes.push(format!("{} read as not stated", counted(unknown, "NaN")));
    }
    let document: Value = serde_json::from_str(&text).map_err(|error| {
        let problem = error.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
        let fix = "write it with json.dump(networkx.node_link_data(graph), file)";
        NetworkError::new(error.line() as u64, "networkx", problem, fix)
    })?;
    let list = |names: &[&str]| names.iter().find_map(|name| document.get(name)?.as_array());
    let (Some(nodes), Some(edges)) = (list(&["nodes"]), list(&["links", "edges"])) else {
        let fix = "write it with networkx.node_link_data(graph), or name its format";
        return Err(graph.wrong("it has no list `nodes`, or no list `links` or `edges`", fix));
    };
    let is_set = |key| document.get(key) == Some(&Value::Bool(true));
    graph.directed = is_set("directed");
    graph.multigraph = is_set("multigraph");
    for (at, node) in nodes.iter().enumerate() {
        let entry = entry(&graph, node, "nodes", at)?;
        let Some(id) = entry.get("id").or_else(|| entry.get("name")) else {
            return Err(graph.wrong(format!("nodes[{at}] has no id"), "give each node an id"));
        };
        graph.declare(&written(id))?.attributes = attributes(entry);
    }
    for (at, edge) in edges.iter().enumerate() {
        let entry = entry(&graph, edge, "links", at)?;
        let (Some(source), Some(target)) = (entry.get("source"), entry.get("target")) else {
            return Err(graph.wrong(format!("links[{at}] has no source or no target"), "name both nodes"));
        };
        let ends = [graph.end(&written(source))?, graph.end(&written(target))?];
        graph.edge(ends, &Rc::new(attributes(entry)))?;
    }
    Ok(graph)
}

/// Converts Python's extensions to JSON: `NaN` becomes `null`, and `Infinity` a text that is not a rate. Also
/// returns the number of NaN values.
fn numbers_of_python(text: &str) -> (Cow<'_, str>, usize) {
    let words = [("NaN", "null"), ("-Infinity", "\"-inf\""), ("Infinity", "\"inf\"")];
    if !words.iter().any(|(word, _)| text.contains(word)) {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut unknown) = (text, 0);
    while let Some(first) = rest.chars().next() {
        let found = words.iter().find(|(word, _)| rest.starts_with(word));
        let length = match (first, found) {
            ('"', _) => end_of_string(rest),
            (_, Some((word, json))) => {
                unknown += usize::from(*json == "null");
                out.push_str(json);
                rest = &rest[word.len()..];
                continue;
            }
            _ => first.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    (Cow::Owned(out), unknown)
}

/// Returns the bytes of a string with its quotes.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

fn entry<'v>(
    graph: &Graph,
    value: &'v Value,
    list: &str,
    at: usize,
) -> Result<&'v Map<String, Value>, NetworkError> {
    value
        .as_object()
        .ok_or_else(|| graph.wrong(format!("{list}[{at}] is not an object"), "write it as {\"id\": ...}"))
}

fn attributes(entry: &Map<String, Value>) -> Attributes {
    let plain = entry.iter().filter(|(_, value)| !value.is_object() && !value.is_null());
    Attributes(plain.map(|(name, value)| (name.clone(), written(value))).collect())
}

/// Text as it is, numbers and tuples as JSON writes them.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
