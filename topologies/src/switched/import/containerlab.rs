//! containerlab's topology files: nodes of some kind, links between their interfaces.

use std::rc::Rc;

use indexmap::IndexMap;
use serde::Deserialize;

use super::attributes::{Attributes, Role};
use super::graph::Graph;
use crate::NetworkError;

#[derive(Deserialize)]
struct Lab {
    topology: Topology,
}

#[derive(Deserialize)]
struct Topology {
    #[serde(default)]
    defaults: Settings,
    #[serde(default)]
    kinds: IndexMap<String, Option<Settings>>,
    #[serde(default)]
    groups: IndexMap<String, Option<Settings>>,
    nodes: IndexMap<String, Option<Settings>>,
    #[serde(default)]
    links: Vec<Link>,
}

/// The settings of a node, or of its group or kind, as far as they concern us.
#[derive(Deserialize, Default)]
struct Settings {
    kind: Option<String>,
    group: Option<String>,
    #[serde(default)]
    labels: IndexMap<String, Scalar>,
}

#[derive(Deserialize)]
struct Link {
    /// `node:interface`, or mappings in the extended form.
    #[serde(default)]
    endpoints: Vec<Endpoint>,
    /// The one end of a link to the host's own networks.
    endpoint: Option<Endpoint>,
    #[serde(rename = "type")]
    kind: Option<String>,
    mtu: Option<Scalar>,
    #[serde(default)]
    labels: IndexMap<String, Scalar>,
    #[serde(default)]
    vars: IndexMap<String, Scalar>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Endpoint {
    Short(String),
    Long { node: String },
}

impl Endpoint {
    fn node(&self) -> &str {
        match self {
            Endpoint::Short(text) => text.split(':').next().unwrap_or_default(),
            Endpoint::Long { node } => node,
        }
    }
}

/// A label's value, as text; lists and mappings are ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(f64),
    Other(serde::de::IgnoredAny),
}

/// Ends that containerlab gives a meaning of its own: networks outside the lab.
const OUTSIDE: [&str; 4] = ["host", "mgmt-net", "macvlan", "vxlan"];

pub(super) fn read(text: &str) -> Result<Graph, NetworkError> {
    let options = serde_saphyr::options! { with_snippet: false };
    let lab: Lab = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map(|location| location.line());
        let problem = error.to_string();
        let problem = problem.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let problem = problem.split(" at line ").next().unwrap_or_default();
        let fix = "give a containerlab file (topology: nodes, links), or name its format";
        NetworkError::new(line, "containerlab", problem, fix)
    })?;
    let lab = lab.topology;
    let mut graph = Graph::new("containerlab");
    let nothing = Settings::default();
    for (name, settings) in &lab.nodes {
        let own = settings.as_ref().unwrap_or(&nothing);
        let group = own.group.as_ref().and_then(|group| lab.groups.get(group)?.as_ref()).unwrap_or(&nothing);
        let kind = own.kind.as_ref().or(group.kind.as_ref()).or(lab.defaults.kind.as_ref());
        let of_kind = kind.and_then(|kind| lab.kinds.get(kind)?.as_ref()).unwrap_or(&nothing);
        let node = graph.declare(name)?;
        // The setting closest to the node counts.
        for level in [&lab.defaults, of_kind, group, own] {
            set(&mut node.attributes, &level.labels);
        }
        node.role = Some(match kind.map(String::as_str) {
            Some("linux") => Role::Host,
            _ => Role::Switch,
        });
    }
    for link in &lab.links {
        let ends: Vec<&str> = link.endpoints.iter().chain(&link.endpoint).map(Endpoint::node).collect();
        let outside = link.kind.as_ref().is_some_and(|kind| kind != "veth")
            || ends.iter().any(|end| OUTSIDE.contains(end) && !lab.nodes.contains_key(*end));
        match ends[..] {
            _ if outside => graph.notes.push(format!("link {} left out: it leaves the lab", ends.join("-"))),
            [a, b] => {
                let ends = [graph.end(a)?, graph.end(b)?];
                let mut attributes = Attributes::default();
                if let Some(mtu) = &link.mtu {
                    set_one(&mut attributes, "mtu", mtu);
                }
                set(&mut attributes, &link.labels);
                set(&mut attributes, &link.vars);
                graph.edge(ends, &Rc::new(attributes))?;
            }
            _ => {
                let problem = format!("a link has {} endpoints", ends.len());
                return Err(graph.wrong(problem, "write it like endpoints: [\"a:eth1\", \"b:eth1\"]"));
            }
        }
    }
    Ok(graph)
}

fn set(attributes: &mut Attributes, labels: &IndexMap<String, Scalar>) {
    labels.iter().for_each(|(name, value)| set_one(attributes, name, value));
}

fn set_one(attributes: &mut Attributes, name: &str, value: &Scalar) {
    match value {
        Scalar::Text(text) => attributes.set(name, text),
        Scalar::Number(number) => attributes.set(name, &number.to_string()),
        Scalar::Other(_) => {}
    }
}
