//! Updates between peers: requirements of copying them by a bitmap.
//!
//! All copies follow the spanning tree of ordinary frames (`routes::flood_ports`). So the ports of a switch
//! lead to disjoint sets of peers, a copy arrives at a switch once, and a peer's updates arrive on the port
//! that leads to the peer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_tables::PortNo;
use inart_wire::{Contributors, Rank};

use crate::ports::PortMap;
use crate::requirements::Requirements;
use crate::routes;

/// Why updates of a job cannot be copied on a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MulticastError {
    /// More peers than ranks.
    #[error("job {job} has {count} peers, the header has room for {limit}: split the job")]
    TooMany {
        /// Name of the job.
        job: String,
        /// Number of peers.
        count: usize,
        /// Largest number.
        limit: usize,
    },
    /// Peer that is not a host at a switch.
    #[error("job {job} has peer {peer}, which is not a host at a switch of the network: link it to one")]
    NotAHost {
        /// Name of the job.
        job: String,
        /// Name of the peer.
        peer: String,
    },
    /// Peer that is listed twice.
    #[error("job {job} lists peer {peer} twice: list each peer once")]
    Twice {
        /// Name of the job.
        job: String,
        /// Name of the peer.
        peer: String,
    },
    /// Peers without a path between them.
    #[error("job {job}: no path leads from peer {from} to peer {to}: link their switches")]
    Apart {
        /// Name of the job.
        job: String,
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
}

/// Returns the requirements of a job of these peers (by rank) on every switch that its updates may reach,
/// by name.
///
/// # Errors
/// Too many peers, or a peer that is not at a switch, is listed twice, or has no path to another.
pub fn requirements(
    ports: &PortMap,
    job: &str,
    peers: &[&str],
) -> Result<BTreeMap<String, Requirements>, MulticastError> {
    let job = || job.to_owned();
    let tree = routes::flood_ports(ports);
    let mut all = BTreeMap::<String, Requirements>::new();
    let mut towards = Vec::with_capacity(peers.len());
    let mut seen = BTreeSet::new();
    for (index, &peer) in peers.iter().enumerate() {
        let rank = Rank::try_from(index).map_err(|_| MulticastError::TooMany {
            job: job(),
            count: peers.len(),
            limit: usize::from(Rank::MAX.get()) + 1,
        })?;
        if !seen.insert(peer) {
            return Err(MulticastError::Twice { job: job(), peer: peer.to_owned() });
        }
        let ways = ports_towards(ports, &tree, peer);
        let ways = ways.ok_or_else(|| MulticastError::NotAHost { job: job(), peer: peer.to_owned() })?;
        towards.push((rank.bitmap_index(), ways));
    }
    if let [(_, first), others @ ..] = &towards[..] {
        let apart = others.iter().zip(&peers[1..]).find(|((_, ways), _)| ways.keys().ne(first.keys()));
        if let Some((_, to)) = apart {
            let (from, to) = (peers[0].to_owned(), (*to).to_owned());
            return Err(MulticastError::Apart { job: job(), from, to });
        }
    }
    for (bitmap_index, ways) in &towards {
        let one = Contributors::one(*bitmap_index);
        for (switch, port) in ways {
            let behind = all.entry((*switch).to_owned()).or_default().receivers.entry(one.group).or_default();
            behind.entry(*port).or_insert(Contributors { bitmap: 0, ..one }).bitmap |= one.bitmap;
        }
    }
    for (bitmap_index, ways) in towards {
        for (switch, ingress) in ways {
            let Some(asked) = all.get_mut(switch) else { continue };
            let elsewhere = |behind: &BTreeMap<PortNo, _>| behind.keys().any(|port| *port != ingress);
            let blocks =
                asked.receivers.iter().filter(|(_, behind)| elsewhere(behind)).map(|(block, _)| *block);
            asked.updates.extend(blocks.map(|block| (block, bitmap_index, ingress)));
        }
    }
    Ok(all)
}

/// Returns the port of the tree that leads to a host, by switch; `None` for a node that is not a host at a
/// switch.
fn ports_towards<'a>(
    ports: &'a PortMap,
    tree: &BTreeMap<&str, BTreeSet<PortNo>>,
    host: &str,
) -> Option<BTreeMap<&'a str, PortNo>> {
    let home = ports.attachment(host).filter(|home| ports.is_switch(home))?;
    let mut towards = BTreeMap::from([(home, ports.port(home, host)?)]);
    let mut queue = VecDeque::from([home]);
    while let Some(switch) = queue.pop_front() {
        for (port, next) in ports.ports(switch).filter(|(_, next)| ports.is_switch(next)) {
            let on_tree = tree.get(switch).is_some_and(|tree| tree.contains(&port));
            if on_tree && !towards.contains_key(next) {
                towards.insert(next, ports.port(next, switch)?);
                queue.push_back(next);
            }
        }
    }
    Some(towards)
}
