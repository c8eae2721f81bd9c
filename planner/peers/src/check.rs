//! An independent check of a plan of peers: it shares only the topology with the planner.

use inart_topologies::units::counted;
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Plan, PlanTask};
use crate::scheme::Scheme;
use inart_topologies::peers::{Mesh, PeerJob};

/// Largest relative error of a stated number.
const TOLERANCE: f64 = 1e-6;

/// Returns all errors in a plan for the rates at the start; empty if there are none. Each entry names the
/// place in the plan.
pub fn check(mesh: &Mesh, job: &PeerJob, plan: &Plan) -> Vec<String> {
    let mut wrong = Vec::new();
    if plan.topology != mesh.name() {
        wrong.push(format!(
            "topology: the plan is for \"{}\", and this is \"{}\"",
            plan.topology,
            mesh.name()
        ));
    }
    if plan.job != job.name {
        wrong.push(format!("job: the plan is for \"{}\", and this is \"{}\"", plan.job, job.name));
    }
    if Scheme::of_plan(&plan.scheme).is_none() {
        wrong.push(format!("scheme: \"{}\" is not known", plan.scheme));
    }
    let up_once = match &*plan.multicast {
        "switch" => true,
        "hosts" => false,
        other => {
            wrong.push(format!("multicast: \"{other}\" is neither switch nor hosts"));
            return wrong;
        }
    };
    let look = Look::new(mesh, job, plan.force_after);
    look.tasks(&plan.tasks, &mut wrong);
    if !wrong.is_empty() {
        return wrong;
    }
    let (seconds, receivers) = look.seconds(&plan.tasks, up_once);
    // NaN differs, too.
    let is_within = |stated: f64, is: f64| (stated - is).abs() <= TOLERANCE * is.abs();
    let differs = |stated: f64, is: f64| !is_within(stated, is);
    if differs(plan.seconds, seconds) {
        wrong.push(format!("seconds: {} is stated, and the fullest port takes {seconds}", plan.seconds));
    }
    let mean = receivers as f64 / look.ranks.len() as f64;
    if differs(plan.receivers_mean, mean) {
        wrong.push(format!("receivers_mean: {} is stated, expected {mean}", plan.receivers_mean));
    }
    let bound = plan.bounds.seconds;
    if !(bound > 0.0 && bound <= seconds * (1.0 + TOLERANCE)) {
        wrong.push(format!("bounds.seconds: {bound} is not a bound of a plan that takes {seconds}"));
    } else if let Some(beats) = look.beaten(bound, up_once) {
        wrong.push(format!("bounds.seconds: {bound} is not a bound: another plan takes {beats}"));
    }
    wrong
}

struct Look<'a> {
    job: &'a PeerJob,
    ranks: BTreeMap<&'a str, usize>,
    required: BTreeSet<(usize, usize)>,
    up_bps: Vec<f64>,
    down_bps: Vec<f64>,
}

impl<'a> Look<'a> {
    fn new(mesh: &'a Mesh, job: &'a PeerJob, force_after: Option<u32>) -> Self {
        let ports = mesh.ports_at(job, 0.0);
        let n = job.peers.len();
        let waited: BTreeMap<_, _> =
            job.waited.iter().map(|&(from, to, rounds)| ((from, to), rounds)).collect();
        let waits_long = |pair: &(usize, usize)| {
            force_after.is_some_and(|k| pair.0 != pair.1 && waited.get(pair).copied().unwrap_or(0) >= k)
        };
        let forced = (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).filter(waits_long);
        Look {
            job,
            ranks: (0..job.peers.len()).map(|rank| (mesh.name_of(job, rank), rank)).collect(),
            required: job.required.iter().copied().chain(forced).collect(),
            up_bps: ports.up_bps,
            down_bps: ports.down_bps,
        }
    }

    /// Checks that each peer sends once, to enough others, to each of them once, and to all required ones.
    fn tasks(&self, tasks: &[PlanTask], wrong: &mut Vec<String>) {
        let mut senders = BTreeSet::new();
        for (at, task) in tasks.iter().enumerate() {
            let place = format!("tasks[{at}] (from {})", task.from);
            let Some(&from) = self.ranks.get(&*task.from) else {
                wrong.push(format!("{place}: not a peer of the job"));
                continue;
            };
            if !senders.insert(from) {
                wrong.push(format!("{place}: this peer has a task already"));
            }
            let mut to = BTreeSet::new();
            for name in &task.to {
                match self.ranks.get(&**name) {
                    None => wrong.push(format!("{place}.to: \"{name}\" is not a peer of the job")),
                    Some(&rank) if rank == from => {
                        wrong.push(format!("{place}.to: the peer sends to itself"))
                    }
                    Some(&rank) if !to.insert(rank) => {
                        wrong.push(format!("{place}.to: \"{name}\" is listed twice"))
                    }
                    Some(_) => {}
                }
            }
            if to.len() < self.job.receivers {
                let (has, least) = (to.len(), self.job.receivers);
                wrong.push(format!(
                    "{place}.to: {has}, and the job needs {least}",
                    has = counted(has, "receiver")
                ));
            }
            for (name, rank) in &self.ranks {
                if self.required.contains(&(from, *rank)) && !to.contains(rank) {
                    wrong.push(format!("{place}.to: {name} is required and missing"));
                }
            }
        }
        for (name, rank) in &self.ranks {
            if !senders.contains(rank) {
                wrong.push(format!("tasks: peer {name} has none"));
            }
        }
    }

    /// Returns when the fullest port is done, in seconds, and the number of receivers.
    fn seconds(&self, tasks: &[PlanTask], up_once: bool) -> (f64, usize) {
        let mut down = vec![0.0; self.down_bps.len()];
        let (mut most, mut receivers) = (0.0f64, 0);
        for task in tasks {
            let from = self.ranks[&*task.from];
            let bits = self.job.update_bytes[from] * 8.0;
            let copies = if up_once { task.to.len().min(1) } else { task.to.len() };
            most = most.max(bits * copies as f64 / self.up_bps[from]);
            receivers += task.to.len();
            task.to.iter().for_each(|name| down[self.ranks[&**name]] += bits);
        }
        let seconds = down.iter().zip(&self.down_bps).map(|(bits, bps)| bits / bps);
        (seconds.fold(most, f64::max), receivers)
    }

    /// Returns the time of a simple plan that beats a bound, if it does: senders in turn, the largest update
    /// first, each to the ports that are done soonest.
    fn beaten(&self, bound: f64, up_once: bool) -> Option<f64> {
        let n = self.down_bps.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| self.job.update_bytes[b].total_cmp(&self.job.update_bytes[a]));
        let bits = |from: usize| self.job.update_bytes[from] * 8.0;
        let mut down = vec![0.0; n];
        let mut most = 0.0f64;
        self.required.iter().for_each(|&(from, to)| down[to] += bits(from));
        for from in order {
            let is_required = |to: usize| self.required.contains(&(from, to));
            let has = (0..n).filter(|&to| is_required(to)).count();
            let mut free: Vec<usize> = (0..n).filter(|&to| to != from && !is_required(to)).collect();
            let after = |to: usize| (down[to] + bits(from)) / self.down_bps[to];
            free.sort_by(|&a, &b| after(a).total_cmp(&after(b)));
            let need = self.job.receivers.saturating_sub(has);
            free.into_iter().take(need).for_each(|to| down[to] += bits(from));
            let copies = if up_once { 1 } else { need + has };
            most = most.max(bits(from) * copies as f64 / self.up_bps[from]);
        }
        let seconds = down.iter().zip(&self.down_bps).map(|(bits, bps)| bits / bps).fold(most, f64::max);
        (seconds < bound * (1.0 - TOLERANCE)).then_some(seconds)
    }
}
