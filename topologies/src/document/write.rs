//! Writes documents.

use std::fmt::Write as _;

use super::at::At;
use super::entries::Document;
use super::field::Field;

impl Document {
    /// Writes the document as YAML: the network's own keys, then one entry per line.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        if let Some(name) = &self.name {
            let _ = writeln!(out, "name: {}", name.yaml());
        }
        if let Some(mtu) = &self.mtu {
            let _ = writeln!(out, "mtu: {}", mtu.yaml());
        }
        section(&mut out, "nodes", self.nodes.as_ref());
        section(&mut out, "links", self.links.as_ref());
        section(&mut out, "background", self.background.as_ref());
        section(&mut out, "traces", self.traces.as_ref());
        section(&mut out, "jobs", self.jobs.as_ref());
        out
    }

    /// Writes the document as JSON: rates in `bps`, times in `s`, sizes in `B`.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }
}

fn section<E: Field>(out: &mut String, name: &str, entries: Option<&At<Vec<At<E>>>>) {
    let Some(At { value: entries, .. }) = entries else { return };
    if entries.is_empty() {
        let _ = writeln!(out, "{name}: []");
        return;
    }
    let _ = writeln!(out, "{name}:");
    for entry in entries {
        let _ = writeln!(out, "  - {}", entry.yaml());
    }
}
