//! Output of Mininet: the console's `net`, `links` and `dump`, and the start-up lines `*** Adding ...`, the
//! only ones with rates (`(10.00Mbit 5ms delay) (10.00Mbit 5ms delay) (h1, s1)`).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::attributes::{Attributes, Role};
use super::graph::Graph;
use crate::NetworkError;

#[derive(Default)]
struct Console<'t> {
    /// In the order in which they are met.
    names: Vec<&'t str>,
    roles: HashMap<&'t str, Role>,
    /// Returns the node of an interface.
    owner: HashMap<&'t str, &'t str>,
    /// Pairs of interfaces, each once.
    cables: Vec<[&'t str; 2]>,
    known: HashSet<[&'t str; 2]>,
    /// Pairs of nodes with the rates and delays of the start-up lines.
    added: Vec<([&'t str; 2], Attributes)>,
    controllers: HashSet<&'t str>,
}

pub(super) fn read(text: &str) -> Result<Graph, NetworkError> {
    let mut graph = Graph::new("mininet");
    let mut console = Console::default();
    let mut section = "";
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(title) = line.strip_prefix("***") {
            // "*** Adding links:" may go on in the same line.
            let (title, rest) = title.split_once(':').unwrap_or((title, ""));
            section = title.trim();
            console.added(section, rest);
        } else if line.is_empty() || line.starts_with("mininet>") || console.dump(line) || console.link(line)
        {
            section = "";
        } else if console.net(line) {
            section = "net";
        } else if !console.added(section, line) {
            graph.notes.push(format!("line {} skipped: neither of net, links nor dump", number + 1));
        }
    }
    console.into_graph(graph)
}

impl<'t> Console<'t> {
    fn met(&mut self, name: &'t str, role: Option<Role>) {
        if let Some(role) = role {
            self.roles.entry(name).or_insert(role);
        }
        self.names.push(name);
    }

    fn cable(&mut self, a: &'t str, b: &'t str) {
        if self.known.insert([a.min(b), a.max(b)]) {
            self.cables.push([a, b]);
        }
    }

    /// `<OVSSwitch s1: lo:127.0.0.1,s1-eth1:None pid=12>`
    fn dump(&mut self, line: &'t str) -> bool {
        let Some((class, rest)) = line.strip_prefix('<').and_then(|line| line.split_once(' ')) else {
            return false;
        };
        let Some((name, rest)) = rest.split_once(": ") else { return false };
        if class.contains("Controller") || class == "NOX" {
            self.controllers.insert(name);
            return true;
        }
        let switch = ["Switch", "Bridge", "AP"].iter().any(|word| class.contains(word));
        self.met(name, Some(if switch { Role::Switch } else { Role::Host }));
        let interfaces = rest.split(" pid=").next().unwrap_or_default();
        for interface in interfaces.split(',').filter_map(|entry| entry.split(':').next()) {
            if interface != "lo" {
                self.owner.insert(interface, name);
            }
        }
        true
    }

    /// `h1-eth0<->s1-eth1 (OK OK)`
    fn link(&mut self, line: &'t str) -> bool {
        let Some((a, rest)) = line.split_once("<->") else { return false };
        let b = rest.split_whitespace().next().unwrap_or_default();
        if a.is_empty() || b.is_empty() || a.contains(char::is_whitespace) {
            return false;
        }
        self.cable(a, b);
        true
    }

    /// `s1 lo:  s1-eth1:h1-eth0 s1-eth2:h2-eth0`, hosts without `lo:`, controllers without anything.
    fn net(&mut self, line: &'t str) -> bool {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let pairs: Option<Vec<(&str, &str)>> = words.map(|word| word.split_once(':')).collect();
        let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) else { return false };
        if name.contains([':', '(', ')']) {
            return false;
        }
        let switch = pairs.iter().any(|(interface, _)| *interface == "lo");
        self.met(name, Some(if switch { Role::Switch } else { Role::Host }));
        for (interface, peer) in pairs {
            if interface != "lo" {
                self.owner.insert(interface, name);
                if !peer.is_empty() {
                    self.cable(interface, peer);
                }
            }
        }
        true
    }

    /// Reads a line of a section: start-up lines list nodes and links, `net` ends with the names of
    /// controllers.
    fn added(&mut self, section: &str, line: &'t str) -> bool {
        match section {
            "Adding hosts" => line.split_whitespace().for_each(|name| self.met(name, Some(Role::Host))),
            "Adding switches" => line.split_whitespace().for_each(|name| self.met(name, Some(Role::Switch))),
            "Adding links" => {
                let mut rates = Attributes::default();
                for group in line.split('(').filter_map(|group| group.split(')').next()) {
                    if let Some((a, b)) = group.split_once(", ") {
                        self.added.push(([a.trim(), b.trim()], std::mem::take(&mut rates)));
                    }
                    for word in group.split_whitespace() {
                        if word.ends_with("bit") {
                            rates.set("bw", word);
                        } else if word.ends_with("ms") || word.ends_with("us") {
                            rates.set("delay", word);
                        }
                    }
                }
            }
            "net" if !line.contains(char::is_whitespace) => drop(self.controllers.insert(line)),
            // Output of Mininet while it starts, stops or pings.
            _ => return !["", "net"].contains(&section),
        }
        true
    }

    fn into_graph(self, mut graph: Graph) -> Result<Graph, NetworkError> {
        let node_of = |interface: &'t str| {
            let by_name = interface.rsplit_once("-eth").or_else(|| interface.rsplit_once('-'));
            self.owner.get(interface).copied().unwrap_or_else(|| by_name.map_or(interface, |(node, _)| node))
        };
        let mut rates: HashMap<[&str; 2], Vec<&Attributes>> = HashMap::new();
        for ([a, b], attributes) in self.added.iter().rev() {
            rates.entry([a.min(b), a.max(b)]).or_default().push(attributes);
        }
        let mut edges: Vec<([&str; 2], Attributes)> = Vec::new();
        let mut cabled = HashSet::new();
        for &[a, b] in &self.cables {
            let ends = [node_of(a), node_of(b)];
            let pair = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            cabled.insert(pair);
            let stated = rates.get_mut(&pair).and_then(Vec::pop);
            edges.push((ends, stated.cloned().unwrap_or_default()));
        }
        let uncabled = self.added.iter().filter(|([a, b], _)| !cabled.contains(&[*a.min(b), *a.max(b)]));
        edges.extend(uncabled.cloned());
        for name in self.names.iter().copied().chain(edges.iter().flat_map(|(ends, _)| *ends)) {
            let node = graph.node(name)?;
            // If only links are known, Mininet's own naming identifies hosts.
            let by_name = if name.starts_with('h') { Role::Host } else { Role::Switch };
            graph.nodes[node].role = Some(self.roles.get(name).copied().unwrap_or(by_name));
        }
        for (ends, attributes) in edges {
            let ends = [graph.node(ends[0])?, graph.node(ends[1])?];
            graph.edge(ends, &Rc::new(attributes))?;
        }
        if graph.edges.is_empty() {
            let fix = "save the console's output of `net`, or name its format";
            return Err(graph.wrong("no link is found in it", fix));
        }
        let mut controllers: Vec<&str> = self.controllers.into_iter().collect();
        if !controllers.is_empty() {
            controllers.sort_unstable();
            graph.notes.push(format!("controllers left out: {}", controllers.join(", ")));
        }
        Ok(graph)
    }
}
