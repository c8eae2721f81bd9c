//! From a graph of attributes to a topology document.

use std::collections::{BTreeMap, HashSet};

use super::attributes::{Attributes, Role};
use super::graph::{Graph, Node};
use super::hosts::{self, Candidate};
use super::links::{connected, merged};
use super::names::{clean, names, next_name};
use super::options::{ImportOptions, Imported};
use crate::NetworkError;
use crate::document::{At, Document, JobEntry, LinkEntry, NodeEntry, section};
use crate::switched::validate::build;
use crate::switched::{NodeKind, Topology};
use crate::units::{Rate, Seconds, Size, counted, display_rate};

type Result<T> = std::result::Result<T, NetworkError>;

/// Hosts that may be attached.
const MAX_ATTACHED: usize = 100_000;

pub(super) fn assemble(mut graph: Graph, options: &ImportOptions) -> Result<Imported> {
    let mut notes = std::mem::take(&mut graph.notes);
    let names = names(&graph, &mut notes);
    let roles: Vec<Role> =
        graph.nodes.iter().zip(&names).map(|(node, name)| role(node, name, options)).collect();
    // The Topology Zoo marks other networks' nodes so.
    let is_no = |value: &str| ["0", "false", "no"].iter().any(|no| value.eq_ignore_ascii_case(no));
    let external = |node: usize| graph.nodes[node].attributes.get("Internal").is_some_and(is_no);
    let inside: Vec<bool> = (0..names.len()).map(|node| !external(node)).collect();
    let left_out = inside.iter().filter(|&&inside| !inside).count();
    if left_out > 0 {
        notes.push(format!(
            "{} left out: the file marks them as outside the network (Internal 0)",
            counted(left_out, "node")
        ));
    }
    let links = merged(&graph, &names, &inside, options, &mut notes)?;
    let kept = connected(&names, &roles, &links, inside, &mut notes)?;

    // Hosts of the file, then those attached.
    let is_switch = |node: usize| roles[node] == Role::Switch;
    let own: Vec<usize> = (0..names.len()).filter(|&node| kept[node] && !is_switch(node)).collect();
    let switches: Vec<usize> = (0..names.len()).filter(|&node| kept[node] && is_switch(node)).collect();
    let per_switch = options.hosts_per_switch.unwrap_or(usize::from(own.is_empty()));
    if switches.len().saturating_mul(per_switch) > MAX_ATTACHED {
        let problem = format!("{per_switch} hosts at each of {} switches are too many", switches.len());
        return Err(NetworkError::new(None, "hosts per switch", problem, "ask for fewer"));
    }
    let attached: Vec<usize> =
        switches.iter().flat_map(|&switch| std::iter::repeat_n(switch, per_switch)).collect();
    if !attached.is_empty() {
        notes.push(format!("{} attached, {per_switch} per switch", counted(attached.len(), "host")));
    }
    let of_file = own.iter().map(|&node| Candidate { name: Some(&names[node]), role: roles[node] });
    let ours = attached.iter().map(|_| Candidate { name: None, role: Role::Host });
    let parts = hosts::parts(&of_file.chain(ours).collect::<Vec<_>>(), options)?;
    let idle = parts.iter().filter(|part| part.is_none()).count();
    if idle > 0 {
        notes.push(format!("{} left out: neither server nor worker", counted(idle, "host")));
    }

    let mut kinds: Vec<Option<NodeKind>> =
        (0..names.len()).map(|node| (kept[node] && is_switch(node)).then_some(NodeKind::Switch)).collect();
    for (&node, &part) in own.iter().zip(&parts) {
        kinds[node] = part;
    }
    let mut document = Draft::new(options);
    for (node, kind) in kinds.iter().enumerate() {
        if let Some(kind) = kind {
            document.node(&names[node], *kind, &graph.nodes[node].attributes, &mut notes)?;
        }
    }
    for link in links.iter().filter(|link| link.ends.iter().all(|&end| kinds[end].is_some())) {
        document.link(link.ends.map(|end| names[end].as_str()), link.bps[0], link.delay, link.mtu);
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut numbers = BTreeMap::from([("s", 0), ("w", 0)]);
    for (&switch, part) in attached.iter().zip(&parts[own.len()..]) {
        let Some(kind) = *part else { continue };
        let name = next_name(if kind == NodeKind::Server { "s" } else { "w" }, &mut numbers, &mut taken);
        document.node(&name, kind, &Attributes::default(), &mut notes)?;
        document.link([&name, &names[switch]], options.rate_bps, options.delay_seconds, None);
    }
    document.notes(&mut notes);
    Ok(Imported { topology: document.read()?, notes })
}

/// Returns a node's role: from the options, else from its attributes, else from the format, else switch.
fn role(node: &Node, name: &str, options: &ImportOptions) -> Role {
    let said = node.attributes.role().or(node.role).unwrap_or(Role::Switch);
    if said == Role::Switch && hosts::is_named(options, name) { Role::Host } else { said }
}

/// The document as it grows: one set of checks for all topologies.
struct Draft<'a> {
    options: &'a ImportOptions,
    nodes: Vec<NodeEntry>,
    links: Vec<LinkEntry>,
    unstated: usize,
}

impl<'a> Draft<'a> {
    fn new(options: &'a ImportOptions) -> Self {
        Draft { options, nodes: Vec::new(), links: Vec::new(), unstated: 0 }
    }

    fn node(
        &mut self,
        name: &str,
        kind: NodeKind,
        attributes: &Attributes,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let mut capacity = |what: &str| -> Result<Option<f64>> {
            let place = format!("node {name}");
            Ok(match attributes.capacity(what, self.options.unit_bps, &place)? {
                Some(Err(text)) => {
                    notes.push(format!("{place}: {text:?} is not a rate; the default of `{what}` is used"));
                    None
                }
                Some(Ok(bps)) => Some(bps),
                None => None,
            })
        };
        let mut entry = NodeEntry::new(name, kind.name());
        match kind {
            NodeKind::Switch => {
                let stated = capacity("aggregation_capacity")?;
                self.unstated += usize::from(stated.is_none());
                entry.aggregation_capacity =
                    Some(At::new(Rate(stated.unwrap_or(self.options.aggregation_bps))));
            }
            NodeKind::Server => {
                let stated = capacity("ingress_capacity")?.or(self.options.ingress_bps);
                entry.ingress_capacity = stated.map(|bps| At::new(Rate(bps)));
            }
            NodeKind::Worker => {}
        }
        self.nodes.push(entry);
        Ok(())
    }

    fn link(&mut self, ends: [&str; 2], bps: f64, delay: f64, mtu: Option<u16>) {
        let mtu = Some(At::new(mtu.unwrap_or(self.options.mtu).into()));
        let delay = Some(At::new(Seconds(delay)));
        self.links.push(LinkEntry { delay, mtu, ..LinkEntry::new(ends, [bps; 2]) });
    }

    fn notes(&self, notes: &mut Vec<String>) {
        if self.unstated > 0 {
            let (switches, rate) =
                (counted(self.unstated, "switch"), display_rate(self.options.aggregation_bps));
            notes.push(format!("aggregation not stated on {switches}: {rate} is taken"));
        }
    }

    fn read(self) -> Result<Topology> {
        let Draft { options, nodes, links, .. } = self;
        let gradient = Some(At::new(Size(options.gradient_bytes as f64)));
        let job = JobEntry { name: Some(At::new("job".to_owned())), gradient, ..JobEntry::default() };
        build(Document {
            name: Some(At::new(clean(&options.name))),
            nodes: section(nodes),
            links: section(links),
            jobs: section([job]),
            ..Document::default()
        })
    }
}
