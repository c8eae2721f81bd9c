//! Names that our documents and commands take.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::graph::{Graph, Node};
use crate::document::MOST_NAME_BYTES;

/// Bytes of the number that follows a name that is taken.
const NUMBER_BYTES: usize = 8;

/// Converts text to a name: characters that our documents and commands reject become `_`, and long names are
/// cut.
pub(super) fn clean(text: &str) -> String {
    let usable = |c: char| if c.is_alphanumeric() || "_-.".contains(c) { c } else { ' ' };
    let text: String = text.chars().map(usable).collect();
    let mut name = text.split_whitespace().collect::<Vec<_>>().join("_");
    name.truncate(name.floor_char_boundary(MOST_NAME_BYTES - NUMBER_BYTES));
    name
}

/// Names that our documents and commands take, each once: the id, or the label where the id is a bare number.
pub(super) fn names(graph: &Graph, notes: &mut Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut name = |node: &Node| {
        let bare = node.id.strip_prefix('n').unwrap_or(&node.id).bytes().all(|byte| byte.is_ascii_digit());
        let label = node.attributes.get("label").or_else(|| node.attributes.get("name"));
        let label = label.filter(|label| bare && !["none", "?"].contains(&label.to_lowercase().as_str()));
        let mut wanted = clean(label.unwrap_or(&node.id));
        if wanted.is_empty() {
            wanted = clean(&node.id);
        }
        if wanted.bytes().all(|byte| byte.is_ascii_digit()) {
            wanted.insert(0, 'n');
        }
        let mut name = wanted.clone();
        let number = numbers.entry(wanted.clone()).or_insert(1);
        while !taken.insert(name.clone()) {
            *number += 1;
            name = format!("{wanted}_{number}");
        }
        if name != wanted {
            notes.push(format!("node {:?} is called {name}: {wanted} is taken", node.id));
        } else if name != node.id && label.is_none() {
            notes.push(format!("node {:?} is called {name}", node.id));
        }
        name
    };
    graph.nodes.iter().map(&mut name).collect()
}

/// Returns the next free name of hosts that are attached.
pub(super) fn next_name(
    prefix: &'static str,
    numbers: &mut BTreeMap<&str, usize>,
    taken: &mut HashSet<String>,
) -> String {
    let number = numbers.entry(prefix).or_default();
    loop {
        let name = format!("{prefix}{number}");
        *number += 1;
        if taken.insert(name.clone()) {
            return name;
        }
    }
}
