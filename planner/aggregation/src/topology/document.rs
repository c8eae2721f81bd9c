//! The topology document as people write it (YAML, or JSON, which is YAML too), and back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Spanned;

use super::{DEFAULT_MTU, NodeKind, SwitchPort, Topology};
use crate::units::{Rate, Seconds, Size, display_exact, display_rate, display_seconds, display_size};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub name: Spanned<String>,
    /// Of links that state none.
    pub mtu: Option<Spanned<i64>>,
    pub nodes: Vec<Spanned<NodeEntry>>,
    pub links: Vec<Spanned<LinkEntry>>,
    #[serde(default)]
    pub background: Vec<Spanned<BackgroundEntry>>,
    #[serde(default)]
    pub jobs: Vec<Spanned<JobEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeEntry {
    pub name: String,
    pub kind: KindEntry,
    pub aggregation: Option<Rate>,
    pub ingress: Option<Rate>,
    pub board: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum KindEntry {
    Switch,
    Server,
    Worker,
}

impl From<KindEntry> for NodeKind {
    fn from(kind: KindEntry) -> Self {
        match kind {
            KindEntry::Switch => NodeKind::Switch,
            KindEntry::Server => NodeKind::Server,
            KindEntry::Worker => NodeKind::Worker,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkEntry {
    pub ends: [String; 2],
    pub rate: Rate,
    pub delay: Option<Seconds>,
    pub mtu: Option<i64>,
    /// By the name of the switch.
    #[serde(default)]
    pub ports: BTreeMap<String, SwitchPort>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackgroundEntry {
    pub link: Option<[String; 2]>,
    pub node: Option<String>,
    pub rate: Rate,
}

/// How a job's tensors are summed, where that is said.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum SumKey {
    Exact,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct JobEntry {
    pub name: String,
    /// Of federated training they are called clients.
    #[serde(alias = "clients")]
    pub workers: Option<Vec<String>>,
    pub servers: Option<Vec<String>>,
    pub gradient: Option<Size>,
    pub sum: Option<SumKey>,
    #[serde(default)]
    pub elastic: bool,
    // How long participants compute does not change a plan: who simulates training reads it.
    #[allow(dead_code, reason = "the name is known here, the value is read by others")]
    pub compute: Option<IgnoredAny>,
    #[allow(dead_code, reason = "as above")]
    pub computes: Option<IgnoredAny>,
    #[allow(dead_code, reason = "as above")]
    pub batch: Option<IgnoredAny>,
    #[allow(dead_code, reason = "as above")]
    pub batches: Option<IgnoredAny>,
    #[allow(dead_code, reason = "as above")]
    pub pause: Option<IgnoredAny>,
}

/// What the parser says for programmers, for people who write topologies; and the fix.
pub(super) fn in_our_words(problem: &str) -> (&str, &'static str) {
    const EXAMPLE: &str = "topologies/fig1.yaml shows what a topology looks like";
    let cut = |at: &str| problem.split(at).next().unwrap_or(problem);
    if problem.starts_with("unknown variant `site`") {
        let fix = "`inart plan` and `inart simulate` take it: docs/wide-area.md";
        ("a node is a site, so this is a network of sites", fix)
    } else if problem.contains("tuple of size 2") {
        (cut(", expected"), "name the two nodes")
    } else if problem.starts_with("invalid boolean") {
        ("a job's `elastic` is neither true nor false", "write `elastic: true`, or leave it out")
    } else if problem.contains("expected one of exact") {
        (cut(", expected"), "write `sum: exact`, or leave it out")
    } else if problem.starts_with("unknown field `exact`") {
        ("a job has no key `exact`", "write `sum: exact`")
    } else if problem.starts_with("invalid i64") {
        ("an `mtu` is no whole number of bytes", "write it like `mtu: 9000`")
    } else if problem.starts_with("unknown variant") && problem.contains("expected one of switch") {
        let fix = "write switch, server or worker; networks of sites and of peers have `kind: site` and `kind: peer`";
        (cut(", expected"), fix)
    } else if problem.starts_with("unknown") {
        (problem, "")
    } else {
        (problem, EXAMPLE)
    }
}

impl Topology {
    /// Writes the document that [`Topology::from_yaml`] reads back to an equal topology.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        let name = |id: super::NodeId| quoted(&self.node(id).name);
        let list = |ids: &[super::NodeId]| ids.iter().map(|&id| name(id)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "name: {}", quoted(&self.name));
        let common = self.common_mtu();
        if common != DEFAULT_MTU {
            let _ = writeln!(out, "mtu: {common}");
        }
        out.push_str("nodes:\n");
        for node in &self.nodes {
            let _ = write!(out, "  - {{name: {}, kind: {}", quoted(&node.name), node.kind);
            if node.aggregation_bps > 0.0 {
                let _ = write!(out, ", aggregation: {}", rate(node.aggregation_bps));
            }
            if let Some(ingress) = node.ingress_bps {
                let _ = write!(out, ", ingress: {}", rate(ingress));
            }
            if let Some(board) = node.board {
                let _ = write!(out, ", board: {board}");
            }
            out.push_str("}\n");
        }
        out.push_str("links:\n");
        for link in &self.links {
            let [a, b] = link.ends.map(name);
            let _ = write!(out, "  - {{ends: [{a}, {b}], rate: {}", rate(link.rate_bps));
            if link.delay_seconds > 0.0 {
                let _ =
                    write!(out, ", delay: {}", exact::<Seconds>(link.delay_seconds, display_seconds, "s"));
            }
            if link.mtu != common {
                let _ = write!(out, ", mtu: {}", link.mtu);
            }
            let ports: Vec<_> =
                link.named_ports().map(|(end, port)| format!("{}: {port}", name(end))).collect();
            if !ports.is_empty() {
                let _ = write!(out, ", ports: {{{}}}", ports.join(", "));
            }
            out.push_str("}\n");
        }
        out.push_str(&self.background_yaml());
        out.push_str("jobs:\n");
        for job in &self.jobs {
            let (workers, servers) = (list(&job.workers), list(&job.servers));
            let _ =
                write!(out, "  - {{name: {}, workers: [{workers}], servers: [{servers}]", quoted(&job.name));
            if let Some(bytes) = job.gradient_bytes {
                let _ = write!(out, ", gradient: {}", exact::<Size>(bytes as f64, display_size, "B"));
            }
            if job.exact {
                out.push_str(", sum: exact");
            }
            if job.elastic {
                out.push_str(", elastic: true");
            }
            out.push_str("}\n");
        }
        out
    }

    /// Writes the same document as JSON: rates in `bps`, delays in `s`, sizes in `B`.
    pub fn to_json(&self) -> String {
        use serde_json::{Value, json};
        let name = |id: super::NodeId| self.node(id).name.as_str();
        let bps = |rate: f64| Value::from(display_exact(rate, "bps"));
        let names = |ids: &[super::NodeId]| ids.iter().map(|&id| name(id)).collect::<Vec<_>>();
        let node = |node: &super::Node| {
            let mut entry = json!({"name": node.name, "kind": node.kind.to_string()});
            if node.kind == NodeKind::Switch {
                entry["aggregation"] = bps(node.aggregation_bps);
            }
            if let Some(ingress) = node.ingress_bps {
                entry["ingress"] = bps(ingress);
            }
            if let Some(board) = node.board {
                entry["board"] = board.name().into();
            }
            entry
        };
        let port = |port: SwitchPort| match port {
            SwitchPort::Device(number) => Value::from(number),
            SwitchPort::Front { .. } => Value::from(port.to_string()),
        };
        let link = |link: &super::Link| {
            let ends = link.ends.map(name);
            let delay = display_exact(link.delay_seconds, "s");
            let mut entry =
                json!({"ends": ends, "rate": bps(link.rate_bps), "delay": delay, "mtu": link.mtu});
            for (end, stated) in link.named_ports() {
                entry["ports"][name(end)] = port(stated);
            }
            entry
        };
        let job = |job: &super::Job| {
            let (workers, servers) = (names(&job.workers), names(&job.servers));
            let mut entry = json!({"name": job.name, "workers": workers, "servers": servers});
            if let Some(bytes) = job.gradient_bytes {
                entry["gradient"] = format!("{bytes} B").into();
            }
            if job.exact {
                entry["sum"] = "exact".into();
            }
            if job.elastic {
                entry["elastic"] = true.into();
            }
            entry
        };
        let loaded = self.nodes.iter().filter(|node| node.background_bps > 0.0);
        let mut background: Vec<Value> =
            loaded.map(|node| json!({"node": node.name, "rate": bps(node.background_bps)})).collect();
        for link in &self.links {
            let [a, b] = link.ends.map(name);
            for (ends, rate) in [([a, b], link.background_bps[0]), ([b, a], link.background_bps[1])] {
                if rate > 0.0 {
                    background.push(json!({"link": ends, "rate": bps(rate)}));
                }
            }
        }
        json!({
            "name": self.name,
            "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
            "links": self.links.iter().map(link).collect::<Vec<_>>(),
            "background": background,
            "jobs": self.jobs.iter().map(job).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// The MTU of all links, else the default.
    fn common_mtu(&self) -> u16 {
        let first = self.links.first().map_or(DEFAULT_MTU, |link| link.mtu);
        if self.links.iter().all(|link| link.mtu == first) { first } else { DEFAULT_MTU }
    }

    fn background_yaml(&self) -> String {
        let mut out = String::new();
        for node in self.nodes.iter().filter(|node| node.background_bps > 0.0) {
            let _ =
                writeln!(out, "  - {{node: {}, rate: {}}}", quoted(&node.name), rate(node.background_bps));
        }
        for link in &self.links {
            let [a, b] = link.ends.map(|id| quoted(&self.node(id).name));
            for (from, to, bps) in [(&a, &b, link.background_bps[0]), (&b, &a, link.background_bps[1])] {
                if bps > 0.0 {
                    let _ = writeln!(out, "  - {{link: [{from}, {to}], rate: {}}}", rate(bps));
                }
            }
        }
        if out.is_empty() { out } else { format!("background:\n{out}") }
    }
}

/// The readable form when it reads back to the same number, else the number in the base unit.
fn exact<Q>(value: f64, display: fn(f64) -> String, base: &str) -> String
where
    Q: std::str::FromStr + Into<f64> + Copy,
{
    let text = display(value);
    match text.parse::<Q>() {
        Ok(read) if read.into() == value => text,
        _ => display_exact(value, base),
    }
}

fn rate(bps: f64) -> String {
    exact::<Rate>(bps, display_rate, "bps")
}

/// A name as a YAML scalar: plain when that is safe, else double-quoted.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !matches!(
            name.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}
