//! Groups in turn: closed forms, staleness, and refusals.
#![allow(clippy::print_stdout, reason = "a test prints what it found")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use inart_planner_ps::{RackError, Racks, candidate_racks, choose_racks};
use inart_simulator_ps::{RackEvent, RackOptions, RackRunError, run_racks, run_racks_watched};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};

const FIG1: &str = include_str!("../../../topologies/fig1.yaml");

fn fig1() -> Topology {
    Topology::from_yaml(FIG1).unwrap()
}

fn tree(workers: usize, seed: u64) -> Topology {
    let equipment = Equipment {
        servers: 4,
        workers,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 1,
        seed,
    };
    fat_tree(6, &equipment).unwrap()
}

/// Returns a job of the topology's workers with a model of `bits` bits and these compute times.
fn job(topology: &Topology, bits: f64, compute: Time) -> Job {
    let nic = Nic { out_bps: 1.0, in_bps: 1.0 };
    let participant = |&id| Participant {
        name: topology.node(id).name.clone(),
        nic,
        delay_s: 0.0,
        compute,
        batch: 1,
        speed: 1.0,
    };
    let planned = &topology.jobs()[0];
    Job {
        name: planned.name.clone(),
        kind: Kind::Workers,
        participants: planned.workers.iter().map(participant).collect(),
        server: nic,
        bits,
        pause: Time { mean_s: 0.0, cv: 0.0 },
    }
}

fn exactly(mean_s: f64) -> Time {
    Time { mean_s, cv: 0.0 }
}

fn in_groups(topology: &Topology, groups: usize) -> Racks {
    Racks::plan(topology, &topology.jobs()[0], groups).unwrap()
}

/// One group is InArt alone: compute, then push and pull in one.
#[test]
fn one_group_takes_its_compute_time_and_its_push() {
    let topology = fig1();
    let racks = in_groups(&topology, 1);
    assert!((racks.groups[0].plan.rate_bps - 2.5e9).abs() < 1.0, "the rate of `inart plan` for Fig. 1");
    let run = run_racks(&job(&topology, 1e9, exactly(0.3)), &racks, &RackOptions { iterations: 9, seed: 1 });
    let run = run.unwrap();
    assert!((run.iteration_s - 0.7).abs() < 1e-6 && run.staleness.max == 0, "{run:?}");
}

/// Where one group pushes at a time and times do not vary, an iteration is the longest of a group alone, or
/// all turns; no sum is staler than groups - 1, and every sum is applied once.
#[test]
fn turns_match_the_closed_form() {
    for (topology, groups) in
        [(fig1(), 2), (fig1(), 3), (tree(50, 1), 2), (tree(50, 1), 6), (tree(50, 2), 18)]
    {
        let racks = in_groups(&topology, groups);
        let rate = racks.groups[0].plan.rate_bps;
        for compute_s in [0.01, 0.5, 1.0, 4.0, 30.0] {
            let job = job(&topology, rate, exactly(compute_s));
            let mut applied = BTreeMap::new();
            let options = RackOptions { iterations: 60, seed: 1 };
            let run = run_racks_watched(&job, &racks, &options, &mut |_, event| {
                if let RackEvent::Apply { updates, .. } = event {
                    updates.iter().for_each(|one| {
                        *applied.entry((one.worker, one.iteration)).or_insert(0) += 1;
                    });
                }
            });
            let run = run.unwrap();
            assert!(applied.values().all(|times| *times == 1) && applied.len() >= 60 * groups);
            assert!(run.staleness.max < groups as u64, "{:?}", run.staleness);
            assert!(run.iteration_s >= run.bound_s * (1.0 - 1e-6), "{} {}", run.iteration_s, run.bound_s);
            let turns: f64 = racks.groups.iter().map(|group| rate / group.plan.rate_bps).sum();
            let longest = racks.groups.iter().map(|group| compute_s + rate / group.plan.rate_bps);
            let longest = longest.fold(0.0, f64::max);
            let (iteration_s, concurrent_groups) = (run.iteration_s, racks.concurrent_groups);
            if concurrent_groups == 1 {
                let wanted = longest.max(turns);
                assert!((iteration_s / wanted - 1.0).abs() < 1e-3, "{groups}: {iteration_s}, {wanted}");
            } else {
                assert!(iteration_s >= longest * (1.0 - 1e-6) && iteration_s <= longest.max(turns) * 1.001);
            }
        }
    }
}

/// With varying times, a group waits for its own workers, and sums are still applied in turn.
#[test]
fn noise_keeps_turns_and_the_bound_of_staleness() {
    let topology = tree(50, 1);
    let racks = in_groups(&topology, 6);
    let job = job(&topology, racks.groups[0].plan.rate_bps, Time { mean_s: 3.0, cv: 0.3 });
    let mut order = Vec::new();
    let run = run_racks_watched(&job, &racks, &RackOptions { iterations: 50, seed: 2 }, &mut |_, event| {
        if let RackEvent::Apply { updates, .. } = event {
            order.extend(updates.iter().map(|update| update.worker.index()));
        }
    });
    let run = run.unwrap();
    assert!(order.iter().enumerate().all(|(at, group)| at % 6 == *group), "{order:?}");
    assert_eq!(run.staleness.max, 5);
    let other = run_racks(&job, &racks, &RackOptions { iterations: 50, seed: 3 }).unwrap();
    assert!(run.iteration_s != other.iteration_s, "a seed decides the times");
}

/// The rule takes more groups where computing leaves the network idle, and one without computation.
#[test]
fn the_rule_takes_the_number_that_is_predicted_best() {
    let topology = fig1();
    let candidates = candidate_racks(&topology, &topology.jobs()[0]).unwrap();
    let mut taken = Vec::new();
    for compute_s in [1e-6, 0.2, 0.6, 5.0] {
        let job = job(&topology, 1e9, exactly(compute_s));
        let choice = choose_racks(&candidates, &job).unwrap();
        let least = choice.considered.iter().map(|one| one.predicted_s).fold(f64::INFINITY, f64::min);
        let own = choice.racks.predicted_s(&choice.racks.computes_s(&job), 1e9);
        assert!(own <= least * 1.0011, "{own} {least}");
        let run = run_racks(&job, choice.racks, &RackOptions { iterations: 30, seed: 1 }).unwrap();
        println!(
            "{compute_s} s: {} groups of {:?}: {} s",
            choice.racks.groups.len(),
            choice.considered,
            run.iteration_s
        );
        taken.push(choice.racks.groups.len());
    }
    assert!(choose_racks(&[], &job(&topology, 1e9, exactly(1.0))).is_none());
    assert_eq!(taken[0], 1);
    assert!(taken.windows(2).all(|pair| pair[0] <= pair[1]) && taken[3] > 2, "{taken:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let topology = fig1();
    let racks = in_groups(&topology, 2);
    let job = job(&topology, 1e9, exactly(1.0));
    let options = RackOptions { iterations: 1, seed: 1 };
    assert!(run_racks(&job, &racks, &options).unwrap_err().to_string().contains("1 iteration:"));
    let options = RackOptions { iterations: 9, seed: 1 };
    let mut fewer = job.clone();
    fewer.participants.pop();
    assert!(matches!(
        run_racks(&fewer, &racks, &options),
        Err(RackRunError::Groups(RackError::Groups { .. }))
    ));
    let clients = Job { kind: Kind::Clients, ..job };
    assert!(run_racks(&clients, &racks, &options).unwrap_err().to_string().contains("has clients"));
}
