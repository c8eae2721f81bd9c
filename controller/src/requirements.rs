//! Requirements of a job on every switch, before plan version, slots and multicast group numbers are
//! chosen.

use std::collections::{BTreeMap, BTreeSet};

use inart_planner_aggregation::Plan;
use inart_planner_aggregation::plan::Trunk;
use inart_wire::{BitmapIndex, Contributors, Group, Rank, ShardId};

use crate::bitmap_indices;
pub use crate::plan_error::PlanError;
use crate::ports::PortMap;
use crate::results;
use inart_tables::PortNo;

/// Treatment of a worker's frames of one shard at a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// Forwarding.
    Forward {
        /// Egress port.
        port: PortNo,
        /// Bitmap indices that may arrive this way.
        members: Contributors,
    },
    /// Aggregation.
    Add {
        /// Egress port of the sum.
        port: PortNo,
        /// Bitmap indices that may arrive this way.
        members: Contributors,
        /// Bitmap indices that complete the sum.
        expected: Contributors,
    },
}

/// Requirements of one job at one switch: a plan of sums and results, or copies of updates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirements {
    /// Gradients and partials, by bitmap index and ingress port.
    pub steer: BTreeMap<(ShardId, BitmapIndex, PortNo), Hop>,
    /// Results, by ingress port: the ports that get copies.
    pub results: BTreeMap<(ShardId, PortNo), BTreeSet<PortNo>>,
    /// Updates between peers: block of the receivers, sender, and ingress port.
    pub updates: BTreeSet<(Group, BitmapIndex, PortNo)>,
    /// Peers at each port, by block of a job's peers.
    pub receivers: BTreeMap<Group, BTreeMap<PortNo, Contributors>>,
}

/// Ranks of a job's workers and numbers of its shards (their positions in the topology's and the plan's
/// lists), and the bitmap indices of the workers in each shard's frames.
pub struct Roles<'a> {
    /// Name of the job.
    pub job: &'a str,
    /// Workers by rank.
    pub workers: Vec<&'a str>,
    /// Servers by shard.
    pub servers: Vec<&'a str>,
    /// Bitmap indices by shard and rank; empty where every worker's index is its rank.
    pub bitmap_indices: Vec<Vec<BitmapIndex>>,
    ranks: BTreeMap<&'a str, Rank>,
    shards: BTreeMap<&'a str, ShardId>,
}

impl<'a> Roles<'a> {
    /// Numbers the workers (in the topology's order) and the servers (in the plan's).
    ///
    /// # Errors
    /// More workers or servers than the header has room for.
    pub fn new(workers: impl IntoIterator<Item = &'a str>, plan: &'a Plan) -> Result<Self, PlanError> {
        let job = plan.job.as_str();
        let workers: Vec<_> = workers.into_iter().collect();
        let servers: Vec<_> = plan.shards.iter().map(|shard| shard.server.as_str()).collect();
        let too_many = |what, count, last: u16| PlanError::TooMany {
            job: job.to_owned(),
            what,
            count,
            limit: usize::from(last) + 1,
        };
        let ranks =
            workers.iter().enumerate().map(|(index, name)| Some((*name, Rank::try_from(index).ok()?)));
        let shards =
            servers.iter().enumerate().map(|(index, name)| Some((*name, ShardId::try_from(index).ok()?)));
        Ok(Roles {
            ranks: ranks
                .collect::<Option<_>>()
                .ok_or_else(|| too_many("workers", workers.len(), Rank::MAX.get()))?,
            shards: shards
                .collect::<Option<_>>()
                .ok_or_else(|| too_many("servers", servers.len(), ShardId::MAX.get()))?,
            bitmap_indices: bitmap_indices::of_plan(&workers, plan)?,
            job,
            workers,
            servers,
        })
    }

    /// Returns the bitmap index of a worker in a shard's frames.
    ///
    /// # Errors
    /// A name that is not a worker of the job.
    pub fn bitmap_index(&self, shard: ShardId, name: &str) -> Result<BitmapIndex, PlanError> {
        let rank = self.ranks.get(name).copied().ok_or_else(|| self.unknown(name, "worker"))?;
        Ok(self.bitmap_indices[shard.index()].get(rank.index()).copied().unwrap_or(rank.bitmap_index()))
    }

    /// Returns the worker of a bitmap index.
    fn on_bitmap_index(&self, shard: ShardId, bitmap_index: BitmapIndex) -> &str {
        let taken = self.bitmap_indices[shard.index()].iter().position(|&of_rank| of_rank == bitmap_index);
        self.workers[taken.unwrap_or(bitmap_index.index())]
    }

    /// Returns the shard of a server.
    ///
    /// # Errors
    /// A name that is not a server of the plan.
    pub fn shard(&self, name: &str) -> Result<ShardId, PlanError> {
        self.shards.get(name).copied().ok_or_else(|| self.unknown(name, "server"))
    }

    fn unknown(&self, name: &str, what: &'static str) -> PlanError {
        PlanError::UnknownName { name: name.to_owned(), what, job: self.job.to_owned() }
    }
}

/// Returns the requirements of `plan` by switch.
///
/// # Errors
/// A plan that the network cannot carry: a missing link, a second interface of a host, results that do not
/// reach a worker, or frames that a switch cannot distinguish.
pub fn of_plan(
    ports: &PortMap,
    roles: &Roles,
    plan: &Plan,
) -> Result<BTreeMap<String, Requirements>, PlanError> {
    let mut builder = Builder { ports, roles, requirements: BTreeMap::new() };
    for flow in &plan.flows {
        let shard = roles.shard(&flow.server)?;
        let worker = roles.bitmap_index(shard, &flow.worker)?;
        builder.check_interface(&flow.path, &flow.worker)?;
        builder.check_interface(&flow.path, &flow.server)?;
        let members = Contributors::one(worker);
        builder.path(plan, &flow.path, shard, &[(worker, members)])?;
    }
    for trunk in &plan.trunks {
        let shard = roles.shard(&trunk.server)?;
        builder.check_interface(&trunk.path, &trunk.server)?;
        let bitmap_indices = builder.bitmap_indices(shard, trunk)?;
        let carried: Vec<_> =
            bitmap_indices.iter().map(|&worker| (worker, block_of(worker, &bitmap_indices))).collect();
        builder.path(plan, &trunk.path, shard, &carried)?;
    }
    for server in &roles.servers {
        builder.results(plan, roles.shard(server)?, server)?;
    }
    Ok(builder.requirements)
}

/// Returns the bitmap indices of `group` that share a bitmap with `worker`'s.
fn block_of(worker: BitmapIndex, group: &[BitmapIndex]) -> Contributors {
    let mut block = Contributors::one(worker);
    for other in group
        .iter()
        .map(|&bitmap_index| Contributors::one(bitmap_index))
        .filter(|other| other.group == block.group)
    {
        block.bitmap |= other.bitmap;
    }
    block
}

struct Builder<'a> {
    ports: &'a PortMap,
    roles: &'a Roles<'a>,
    requirements: BTreeMap<String, Requirements>,
}

impl Builder<'_> {
    /// Adds one path through the network: every switch between its ends forwards; a switch at its end
    /// aggregates. `carried` are the bitmap indices that frames on it may carry, each with the contributors
    /// of such a frame.
    fn path(
        &mut self,
        plan: &Plan,
        path: &[String],
        shard: ShardId,
        carried: &[(BitmapIndex, Contributors)],
    ) -> Result<(), PlanError> {
        for (at, switch) in path.iter().enumerate().skip(1) {
            if !self.ports.is_switch(switch) {
                continue;
            }
            let ingress = self.port(path, switch, &path[at - 1])?;
            let trunk = match path.get(at + 1) {
                Some(_) => None,
                None => Some(self.trunk(plan, switch, shard)?),
            };
            for &(worker, members) in carried {
                let hop = match (&trunk, path.get(at + 1)) {
                    (Some((trunk, bitmap_indices)), _) => {
                        let next = trunk.path.get(1).map_or(trunk.server.as_str(), String::as_str);
                        let port = self.port(&trunk.path, switch, next)?;
                        Hop::Add { port, members, expected: block_of(worker, bitmap_indices) }
                    }
                    (None, Some(next)) => Hop::Forward { port: self.port(path, switch, next)?, members },
                    (None, None) => unreachable!("a path that ends here has a trunk"),
                };
                let steer = &mut self.requirements.entry(switch.clone()).or_default().steer;
                if steer.insert((shard, worker, ingress), hop).is_some() {
                    return Err(PlanError::SamePort {
                        switch: switch.clone(),
                        worker: self.roles.on_bitmap_index(shard, worker).to_owned(),
                        server: self.roles.servers[shard.index()].to_owned(),
                        from: path[at - 1].clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns the trunk from an aggregator, and the bitmap indices of the workers that are summed there.
    fn trunk<'p>(
        &self,
        plan: &'p Plan,
        aggregator: &str,
        shard: ShardId,
    ) -> Result<(&'p Trunk, Vec<BitmapIndex>), PlanError> {
        let server = self.roles.servers[shard.index()];
        let trunk = plan.trunks.iter().find(|trunk| trunk.aggregator == aggregator && trunk.server == server);
        let trunk = trunk.ok_or_else(|| self.roles.unknown(aggregator, "trunk from aggregator"))?;
        Ok((trunk, self.bitmap_indices(shard, trunk)?))
    }

    fn bitmap_indices(&self, shard: ShardId, trunk: &Trunk) -> Result<Vec<BitmapIndex>, PlanError> {
        trunk.workers.iter().map(|worker| self.roles.bitmap_index(shard, worker)).collect()
    }

    fn port(&self, path: &[String], switch: &str, peer: &str) -> Result<PortNo, PlanError> {
        self.ports.port(switch, peer).ok_or_else(|| PlanError::NoLink {
            path: path.join(" "),
            from: switch.to_owned(),
            to: peer.to_owned(),
        })
    }

    /// Refuses a path that starts or ends at `host` on another interface than the only one of the host
    /// agent.
    fn check_interface(&self, path: &[String], host: &str) -> Result<(), PlanError> {
        let neighbor = match path {
            [first, second, ..] if first == host => second,
            [.., before, last] if last == host => before,
            _ => return Ok(()),
        };
        match self.ports.attachment(host) {
            Some(attachment) if attachment == neighbor => Ok(()),
            attachment => Err(PlanError::SecondInterface {
                path: path.join(" "),
                host: host.to_owned(),
                attachment: attachment.unwrap_or("nothing").to_owned(),
                switch: neighbor.clone(),
            }),
        }
    }

    /// Adds the multicast tree of a shard, from its server to the job's workers.
    fn results(&mut self, plan: &Plan, shard: ShardId, server: &str) -> Result<(), PlanError> {
        let parents = results::parents(self.ports, plan, server, &self.roles.workers)?;
        let not_reached =
            |worker: &str| PlanError::NoResults { server: server.to_owned(), worker: worker.to_owned() };
        for &worker in &self.roles.workers {
            let mut way = vec![worker];
            let mut child = worker;
            while child != server {
                let &parent = parents.get(child).ok_or_else(|| not_reached(worker))?;
                way.push(parent);
                child = parent;
                if way.len() > parents.len() + 1 {
                    return Err(not_reached(worker));
                }
            }
            let path: Vec<String> = way.iter().rev().map(|&node| node.to_owned()).collect();
            self.check_interface(&path, worker)?;
            self.check_interface(&path, server)?;
            for hop in way.windows(3) {
                let [child, switch, parent] = [hop[0], hop[1], hop[2]];
                if !self.ports.is_switch(switch) {
                    return Err(not_reached(worker));
                }
                let (ingress, egress) = (self.port(&path, switch, parent)?, self.port(&path, switch, child)?);
                let requirements = self.requirements.entry(switch.to_owned()).or_default();
                requirements.results.entry((shard, ingress)).or_default().insert(egress);
            }
        }
        Ok(())
    }
}
