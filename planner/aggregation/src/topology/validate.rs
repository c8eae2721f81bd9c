//! From a document to a [`Topology`]: every name known and unique, every rate a positive number, every job
//! connected.

use std::collections::{HashMap, HashSet};

use petgraph::graph::UnGraph;
use petgraph::unionfind::UnionFind;
use serde_saphyr::Spanned;

use super::document::{BackgroundEntry, Document, JobEntry, LinkEntry, NodeEntry, SumKey};
use super::{Board, DEFAULT_MTU, Job, Link, MTUS, Node, NodeId, NodeKind, Topology, TopologyError};

type Result<T> = std::result::Result<T, TopologyError>;

/// The fastest rate that is read, 1 Ebit/s: sums over any number of entries stay finite.
const MOST_BPS: f64 = 1e18;

/// The longest delay of a link that is read, an hour.
const MOST_SECONDS: f64 = 3600.0;

fn line<T>(entry: &Spanned<T>) -> u64 {
    entry.referenced.line()
}

pub(super) fn build(document: Document) -> Result<Topology> {
    name_is_usable(line(&document.name), "document", &document.name.value)?;
    let mut topology = Topology {
        name: document.name.value,
        nodes: Vec::with_capacity(document.nodes.len()),
        links: Vec::with_capacity(document.links.len()),
        jobs: Vec::new(),
        by_name: HashMap::new(),
        graph: UnGraph::default(),
    };
    for entry in document.nodes {
        topology.add_node(entry)?;
    }
    let every = match document.mtu {
        Some(every) => mtu(line(&every), "document", every.value)?,
        None => DEFAULT_MTU,
    };
    let lines: Vec<u64> = document.links.iter().map(line).collect();
    for entry in document.links {
        topology.add_link(entry, every)?;
    }
    topology.check_ports(&lines)?;
    for entry in document.background {
        topology.add_background(entry)?;
    }
    if document.jobs.is_empty() {
        let name = topology.name.clone();
        topology.add_job(JobEntry { name, ..JobEntry::default() }, 0)?;
    }
    for entry in document.jobs {
        let at = line(&entry);
        topology.add_job(entry.value, at)?;
    }
    Ok(topology)
}

impl Topology {
    fn add_node(&mut self, entry: Spanned<NodeEntry>) -> Result<()> {
        let at = line(&entry);
        let NodeEntry { name, kind, aggregation, ingress, board } = entry.value;
        name_is_usable(at, "node", &name)?;
        let place = format!("node {name}");
        let kind = NodeKind::from(kind);
        if aggregation.is_some() && kind != NodeKind::Switch {
            return Err(TopologyError::new(
                at,
                place,
                format!("a {kind} has no aggregation capacity"),
                "leave `aggregation` out, or make it a switch",
            ));
        }
        if ingress.is_some() && kind != NodeKind::Server {
            return Err(TopologyError::new(
                at,
                place,
                format!("a {kind} has no ingress capacity"),
                "leave `ingress` out, or make it a server",
            ));
        }
        if let Some(rate) = aggregation {
            not_negative(
                at,
                &place,
                "aggregation",
                rate.0,
                "give a rate, or 0 for a switch that only forwards",
            )?;
        }
        if let Some(rate) = ingress {
            positive(at, &place, "ingress", rate.0)?;
        }
        let board = board.map(|board| board_of(at, &place, kind, &board)).transpose()?;
        let id = NodeId(self.nodes.len() as u32);
        if self.by_name.insert(name.clone(), id).is_some() {
            return Err(TopologyError::new(
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
    fn add_link(&mut self, entry: Spanned<LinkEntry>, every: u16) -> Result<()> {
        let at = line(&entry);
        let LinkEntry { ends: [a, b], rate, delay, mtu: stated, ports } = entry.value;
        let place = format!("link {a}-{b}");
        let ends = [self.known(at, &place, &a)?, self.known(at, &place, &b)?];
        if ends[0] == ends[1] {
            return Err(TopologyError::new(
                at,
                place,
                "both ends are the same node",
                "name two different nodes",
            ));
        }
        positive(at, &place, "rate", rate.0)?;
        let delay_seconds = delay.map_or(0.0, |delay| delay.0);
        if !(0.0..=MOST_SECONDS).contains(&delay_seconds) {
            let problem = format!("delay is {delay_seconds}");
            let fix = "give a duration like \"30 ms\", at most an hour";
            return Err(TopologyError::new(at, place, problem, fix));
        }
        let mtu = stated.map_or(Ok(every), |bytes| mtu(at, &place, bytes))?;
        if self.link_between(ends[0], ends[1]).is_some() {
            return Err(TopologyError::new(
                at,
                place,
                "these two nodes are linked already",
                "keep one link and add the rates up",
            ));
        }
        let ports = self.ports_of_link(at, &place, ends, ports)?;
        self.graph.add_edge(ends[0].0.into(), ends[1].0.into(), ());
        self.links.push(Link { ends, rate_bps: rate.0, delay_seconds, mtu, background_bps: [0.0; 2], ports });
        Ok(())
    }

    fn add_background(&mut self, entry: Spanned<BackgroundEntry>) -> Result<()> {
        let at = line(&entry);
        let BackgroundEntry { link, node, rate } = entry.value;
        let place = match (&link, &node) {
            (Some([a, b]), None) => format!("background on link {a}-{b}"),
            (None, Some(node)) => format!("background on node {node}"),
            _ => {
                let fix = "write either `link: [a, b]` or `node: v`";
                return Err(TopologyError::new(
                    at,
                    "background",
                    "names both a link and a node, or neither",
                    fix,
                ));
            }
        };
        let fix = "give a rate like \"1 Gbps\"";
        not_negative(at, &place, "rate", rate.0, fix)?;
        if let Some([a, b]) = link {
            let (from, to) = (self.known(at, &place, &a)?, self.known(at, &place, &b)?);
            let Some(id) = self.link_between(from, to) else {
                return Err(TopologyError::new(at, place, "there is no such link", "add it under links"));
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
                return Err(TopologyError::new(
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
        let JobEntry { name, workers, servers, gradient, sum, elastic, .. } = entry;
        name_is_usable(at, "job", &name)?;
        let place = format!("job {name}");
        if self.job_named(&name).is_some() {
            return Err(TopologyError::new(
                at,
                place,
                "this name is taken already",
                "give each job its own name",
            ));
        }
        let workers = self.members(at, &place, NodeKind::Worker, workers)?;
        let servers = self.members(at, &place, NodeKind::Server, servers)?;
        let gradient_bytes = match gradient {
            None => None,
            Some(size) if size.0.is_finite() && size.0 >= 1.0 && size.0 < 1e18 => Some(size.0.round() as u64),
            Some(size) => {
                let problem = format!("gradient is {} bytes", size.0);
                return Err(TopologyError::new(at, place, problem, "give a size like \"548 MB\""));
            }
        };
        self.is_connected(at, &place, &workers, &servers)?;
        self.jobs.push(Job {
            name,
            workers,
            servers,
            gradient_bytes,
            exact: sum == Some(SumKey::Exact),
            elastic,
        });
        Ok(())
    }

    /// The named nodes, all of one kind; every node of that kind when none are named.
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
                        return Err(TopologyError::new(at, place, problem, format!("name a {kind}")));
                    }
                    if !seen.insert(id) {
                        let problem = format!("\"{name}\" is listed twice");
                        return Err(TopologyError::new(at, place, problem, "list it once"));
                    }
                    ids.push(id);
                }
                ids
            }
        };
        if ids.is_empty() {
            return Err(TopologyError::new(
                at,
                place,
                format!("it has no {kind}"),
                format!("give it at least one {kind}"),
            ));
        }
        Ok(ids)
    }

    /// Every worker must reach every server over links and switches (hosts do not forward).
    fn is_connected(&self, at: u64, place: &str, workers: &[NodeId], servers: &[NodeId]) -> Result<()> {
        let mut fabric = UnionFind::<u32>::new(self.nodes.len());
        for link in &self.links {
            if link.ends.iter().all(|&end| self.node(end).kind == NodeKind::Switch) {
                fabric.union(link.ends[0].0, link.ends[1].0);
            }
        }
        let islands = |host: NodeId| -> HashSet<u32> {
            self.neighbours(host)
                .filter(|&(next, _)| self.node(next).kind == NodeKind::Switch)
                .map(|(next, _)| fabric.find(next.0))
                .collect()
        };
        for &server in servers {
            let near_server = islands(server);
            for &worker in workers {
                if self.link_between(worker, server).is_none() && islands(worker).is_disjoint(&near_server) {
                    let (worker, server) = (&self.node(worker).name, &self.node(server).name);
                    return Err(TopologyError::new(
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
        self.node_named(name).ok_or_else(|| {
            let near = self.nodes.iter().map(|node| node.name.as_str()).find(|known| close(known, name));
            let fix = match near {
                Some(near) => format!("did you mean \"{near}\"? Else add it under nodes"),
                None => "add it under nodes".to_owned(),
            };
            TopologyError::new(at, place, format!("unknown node \"{name}\""), fix)
        })
    }
}

/// Whether two names differ in case only, or by one character.
fn close(known: &str, written: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) =
        (known.to_lowercase().chars().collect(), written.to_lowercase().chars().collect());
    let same_ahead = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let same_behind = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let longer = a.len().max(b.len());
    a == b || a.len().abs_diff(b.len()) <= 1 && longer > 2 && same_ahead + same_behind + 1 >= longer
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
    Err(TopologyError::new(at, place, format!("{what} is {value}"), fix))
}

fn board_of(at: u64, place: &str, kind: NodeKind, name: &str) -> Result<Board> {
    if kind != NodeKind::Switch {
        let problem = format!("a {kind} has no board");
        return Err(TopologyError::new(at, place, problem, "leave `board` out, or make it a switch"));
    }
    Board::named(name).ok_or_else(|| {
        let known = Board::ALL.map(Board::name).join(", ");
        let fix = format!("name one of {known}; for another, leave `board` out and give dev_ports");
        TopologyError::new(at, place, format!("board \"{name}\" is not known here"), fix)
    })
}

fn mtu(at: u64, place: &str, bytes: i64) -> Result<u16> {
    let fits = u16::try_from(bytes).ok().filter(|mtu| MTUS.contains(mtu));
    fits.ok_or_else(|| {
        let fix = format!("give bytes from {} to {}, such as 9000", MTUS.start(), MTUS.end());
        TopologyError::new(at, place, format!("mtu is {bytes}"), fix)
    })
}

fn not_negative(at: u64, place: &str, what: &str, bps: f64, fix: &str) -> Result<()> {
    if (0.0..=MOST_BPS).contains(&bps) {
        return Ok(());
    }
    let problem = format!("{what} is {bps}");
    let fix = if bps > MOST_BPS { "rates go up to 1e18 bit/s" } else { fix };
    Err(TopologyError::new(at, place, problem, fix))
}

fn name_is_usable(at: u64, place: &str, name: &str) -> Result<()> {
    if !name.is_empty() && name.chars().all(|c| !c.is_whitespace() && !c.is_control()) {
        return Ok(());
    }
    let problem = format!("the name {name:?} is empty or holds blanks");
    Err(TopologyError::new(at, place, problem, "give it a name without blanks"))
}
