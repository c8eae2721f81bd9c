//! Expected tables of switches, computed from the plans and from the paths of frames, independent of the
//! controller's code.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_controller::PortMap;
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_tables::{
    GroupId, MacAction, MacKey, PortNo, ResultsAction, ResultsKey, SteerAction, SteerKey, SwitchTables,
};
use inart_wire::{JobId, MacAddr, PlanVersion, Rank, ShardId};

/// Tables by switch.
pub(super) type Held = BTreeMap<String, SwitchTables>;

/// Returns whether a plan version of a job may have rows besides the active ones.
pub(super) type MayRemain<'a> = &'a dyn Fn(JobId, PlanVersion) -> bool;

/// Handling of a worker's frame at a switch: whether it is summed, and the output port of the frame or its
/// sum.
type Step = (bool, PortNo);

/// A network and the assignment of its hosts.
pub(super) struct Wanted<'a> {
    pub ports: &'a PortMap,
    /// Plan and assignment, by job.
    pub jobs: Vec<(&'a Plan, Assignment)>,
}

impl Wanted<'_> {
    /// Checks the rows of one switch that do not depend on other switches.
    pub fn check_switch(
        &self,
        name: &str,
        held: &SwitchTables,
        may_remain: MayRemain<'_>,
    ) -> Result<(), String> {
        let in_place = |why: String| format!("switch {name}: {why}");
        for (plan, assignment) in &self.jobs {
            self.check_steer(name, held, plan, assignment).map_err(in_place)?;
        }
        let in_force = |job: JobId, plan_version: PlanVersion| {
            self.jobs
                .iter()
                .any(|(_, assignment)| (assignment.job, assignment.plan_version) == (job, plan_version))
        };
        for job in held.jobs() {
            for plan_version in held.plan_versions(job) {
                if !in_force(job, plan_version) && !may_remain(job, plan_version) {
                    return Err(in_place(format!(
                        "it holds rows of plan version {plan_version} of job {job}"
                    )));
                }
            }
        }
        check_slots(held).and_then(|()| check_groups(held)).map_err(in_place)?;
        self.check_shared(name, held).map_err(in_place)
    }

    /// Traces frames through all switches.
    pub fn check_network(&self, held: &Held) -> Result<(), String> {
        for (_, assignment) in &self.jobs {
            for shard in 0..assignment.shards.len() {
                self.check_results(held, assignment, shard)?;
            }
        }
        self.check_ordinary(held)
    }

    /// Checks that the rows of `steer` under the active plan version are exactly those of the workers' paths.
    fn check_steer(
        &self,
        name: &str,
        held: &SwitchTables,
        plan: &Plan,
        assignment: &Assignment,
    ) -> Result<(), String> {
        let mut wanted = self.steps(name, plan, assignment)?;
        let of_job =
            |key: &SteerKey| (key.job, key.plan_version) == (assignment.job, assignment.plan_version);
        for (key, action) in held.steer.iter().filter(|(key, _)| of_job(key)) {
            let found = match action {
                SteerAction::Forward { port, .. } => (false, *port),
                SteerAction::Add { port, .. } => (true, *port),
                SteerAction::Refuse => return Err(format!("{key:?} refuses")),
            };
            match wanted.remove(key) {
                Some(step) if step == found => {}
                step => return Err(format!("{key:?} is {found:?}, expected {step:?}")),
            }
        }
        match wanted.into_iter().next() {
            Some((key, step)) => Err(format!("{key:?} is missing, expected {step:?}")),
            None => Ok(()),
        }
    }

    /// Returns the handling of workers' frames at a switch.
    fn steps(
        &self,
        name: &str,
        plan: &Plan,
        assignment: &Assignment,
    ) -> Result<BTreeMap<SteerKey, Step>, String> {
        let mut steps = BTreeMap::new();
        let port = |from: &str, to: &str| {
            self.ports.port(from, to).ok_or_else(|| format!("no port of {from} leads to {to}"))
        };
        for flow in &plan.flows {
            let index = plan.shards.iter().position(|shard| shard.server == flow.server);
            let rank = assignment.workers.iter().position(|worker| worker.name == flow.worker);
            let (Some(index), Some(rank)) = (index, rank) else { return Err("a flow of strangers".into()) };
            let bitmap_indices = &assignment.shards[index].bitmap_indices;
            let bitmap_index = bitmap_indices.get(rank).copied();
            let bitmap_index = bitmap_index
                .or_else(|| Some(Rank::try_from(rank).ok()?.bitmap_index()))
                .ok_or("too many workers")?;
            let shard = ShardId::try_from(index).map_err(|_| "too many servers")?;
            let mut path = &flow.path;
            loop {
                for hop in path.windows(2).enumerate() {
                    let (at, [from, node]) = (hop.0, hop.1) else { continue };
                    if node != name {
                        continue;
                    }
                    let step = match path.get(at + 2) {
                        Some(next) => (false, port(node, next)?),
                        None => {
                            let trunk = trunk(plan, node, &flow.server)?;
                            (true, port(node, trunk.get(1).ok_or("a trunk without a path")?)?)
                        }
                    };
                    let (job, plan_version, ingress) =
                        (assignment.job, assignment.plan_version, port(node, from)?);
                    steps.insert(SteerKey { plan_version, job, shard, worker: bitmap_index, ingress }, step);
                }
                let last = path.last().ok_or("an empty path")?;
                if *last == flow.server {
                    break;
                }
                path = trunk(plan, last, &flow.server)?;
            }
        }
        Ok(steps)
    }

    /// Checks the shared tables: every host's address, the switch-facing ports, and a group for other
    /// addresses.
    fn check_shared(&self, name: &str, held: &SwitchTables) -> Result<(), String> {
        let hosts: BTreeSet<_> = self.ports.hosts().map(|(_, dst)| MacKey { dst }).collect();
        if !held.mac.keys().eq(&hosts) {
            return Err("it does not know the addresses of exactly the hosts".to_owned());
        }
        let to_switches = self.ports.ports(name).filter(|(_, peer)| self.ports.is_switch(peer));
        if !to_switches.map(|(port, _)| port).eq(held.switch_ports.keys().map(|key| key.ingress)) {
            return Err("it marks other ports as switch-facing".to_owned());
        }
        match held.mac_default {
            MacAction::Flood { group } if held.groups.contains_key(&group) => Ok(()),
            action => Err(format!("frames to unknown addresses meet {action:?}")),
        }
    }

    /// Checks that a result reaches each worker exactly once, and that `results` has no unused rows.
    fn check_results(&self, held: &Held, assignment: &Assignment, index: usize) -> Result<(), String> {
        let shard = ShardId::try_from(index).map_err(|_| "too many servers")?;
        let server = assignment.shards[index].server.as_str();
        let (job, plan_version) = (assignment.job, assignment.plan_version);
        let mut met = BTreeSet::new();
        let arrived = self.flood(server, |switch, ingress| {
            let key = ResultsKey { plan_version, job, shard, ingress };
            met.insert((switch.to_owned(), key));
            let tables = held.get(switch)?;
            let ResultsAction::Replicate { group } = tables.results.get(&key)? else { return None };
            tables.groups.get(group)
        });
        let arrived = arrived.map_err(|why| format!("results of {server}: {why}"))?;
        let mut workers: Vec<_> = assignment.workers.iter().map(|worker| worker.name.clone()).collect();
        workers.sort();
        if arrived != workers {
            return Err(format!("results of {server} reach {arrived:?}"));
        }
        let of_shard =
            |key: &ResultsKey| (key.job, key.plan_version, key.shard) == (job, plan_version, shard);
        for (switch, tables) in held {
            let mut keys = tables.results.keys().filter(|key| of_shard(key));
            if let Some(key) = keys.find(|key| !met.contains(&(switch.clone(), **key))) {
                return Err(format!("switch {switch}: no result meets {key:?}"));
            }
        }
        Ok(())
    }

    /// Returns the hosts that copies of a frame from `server` reach, sorted. `copies` returns the ports that
    /// a switch copies to, by input port.
    fn flood<'g>(
        &self,
        sender: &str,
        mut copies: impl FnMut(&str, PortNo) -> Option<&'g BTreeSet<PortNo>>,
    ) -> Result<Vec<String>, String> {
        let first = self.ports.attachment(sender).ok_or("no link")?;
        let mut under_way = VecDeque::from([(sender.to_owned(), first.to_owned())]);
        let (mut arrived, mut steps) = (Vec::new(), 0);
        while let Some((from, node)) = under_way.pop_front() {
            steps += 1;
            if steps > 10_000 {
                return Err("copies go in circles".to_owned());
            }
            if !self.ports.is_switch(&node) {
                arrived.push(node);
                continue;
            }
            let ingress = self.ports.port(&node, &from).ok_or("no port")?;
            let group =
                copies(&node, ingress).ok_or_else(|| format!("{node} copies no frame from {from}"))?;
            for port in group.iter().filter(|port| **port != ingress) {
                let peer =
                    self.ports.peer(&node, *port).ok_or_else(|| format!("{node} has no port {port}"))?;
                under_way.push_back((node.clone(), peer.to_owned()));
            }
        }
        arrived.sort();
        Ok(arrived)
    }

    /// Checks that ordinary frames reach the host that has the address, and all others if no host has it.
    fn check_ordinary(&self, held: &Held) -> Result<(), String> {
        let hosts: Vec<_> = self.ports.hosts().collect();
        for (sender, _) in &hosts {
            for (receiver, address) in hosts.iter().filter(|(receiver, _)| receiver != sender) {
                self.check_way(held, sender, receiver, *address)?;
            }
            let arrived = self.flood(sender, |switch, _| {
                let tables = held.get(switch)?;
                let MacAction::Flood { group } = tables.mac_default else { return None };
                tables.groups.get(&group)
            });
            let mut others: Vec<_> =
                hosts.iter().map(|(host, _)| (*host).to_owned()).filter(|host| host != sender).collect();
            others.sort();
            if arrived? != others {
                return Err(format!("frames of {sender} to unknown addresses do not reach all hosts"));
            }
        }
        Ok(())
    }

    fn check_way(&self, held: &Held, sender: &str, receiver: &str, to: MacAddr) -> Result<(), String> {
        let mut node = self.ports.attachment(sender).ok_or("no link")?;
        for _ in 0..=held.len() {
            if node == receiver {
                return Ok(());
            }
            let action = held.get(node).and_then(|tables| tables.mac.get(&MacKey { dst: to }));
            let Some(MacAction::Send { port }) = action else {
                return Err(format!("{node} does not send frames to {receiver} on"));
            };
            node = self.ports.peer(node, *port).ok_or("no peer")?;
        }
        Err(format!("frames of {sender} do not reach {receiver}"))
    }
}

/// Returns the path of a sum from an aggregator.
fn trunk<'p>(plan: &'p Plan, aggregator: &str, server: &str) -> Result<&'p Vec<String>, String> {
    let mut trunks = plan.trunks.iter();
    let found = trunks.find(|trunk| trunk.aggregator == aggregator && trunk.server == server);
    Ok(&found.ok_or_else(|| format!("no trunk from {aggregator} to {server}"))?.path)
}

/// Checks that different sums use different slots, and that a sum uses the same slots for all its workers.
fn check_slots(held: &SwitchTables) -> Result<(), String> {
    let mut owners = BTreeSet::new();
    for (key, action) in &held.steer {
        if let SteerAction::Add { slots, expected, .. } = action {
            owners.insert((slots.base, slots.len, key.plan_version, key.job, key.shard, expected.group));
        }
    }
    let owners: Vec<_> = owners.into_iter().collect();
    for pair in owners.windows(2) {
        if pair[0].0 + pair[0].1 > pair[1].0 {
            return Err(format!("{:?} and {:?} have slots in common", pair[0], pair[1]));
        }
    }
    let kinds: BTreeSet<_> = owners.iter().map(|owner| (owner.2, owner.3, owner.4, owner.5)).collect();
    match kinds.len() == owners.len() {
        true => Ok(()),
        false => Err("workers of one sum have different slots".to_owned()),
    }
}

/// Every multicast group has a row, and no two rows of results have the same.
fn check_groups(held: &SwitchTables) -> Result<(), String> {
    let mut used: BTreeSet<GroupId> = BTreeSet::new();
    for action in held.results.values() {
        if let ResultsAction::Replicate { group } = action
            && !used.insert(*group)
        {
            return Err(format!("group {group} has two rows"));
        }
    }
    if let MacAction::Flood { group } = held.mac_default {
        used.insert(group);
    }
    match held.groups.keys().find(|group| !used.contains(group)) {
        Some(group) => Err(format!("no row refers to group {group}")),
        None => Ok(()),
    }
}
