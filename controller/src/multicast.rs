//! Updates between peers: what copying them by a bitmap asks of every switch, and the entries that it
//! becomes.
//!
//! All copies go along the spanning tree of ordinary frames (`routes::flood_ports`). So behind each port of
//! a switch are other peers, a copy comes to a switch once, and a peer's updates come in by the port behind
//! which the peer is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_tables::{GroupId, PortNo, ReceiversAction, ReceiversKey, SwitchTables, UpdatesAction, UpdatesKey};
use inart_wire::{Contributors, Epoch, Group, JobId, Rank, Seat};

use crate::ports::PortMap;
use crate::routes;
use crate::tables::{NoRoom, Taken, shared};

/// Why updates of a job cannot be copied on a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MulticastError {
    /// More peers than there are ranks.
    #[error("job {job} has {count} peers, the header has room for {limit}: split the job")]
    TooMany {
        /// The job.
        job: JobId,
        /// How many.
        count: usize,
        /// How many at most.
        limit: usize,
    },
    /// A name that is no host at a switch.
    #[error("job {job} has peer {peer}, which is no host at a switch of the network: link it to one")]
    Stranger {
        /// The job.
        job: JobId,
        /// The peer.
        peer: String,
    },
    /// A host that is listed twice.
    #[error("job {job} lists peer {peer} twice: list each peer once")]
    Twice {
        /// The job.
        job: JobId,
        /// The peer.
        peer: String,
    },
    /// Peers with no way between them.
    #[error("job {job}: there is no way from peer {from} to peer {to}: link their switches")]
    Apart {
        /// The job.
        job: JobId,
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// A switch with too little room.
    #[error("switch {switch} {why}")]
    NoRoom {
        /// The switch.
        switch: String,
        /// What there is too little of.
        why: NoRoom,
    },
}

/// What a job of peers asks of one switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerRequirements {
    /// Who sends: the block of the receivers, the sender, and the port its updates come in by.
    pub updates: BTreeSet<(Group, Seat, PortNo)>,
    /// By block, the peers behind each port.
    pub receivers: BTreeMap<Group, BTreeMap<PortNo, Contributors>>,
}

/// A job of peers.
#[derive(Debug, Clone, Copy)]
pub struct PeerGroup<'a> {
    /// Its number.
    pub job: JobId,
    /// The number that its plan is installed under.
    pub epoch: Epoch,
    /// Names of its peers, by rank.
    pub peers: &'a [&'a str],
}

/// What the job asks of every switch that its updates may come to, by name.
///
/// # Errors
/// Too many peers, one that is not at a switch, is listed twice, or has no way to another.
pub fn requirements(
    ports: &PortMap,
    group: PeerGroup<'_>,
) -> Result<BTreeMap<String, PeerRequirements>, MulticastError> {
    let job = group.job;
    let tree = routes::flood_ports(ports);
    let mut all = BTreeMap::<String, PeerRequirements>::new();
    let mut towards = Vec::with_capacity(group.peers.len());
    let mut seen = BTreeSet::new();
    for (index, &peer) in group.peers.iter().enumerate() {
        let rank = Rank::try_from(index).map_err(|_| MulticastError::TooMany {
            job,
            count: group.peers.len(),
            limit: usize::from(Rank::MAX.get()) + 1,
        })?;
        if !seen.insert(peer) {
            return Err(MulticastError::Twice { job, peer: peer.to_owned() });
        }
        let ways = ports_towards(ports, &tree, peer);
        let ways = ways.ok_or_else(|| MulticastError::Stranger { job, peer: peer.to_owned() })?;
        towards.push((rank.seat(), ways));
    }
    if let [(_, first), others @ ..] = &towards[..] {
        let apart = others.iter().zip(&group.peers[1..]).find(|((_, ways), _)| ways.keys().ne(first.keys()));
        if let Some((_, to)) = apart {
            let (from, to) = (group.peers[0].to_owned(), (*to).to_owned());
            return Err(MulticastError::Apart { job, from, to });
        }
    }
    for (seat, ways) in &towards {
        let one = Contributors::one(*seat);
        for (switch, port) in ways {
            let behind = all.entry((*switch).to_owned()).or_default().receivers.entry(one.group).or_default();
            behind.entry(*port).or_insert(Contributors { bitmap: 0, ..one }).bitmap |= one.bitmap;
        }
    }
    for (seat, ways) in towards {
        for (switch, ingress) in ways {
            let Some(asked) = all.get_mut(switch) else { continue };
            let elsewhere = |behind: &BTreeMap<PortNo, _>| behind.keys().any(|port| *port != ingress);
            let blocks =
                asked.receivers.iter().filter(|(_, behind)| elsewhere(behind)).map(|(block, _)| *block);
            asked.updates.extend(blocks.map(|block| (block, seat, ingress)));
        }
    }
    Ok(all)
}

/// By switch, the port of the tree that a host is behind; `None` for what is no host at a switch.
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

/// The entries that `requirements` become. Groups that `held` has for the same job under the same epoch are
/// used again; the others are taken from what is free, and `taken` is brought up to date.
///
/// # Errors
/// A switch without enough multicast groups.
pub fn entries(
    requirements: &PeerRequirements,
    job: JobId,
    epoch: Epoch,
    held: &SwitchTables,
    taken: &mut Taken,
) -> Result<SwitchTables, NoRoom> {
    let mut groups = BTreeMap::<Group, GroupId>::new();
    for (key, action) in held.updates.iter().filter(|(key, _)| (key.job, key.epoch) == (job, epoch)) {
        if let UpdatesAction::Replicate { group } = action
            && requirements.receivers.contains_key(&key.group)
            && !groups.contains_key(&key.group)
            && taken.keep(*group)
        {
            groups.insert(key.group, *group);
        }
    }
    let mut tables = SwitchTables::default();
    for (block, behind) in &requirements.receivers {
        let group = match groups.get(block) {
            Some(group) => *group,
            None => taken.group()?,
        };
        groups.insert(*block, group);
        tables.groups.insert(group, behind.keys().copied().collect());
        for (&egress, &members) in behind {
            let key = ReceiversKey { epoch, job, group: *block, egress };
            tables.receivers.insert(key, ReceiversAction::Narrow { members });
        }
    }
    for &(block, worker, ingress) in &requirements.updates {
        if let Some(&group) = groups.get(&block) {
            let key = UpdatesKey { epoch, job, group: block, worker, ingress };
            tables.updates.insert(key, UpdatesAction::Replicate { group });
        }
    }
    Ok(tables)
}

/// Everything that the switches of a network hold on which only these jobs of peers run, by name.
///
/// # Errors
/// As [`requirements`], and a switch without enough multicast groups.
pub fn network(
    ports: &PortMap,
    jobs: &[PeerGroup<'_>],
) -> Result<BTreeMap<String, SwitchTables>, MulticastError> {
    let mut all = shared(ports);
    for &group in jobs {
        for (switch, asked) in requirements(ports, group)? {
            let tables = all.entry(switch.clone()).or_default();
            let mut taken = Taken::by(tables, 0);
            let mine = entries(&asked, group.job, group.epoch, &SwitchTables::default(), &mut taken);
            let mine = mine.map_err(|why| MulticastError::NoRoom { switch, why })?;
            tables.updates.extend(mine.updates);
            tables.receivers.extend(mine.receivers);
            tables.groups.extend(mine.groups);
        }
    }
    Ok(all)
}
