//! One link per pair of nodes, and the largest part of the network that hangs together.

use std::collections::{BTreeMap, HashMap, HashSet};

use petgraph::unionfind::UnionFind;

use super::attributes::Role;
use super::graph::Graph;
use super::options::ImportOptions;
use crate::NetworkError;
use crate::units::{counted, display_rate, display_seconds};

type Result<T> = std::result::Result<T, NetworkError>;

/// The links between two nodes, taken as one.
pub(super) struct Link {
    pub ends: [usize; 2],
    /// From the first end to the second, and back.
    pub bps: [f64; 2],
    pub count: usize,
    pub delay: f64,
    /// In bytes, if the file states it.
    pub mtu: Option<u16>,
}

/// Returns one link per pair of nodes: capacities of parallel edges add up, of a directed graph's in each
/// direction.
pub(super) fn merged(
    graph: &Graph,
    names: &[String],
    inside: &[bool],
    options: &ImportOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    let mut by_ends: HashMap<[usize; 2], usize> = HashMap::new();
    let mut unstated = 0;
    let rate = display_rate(options.rate_bps);
    for edge in graph.edges.iter().filter(|edge| edge.ends.iter().all(|&end| inside[end])) {
        let [a, b] = edge.ends;
        if a == b {
            notes.push(format!("link {0}-{0} left out: both ends are the same node", names[a]));
            continue;
        }
        let place = format!("link {}-{}", names[a], names[b]);
        let bps = match edge.attributes.rate(options.unit_bps, &place)? {
            Some(Ok(bps)) => bps,
            Some(Err(text)) => {
                notes.push(format!("{place}: {text:?} is not a rate; {rate} is used"));
                options.rate_bps
            }
            None => {
                unstated += 1;
                options.rate_bps
            }
        };
        let delay = match edge.attributes.delay() {
            Some(Ok(delay)) => delay,
            Some(Err(text)) => {
                let taken = display_seconds(options.delay_seconds);
                notes.push(format!("{place}: {text:?} is not a delay with a unit; {taken} is used"));
                options.delay_seconds
            }
            None => options.delay_seconds,
        };
        let at = *by_ends.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            links.push(Link { ends: edge.ends, bps: [0.0; 2], count: 0, delay, mtu: None });
            links.len() - 1
        });
        let link = &mut links[at];
        let forward = link.ends[0] == a;
        if !graph.directed || forward {
            link.bps[0] += bps;
        }
        if !graph.directed || !forward {
            link.bps[1] += bps;
        }
        link.count += 1;
        link.delay = link.delay.max(delay);
        match edge.attributes.mtu() {
            // An MTU that fits the smallest link fits all of them.
            Some(Ok(mtu)) => link.mtu = Some(link.mtu.map_or(mtu, |other| other.min(mtu))),
            Some(Err(text)) => {
                notes.push(format!("{place}: {text:?} is not an MTU; {} is used", options.mtu))
            }
            None => {}
        }
    }
    if unstated > 0 {
        let links = counted(unstated, "link");
        notes.push(format!("rate not stated on {links}: {rate} is taken"));
    }
    let mut opposite = 0;
    for link in &mut links {
        let place = format!("link {}-{}", names[link.ends[0]], names[link.ends[1]]);
        let [there, back] = link.bps;
        if there > 0.0 && back > 0.0 && there != back {
            let (there, back) = (display_rate(there), display_rate(back));
            notes.push(format!("{place}: {there} one way, {back} the other; the lower is taken"));
        }
        // An edge of a directed graph without its counterpart is a link all the same.
        let bps = if there == 0.0 || back == 0.0 { there.max(back) } else { there.min(back) };
        link.bps = [bps; 2];
        let is_pair = graph.directed && link.count == 2 && there > 0.0 && back > 0.0;
        opposite += usize::from(is_pair);
        if link.count > 1 && !is_pair {
            notes.push(format!("{place}: {} links taken as one of {}", link.count, display_rate(bps)));
        }
    }
    if graph.multigraph && opposite > 0 {
        notes.push(format!(
            "{} of opposite edges taken as one link each, a direction per edge; of two cables make an undirected graph",
            counted(opposite, "pair")
        ));
    }
    Ok(links)
}

/// Returns the largest connected part: switches that reach each other, and the hosts at them.
pub(super) fn connected(
    names: &[String],
    roles: &[Role],
    links: &[Link],
    inside: Vec<bool>,
    notes: &mut Vec<String>,
) -> Result<Vec<bool>> {
    let mut parts = UnionFind::<usize>::new(names.len());
    for link in links.iter().filter(|link| link.ends.iter().all(|&end| roles[end] == Role::Switch)) {
        parts.union(link.ends[0], link.ends[1]);
    }
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for &Link { ends: [a, b], .. } in links {
        near[a].push(b);
        near[b].push(a);
    }
    let mut size: BTreeMap<usize, usize> = BTreeMap::new();
    let mut parts_of: Vec<HashSet<usize>> = Vec::with_capacity(names.len());
    for node in 0..names.len() {
        let here: HashSet<usize> = if !inside[node] {
            HashSet::new()
        } else if roles[node] == Role::Switch {
            HashSet::from([parts.find(node)])
        } else {
            near[node]
                .iter()
                .filter(|&&next| roles[next] == Role::Switch)
                .map(|&next| parts.find(next))
                .collect()
        };
        here.iter().for_each(|&part| *size.entry(part).or_default() += 1);
        parts_of.push(here);
    }
    // The first of the largest.
    let largest = size.iter().max_by_key(|&(part, size)| (size, std::cmp::Reverse(part)));
    let Some((&largest, _)) = largest else {
        let fix = "mark the switches: inart-role switch in the nodes' attributes or labels";
        return Err(NetworkError::new(None, "import", "the network has no switch", fix));
    };
    let kept: Vec<bool> = parts_of.iter().map(|parts| parts.contains(&largest)).collect();
    let lost: Vec<&str> = (0..names.len())
        .filter(|&node| inside[node] && !kept[node])
        .map(|node| names[node].as_str())
        .collect();
    if !lost.is_empty() {
        let more = if lost.len() > 8 { ", ..." } else { "" };
        let some = lost[..lost.len().min(8)].join(", ");
        let lost = counted(lost.len(), "node");
        notes.push(format!("{lost} left out: not connected with the largest part: {some}{more}"));
    }
    Ok(kept)
}
