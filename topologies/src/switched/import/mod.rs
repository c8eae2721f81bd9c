//! Networks that other tools have written: GraphML, GML, DOT, NetworkX's node-link JSON, containerlab,
//! Mininet's console.
//!
//! Every format is read into one graph of attributes; missing parts (hosts, rates, aggregation) come from
//! [`ImportOptions`], and [`Imported::notes`] lists all that is merged, assumed or left out.

mod assemble;
mod attributes;
mod containerlab;
mod dot;
mod dot_tokens;
mod encoding;
mod gml;
mod graph;
mod graphml;
mod hosts;
mod links;
mod mininet;
mod names;
mod networkx;
mod options;

use std::fmt;
use std::str::FromStr;

use crate::NetworkError;
pub use encoding::decode;
pub use options::{Hosts, ImportOptions, Imported};

/// Texts longer than this are refused.
const MAX_BYTES: usize = 64 << 20;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// GraphML, such as the files of the Topology Zoo.
    Graphml,
    /// GML, such as the other files of the Topology Zoo.
    Gml,
    /// Graphviz.
    Dot,
    /// JSON as NetworkX's `node_link_data` makes it.
    Networkx,
    /// A containerlab topology file.
    Containerlab,
    /// Output of Mininet's `net`, `links` and `dump`, in any order and mixture.
    Mininet,
}

impl Format {
    const NAMES: [(&'static str, Format); 6] = [
        ("graphml", Format::Graphml),
        ("gml", Format::Gml),
        ("dot", Format::Dot),
        ("networkx", Format::Networkx),
        ("containerlab", Format::Containerlab),
        ("mininet", Format::Mininet),
    ];

    /// Returns the format of a file, by its extension, else by the start of its text; `None` if neither shows
    /// it.
    pub fn guess(file: &str, text: &str) -> Option<Format> {
        match file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
            Some("graphml" | "xml") => return Some(Format::Graphml),
            Some("gml") => return Some(Format::Gml),
            Some("dot" | "gv") => return Some(Format::Dot),
            Some("json") => return Some(Format::Networkx),
            Some("yml" | "yaml") => return Some(Format::Containerlab),
            _ => {}
        }
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let opens = |line: &str| {
            let line = line.trim_start().to_ascii_lowercase();
            line.contains('{') && ["strict", "graph", "digraph"].iter().any(|word| line.starts_with(word))
        };
        let opens_gml = |line: &str| {
            let line = line.trim();
            line.strip_prefix("graph").is_some_and(|rest| rest.trim_start().starts_with('['))
        };
        if ["<?xml", "<!DOCTYPE", "<graphml"].iter().any(|start| text.starts_with(start)) {
            Some(Format::Graphml)
        } else if text.starts_with('{') {
            Some(Format::Networkx)
        } else if text.lines().any(opens) {
            Some(Format::Dot)
        } else if text.lines().any(opens_gml) {
            Some(Format::Gml)
        } else if text.lines().any(|line| line.trim_end() == "topology:") {
            Some(Format::Containerlab)
        } else if text.contains("-eth") || text.contains("mininet>") {
            Some(Format::Mininet)
        } else {
            None
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Format::NAMES.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Format::NAMES.iter().find(|(name, _)| *name == text).map(|&(_, format)| format).ok_or_else(|| {
            let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown format \"{text}\"; one of {}", names.join(", "))
        })
    }
}

/// Reads a network written by another tool.
///
/// # Errors
/// Returns an error that names the place in the text; or the missing part of the network, and the option that
/// supplies it.
pub fn import(text: &str, format: Format, options: &ImportOptions) -> Result<Imported, NetworkError> {
    if text.len() > MAX_BYTES {
        let problem = format!("the text is longer than {} MiB", MAX_BYTES >> 20);
        return Err(NetworkError::new(None, format.to_string(), problem, "import a part of the network"));
    }
    let text = text.trim_start_matches('\u{feff}');
    let graph = match format {
        Format::Graphml => graphml::read(text),
        Format::Gml => gml::read(text),
        Format::Dot => dot::read(text),
        Format::Networkx => networkx::read(text),
        Format::Containerlab => containerlab::read(text),
        Format::Mininet => mininet::read(text),
    }?;
    assemble::assemble(graph, options)
}
