//! Table updates in terms of the topology: workers, servers and neighbors instead of numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use inart_topologies::switched::Topology;
use inart_wire::{BitmapIndex, Contributors, Group, JobId, MacAddr, ShardId};

use crate::assignment::{JobPlan, job_number};
use crate::bitmap_indices;
use crate::members::members;
use crate::peers::Peers;
use crate::ports::PortMap;
use inart_tables::PortNo;
use inart_tables::{Item, Op, Update};
use inart_tables::{
    MacAction, ReceiversAction, ResultsAction, SteerAction, SwitchPortsAction, UpdatesAction,
};

struct JobNames {
    name: String,
    workers: Vec<String>,
    /// Bitmap indices by shard and rank, as planned; empty where every worker's index is its rank.
    bitmap_indices: Vec<Vec<BitmapIndex>>,
    servers: Vec<String>,
}

/// Names of hosts and ports.
pub struct Names<'a> {
    ports: &'a PortMap,
    jobs: BTreeMap<JobId, JobNames>,
    /// Name and peers (by rank) of jobs of peers.
    peers: BTreeMap<JobId, (String, Vec<String>)>,
}

impl<'a> Names<'a> {
    /// Creates names of the topology's jobs by their usual numbers, and of `plans` by theirs.
    pub fn new(topology: &Topology, ports: &'a PortMap, plans: &[JobPlan]) -> Self {
        let usual =
            topology.jobs().iter().filter_map(|job| Some((job_number(topology, &job.name)?, job, None)));
        let planned = plans
            .iter()
            .filter_map(|plan| Some((plan.job, topology.job_named(&plan.plan.job)?, Some(&plan.plan))));
        let named = usual.chain(planned).map(|(number, job, plan)| {
            let name = |id: &_| topology.node(*id).name.clone();
            let job = plan.map_or(Cow::Borrowed(job), |plan| members(topology, job, plan));
            let workers: Vec<_> = job.workers.iter().map(name).collect();
            let listed: Vec<_> = workers.iter().map(String::as_str).collect();
            let bitmap_indices =
                plan.and_then(|plan| bitmap_indices::of_plan(&listed, plan).ok()).unwrap_or_default();
            let servers = job.servers.iter().map(name).collect();
            (number, JobNames { name: job.name.clone(), bitmap_indices, workers, servers })
        });
        Names { ports, jobs: named.collect(), peers: BTreeMap::new() }
    }

    /// Adds the names of a network of peers.
    pub fn with_peers(mut self, peers: &Peers) -> Self {
        for (number, job) in peers.jobs() {
            let names = peers.names(job).into_iter().map(str::to_owned).collect();
            self.peers.insert(number, (job.name.clone(), names));
        }
        self
    }

    /// Describes an update of `switch` in one line, as in a diff: `+`, `~` (changed to) or `-`, and the
    /// entry.
    pub fn describe(&self, switch: &str, update: &Update) -> String {
        let sign = match update.op {
            Op::Insert => '+',
            Op::Modify => '~',
            Op::Delete => '-',
        };
        let port = |port: PortNo| match self.ports.peer(switch, port) {
            Some(peer) => format!("{peer} (port {port})"),
            None => format!("port {port}"),
        };
        let text = match &update.item {
            Item::Steer(key, action) => {
                let who = self.worker(key.job, key.shard, key.worker);
                let (job, server) = (self.job(key.job), self.server(key.job, key.shard));
                let does = match action {
                    SteerAction::Forward { port: out, .. } => format!("forward to {}", port(*out)),
                    SteerAction::Add { port: out, slots, expected, .. } => format!(
                        "add in slots {}..{}, sum of {} to {}",
                        slots.base,
                        u64::from(slots.base) + u64::from(slots.len),
                        self.group(key.job, key.shard, *expected),
                        port(*out)
                    ),
                    SteerAction::Refuse => "refuse".to_owned(),
                };
                format!(
                    "steer {job} plan version {}: {who} for {server}, from {}: {does}",
                    key.plan_version,
                    port(key.ingress)
                )
            }
            Item::Results(key, action) => {
                let (job, server) = (self.job(key.job), self.server(key.job, key.shard));
                let does = match action {
                    ResultsAction::Replicate { group } => format!("copy to group {group}"),
                    ResultsAction::Refuse => "refuse".to_owned(),
                };
                let (version, from) = (key.plan_version, port(key.ingress));
                format!("results {job} plan version {version}: of {server}, from {from}: {does}")
            }
            Item::Updates(key, action) => {
                let does = match action {
                    UpdatesAction::Replicate { group } => format!("copy to group {group}"),
                    UpdatesAction::Refuse => "refuse".to_owned(),
                };
                format!(
                    "updates {} plan version {}: of {} for block {}, from {}: {does}",
                    self.job(key.job),
                    key.plan_version,
                    self.peer(key.job, key.worker),
                    key.group,
                    port(key.ingress)
                )
            }
            Item::Receivers(key, ReceiversAction::Narrow { members }) => format!(
                "receivers {} plan version {}: {} behind {}",
                self.job(key.job),
                key.plan_version,
                members
                    .bitmap_indices()
                    .map(|bitmap_index| self.peer(key.job, bitmap_index))
                    .collect::<Vec<_>>()
                    .join("+"),
                port(key.egress)
            ),
            Item::Mac(key, action) => {
                format!("mac {}: {}", self.host(key.dst), mac_action(action, &port))
            }
            Item::SwitchPorts(key, SwitchPortsAction::Trust) => {
                format!("switch_ports: {}", port(key.ingress))
            }
            Item::MacDefault(action) => format!("mac, other addresses: {}", mac_action(action, &port)),
            Item::Group(group, ports) => {
                let ports: Vec<_> = ports.iter().map(|out| port(*out)).collect();
                format!("group {group}: {}", ports.join(", "))
            }
            // Tables without a description of their own.
            other => other.to_string(),
        };
        format!("{sign} {text}")
    }

    fn job(&self, job: JobId) -> String {
        let of_peers = || self.peers.get(&job).map(|(name, _)| name.clone());
        let name = self.jobs.get(&job).map(|names| names.name.clone()).or_else(of_peers);
        name.unwrap_or_else(|| format!("job {job}"))
    }

    /// Returns the peer of a rank; bitmap indices of peers are their ranks.
    fn peer(&self, job: JobId, bitmap_index: BitmapIndex) -> String {
        let name = self.peers.get(&job).and_then(|(_, names)| names.get(bitmap_index.index()).cloned());
        name.unwrap_or_else(|| format!("peer {bitmap_index}"))
    }

    /// Returns the worker of a bitmap index; its number where the plan of a job with more than 64 workers
    /// is unknown.
    fn worker(&self, job: JobId, shard: ShardId, bitmap_index: BitmapIndex) -> String {
        let name = self.jobs.get(&job).and_then(|names| {
            let bitmap_indices =
                names.bitmap_indices.get(shard.index()).filter(|bitmap_indices| !bitmap_indices.is_empty());
            let rank = match bitmap_indices {
                Some(bitmap_indices) => bitmap_indices.iter().position(|&taken| taken == bitmap_index)?,
                None if names.workers.len() > usize::from(Group::BITMAP_INDICES) => return None,
                None => bitmap_index.index(),
            };
            names.workers.get(rank).cloned()
        });
        name.unwrap_or_else(|| format!("bitmap index {bitmap_index}"))
    }

    fn server(&self, job: JobId, shard: ShardId) -> String {
        let names = self.jobs.get(&job).and_then(|names| names.servers.get(shard.index()));
        names.cloned().unwrap_or_else(|| format!("shard {shard}"))
    }

    fn group(&self, job: JobId, shard: ShardId, members: Contributors) -> String {
        members
            .bitmap_indices()
            .map(|bitmap_index| self.worker(job, shard, bitmap_index))
            .collect::<Vec<_>>()
            .join("+")
    }

    fn host(&self, address: MacAddr) -> String {
        let host = self.ports.hosts().find(|(_, mac)| *mac == address);
        host.map_or_else(|| address.to_string(), |(name, _)| name.to_owned())
    }
}

fn mac_action(action: &MacAction, port: &impl Fn(PortNo) -> String) -> String {
    match action {
        MacAction::Send { port: out } => format!("send to {}", port(*out)),
        MacAction::Flood { group } => format!("copy to group {group}"),
        MacAction::Refuse => "refuse".to_owned(),
    }
}
