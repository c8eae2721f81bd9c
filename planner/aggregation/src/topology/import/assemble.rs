//! From a graph of attributes to a topology document.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::attributes::{Attributes, Role};
use super::graph::{Graph, Node, counted};
use super::hosts::{self, Candidate};
use super::links::{connected, merged};
use super::names::{clean, names, next_name};
use super::options::{ImportOptions, Imported};
use crate::topology::document::quoted;
use crate::topology::{NodeKind, Topology, TopologyError};
use crate::units::display_rate;

type Result<T> = std::result::Result<T, TopologyError>;

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
        return Err(TopologyError::new(None, "hosts per switch", problem, "ask for fewer"));
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
    let mut document = Document::new(options);
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

/// What a node is: an option's word, else its attributes', else the format's, else a switch.
fn role(node: &Node, name: &str, options: &ImportOptions) -> Role {
    let said = node.attributes.role().or(node.role).unwrap_or(Role::Switch);
    if said == Role::Switch && hosts::is_named(options, name) { Role::Host } else { said }
}

/// The text of the document: one reader and one set of checks for all topologies.
struct Document<'a> {
    options: &'a ImportOptions,
    nodes: String,
    links: String,
    unstated: usize,
}

impl<'a> Document<'a> {
    fn new(options: &'a ImportOptions) -> Self {
        Document { options, nodes: String::new(), links: String::new(), unstated: 0 }
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
                    notes.push(format!("{place}: {text:?} is no rate; --{what} is taken"));
                    None
                }
                Some(Ok(bps)) => Some(bps),
                None => None,
            })
        };
        let own = match kind {
            NodeKind::Switch => {
                let stated = capacity("aggregation")?;
                self.unstated += usize::from(stated.is_none());
                format!(", aggregation: {} bps", stated.unwrap_or(self.options.aggregation_bps))
            }
            NodeKind::Server => match capacity("ingress")?.or(self.options.ingress_bps) {
                Some(bps) => format!(", ingress: {bps} bps"),
                None => String::new(),
            },
            NodeKind::Worker => String::new(),
        };
        let _ = writeln!(self.nodes, "  - {{name: {}, kind: {kind}{own}}}", quoted(name));
        Ok(())
    }

    fn link(&mut self, ends: [&str; 2], bps: f64, delay: f64, mtu: Option<u16>) {
        let ([a, b], mtu) = (ends.map(quoted), mtu.unwrap_or(self.options.mtu));
        let _ =
            writeln!(self.links, "  - {{ends: [{a}, {b}], rate: {bps} bps, delay: {delay} s, mtu: {mtu}}}");
    }

    fn notes(&self, notes: &mut Vec<String>) {
        if self.unstated > 0 {
            let (switches, rate) =
                (counted(self.unstated, "switch"), display_rate(self.options.aggregation_bps));
            notes.push(format!("aggregation not stated on {switches}: {rate} is taken"));
        }
    }

    fn read(&self) -> Result<Topology> {
        let Document { options, nodes, links, .. } = self;
        let job = format!("  - {{name: job, gradient: {} B}}\n", options.gradient_bytes);
        let text =
            format!("name: {}\nnodes:\n{nodes}links:\n{links}jobs:\n{job}", quoted(&clean(&options.name)));
        Topology::from_yaml(&text).map_err(|error| TopologyError { line: None, ..error })
    }
}
