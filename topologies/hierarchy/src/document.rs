//! A document of two levels, taken apart into one per level, each entry on the line on which it stands.

use std::fmt::Write as _;

use inart_planner::TopologyError;
use inart_planner::topology::read_fields;
use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

/// Tight enough that a hostile document cannot take the machine.
const MAX_EVENTS: usize = 5_000_000;

/// A document's entries, not looked into but for what tells the levels apart.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub name: Spanned<String>,
    pub mtu: Option<Spanned<Value>>,
    pub nodes: Vec<Spanned<Map<String, Value>>>,
    pub links: Vec<Spanned<Map<String, Value>>>,
    #[serde(default)]
    pub traces: Vec<Spanned<Map<String, Value>>>,
    #[serde(default)]
    pub jobs: Vec<Spanned<Map<String, Value>>>,
}

/// An entry and its line.
#[derive(Debug, Clone)]
pub struct Entry {
    pub line: u64,
    pub fields: Map<String, Value>,
}

impl Entry {
    /// A field that is a text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_str()
    }

    /// A field that is a list of texts.
    pub fn texts(&self, field: &str) -> Option<Vec<&str>> {
        self.fields.get(field)?.as_array()?.iter().map(Value::as_str).collect()
    }
}

impl Document {
    /// Reads a document.
    pub fn read(text: &str) -> Result<Document, TopologyError> {
        let fix = "topologies/two-levels.yaml shows what a network of both levels looks like";
        read_fields(text, MAX_EVENTS, |problem| (problem.to_owned(), fix))
    }
}

/// Entries with their lines.
pub fn entries(all: Vec<Spanned<Map<String, Value>>>) -> Vec<Entry> {
    let entry =
        |entry: Spanned<Map<String, Value>>| Entry { line: entry.referenced.line(), fields: entry.value };
    all.into_iter().map(entry).collect()
}

/// A document of these entries. Each stands on its line, so that errors name it.
pub fn text(name: &str, mtu: Option<&Value>, sections: &[(&str, &[Entry])]) -> String {
    let mut sections: Vec<_> = sections.iter().filter(|(_, entries)| !entries.is_empty()).collect();
    sections.sort_by_key(|(_, entries)| entries[0].line);
    let mut out = format!("{{\"name\": {}", Value::from(name));
    if let Some(mtu) = mtu {
        let _ = write!(out, ", \"mtu\": {mtu}");
    }
    let mut line = 1;
    for (section, entries) in sections {
        let _ = write!(out, ", \"{section}\": [");
        for (at, entry) in entries.iter().enumerate() {
            while line < entry.line {
                out.push('\n');
                line += 1;
            }
            let separator = if at > 0 { ", " } else { "" };
            let _ = write!(out, "{separator}{}", Value::from(entry.fields.clone()));
        }
        out.push(']');
    }
    out + "}"
}
