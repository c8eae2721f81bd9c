//! Report of a run of groups.

use inart_planner_ps::{Group, Racks};
use inart_topologies::ps::Job;
use serde::Serialize;

use crate::ideal::{Staleness, staleness_of};

/// A group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRun {
    /// Names of the group's workers.
    pub workers: Vec<String>,
    /// Rate of the group's plan, in bit/s.
    pub rate_bps: f64,
    /// Upper bound on the rate of any plan of the group with equal shares, in bit/s.
    pub bound_bps: f64,
    /// Length of the group's turn, in seconds.
    pub push_s: f64,
}

/// A run of groups in turn. The first third of each group's iterations is not counted, except for the
/// greatest staleness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RackRun {
    /// Synchronization between groups.
    pub sync: &'static str,
    /// Groups in the order of turns.
    pub groups: Vec<GroupRun>,
    /// Number of groups that may push at once.
    pub concurrent_groups: usize,
    /// Mean over groups of the time between arrivals of their own sums, in seconds.
    pub iteration_s: f64,
    /// Mean time without groups: all workers' gradients in one sum, which waits for all of them (InArt
    /// alone).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_group_s: Option<f64>,
    /// Lower bound on the time of an iteration of these groups, in seconds, if compute times do not vary.
    pub bound_s: f64,
    /// Staleness of sums.
    pub staleness: Staleness,
    /// Mean wait of a group for its turn per iteration, after its last worker had computed, in seconds.
    pub waiting_s: f64,
    /// Part of the time in which at least one group pushed.
    pub busy: f64,
    /// Length of the run in virtual time, in seconds.
    pub seconds: f64,
    /// Sums that arrived.
    pub pushes: u64,
}

/// Notes during a run.
pub(super) struct Record {
    iterations: u64,
    /// By group: arrival times of its sums.
    arrivals_s: Vec<Vec<f64>>,
    /// Iteration and staleness of each sum.
    staleness: Vec<(u64, u64)>,
    waited_s: f64,
    waits: u64,
    busy_s: f64,
}

impl Record {
    pub fn new(groups: usize, iterations: u32) -> Self {
        let arrivals_s = vec![Vec::new(); groups];
        let iterations = u64::from(iterations);
        Record { iterations, arrivals_s, staleness: Vec::new(), waited_s: 0.0, waits: 0, busy_s: 0.0 }
    }

    fn counts(&self, iteration: u64) -> bool {
        iteration >= self.iterations / 3
    }

    pub fn waited(&mut self, iteration: u64, waited_s: f64) {
        if self.counts(iteration) {
            self.waited_s += waited_s;
            self.waits += 1;
        }
    }

    pub fn arrived(&mut self, group: usize, at_s: f64) {
        self.arrivals_s[group].push(at_s);
    }

    pub fn applied(&mut self, iteration: u64, staleness: u64) {
        self.staleness.push((iteration, staleness));
    }

    /// Adds time in which a group pushed.
    pub fn was_busy(&mut self, for_s: f64) {
        self.busy_s += for_s;
    }

    pub fn is_over(&self) -> bool {
        self.arrivals_s.iter().all(|own| own.len() as u64 >= self.iterations)
    }

    pub fn report(self, job: &Job, racks: &Racks, sync: &'static str, seconds: f64) -> RackRun {
        let first = (self.iterations / 3) as usize;
        let interval = |own: &Vec<f64>| {
            let (from, to) = (own.get(first)?, own.last()?);
            let intervals = own.len() - 1 - first;
            (intervals > 0).then(|| (to - from) / intervals as f64)
        };
        let intervals: Vec<f64> = self.arrivals_s.iter().filter_map(interval).collect();
        let group = |group: &Group| GroupRun {
            workers: group.members.iter().map(|&at| job.participants[at].name.clone()).collect(),
            rate_bps: group.plan.rate_bps,
            bound_bps: group.plan.bound_bps(),
            push_s: group.push_s(job.bits),
        };
        RackRun {
            sync,
            groups: racks.groups.iter().map(group).collect(),
            concurrent_groups: racks.concurrent_groups,
            iteration_s: intervals.iter().sum::<f64>() / intervals.len().max(1) as f64,
            single_group_s: None,
            bound_s: racks.bound_s(&racks.computes_s(job), job.bits),
            waiting_s: self.waited_s / self.waits.max(1) as f64,
            busy: if seconds > 0.0 { self.busy_s / seconds } else { 0.0 },
            seconds,
            pushes: self.arrivals_s.iter().map(|own| own.len() as u64).sum(),
            staleness: staleness_of(&self.staleness, |iteration| self.counts(iteration)),
        }
    }
}
