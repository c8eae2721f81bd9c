//! Follows table entries like frames, and reports where they end. Written from
//! docs/protocol/switch-rules.md alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_controller::requirements::Roles;
use inart_controller::{Network, PortMap};
use inart_planner_aggregation::Plan;
use inart_tables::{MacAction, MacKey, PortNo, ResultsAction, ResultsKey, SlotRange, SteerAction, SteerKey};
use inart_topologies::switched::Topology;
use inart_wire::{BitmapIndex, Contributors, JobId, MacAddr, PlanVersion, ShardId};

/// Network of one job, as its frames see it.
pub struct Walker<'a> {
    pub tables: &'a Network,
    pub ports: &'a PortMap,
    pub workers: Vec<String>,
    /// `[shard][rank]`
    pub bitmap_indices: Vec<Vec<BitmapIndex>>,
    pub plan: &'a Plan,
    pub job: JobId,
    pub plan_version: PlanVersion,
}

#[derive(Debug, Clone)]
struct Frame {
    worker: BitmapIndex,
    contributors: Contributors,
    bypass: bool,
    trace: Vec<String>,
}

/// Frames that arrived at hosts.
type Arrivals = Vec<(String, Frame)>;

impl<'a> Walker<'a> {
    pub fn new(
        topology: &Topology,
        tables: &'a Network,
        ports: &'a PortMap,
        plan: &'a Plan,
        job: JobId,
        plan_version: PlanVersion,
    ) -> Self {
        let found = topology.job_named(&plan.job).unwrap();
        let workers: Vec<_> = found.workers.iter().map(|id| topology.node(*id).name.clone()).collect();
        let roles = Roles::new(workers.iter().map(String::as_str), plan).unwrap();
        let bitmap_indices = (0..plan.shards.len()).map(|shard| {
            let shard = ShardId::try_from(shard).unwrap();
            workers.iter().map(|name| roles.bitmap_index(shard, name).unwrap()).collect()
        });
        Walker { tables, ports, bitmap_indices: bitmap_indices.collect(), workers, plan, job, plan_version }
    }

    /// Checks everything that the plan promises, for every shard.
    pub fn check(&self) -> Result<(), String> {
        for (switch, tables) in self.tables {
            let to_switches = self.ports.ports(switch).filter(|(_, peer)| self.ports.is_switch(peer));
            if !to_switches.map(|(port, _)| port).eq(tables.switch_ports.keys().map(|key| key.ingress)) {
                return Err(format!("{switch} takes {:?} for switch ports", tables.switch_ports));
            }
        }
        for (index, shard) in self.plan.shards.iter().enumerate() {
            let number = ShardId::try_from(index).unwrap();
            self.check_sum(number, &shard.server).map_err(|e| format!("{} {e}", shard.server))?;
            self.check_bypass(number, &shard.server).map_err(|e| format!("{} bypass {e}", shard.server))?;
            self.check_results(number, &shard.server).map_err(|e| format!("{} results {e}", shard.server))?;
            self.check_messages(number, &shard.server)
                .map_err(|e| format!("{} messages {e}", shard.server))?;
        }
        Ok(())
    }

    /// Lets all workers send a chunk: the server gets every rank once, in the planned number of frames.
    fn check_sum(&self, shard: ShardId, server: &str) -> Result<(), String> {
        let arrivals = self.send(shard, false)?;
        let mut seen: BTreeSet<BitmapIndex> = BTreeSet::new();
        for (host, frame) in &arrivals {
            if host != server {
                return Err(format!("{frame:?} came to {host}"));
            }
            for rank in frame.contributors.bitmap_indices() {
                if !seen.insert(rank) {
                    return Err(format!("rank {rank} is counted twice"));
                }
            }
        }
        if seen.len() != self.workers.len() {
            return Err(format!("only ranks {seen:?} arrive"));
        }
        let direct = self.plan.flows.iter().filter(|flow| flow.server == server && flow.aggregator.is_none());
        let ends_here =
            self.plan.trunks.iter().filter(|t| t.server == server && t.path.last().unwrap() == server);
        let sums = ends_here.map(|trunk| trunk.workers.len().div_ceil(64));
        let expected = direct.count() + sums.sum::<usize>();
        if arrivals.len() != expected {
            return Err(format!("{} frames arrive, the plan says {expected}", arrivals.len()));
        }
        Ok(())
    }

    /// Checks that bypass frames take the path of the plan, flow and trunks.
    fn check_bypass(&self, shard: ShardId, server: &str) -> Result<(), String> {
        let arrivals = self.send(shard, true)?;
        if arrivals.len() != self.workers.len() {
            return Err(format!("{} frames arrive", arrivals.len()));
        }
        for (host, frame) in arrivals {
            let rank = self.bitmap_indices[usize::from(shard.get())]
                .iter()
                .position(|bitmap_index| *bitmap_index == frame.worker);
            let name = &self.workers[rank.unwrap()];
            let flow = self.plan.flows.iter().find(|f| f.server == server && f.worker == *name).unwrap();
            let mut way = flow.path.clone();
            while way.last().unwrap() != server {
                let at = way.last().unwrap();
                let trunk =
                    self.plan.trunks.iter().find(|t| t.server == server && t.aggregator == *at).unwrap();
                way.extend_from_slice(&trunk.path[1..]);
            }
            let went: Vec<_> = frame.trace.iter().cloned().chain([host]).collect();
            if went != way[1..] {
                return Err(format!("worker {name} went {went:?}, the plan says {way:?}"));
            }
        }
        Ok(())
    }

    /// Lets every worker send one frame; steps through the switches until all have arrived or stay in
    /// slots.
    fn send(&self, shard: ShardId, bypass: bool) -> Result<Arrivals, String> {
        let mut arrivals = Arrivals::new();
        let mut slots: BTreeMap<(String, SlotRange), Contributors> = BTreeMap::new();
        let mut flying = VecDeque::new();
        for (rank, name) in self.workers.iter().enumerate() {
            let worker = self.bitmap_indices[usize::from(shard.get())][rank];
            let frame = Frame { worker, contributors: Contributors::one(worker), bypass, trace: Vec::new() };
            flying.push_back((name.clone(), self.ports.attachment(name).unwrap().to_owned(), frame));
        }
        while let Some((from, switch, mut frame)) = flying.pop_front() {
            if !self.ports.is_switch(&switch) {
                arrivals.push((switch, frame));
                continue;
            }
            frame.trace.push(switch.clone());
            if frame.trace.len() > 4 * self.tables.len() {
                return Err(format!("{frame:?} goes in circles"));
            }
            let ingress = self.ports.port(&switch, &from).unwrap();
            let key = SteerKey {
                plan_version: self.plan_version,
                job: self.job,
                shard,
                worker: frame.worker,
                ingress,
            };
            let (port, members) = match self.tables[&switch].steer.get(&key) {
                Some(SteerAction::Forward { port, members }) => (port, members),
                Some(SteerAction::Add { port, members, .. }) => (port, members),
                other => return Err(format!("{switch} has {other:?} for {frame:?} from {from}")),
            };
            if !frame.contributors.is_subset(*members) {
                return Err(format!("{switch} admits {members} only, not {frame:?}"));
            }
            if let Some(SteerAction::Add { slots: range, expected, .. }) =
                self.tables[&switch].steer.get(&key)
                && !frame.bypass
            {
                let sum =
                    slots.entry((switch.clone(), *range)).or_insert(Contributors { bitmap: 0, ..*expected });
                if sum.bitmap & frame.contributors.bitmap != 0 || sum.group != frame.contributors.group {
                    return Err(format!("{switch}: {frame:?} meets {sum} in its slot"));
                }
                sum.bitmap |= frame.contributors.bitmap;
                if sum != expected {
                    continue;
                }
                frame.contributors = *sum;
                slots.remove(&(switch.clone(), *range));
            }
            let peer = self.ports.peer(&switch, *port).ok_or(format!("{switch} has no port {port}"))?;
            flying.push_back((switch.clone(), peer.to_owned(), frame));
        }
        match slots.into_iter().next() {
            Some(((switch, _), sum)) => Err(format!("{switch} waits for more than {sum}")),
            None => Ok(arrivals),
        }
    }

    /// Checks that a result arrives at every worker once and at no other host.
    fn check_results(&self, shard: ShardId, server: &str) -> Result<(), String> {
        let mut arrivals = Vec::new();
        let mut flying =
            VecDeque::from([(server.to_owned(), self.ports.attachment(server).unwrap().to_owned())]);
        let mut steps = 0;
        while let Some((from, switch)) = flying.pop_front() {
            steps += 1;
            if steps > 100_000 {
                return Err("go in circles".into());
            }
            if !self.ports.is_switch(&switch) {
                arrivals.push(switch);
                continue;
            }
            let ingress = self.ports.port(&switch, &from).unwrap();
            let key = ResultsKey { plan_version: self.plan_version, job: self.job, shard, ingress };
            let Some(ResultsAction::Replicate { group }) = self.tables[&switch].results.get(&key) else {
                return Err(format!("{switch} refuses them from {from}"));
            };
            let group =
                self.tables[&switch].groups.get(group).ok_or(format!("{switch} lacks group {group}"))?;
            flying.extend(copies(self.ports, &switch, ingress, group));
        }
        arrivals.sort();
        let mut workers = self.workers.clone();
        workers.sort();
        if arrivals == workers { Ok(()) } else { Err(format!("come to {arrivals:?}")) }
    }

    /// Checks that worker and server reach each other, and that no other host can send as either of them.
    fn check_messages(&self, shard: ShardId, server: &str) -> Result<(), String> {
        for (rank, name) in self.workers.iter().enumerate() {
            let bitmap_index = self.bitmap_indices[usize::from(shard.get())][rank];
            for (from, to) in [(name.as_str(), server), (server, name.as_str())] {
                if !self.is_forwarded(shard, bitmap_index, from) {
                    return Err(format!("of {from} are refused"));
                }
                let address = self.ports.mac(to).unwrap();
                if arrivals(self.tables, self.ports, from, address)? != [to] {
                    return Err(format!("of {from} do not reach {to}"));
                }
            }
            let is_accepted = |host: &&str| self.is_forwarded(shard, bitmap_index, host);
            let others = self.ports.hosts().map(|(host, _)| host);
            if let Some(other) = others.filter(|host| *host != name && *host != server).find(is_accepted) {
                return Err(format!("of {name} are taken from {other}"));
            }
        }
        Ok(())
    }

    /// Returns whether the switches forward messages of `host` as the worker on that bitmap index or to it.
    fn is_forwarded(&self, shard: ShardId, worker: BitmapIndex, host: &str) -> bool {
        let switch = self.ports.attachment(host).unwrap();
        let ingress = self.ports.port(switch, host).unwrap();
        let (tables, plan_version, job) = (&self.tables[switch], self.plan_version, self.job);
        tables.steer.contains_key(&SteerKey { plan_version, job, shard, worker, ingress })
            || tables.results.contains_key(&ResultsKey { plan_version, job, shard, ingress })
    }
}

fn copies(ports: &PortMap, switch: &str, ingress: PortNo, group: &BTreeSet<PortNo>) -> Vec<(String, String)> {
    let out = group.iter().filter(|port| **port != ingress);
    out.map(|port| (switch.to_owned(), ports.peer(switch, *port).unwrap().to_owned())).collect()
}

/// Checks ordinary traffic: known addresses go directly to their host, unknown ones reach every other host
/// once.
pub fn check_mac(tables: &Network, ports: &PortMap) -> Result<(), String> {
    let hosts: Vec<_> = ports.hosts().collect();
    for (sender, _) in &hosts {
        for (receiver, address) in &hosts {
            if sender != receiver && arrivals(tables, ports, sender, *address)? != [*receiver] {
                return Err(format!("{sender} does not reach {receiver}"));
            }
        }
        let everybody = arrivals(tables, ports, sender, MacAddr([0xff; 6]))?;
        let others: Vec<_> = hosts.iter().map(|(host, _)| *host).filter(|host| host != sender).collect();
        if everybody != others {
            return Err(format!("{sender} floods to {everybody:?}"));
        }
    }
    Ok(())
}

fn arrivals(tables: &Network, ports: &PortMap, sender: &str, to: MacAddr) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    let mut flying = VecDeque::from([(sender.to_owned(), ports.attachment(sender).unwrap().to_owned())]);
    let mut steps = 0;
    while let Some((from, switch)) = flying.pop_front() {
        steps += 1;
        if steps > 100_000 {
            return Err(format!("frames of {sender} to {to} go in circles"));
        }
        if !ports.is_switch(&switch) {
            hosts.push(switch);
            continue;
        }
        let table = &tables[&switch];
        let ingress = ports.port(&switch, &from).unwrap();
        match table.mac.get(&MacKey { dst: to }).unwrap_or(&table.mac_default) {
            MacAction::Send { port } => {
                flying.push_back((switch.clone(), ports.peer(&switch, *port).unwrap().to_owned()))
            }
            MacAction::Flood { group } => {
                flying.extend(copies(ports, &switch, ingress, &table.groups[group]))
            }
            MacAction::Refuse => return Err(format!("{switch} refuses {to}")),
        }
    }
    hosts.sort();
    Ok(hosts)
}

/// Checks that no two owners share a slot or a multicast group on any switch.
pub fn check_own_slots(tables: &Network) -> Result<(), String> {
    for (switch, tables) in tables {
        let mut owners = BTreeMap::new();
        for (key, action) in &tables.steer {
            if let SteerAction::Add { slots, expected, .. } = action {
                owners.insert((key.plan_version, key.job, key.shard, expected.group, *slots), ());
            }
        }
        let ranges: Vec<_> = owners.keys().collect();
        for (at, a) in ranges.iter().enumerate() {
            if a.4.base + a.4.len > super::LIMITS.slots || !a.4.len.is_power_of_two() {
                return Err(format!("{switch}: {a:?} is out of place"));
            }
            if let Some(b) = ranges[at + 1..].iter().find(|b| a.4.overlaps(&b.4)) {
                return Err(format!("{switch}: {a:?} and {b:?} overlap"));
            }
        }
        let mut groups = BTreeSet::new();
        for action in tables.results.values() {
            if let ResultsAction::Replicate { group } = action
                && !groups.insert(*group)
            {
                return Err(format!("{switch}: group {group} is used twice"));
            }
        }
    }
    Ok(())
}
