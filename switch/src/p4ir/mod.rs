//! p4c's own intermediate form, as `p4test --toJSON` writes it: a graph of typed nodes.
//!
//! A node is an object with a number (`Node_ID`) and a type (`Node_Type`). A node that was written before
//! is written again as its number alone. Lists are nodes with a `vec`.

mod text;

use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::effort::{Effort, check_document};
use crate::error::{CompileError, Result};

/// Digits of an integer that is still read.
const MAX_DIGITS: usize = 20_000;

/// Returns whether a document is p4c's intermediate form rather than bmv2 JSON: it starts with a node.
pub(crate) fn is_intermediate(document: &[u8]) -> bool {
    let start = &document[..document.len().min(256)];
    start.windows(9).any(|window| window == b"\"Node_ID\"")
}

/// Reads a document.
///
/// # Errors
/// If it is no JSON, nests too deeply, or is no node.
pub(crate) fn parse(document: &[u8]) -> Result<Value> {
    check_document(document)?;
    let quoted = text::quote_long_numbers(document)?;
    let mut reader = serde_json::Deserializer::from_slice(&quoted);
    // The depth was bounded when numbers were quoted; the caller provides a stack that fits it.
    reader.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value)).map_err(
        |error| {
            CompileError::new("p4c's intermediate form", format!("{error}; write it with p4test --toJSON"))
        },
    )
}

/// The nodes of a document by number.
#[derive(Debug)]
pub(crate) struct Graph<'v> {
    nodes: FxHashMap<u64, &'v Map<String, Value>>,
    root: &'v Map<String, Value>,
    effort: &'v Effort<'v>,
}

impl<'v> Graph<'v> {
    /// Finds all nodes. Each look at a node costs a step of `effort`; after the last one there are no nodes
    /// any more.
    ///
    /// # Errors
    /// If the document is no node.
    pub fn new(document: &'v Value, effort: &'v Effort<'v>) -> Result<Graph<'v>> {
        let root = document.as_object().filter(|map| map.contains_key("Node_Type")).ok_or_else(|| {
            CompileError::new(
                "p4c's intermediate form",
                "the document is not a node; write it with p4test --toJSON",
            )
        })?;
        let mut nodes = FxHashMap::default();
        let mut waiting = vec![document];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(map) => {
                    if let (Some(id), true) = (map.get("Node_ID").and_then(Value::as_u64), map.len() > 1) {
                        nodes.insert(id, map);
                    }
                    waiting.extend(map.values());
                }
                Value::Array(values) => waiting.extend(values),
                _ => {}
            }
        }
        Ok(Graph { nodes, root, effort })
    }

    /// Returns the program.
    pub fn root(&'v self) -> Node<'v> {
        Node { graph: self, map: self.root }
    }

    fn resolve(&'v self, value: &'v Value) -> Option<Node<'v>> {
        let map = value.as_object().filter(|_| self.effort.step())?;
        let known = match map.get("Node_ID") {
            Some(id) if map.len() == 1 => self.nodes.get(&id.as_u64()?).copied()?,
            _ => map,
        };
        Some(Node { graph: self, map: known })
    }
}

/// A node, read only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'v> {
    graph: &'v Graph<'v>,
    map: &'v Map<String, Value>,
}

impl<'v> Node<'v> {
    /// Returns the type, such as `P4Control`; empty if it has none.
    pub fn kind(self) -> &'v str {
        self.text("Node_Type").unwrap_or_default()
    }

    /// Returns the number.
    pub fn id(self) -> u64 {
        self.map.get("Node_ID").and_then(Value::as_u64).unwrap_or(u64::MAX)
    }

    /// Returns a string among its attributes.
    pub fn text(self, key: &str) -> Option<&'v str> {
        self.map.get(key)?.as_str()
    }

    /// Returns the name; empty if it has none.
    pub fn name(self) -> &'v str {
        self.text("name").unwrap_or_default()
    }

    /// Returns a truth value; false if it is absent.
    pub fn flag(self, key: &str) -> bool {
        self.map.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns an integer of any size.
    pub fn int(self, key: &str) -> Option<BigInt> {
        match self.map.get(key)? {
            Value::Number(number) => number.as_i64().map(BigInt::from),
            // The widest values have 65,536 bits. The time to read more digits grows with their square.
            Value::String(digits) if digits.len() <= MAX_DIGITS => digits.parse().ok(),
            _ => None,
        }
    }

    /// Returns a small number.
    pub fn number(self, key: &str) -> Option<u32> {
        self.int(key).and_then(|int| u32::try_from(int).ok())
    }

    /// Returns a node among its attributes.
    pub fn get(self, key: &str) -> Option<Node<'v>> {
        self.graph.resolve(self.map.get(key)?)
    }

    /// Returns a node that must be there.
    ///
    /// # Errors
    /// If it is not.
    pub fn need(self, key: &str) -> Result<Node<'v>> {
        self.get(key).ok_or_else(|| self.problem(format!("it has no {key:?}")))
    }

    /// Returns the members of a list among its attributes; none if there is no such list.
    pub fn list(self, key: &str) -> Vec<Node<'v>> {
        let Some(value) = self.map.get(key) else { return Vec::new() };
        let members = match value {
            Value::Array(members) => Some(members),
            value => self.graph.resolve(value).and_then(|list| list.map.get("vec")).and_then(Value::as_array),
        };
        members.into_iter().flatten().filter_map(|member| self.graph.resolve(member)).collect()
    }

    /// This node and all that it consists of, each once; not the types of expressions and declarations.
    pub fn below(self) -> Vec<Node<'v>> {
        let mut seen = rustc_hash::FxHashSet::default();
        let (mut found, mut waiting) = (Vec::new(), vec![self]);
        while let Some(node) = waiting.pop() {
            if node.map.contains_key("Node_ID") && !seen.insert(node.id()) {
                continue;
            }
            let function = node.kind() == "Function";
            let parts = node.map.iter().filter(|(key, _)| function || key.as_str() != "type");
            let before = waiting.len();
            for (_, value) in parts {
                match value {
                    Value::Array(values) => {
                        waiting.extend(values.iter().filter_map(|value| node.graph.resolve(value)));
                    }
                    value => waiting.extend(node.graph.resolve(value)),
                }
            }
            // The first part is first.
            waiting[before..].reverse();
            found.push(node);
        }
        found
    }

    /// Returns the annotation of that name.
    pub fn annotation(self, name: &str) -> Option<Annotation<'v>> {
        let found = self.list("annotations").into_iter().find(|annotation| annotation.name() == name)?;
        Some(Annotation { node: found })
    }

    /// Returns the name that the control plane uses: the annotation's, or its own.
    pub fn full_name(self) -> &'v str {
        let given = self.annotation("name").and_then(Annotation::text);
        let name = given.unwrap_or_else(|| self.name());
        name.strip_prefix('.').unwrap_or(name)
    }

    /// Returns the name that a path expression or a named type refers to.
    pub fn path(self) -> Option<&'v str> {
        self.get("path")?.text("name")
    }

    /// Returns the location: in the source if that was written, else its type, name and number.
    pub fn place(self) -> String {
        let source = self.map.get("Source_Info");
        let at = |key: &str| source.and_then(|source| source.get(key));
        match (at("filename").and_then(Value::as_str), at("line").and_then(Value::as_u64)) {
            (Some(file), Some(line)) => {
                let file = file.rsplit('/').next().unwrap_or(file);
                format!("{file}, line {line}")
            }
            _ if self.name().is_empty() => format!("{} (node {})", self.kind(), self.id()),
            _ => format!("{} {:?} (node {})", self.kind(), self.name(), self.id()),
        }
    }

    /// Returns an error about this node.
    pub fn problem(self, problem: impl Into<String>) -> CompileError {
        CompileError::new(self.place(), problem.into())
    }
}

/// An annotation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Annotation<'v> {
    node: Node<'v>,
}

impl<'v> Annotation<'v> {
    /// Returns the string of an annotation such as `@name("a.b")`.
    pub fn text(self) -> Option<&'v str> {
        let body = self.node.get("body").or_else(|| self.node.get("expr"))?;
        let values = if body.map.contains_key("value") { body.list("value") } else { self.node.list("expr") };
        values.first().and_then(|value| value.text("value").or_else(|| value.text("text")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Value {
        let text = r#"{"Node_ID":1,"Node_Type":"P4Program","objects":{"Node_ID":2,"Node_Type":"Vector<Node>",
            "vec":[{"Node_ID":3,"Node_Type":"P4Action","name":"a_1","annotations":{"Node_ID":4,
            "Node_Type":"Vector<Annotation>","vec":[{"Node_ID":5,"Node_Type":"Annotation","name":"name","body":
            {"variant_index":1,"value":{"Node_ID":6,"Node_Type":"Vector<Expression>","vec":[{"Node_ID":7,
            "Node_Type":"StringLiteral","value":".C.a"}]}}}]}},{"Node_ID":3},
            {"Node_ID":8,"Node_Type":"Constant","value":340282366920938463463374607431768211455}]}}"#;
        parse(text.as_bytes()).expect("parses")
    }

    #[test]
    fn references_names_and_long_numbers() {
        let (value, effort) = (example(), Effort::new(None));
        let graph = Graph::new(&value, &effort).expect("a node");
        let objects = graph.root().list("objects");
        assert_eq!(objects.len(), 3);
        assert_eq!((objects[0].id(), objects[1].kind()), (3, "P4Action"));
        assert_eq!(objects[1].full_name(), "C.a");
        assert_eq!(objects[2].int("value"), Some((BigInt::from(1) << 128) - 1));
        let below = graph.root().below();
        assert_eq!(below.iter().filter(|node| node.kind() == "P4Action").count(), 1);
    }

    #[test]
    fn a_document_that_is_no_node_is_refused() {
        assert!(Graph::new(&Value::Null, &Effort::new(None)).is_err());
        assert!(parse(b"{\"Node_ID\":1").is_err());
        assert!(is_intermediate(b"{ \"Node_ID\" : 4711,") && !is_intermediate(b"{\"program\":\"x\"}"));
    }
}
