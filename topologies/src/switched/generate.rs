//! Topologies of the usual shapes, hosts placed by a seeded draw.

use std::collections::HashSet;

use petgraph::unionfind::UnionFind;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::validate::build;
use super::{Job, NodeId, NodeKind, Topology};
use crate::NetworkError;
use crate::document::{At, Document, JobEntry, LinkEntry, NodeEntry, section};
use crate::units::{Rate, Seconds, Size, counted};

/// Equipment of every generated network. Rates in bit/s, sizes in bytes, delays in seconds.
#[derive(Debug, Clone)]
pub struct Equipment {
    /// Parameter servers, named s0, s1, ...
    pub servers: usize,
    /// Workers, named w0, w1, ...
    pub workers: usize,
    /// Rate of every link, each direction.
    pub rate_bps: f64,
    /// C(v) of every switch; 0 makes switches that only forward.
    pub aggregation_bps: f64,
    /// B(s) of every server.
    pub ingress_bps: f64,
    /// Propagation delay of every link.
    pub delay_seconds: f64,
    /// Gradient of the one job.
    pub gradient_bytes: u64,
    /// Seed of the hosts' places (and of random wiring).
    pub seed: u64,
}

/// Links between switches that a generated network may have.
const MAX_TRUNKS: usize = 1_000_000;

fn bounded(place: &str, trunks: Option<usize>) -> Result<(), NetworkError> {
    match trunks {
        Some(0..=MAX_TRUNKS) => Ok(()),
        _ => Err(wrong(place, format!("more than {MAX_TRUNKS} links between switches"), "ask for fewer")),
    }
}

/// Returns a k-ary fat-tree: k pods of k/2 top-of-rack switches (T) and k/2 aggregation switches (A), (k/2)²
/// cores (C).
///
/// # Errors
/// An odd k, more hosts than it holds, or rates that are none.
pub fn fat_tree(k: usize, equipment: &Equipment) -> Result<Topology, NetworkError> {
    if k < 2 || !k.is_multiple_of(2) || k > 64 {
        return Err(wrong("fat-tree", format!("k is {k}"), "give an even number from 2 to 64"));
    }
    let half = k / 2;
    let mut net = Drawing::new(format!("fat-tree-k{k}"), equipment);
    let tors = net.switches("T", k * half);
    let aggregations = net.switches("A", k * half);
    let cores = net.switches("C", half * half);
    for pod in 0..k {
        for tor in 0..half {
            for agg in 0..half {
                net.link(&aggregations[pod * half + agg], &tors[pod * half + tor]);
            }
        }
    }
    for pod in 0..k {
        for agg in 0..half {
            for core in 0..half {
                net.link(&aggregations[pod * half + agg], &cores[agg * half + core]);
            }
        }
    }
    net.place_hosts(&tors, half)?;
    net.finish()
}

/// `leaves` top-of-rack switches (T), each linked to all of `spines` (C); at most `hosts` hosts per leaf.
///
/// # Errors
/// More hosts than it holds, or rates that are none.
pub fn leaf_spine(
    leaves: usize,
    spines: usize,
    hosts: usize,
    equipment: &Equipment,
) -> Result<Topology, NetworkError> {
    if leaves == 0 || spines == 0 {
        return Err(wrong("leaf-spine", "it has no leaf or no spine", "give at least one of each"));
    }
    bounded("leaf-spine", leaves.checked_mul(spines))?;
    let mut net = Drawing::new(format!("leaf-spine-{leaves}x{spines}"), equipment);
    let tors = net.switches("T", leaves);
    let spines = net.switches("C", spines);
    for tor in &tors {
        for spine in &spines {
            net.link(tor, spine);
        }
    }
    net.place_hosts(&tors, hosts)?;
    net.finish()
}

/// Returns a random connected network of `switches`, each linked to `degree` others; at most `hosts` hosts
/// per switch.
///
/// Wired as a ring with chords, then mixed by random swaps of links that keep it connected; every degree from
/// 2 on works.
///
/// # Errors
/// A degree that does not fit the number of switches, more hosts than it holds, or rates that are none.
pub fn random_regular(
    switches: usize,
    degree: usize,
    hosts: usize,
    equipment: &Equipment,
) -> Result<Topology, NetworkError> {
    bounded("random", switches.checked_mul(degree))?;
    if switches < 3 || degree < 2 || degree >= switches || !(switches * degree).is_multiple_of(2) {
        let problem =
            format!("{switches} of degree {degree} cannot be wired", switches = counted(switches, "switch"));
        return Err(wrong("random", problem, "give degree from 2 to switches - 1, with an even product"));
    }
    let mut net = Drawing::new(format!("random-{switches}x{degree}"), equipment);
    let names = net.switches("V", switches);
    for (a, b) in regular_wiring(switches, degree, &mut net.rng) {
        net.link(&names[a], &names[b]);
    }
    net.place_hosts(&names, hosts)?;
    net.finish()
}

/// Returns the network with `jobs` jobs in place of its one: each has `workers` workers and an equal number
/// of servers of its own, dealt in the order of their names, so on a drawn network they lie scattered. Hosts
/// left over belong to none.
///
/// # Errors
/// More workers or servers than the network has.
pub fn deal_jobs(topology: &Topology, jobs: usize, workers: usize) -> Result<Topology, NetworkError> {
    let of_kind =
        |kind| -> Vec<NodeId> { topology.node_ids().filter(|&id| topology.node(id).kind == kind).collect() };
    let (all_workers, all_servers) = (of_kind(NodeKind::Worker), of_kind(NodeKind::Server));
    let servers = all_servers.len().checked_div(jobs).unwrap_or(0);
    let needed = jobs.checked_mul(workers).filter(|&needed| needed <= all_workers.len());
    if workers == 0 || servers == 0 || needed.is_none() {
        let (has, place) = (all_workers.len(), topology.name());
        let problem = format!(
            "{jobs} of {workers}, of {has} and {}",
            counted(all_servers.len(), "server"),
            jobs = counted(jobs, "job"),
            workers = counted(workers, "worker")
        );
        return Err(wrong(
            place,
            problem,
            "ask for a worker and a server per job at least, and no more than there are",
        ));
    }
    let &Job { gradient_bytes, exact, elastic, .. } = &topology.jobs()[0];
    let dealt = all_workers.chunks_exact(workers).zip(all_servers.chunks_exact(servers)).take(jobs);
    let job = |(n, (workers, servers)): (usize, (&[NodeId], &[NodeId]))| Job {
        name: format!("job{n}"),
        workers: workers.to_vec(),
        servers: servers.to_vec(),
        gradient_bytes,
        exact,
        elastic,
    };
    Ok(topology.with_jobs(dealt.enumerate().map(job).collect()))
}

/// Starts from the circulant graph (connected, regular) and mixes it by swaps of two edges' ends.
///
/// Whether the network still hangs together is looked at once per batch of swaps: a batch that tore it apart
/// is taken back, and the next one is half as long.
fn regular_wiring(n: usize, degree: usize, rng: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for step in 1..=degree / 2 {
        edges.extend((0..n).map(|a| (a, (a + step) % n)));
    }
    if degree % 2 == 1 {
        edges.extend((0..n / 2).map(|a| (a, a + n / 2)));
    }
    let key = |a: usize, b: usize| (a.min(b), a.max(b));
    let mut linked: HashSet<(usize, usize)> = edges.iter().map(|&(a, b)| key(a, b)).collect();
    let (mut left, mut batch) = (10 * edges.len(), edges.len());
    while left > 0 {
        let mut swapped = Vec::new();
        for _ in 0..batch.min(left) {
            left -= 1;
            let (i, j) = (rng.random_range(0..edges.len()), rng.random_range(0..edges.len()));
            let ((a, b), (c, d)) = (edges[i], edges[j]);
            let distinct = a != c && a != d && b != c && b != d;
            if distinct && !linked.contains(&key(a, d)) && !linked.contains(&key(c, b)) {
                swap_ends(&mut edges, &mut linked, i, j);
                swapped.push((i, j));
            }
        }
        let mut parts = UnionFind::<usize>::new(n);
        let joined = edges.iter().filter(|&&(a, b)| parts.union(a, b)).count();
        if joined + 1 == n {
            batch = (2 * batch).min(edges.len());
        } else {
            swapped.into_iter().rev().for_each(|(i, j)| swap_ends(&mut edges, &mut linked, i, j));
            batch = (batch / 2).max(1);
        }
    }
    edges
}

/// Edges a-b and c-d become a-d and c-b; done twice, nothing has changed.
fn swap_ends(edges: &mut [(usize, usize)], linked: &mut HashSet<(usize, usize)>, i: usize, j: usize) {
    let key = |(a, b): (usize, usize)| (a.min(b), a.max(b));
    let ((a, b), (c, d)) = (edges[i], edges[j]);
    linked.remove(&key((a, b)));
    linked.remove(&key((c, d)));
    (edges[i], edges[j]) = ((a, d), (c, b));
    linked.insert(key((a, d)));
    linked.insert(key((c, b)));
}

fn wrong(place: &str, problem: impl Into<String>, fix: &str) -> NetworkError {
    NetworkError::new(None, place, problem, fix)
}

/// A network being drawn, as its document: one set of checks for all topologies.
struct Drawing<'a> {
    name: String,
    nodes: Vec<NodeEntry>,
    links: Vec<LinkEntry>,
    equipment: &'a Equipment,
    rng: ChaCha8Rng,
}

impl<'a> Drawing<'a> {
    fn new(name: String, equipment: &'a Equipment) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(equipment.seed);
        Drawing { name, nodes: Vec::new(), links: Vec::new(), equipment, rng }
    }

    fn switches(&mut self, prefix: &str, count: usize) -> Vec<String> {
        let names: Vec<String> = (0..count).map(|i| format!("{prefix}{i}")).collect();
        let aggregation = Some(At::new(Rate(self.equipment.aggregation_bps)));
        let switch =
            |name: &String| NodeEntry { aggregation_capacity: aggregation, ..NodeEntry::new(name, "switch") };
        self.nodes.extend(names.iter().map(switch));
        names
    }

    fn link(&mut self, a: &str, b: &str) {
        let Equipment { rate_bps, delay_seconds, .. } = *self.equipment;
        // A delay that is not one is refused with the others.
        let delay = Some(At::new(Seconds(delay_seconds)));
        self.links.push(LinkEntry { delay, ..LinkEntry::new([a, b], [rate_bps; 2]) });
    }

    /// Draws a place for every server and worker among `per_switch` places at each of `switches`.
    fn place_hosts(&mut self, switches: &[String], per_switch: usize) -> Result<(), NetworkError> {
        let Equipment { servers, workers, ingress_bps, .. } = *self.equipment;
        let places = switches.len().saturating_mul(per_switch);
        if servers.saturating_add(workers) > places {
            let problem = format!(
                "{servers} and {workers} do not fit on {places}",
                servers = counted(servers, "server"),
                workers = counted(workers, "worker"),
                places = counted(places, "host port")
            );
            return Err(wrong(
                &self.name,
                problem,
                "ask for fewer hosts, more host ports per switch, or a larger network",
            ));
        }
        let mut ports: Vec<&String> =
            switches.iter().flat_map(|s| std::iter::repeat_n(s, per_switch)).collect();
        ports.shuffle(&mut self.rng);
        let mut ports = ports.into_iter().cloned().collect::<Vec<_>>().into_iter();
        let ingress = Some(At::new(Rate(ingress_bps)));
        for (prefix, kind, count, ingress) in
            [("s", "server", servers, ingress), ("w", "worker", workers, None)]
        {
            for (i, port) in (0..count).zip(&mut ports) {
                let host = format!("{prefix}{i}");
                self.link(&port, &host);
                self.nodes.push(NodeEntry { ingress_capacity: ingress, ..NodeEntry::new(host, kind) });
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Topology, NetworkError> {
        let gradient = Some(At::new(Size(self.equipment.gradient_bytes as f64)));
        let name = Some(At::new("job".to_owned()));
        build(Document {
            name: Some(At::new(self.name)),
            nodes: section(self.nodes),
            links: section(self.links),
            jobs: section([JobEntry { name, gradient, ..JobEntry::default() }]),
            ..Document::default()
        })
    }
}
