//! Plans of groups, and the number of groups that may push at once.

use std::collections::BTreeMap;

use inart_planner_aggregation::{Options, Plan, plan, schemes};
use inart_topologies::switched::{Job, Topology};

use super::divide::{divide, racks_of};
use super::error::RackError;

/// Relative tolerance of a capacity: rates are computed in floats.
const ROUNDING: f64 = 1e-6;

/// Workers whose gradients are one update.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Positions of the group's workers in the job.
    pub members: Vec<usize>,
    /// Plan of the group alone. Results count, so the model returns at the same rate.
    pub plan: Plan,
}

impl Group {
    /// Returns the duration of the group's turn with a model of `bits` bits, in seconds.
    pub fn push_s(&self, bits: f64) -> f64 {
        bits / self.plan.rate_bps
    }
}

/// A job in groups that use its servers in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Racks {
    /// Groups in the order of turns; at least one.
    pub groups: Vec<Group>,
    /// Number of groups that may push at once, at the rates of their plans: the greatest for which no
    /// combination of groups exceeds a capacity.
    pub concurrent_groups: usize,
    /// Ingress of all servers together, in bit/s.
    pub servers_bps: f64,
}

impl Racks {
    /// Plans a job of the topology in `groups` groups. A single group has the job's best plan. Several groups
    /// have plans with equal shares, since a server's part of the model must be the same for all of them;
    /// their bounds are proven for such plans.
    ///
    /// # Errors
    /// The job cannot have this number of groups, has exact sums, or a group has no plan.
    pub fn plan(topology: &Topology, job: &Job, groups: usize) -> Result<Racks, RackError> {
        let workers = job.workers.len();
        if !(1..=workers).contains(&groups) {
            return Err(RackError::Groups { job: job.name.clone(), groups, workers });
        }
        if job.exact {
            return Err(RackError::Exact(job.name.clone()));
        }
        let divided = divide(&racks_of(topology, job), groups);
        let is_alone = divided.len() == 1;
        let group = |(at, members): (usize, Vec<usize>)| -> Result<Group, RackError> {
            let mut own = job.clone();
            if !is_alone {
                own.name = format!("{}-{}", job.name, at + 1);
                own.workers = members.iter().map(|&at| job.workers[at]).collect();
            }
            let options = Options { equal_shares: !is_alone, ..Options::new(schemes::OPTIMIZED) };
            let network = topology.with_jobs(vec![own.clone()]);
            Ok(Group { members, plan: plan(&network, &own, &options)? })
        };
        let groups = divided.into_iter().enumerate().map(group).collect::<Result<Vec<_>, _>>()?;
        Ok(Racks {
            concurrent_groups: concurrent_groups(&groups),
            groups,
            servers_bps: servers_bps(topology, job),
        })
    }

    /// Returns a proven lower bound on the time of an iteration, in seconds, whose groups compute for at
    /// least `computes_s`: no group is faster than its bound, and every group sends the servers at least one
    /// sum.
    pub fn bound_s(&self, computes_s: &[f64], bits: f64) -> f64 {
        let alone = self.groups.iter().zip(computes_s);
        let alone = alone.map(|(group, compute_s)| compute_s + bits / group.plan.bound_bps());
        alone.fold(self.groups.len() as f64 * bits / self.servers_bps, f64::max)
    }

    /// Returns the predicted duration of an iteration, in seconds, if times do not vary: the longest of a
    /// group alone, or all turns one after another where only one may push at once. With more at once, this
    /// is an estimate.
    pub fn predicted_s(&self, computes_s: &[f64], bits: f64) -> f64 {
        let turns: f64 = self.groups.iter().map(|group| group.push_s(bits)).sum();
        let alone = self.groups.iter().zip(computes_s);
        let alone = alone.map(|(group, compute_s)| compute_s + group.push_s(bits));
        // As many groups as may push at once form no queue.
        let queue_s = if self.groups.len() > 1 { turns / self.concurrent_groups as f64 } else { 0.0 };
        alone.fold(queue_s, f64::max)
    }
}

/// Returns the greatest k for which the k largest uses of every resource fit into its capacity.
fn concurrent_groups(groups: &[Group]) -> usize {
    let mut parts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for load in groups.iter().flat_map(|group| &group.plan.load) {
        parts.entry(&load.resource).or_default().push(load.used_bps / load.capacity_bps);
    }
    let fits = |mut parts: Vec<f64>| {
        parts.sort_by(|a, b| b.total_cmp(a));
        let mut sum = 0.0;
        let exceeds = |part: &f64| {
            sum += part;
            sum > 1.0 + ROUNDING
        };
        parts.iter().position(exceeds).unwrap_or(groups.len())
    };
    parts.into_values().map(fits).min().unwrap_or(groups.len()).max(1)
}

/// Returns the ingress of all servers of the job: their links, limited by their ingress capacity.
fn servers_bps(topology: &Topology, job: &Job) -> f64 {
    let into = |&server: &inart_topologies::switched::NodeId| {
        let into =
            |link: &inart_topologies::switched::Link| link.rates_bps[usize::from(link.ends[0] == server)];
        let links: f64 = topology.neighbors(server).map(|(_, link)| into(topology.link(link))).sum();
        topology.node(server).ingress_bps.map_or(links, |most| links.min(most))
    };
    job.servers.iter().map(into).sum()
}
