//! The reference page of all keys.

use std::fmt::Write as _;

use super::entries::{BackgroundEntry, Document, JobEntry, LinkEntry, NodeEntry, TimeEntry, TraceEntry};
use super::keys::Key;

/// All keys of documents, by section.
pub const KEYS: [&[Key]; 7] = [
    Document::KEYS,
    NodeEntry::KEYS,
    LinkEntry::KEYS,
    BackgroundEntry::KEYS,
    TraceEntry::KEYS,
    JobEntry::KEYS,
    TimeEntry::KEYS,
];

const HEAD: &str = "# Keys of network documents

Look up here which keys a network's document may have, and which kinds of networks know them.
`topologies/` has examples; [topologies.md](topologies.md) explains them. `inart-topologies` prints this page
from the list that its reader uses, and a test compares both.

Nodes, links and jobs inside a site have the keys of networks of switches. Quantities have units: `20 Mbps`,
`30 ms`, `548 MB`.
";

/// The reference page, in Markdown.
pub fn reference() -> String {
    let mut out = HEAD.to_owned();
    for keys in KEYS {
        let section = keys.first().map_or("", |key| key.section);
        let title = match section {
            "network" => "The document".to_owned(),
            "compute" => "Times: `compute`, `pause`, and each of `computes`".to_owned(),
            section => format!("`{section}`"),
        };
        let _ = write!(out, "\n## {title}\n\n| Key | Networks of | Value |\n|---|---|---|\n");
        for key in keys {
            let _ = writeln!(out, "| `{}` | {} | {} |", key.name, key.kinds_in_words(), key.about);
        }
    }
    out
}
