//! Random networks of many shapes, as topology documents.

use inart_topologies::switched::generate::{Equipment, fat_tree, leaf_spine, random_regular};
use inart_topologies::switched::{NodeKind, Topology};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Switches, the links between them, and the number of first switches that may have hosts.
#[derive(Debug, Clone)]
pub struct Fabric {
    switches: usize,
    links: Vec<(usize, usize)>,
    places: usize,
}

/// Draws that every network takes from, by position; longer networks start over.
#[derive(Debug, Clone)]
struct Draws {
    aggregation_mbps: Vec<u32>,
    link_mbps: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Server {
    ingress_mbps: Option<u32>,
    uplink_mbps: u32,
    at: usize,
    second: Option<usize>,
}

#[derive(Debug, Clone)]
struct Worker {
    uplink_mbps: u32,
    at: usize,
    second: Option<usize>,
}

/// Background traffic on a link (in one direction), a switch or a server, in percent of its capacity.
#[derive(Debug, Clone)]
enum Background {
    Link(usize, bool, u32),
    Switch(usize, u32),
    Server(usize, u32),
}

/// A tree with a few links more.
fn tree() -> impl Strategy<Value = Fabric> {
    (prop::collection::vec(0usize..8, 0..4), prop::collection::vec((0usize..8, 0usize..8), 0..4)).prop_map(
        |(parents, extra)| {
            let switches = parents.len() + 1;
            let mut links: Vec<_> = (1..switches).map(|i| (parents[i - 1] % i, i)).collect();
            for (a, b) in extra.into_iter().map(|(a, b)| (a % switches, b % switches)) {
                if a < b && !links.contains(&(a, b)) {
                    links.push((a, b));
                }
            }
            Fabric { switches, links, places: switches }
        },
    )
}

/// The switches of a generated topology; hosts are attached to those whose names start with T or V.
fn switches_of(topology: &Topology) -> Fabric {
    let is_switch = |id: &inart_topologies::switched::NodeId| topology.node(*id).kind == NodeKind::Switch;
    let switches: Vec<_> = topology.node_ids().filter(is_switch).collect();
    let between = topology.links().iter().filter(|link| link.ends.iter().all(is_switch));
    Fabric {
        // The generators name the switches first, those with hosts before the others.
        links: between.map(|link| (link.ends[0].index(), link.ends[1].index())).collect(),
        places: switches.iter().filter(|&&id| topology.node(id).name.starts_with(['T', 'V'])).count(),
        switches: switches.len(),
    }
}

fn bare(seed: u64) -> Equipment {
    Equipment {
        servers: 1,
        workers: 1,
        rate_bps: 1e6,
        aggregation_bps: 1e6,
        ingress_bps: 1e6,
        delay_seconds: 0.0,
        gradient_bytes: 1,
        seed,
    }
}

fn fabric() -> impl Strategy<Value = Fabric> {
    prop_oneof![
        12 => tree(),
        4 => (1usize..4, 1usize..3)
            .prop_map(|(leaves, spines)| switches_of(&leaf_spine(leaves + 1, spines, 2, &bare(1)).unwrap())),
        3 => (2usize..5, 2usize..4, any::<u64>())
            .prop_map(|(half, degree, seed)| {
                switches_of(&random_regular(2 * half, degree, 2, &bare(seed)).unwrap())
            }),
        1 => Just(()).prop_map(|()| switches_of(&fat_tree(4, &bare(1)).unwrap())),
    ]
}

fn draws() -> impl Strategy<Value = Draws> {
    // One switch in four only forwards.
    let aggregation = prop_oneof![1 => Just(0u32), 3 => 2u32..15];
    (prop::collection::vec(aggregation, 20), prop::collection::vec(2u32..12, 32))
        .prop_map(|(aggregation_mbps, link_mbps)| Draws { aggregation_mbps, link_mbps })
}

/// One host in six has a second link.
fn second() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![5 => Just(None), 1 => (0usize..8).prop_map(Some)]
}

fn server() -> impl Strategy<Value = Server> {
    (prop::option::weighted(0.8, 1u32..20), 5u32..25, 0usize..8, second())
        .prop_map(|(ingress_mbps, uplink_mbps, at, second)| Server { ingress_mbps, uplink_mbps, at, second })
}

fn worker() -> impl Strategy<Value = Worker> {
    (3u32..25, 0usize..8, second()).prop_map(|(uplink_mbps, at, second)| Worker { uplink_mbps, at, second })
}

/// Draws usually a part of the capacity; now and then all of it.
fn background() -> impl Strategy<Value = Background> {
    let percent = || prop_oneof![15 => 5u32..90, 1 => Just(100u32)];
    prop_oneof![
        (0usize..32, any::<bool>(), percent())
            .prop_map(|(link, back, part)| Background::Link(link, back, part)),
        (0usize..20, percent()).prop_map(|(switch, part)| Background::Switch(switch, part)),
        (0usize..3, percent()).prop_map(|(server, part)| Background::Server(server, part)),
    ]
}

/// Draws the workers and servers of a second job, as bits.
fn subset() -> impl Strategy<Value = Option<(u32, u32)>> {
    prop::option::weighted(0.3, (any::<u32>(), any::<u32>()))
}

/// A network as text. The job to plan is the last: everybody, or (three in ten) only some.
pub fn document() -> impl Strategy<Value = String> {
    let hosts = (prop::collection::vec(server(), 1..4), prop::collection::vec(worker(), 1..8));
    (fabric(), draws(), hosts, prop::collection::vec(background(), 0..3), subset()).prop_map(
        |(fabric, draws, (servers, workers), background, subset)| {
            write(&fabric, &draws, &servers, &workers, &background, subset)
        },
    )
}

fn write(
    fabric: &Fabric,
    draws: &Draws,
    servers: &[Server],
    workers: &[Worker],
    background: &[Background],
    subset: Option<(u32, u32)>,
) -> String {
    let aggregation = |v: usize| draws.aggregation_mbps[v % draws.aggregation_mbps.len()];
    let mut nodes = String::new();
    for v in 0..fabric.switches {
        let _ = writeln!(
            nodes,
            "  - {{name: v{v}, kind: switch, aggregation_capacity: {} Mbps}}",
            aggregation(v)
        );
    }
    let mut links: Vec<(String, String, u32)> = fabric
        .links
        .iter()
        .zip(draws.link_mbps.iter().cycle())
        .map(|(&(a, b), &rate)| (format!("v{a}"), format!("v{b}"), rate))
        .collect();
    let mut attach = |host: String, at: usize, second: Option<usize>, rate: u32| {
        let first = at % fabric.places;
        links.push((host.clone(), format!("v{first}"), rate));
        if let Some(other) = second.map(|at| at % fabric.places).filter(|&other| other != first) {
            links.push((host, format!("v{other}"), rate.div_ceil(2)));
        }
    };
    for (i, server) in servers.iter().enumerate() {
        let ingress =
            server.ingress_mbps.map_or(String::new(), |rate| format!(", ingress_capacity: {rate} Mbps"));
        let _ = writeln!(nodes, "  - {{name: s{i}, kind: server{ingress}}}");
        attach(format!("s{i}"), server.at, server.second, server.uplink_mbps);
    }
    for (i, worker) in workers.iter().enumerate() {
        let _ = writeln!(nodes, "  - {{name: w{i}, kind: worker}}");
        attach(format!("w{i}"), worker.at, worker.second, worker.uplink_mbps);
    }
    let mut other = String::new();
    for entry in background {
        let line = match *entry {
            Background::Link(link, back, percent) => {
                let (a, b, rate) = &links[link % links.len()];
                let (a, b) = if back { (b, a) } else { (a, b) };
                format!("{{link: [{a}, {b}], rate: {} kbps}}", rate * percent * 10)
            }
            Background::Switch(v, percent) => {
                let v = v % fabric.switches;
                format!("{{node: v{v}, rate: {} kbps}}", aggregation(v) * percent * 10)
            }
            Background::Server(s, percent) => {
                let s = s % servers.len();
                format!("{{node: s{s}, rate: {} kbps}}", servers[s].ingress_mbps.unwrap_or(0) * percent * 10)
            }
        };
        let _ = writeln!(other, "  - {line}");
    }
    let links: String =
        links.iter().map(|(a, b, rate)| format!("  - {{ends: [{a}, {b}], rate: {rate} Mbps}}\n")).collect();
    let other = if other.is_empty() { other } else { format!("background:\n{other}") };
    let mut jobs = "jobs:\n  - {name: all}\n".to_owned();
    if let Some((some_workers, some_servers)) = subset {
        let chosen = |prefix: char, count: usize, bits: u32| {
            let names = (0..count).filter(|i| *i == bits as usize % count || bits >> (8 + i) & 1 == 1);
            names.map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
        };
        let (workers, servers) =
            (chosen('w', workers.len(), some_workers), chosen('s', servers.len(), some_servers));
        let _ = writeln!(jobs, "  - {{name: some, workers: [{workers}], servers: [{servers}]}}");
    }
    format!("name: random\nnodes:\n{nodes}links:\n{links}{other}{jobs}")
}
