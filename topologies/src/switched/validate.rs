//! From a document to a [`Topology`]: every name known and unique, every rate a positive number, every job
//! connected.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use petgraph::graph::UnGraph;
use petgraph::unionfind::UnionFind;

use super::{Board, DEFAULT_MTU, Job, Link, MTUS, Node, NodeId, NodeKind, Topology};
use crate::document::{
    At, BackgroundEntry, Document, JobEntry, LinkEntry, NodeEntry, Sum, needed, required, unknown, usable,
};
use crate::error::{NetworkError, Result};
use crate::kind::Kind;

/// The fastest rate that is read, 1 Ebit/s: sums over any number of entries stay finite.
const MOST_BPS: f64 = 1e18;

/// The longest delay of a link that is read, an hour.
const MOST_SECONDS: f64 = 3600.0;

/// Builds the network of a document that has one of switches.
pub(crate) fn build(document: Document) -> Result<Topology> {
    document.refuse_keys_of_others(Kind::Switched)?;
    let name = needed(0, "document", "name", document.name)?;
    usable(name.line, "document", &name.value)?;
    let nodes = document.nodes.map_or_else(Vec::new, |nodes| nodes.value);
    let links = document.links.map_or_else(Vec::new, |links| links.value);
    let mut topology = Topology {
        name: name.value,
        nodes: Vec::with_capacity(nodes.len()),
        links: Vec::with_capacity(links.len()),
        jobs: Vec::new(),
        by_name: HashMap::new(),
        graph: UnGraph::default(),
    };
    for entry in nodes {
        topology.add_node(entry)?;
    }
    let every = match document.mtu {
        Some(every) => mtu(every.line, "document", every.value)?,
        None => DEFAULT_MTU,
    };
    let lines: Vec<u64> = links.iter().map(|entry| entry.line).collect();
    for entry in links {
        topology.add_link(entry, every)?;
    }
    topology.check_ports(&lines)?;
    for entry in document.background.into_iter().flat_map(|entries| entries.value) {
        topology.add_background(entry)?;
    }
    let jobs = document.jobs.map_or_else(Vec::new, |jobs| jobs.value);
    if jobs.is_empty() {
        let name = Some(At::new(topology.name.clone()));
        topology.add_job(JobEntry { name, ..JobEntry::default() }, 0)?;
    }
    for entry in jobs {
        topology.add_job(entry.value, entry.line)?;
    }
    Ok(topology)
}

impl Topology {
    fn add_node(&mut self, entry: At<NodeEntry>) -> Result<()> {
        let at = entry.line;
        let NodeEntry {
            name, kind, aggregation_capacity: aggregation, ingress_capacity: ingress, board, ..
        } = entry.value;
        let name = required(at, "node", "name", name)?;
        usable(at, "node", &name)?;
        let place = format!("node {name}");
        let kind = kind_of(&place, &needed(at, &place, "kind", kind)?)?;
        let (aggregation, ingress) = (aggregation.map(|rate| rate.value), ingress.map(|rate| rate.value));
        if aggregation.is_some() && kind != NodeKind::Switch {
            return Err(NetworkError::new(
                at,
                place,
                format!("a {kind} has no aggregation capacity"),
                "leave `aggregation_capacity` out, or make it a switch",
            ));
        }
        if ingress.is_some() && kind != NodeKind::Server {
            return Err(NetworkError::new(
                at,
                place,
                format!("a {kind} has no ingress capacity"),
                "leave `ingress_capacity` out, or make it a server",
            ));
        }
        if let Some(rate) = aggregation {
            not_negative(
                at,
                &place,
                "aggregation_capacity",
                rate.0,
                "give a rate, or 0 for a switch that only forwards",
            )?;
        }
        if let Some(rate) = ingress {
            positive(at, &place, "ingress_capacity", rate.0)?;
        }
        let board = board.map(|board| board_of(at, &place, kind, &board.value)).transpose()?;
        let id = NodeId(self.nodes.len() as u32);
        if self.by_name.insert(name.clone(), id).is_some() {
            return Err(NetworkError::new(
                at,
                place,
                "this name is taken already",
                "give each node its own name",
            ));
        }
        self.graph.add_node(());
        self.nodes.push(Node {
            name,
            kind,
            aggregation_bps: aggregation.map_or(0.0, |rate| rate.0),
            ingress_bps: ingress.map(|rate| rate.0),
            background_bps: 0.0,
            board,
        });
        Ok(())
    }

    /// `every` is the MTU of links that state none.
    fn add_link(&mut self, entry: At<LinkEntry>, every: u16) -> Result<()> {
        let (at, place) = (entry.line, entry.value.place());
        let LinkEntry { ends, rate, delay, loss, mtu: stated, ports } = entry.value;
        let [a, b] = required(at, &place, "ends", ends)?;
        let ends = [self.known(at, &place, &a)?, self.known(at, &place, &b)?];
        if ends[0] == ends[1] {
            return Err(NetworkError::new(
                at,
                place,
                "both ends are the same node",
                "name two different nodes",
            ));
        }
        let rates_bps = required(at, &place, "rate", rate)?.0.map(|rate| rate.0);
        for bps in rates_bps {
            positive(at, &place, "rate", bps)?;
        }
        let delay_seconds = delay.map_or(0.0, |delay| delay.value.0);
        if !(0.0..=MOST_SECONDS).contains(&delay_seconds) {
            let problem = format!("delay is {delay_seconds}");
            let fix = "give a duration like \"30 ms\", at most an hour";
            return Err(NetworkError::new(at, place, problem, fix));
        }
        let loss = loss.map_or(0.0, |part| part.value.0);
        if !(0.0..1.0).contains(&loss) {
            let (problem, fix) = ("loss is not a part from 0% to below 100%", "write it like `loss: 0.02%`");
            return Err(NetworkError::new(at, place, problem, fix));
        }
        let mtu = stated.map_or(Ok(every), |bytes| mtu(at, &place, bytes.value))?;
        if self.link_between(ends[0], ends[1]).is_some() {
            return Err(NetworkError::new(
                at,
                place,
                "these two nodes are linked already",
                "keep one link and add the rates up",
            ));
        }
        let ports = ports.map_or_else(IndexMap::new, |ports| ports.value);
        let ports = self.ports_of_link(at, &place, ends, ports)?;
        self.graph.add_edge(ends[0].0.into(), ends[1].0.into(), ());
        self.links.push(Link { ends, rates_bps, delay_seconds, loss, mtu, background_bps: [0.0; 2], ports });
        Ok(())
    }

    fn add_background(&mut self, entry: At<BackgroundEntry>) -> Result<()> {
        let at = entry.line;
        let BackgroundEntry { link, node, rate } = entry.value;
        let (link, node) = (link.map(|link| link.value), node.map(|node| node.value));
        let place = match (&link, &node) {
            (Some([a, b]), None) => format!("background on link {a}-{b}"),
            (None, Some(node)) => format!("background on node {node}"),
            _ => {
                let fix = "write either `link: [a, b]` or `node: v`";
                return Err(NetworkError::new(
                    at,
                    "background",
                    "names both a link and a node, or neither",
                    fix,
                ));
            }
        };
        let rate = required(at, &place, "rate", rate)?;
        let fix = "give a rate like \"1 Gbps\"";
        not_negative(at, &place, "rate", rate.0, fix)?;
        if let Some([a, b]) = link {
            let (from, to) = (self.known(at, &place, &a)?, self.known(at, &place, &b)?);
            let Some(id) = self.link_between(from, to) else {
                return Err(NetworkError::new(at, place, "there is no such link", "add it under links"));
            };
            let link = &mut self.links[id.index()];
            let direction = usize::from(link.ends[0] != from);
            let sum = &mut link.background_bps[direction];
            *sum += rate.0;
            not_negative(at, &place, "the sum of its rates", *sum, fix)?;
        } else if let Some(node) = node {
            let id = self.known(at, &place, &node)?;
            let node = &mut self.nodes[id.index()];
            if node.kind == NodeKind::Worker {
                return Err(NetworkError::new(
                    at,
                    place,
                    "a worker has no capacity of its own",
                    "name its link instead",
                ));
            }
            node.background_bps += rate.0;
            not_negative(at, &place, "the sum of its rates", node.background_bps, fix)?;
        }
        Ok(())
    }

    fn add_job(&mut self, entry: JobEntry, at: u64) -> Result<()> {
        let JobEntry { name, workers, clients, servers, gradient, sum, elastic, .. } = entry;
        let name = required(at, "job", "name", name)?;
        usable(at, "job", &name)?;
        let place = format!("job {name}");
        if self.job_named(&name).is_some() {
            return Err(NetworkError::new(
                at,
                place,
                "this name is taken already",
                "give each job its own name",
            ));
        }
        if workers.is_some() && clients.is_some() {
            let problem = "it has both `workers` and `clients`";
            return Err(NetworkError::new(at, place, problem, "keep one: clients train by themselves"));
        }
        let workers = workers.or(clients).map(|names| names.value);
        let workers = self.members(at, &place, NodeKind::Worker, workers)?;
        let servers = self.members(at, &place, NodeKind::Server, servers.map(|names| names.value))?;
        let gradient_bytes = match gradient.map(|size| size.value) {
            None => None,
            Some(size) if size.0.is_finite() && size.0 >= 1.0 && size.0 < 1e18 => Some(size.0.round() as u64),
            Some(size) => {
                let problem = format!("gradient is {} bytes", size.0);
                return Err(NetworkError::new(at, place, problem, "give a size like \"548 MB\""));
            }
        };
        self.is_connected(at, &place, &workers, &servers)?;
        self.jobs.push(Job {
            name,
            workers,
            servers,
            gradient_bytes,
            exact: sum.is_some_and(|sum| sum.value == Sum::Exact),
            elastic: elastic.is_some_and(|elastic| elastic.value),
        });
        Ok(())
    }

    /// Returns the named nodes, all of one kind; every node of that kind when none are named.
    fn members(
        &self,
        at: u64,
        place: &str,
        kind: NodeKind,
        names: Option<Vec<String>>,
    ) -> Result<Vec<NodeId>> {
        let ids = match names {
            None => self.node_ids().filter(|&id| self.node(id).kind == kind).collect(),
            Some(names) => {
                let mut seen = HashSet::new();
                let mut ids = Vec::with_capacity(names.len());
                for name in names {
                    let id = self.known(at, place, &name)?;
                    let found = self.node(id).kind;
                    if found != kind {
                        let problem = format!("\"{name}\" is a {found}, not a {kind}");
                        return Err(NetworkError::new(at, place, problem, format!("name a {kind}")));
                    }
                    if !seen.insert(id) {
                        let problem = format!("\"{name}\" is listed twice");
                        return Err(NetworkError::new(at, place, problem, "list it once"));
                    }
                    ids.push(id);
                }
                ids
            }
        };
        if ids.is_empty() {
            return Err(NetworkError::new(
                at,
                place,
                format!("it has no {kind}"),
                format!("give it at least one {kind}"),
            ));
        }
        Ok(ids)
    }

    /// Checks that every worker can reach every server over links and switches (hosts do not forward).
    fn is_connected(&self, at: u64, place: &str, workers: &[NodeId], servers: &[NodeId]) -> Result<()> {
        let mut fabric = UnionFind::<u32>::new(self.nodes.len());
        for link in &self.links {
            if link.ends.iter().all(|&end| self.node(end).kind == NodeKind::Switch) {
                fabric.union(link.ends[0].0, link.ends[1].0);
            }
        }
        let islands = |host: NodeId| -> HashSet<u32> {
            self.neighbors(host)
                .filter(|&(next, _)| self.node(next).kind == NodeKind::Switch)
                .map(|(next, _)| fabric.find(next.0))
                .collect()
        };
        for &server in servers {
            let near_server = islands(server);
            for &worker in workers {
                if self.link_between(worker, server).is_none() && islands(worker).is_disjoint(&near_server) {
                    let (worker, server) = (&self.node(worker).name, &self.node(server).name);
                    return Err(NetworkError::new(
                        at,
                        place,
                        format!("worker {worker} has no route to server {server}"),
                        "link them through switches (hosts do not forward)",
                    ));
                }
            }
        }
        Ok(())
    }

    fn known(&self, at: u64, place: &str, name: &str) -> Result<NodeId> {
        let names = self.nodes.iter().map(|node| node.name.as_str());
        self.node_named(name).ok_or_else(|| unknown(at, place, "node", name, names))
    }
}

/// The least rate of a link or a server, in bit/s.
const LEAST_BPS: f64 = 1.0;

fn positive(at: u64, place: &str, what: &str, value: f64) -> Result<()> {
    let fix = "give a positive rate like \"20 Mbps\"";
    not_negative(at, place, what, value, fix)?;
    if value >= LEAST_BPS {
        return Ok(());
    }
    let fix = if value > 0.0 { "give a rate of at least 1 bit/s like \"20 Mbps\"" } else { fix };
    Err(NetworkError::new(at, place, format!("{what} is {value}"), fix))
}

fn board_of(at: u64, place: &str, kind: NodeKind, name: &str) -> Result<Board> {
    if kind != NodeKind::Switch {
        let problem = format!("a {kind} has no board");
        return Err(NetworkError::new(at, place, problem, "leave `board` out, or make it a switch"));
    }
    Board::named(name).ok_or_else(|| {
        let known = Board::ALL.map(Board::name).join(", ");
        let fix = format!("name one of {known}; for another, leave `board` out and give dev_ports");
        NetworkError::new(at, place, format!("board \"{name}\" is not known here"), fix)
    })
}

fn mtu(at: u64, place: &str, bytes: i64) -> Result<u16> {
    let fits = u16::try_from(bytes).ok().filter(|mtu| MTUS.contains(mtu));
    fits.ok_or_else(|| {
        let fix = format!("give bytes from {} to {}, such as 9000", MTUS.start(), MTUS.end());
        NetworkError::new(at, place, format!("mtu is {bytes}"), fix)
    })
}

fn not_negative(at: u64, place: &str, what: &str, bps: f64, fix: &str) -> Result<()> {
    if (0.0..=MOST_BPS).contains(&bps) {
        return Ok(());
    }
    let problem = format!("{what} is {bps}");
    let fix = if bps > MOST_BPS { "rates go up to 1e18 bit/s" } else { fix };
    Err(NetworkError::new(at, place, problem, fix))
}

/// Returns the kind of a node of a switched network.
fn kind_of(place: &str, kind: &At<String>) -> Result<NodeKind> {
    let fix = match kind.value.as_str() {
        "switch" => return Ok(NodeKind::Switch),
        "server" => return Ok(NodeKind::Server),
        "worker" => return Ok(NodeKind::Worker),
        "client" => {
            "write `kind: worker`, and list it under the job's `clients`; other kinds are switch, server, site and peer"
        }
        _ => {
            "write switch, server or worker; networks of sites and of peers have `kind: site` and `kind: peer`"
        }
    };
    Err(NetworkError::new(kind.line, place, format!("kind is `{}`", kind.value), fix))
}
