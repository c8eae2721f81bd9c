//! Runs of R²SP between racks with InArt inside them, and of either alone.

use std::sync::Arc;

use inart_planner_ps::{RackError, Racks, candidate_racks, choose_racks, racks_of};
use inart_protocol_ps::{Applied, SyncModel};
use inart_simulator_ps::{RackOptions, WorkerOptions, run_racks, run_workers};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};
use inart_topologies::switched::{NodeId, Topology};

use super::memo::Memo;
use crate::network::{LinkRates, Network};
use crate::trials::StudyError;

/// Iterations of a run, of which the first third is not counted.
const ITERATIONS: u32 = 60;
/// Coefficient of variation of compute times. Assumed, as in the other studies.
const NOISE: f64 = 0.05;

/// Network with racks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RackNetwork {
    /// `topologies/fig1.yaml`: six workers in two racks, two servers.
    Fig1,
    /// A fat-tree of k = 6 with four servers and 50 workers, whose places the seed draws.
    FatTree(LinkRates),
}

/// Synchronization of workers with the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// InArt alone: all gradients in one sum.
    Together,
    /// R²SP alone, which tunes r: no switch sums.
    InTurn,
    /// A group per rack, in turn.
    PerRack,
    /// Number of groups that the rule chooses, in turn.
    Chosen,
}

/// Quantity measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Time of an iteration over that of the push of InArt alone.
    Iteration,
    /// Number of groups.
    Groups,
    /// The greatest staleness.
    Staleness,
}

/// A run without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    place: RackNetwork,
    scheme: Scheme,
    /// Mean compute time, over the time of the push of InArt alone.
    compute: f64,
    measure: Measure,
}

impl Case {
    /// Returns a run with compute times of this mean, as a multiple of the push of InArt alone.
    pub fn new(place: RackNetwork, scheme: Scheme, compute: f64, measure: Measure) -> Self {
        Case { place, scheme, compute, measure }
    }

    /// Runs the case with a seed and returns the quantity.
    ///
    /// # Errors
    /// A network without a plan, or a run that fails.
    pub fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let failed = |source| StudyError::new(self, seed, source);
        let planned = planned(self.place, seed).map_err(failed)?;
        let Planned { topology, candidates } = &*planned;
        let of = |groups: usize| candidates.iter().find(|racks| racks.groups.len() == groups);
        let wrong = || failed(RackError::Groups { job: String::new(), groups: 0, workers: 0 });
        let together = of(1).ok_or_else(wrong)?;
        // Its push takes a second.
        let bits = together.groups[0].plan.rate_bps;
        let job = job(topology, bits, Time { mean_s: self.compute, cv: NOISE });
        let racks = match self.scheme {
            Scheme::InTurn => return self.without_sums(&job, seed),
            Scheme::Together => together,
            Scheme::PerRack => of(racks_of(topology, &topology.jobs()[0]).len()).ok_or_else(wrong)?,
            Scheme::Chosen => choose_racks(candidates, &job).ok_or_else(wrong)?.racks,
        };
        let run = run_racks(&job, racks, &RackOptions { iterations: ITERATIONS, seed })
            .map_err(|source| StudyError::new(self, seed, source))?;
        Ok(match self.measure {
            Measure::Iteration => run.iteration_s,
            Measure::Groups => racks.groups.len() as f64,
            Measure::Staleness => run.staleness.max as f64,
        })
    }

    fn without_sums(&self, job: &Job, seed: u64) -> Result<f64, StudyError> {
        let sync_model = SyncModel::r2sp_tuned(Applied::InTurn);
        let options = WorkerOptions { seed, ..WorkerOptions::new(sync_model, ITERATIONS) };
        let run = run_workers(job, &options).map_err(|source| StudyError::new(self, seed, source))?;
        Ok(match self.measure {
            Measure::Iteration => run.iteration_s,
            Measure::Groups => job.participants.len() as f64,
            Measure::Staleness => run.staleness.max as f64,
        })
    }
}

/// A network, with the plans of its job by number of groups.
struct Planned {
    topology: Topology,
    candidates: Vec<Racks>,
}

/// Plans by network and seed, each computed once: many cases differ in times only.
static MEMO: Memo<(RackNetwork, u64), Arc<Planned>> = Memo::new();

fn planned(place: RackNetwork, seed: u64) -> Result<Arc<Planned>, RackError> {
    // A network that no seed draws is planned once.
    let key = (place, if place == RackNetwork::Fig1 { 0 } else { seed });
    MEMO.get(key, || {
        let topology = match place {
            RackNetwork::Fig1 => Topology::from_yaml(include_str!("../../../topologies/fig1.yaml"))
                .expect("topologies/fig1.yaml is a topology"),
            RackNetwork::FatTree(links) => Network::FatTree { links, servers: 4, workers: 50 }.topology(seed),
        };
        let candidates = candidate_racks(&topology, &topology.jobs()[0])?;
        Ok(Arc::new(Planned { topology, candidates }))
    })
}

/// Returns the topology's job; hosts have the rates of their own links.
fn job(topology: &Topology, bits: f64, compute: Time) -> Job {
    let planned = &topology.jobs()[0];
    let links = |host: NodeId| -> f64 {
        topology.neighbors(host).map(|(_, link)| topology.link(link).rate_bps()).sum()
    };
    let participant = |&id: &NodeId| Participant {
        name: topology.node(id).name.clone(),
        nic: Nic { out_bps: links(id), in_bps: links(id) },
        delay_s: 0.0,
        compute,
        batch: 1,
        speed: 1.0 / compute.mean_s,
    };
    let mut server = Nic { out_bps: 0.0, in_bps: 0.0 };
    for &id in &planned.servers {
        let all = links(id);
        server.out_bps += all;
        server.in_bps += topology.node(id).ingress_bps.map_or(all, |most| all.min(most));
    }
    Job {
        name: planned.name.clone(),
        kind: Kind::Workers,
        participants: planned.workers.iter().map(participant).collect(),
        server,
        bits,
        pause: Time { mean_s: 0.0, cv: 0.0 },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn run(scheme: Scheme, compute: f64) -> f64 {
        Case { place: RackNetwork::Fig1, scheme, compute, measure: Measure::Iteration }.run(1).unwrap()
    }

    /// Fig. 1 by hand: InArt alone takes its compute time and its push (1 at 2.5 Gbit/s). R²SP alone cannot
    /// be faster than 6 models into two servers of 4 Gbit/s.
    #[test]
    fn either_alone_takes_what_is_computed_by_hand() {
        let together = run(Scheme::Together, 1.0);
        assert!((2.0..2.15).contains(&together), "{together}: the last of six, with 5 % of variation");
        let in_turn = run(Scheme::InTurn, 1.0);
        let least = 6.0 * 2.5 / 8.0;
        assert!((least * 0.99..least * 1.15).contains(&in_turn), "{in_turn}");
    }

    #[test]
    fn groups_by_the_rule_are_no_slower_than_all_together() {
        for compute in [0.1, 0.5, 1.0, 4.0] {
            let [chosen, together] = [Scheme::Chosen, Scheme::Together].map(|scheme| run(scheme, compute));
            assert!(chosen <= together * 1.02, "{compute}: {chosen} {together}");
        }
    }

    #[test]
    fn sums_are_staler_by_less_than_the_number_of_groups() {
        let of = |measure| Case { place: RackNetwork::Fig1, scheme: Scheme::Chosen, compute: 2.0, measure };
        let [groups, stale] = [Measure::Groups, Measure::Staleness].map(|one| of(one).run(1).unwrap());
        assert!(groups > 1.0 && stale == groups - 1.0, "{groups} {stale}");
    }
}
