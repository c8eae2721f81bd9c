//! p4c's output for a program after its mid end, made small.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

const ID: &str = "Node_ID";
const TYPE: &str = "Node_Type";
/// Positions in the source, and numbers of declarations: no switch needs them.
const LEFT_OUT: [&str; 2] = ["Source_Info", "declid"];

/// Returns the same graph of nodes, with each repeated type and empty list written once. A node is an object
/// with a number and a type; an object with a number alone refers to one. p4c writes a node once, but it has
/// a copy of an extern's type for each of its instances. Nodes with names of their own stay apart, since two
/// of them may differ.
///
/// # Errors
/// Returns the problem of a document that is not such a graph.
pub(super) fn shrink(document: &Value) -> Result<Value, String> {
    let mut graph = Graph::default();
    graph.collect(document);
    if !graph.nodes.contains_key(&graph.number_of(document)?) {
        return Err("its root is not a node".to_owned());
    }
    let mut written = HashSet::new();
    graph.write(document, &mut written)
}

#[derive(Default)]
struct Graph<'d> {
    /// By the number that p4c gave them.
    nodes: HashMap<u64, &'d Map<String, Value>>,
    /// The first node that is equal to one; `None` while it is being looked at.
    first: HashMap<u64, Option<u64>>,
    /// The first node of each kind and content.
    known: HashMap<String, u64>,
    /// Our numbers, in the order of writing.
    numbers: HashMap<u64, usize>,
}

impl<'d> Graph<'d> {
    fn collect(&mut self, value: &'d Value) {
        match value {
            Value::Object(fields) => {
                if let (Some(id), true) = (id(fields), fields.contains_key(TYPE)) {
                    self.nodes.insert(id, fields);
                }
                fields.values().for_each(|field| self.collect(field));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            _ => {}
        }
    }

    fn number_of(&self, value: &Value) -> Result<u64, String> {
        value.as_object().and_then(id).ok_or_else(|| "its root has no number".to_owned())
    }

    fn node(&self, id: u64) -> Result<&'d Map<String, Value>, String> {
        self.nodes.get(&id).copied().ok_or_else(|| format!("node {id} does not exist"))
    }

    /// Returns the first node that is equal to `id`.
    fn first(&mut self, id: u64) -> Result<u64, String> {
        match self.first.get(&id) {
            Some(Some(first)) => return Ok(*first),
            Some(None) => return Err(format!("node {id} contains itself")),
            None => {}
        }
        let node = self.node(id)?;
        self.first.insert(id, None);
        let mut key = String::new();
        for (name, field) in fields(node) {
            key += name;
            key.push(':');
            self.describe(field, &mut key)?;
            key.push(',');
        }
        let first = *self.known.entry(key).or_insert(id);
        self.first.insert(id, Some(first));
        Ok(first)
    }

    /// Returns the node that is written for `id`.
    fn written_as(&mut self, id: u64) -> Result<u64, String> {
        let first = self.first(id)?;
        Ok(if is_shared(self.node(id)?) { first } else { id })
    }

    fn describe(&mut self, value: &Value, key: &mut String) -> Result<(), String> {
        match value {
            Value::Object(object) => {
                if let Some(id) = id(object) {
                    key.push('#');
                    *key += &self.first(id)?.to_string();
                    return Ok(());
                }
                key.push('{');
                for (name, field) in fields(object) {
                    *key += &Value::from(name.as_str()).to_string();
                    key.push(':');
                    self.describe(field, key)?;
                    key.push(',');
                }
                key.push('}');
            }
            Value::Array(items) => {
                key.push('[');
                for item in items {
                    self.describe(item, key)?;
                    key.push(',');
                }
                key.push(']');
            }
            Value::Number(number) if !number.is_i64() && !number.is_u64() => {
                return Err(format!("{number} is not an integer of 64 bits"));
            }
            other => *key += &other.to_string(),
        }
        Ok(())
    }

    /// Returns a node in full where it is met first, and as its number after that.
    fn write(&mut self, value: &Value, written: &mut HashSet<u64>) -> Result<Value, String> {
        Ok(match value {
            Value::Object(object) => {
                let mut output = Map::new();
                let mut source = object;
                if let Some(theirs) = id(object) {
                    let id = self.written_as(theirs)?;
                    let next = self.numbers.len();
                    let number = *self.numbers.entry(id).or_insert(next);
                    output.insert(ID.to_owned(), number.into());
                    if !written.insert(id) {
                        return Ok(Value::Object(output));
                    }
                    source = self.node(id)?;
                }
                for (name, field) in fields(source) {
                    output.insert(name.clone(), self.write(field, written)?);
                }
                Value::Object(output)
            }
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.write(item, written)).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }
}

/// Returns whether equal nodes of its kind are interchangeable: types, and empty lists.
fn is_shared(node: &Map<String, Value>) -> bool {
    let kind = node.get(TYPE).and_then(Value::as_str).unwrap_or_default();
    kind.starts_with("Type_") || node.get("vec").and_then(Value::as_array).is_some_and(Vec::is_empty)
}

fn id(object: &Map<String, Value>) -> Option<u64> {
    object.get(ID).and_then(Value::as_u64)
}

fn fields(object: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.iter().filter(|(name, _)| *name != ID && !LEFT_OUT.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn equal_nodes_are_written_once_and_others_stay_apart() {
        let bits =
            |id: u64, size: u64| json!({"Node_ID": id, "Node_Type": "Type_Bits", "size": size, "declid": id});
        let variable = |id: u64| json!({"Node_ID": id, "Node_Type": "Variable", "type": bits(id + 1, 8)});
        let document = json!({
            "Node_ID": 9, "Node_Type": "Program", "Source_Info": {"line": 3},
            "parts": [bits(1, 8), bits(2, 8), bits(3, 9), {"Node_ID": 2}, {"name": "x", "type": {"Node_ID": 3}}],
            "things": [variable(11), variable(21), {"Node_ID": 11}],
        });
        let eight = json!({"Node_ID": 1, "Node_Type": "Type_Bits", "size": 8});
        let nine = json!({"Node_ID": 2, "Node_Type": "Type_Bits", "size": 9});
        let variable = |id: u64| json!({"Node_ID": id, "Node_Type": "Variable", "type": {"Node_ID": 1}});
        assert_eq!(
            shrink(&document).unwrap(),
            json!({
                "Node_ID": 0, "Node_Type": "Program",
                "parts": [eight, {"Node_ID": 1}, nine, {"Node_ID": 1}, {"name": "x", "type": {"Node_ID": 2}}],
                "things": [variable(3), variable(4), {"Node_ID": 3}],
            })
        );
    }

    #[test]
    fn what_is_no_graph_of_nodes_is_refused() {
        let refused = |document: Value| shrink(&document).unwrap_err();
        assert_eq!(refused(json!([1])), "its root has no number");
        assert_eq!(refused(json!({"Node_ID": 1})), "its root is not a node");
        let missing = json!({"Node_ID": 1, "Node_Type": "A", "a": {"Node_ID": 2}});
        assert_eq!(refused(missing), "node 2 does not exist");
        let own = json!({"Node_ID": 1, "Node_Type": "A", "a": {"Node_ID": 1}});
        assert_eq!(refused(own), "node 1 contains itself");
        let float = json!({"Node_ID": 1, "Node_Type": "A", "a": 1.5});
        assert_eq!(refused(float), "1.5 is not an integer of 64 bits");
    }
}
