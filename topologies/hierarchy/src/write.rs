//! Networks of both levels written back as documents.

use std::fmt::Write as _;

use serde_json::Value;

use crate::document::{Document, Entry, entries};
use crate::hierarchy::Hierarchy;

impl Hierarchy {
    /// Writes the document that [`Hierarchy::from_yaml`] reads back to the same network.
    pub fn to_yaml(&self) -> String {
        let Parts { mut nodes, mut links, traces, mut jobs, .. } = Parts::of(&self.overlay.to_yaml());
        let mut mtu = None;
        for inside in &self.insides {
            let site = Value::from(&*inside.site);
            let parts = Parts::of(&inside.topology.to_yaml());
            nodes.extend(parts.nodes.into_iter().filter(|node| node.fields.get("name") != Some(&site)).map(
                |mut node| {
                    node.fields.insert("site".to_owned(), site.clone());
                    node
                },
            ));
            links.extend(parts.links);
            jobs.extend(parts.jobs);
            mtu = mtu.or(parts.mtu);
        }
        let mut out = format!("name: {}\n", Value::from(self.overlay.name()));
        if let Some(mtu) = mtu {
            let _ = writeln!(out, "mtu: {mtu}");
        }
        for (section, entries) in [("nodes", nodes), ("links", links), ("traces", traces), ("jobs", jobs)] {
            if entries.is_empty() {
                continue;
            }
            let _ = writeln!(out, "{section}:");
            for entry in entries {
                let _ = writeln!(out, "  - {}", Value::from(entry.fields));
            }
        }
        out
    }
}

/// The sections of a document that was written.
#[derive(Default)]
struct Parts {
    mtu: Option<Value>,
    nodes: Vec<Entry>,
    links: Vec<Entry>,
    traces: Vec<Entry>,
    jobs: Vec<Entry>,
}

impl Parts {
    fn of(text: &str) -> Self {
        // What was just written can be read.
        let Ok(Document { mtu, nodes, links, traces, jobs, .. }) = Document::read(text) else {
            return Self::default();
        };
        let mtu = mtu.map(|mtu| mtu.value);
        let [nodes, links, traces, jobs] = [nodes, links, traces, jobs].map(entries);
        Self { mtu, nodes, links, traces, jobs }
    }
}
