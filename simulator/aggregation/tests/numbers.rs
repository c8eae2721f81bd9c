//! The largest possible gradients, and gradients without a sum, through the compiled P4.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use inart_planner_aggregation::{Levels, Options as Planning, plan_all, schemes};
use inart_simulator_aggregation::{Adjust, InstalledNetwork, Options, Report, SingleFault, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_topologies::switched::Topology;
use support::{dataplane, fig1, network};

/// Returns the largest float, positive or negative.
fn largest(signs: &[i8], rank: usize) -> f32 {
    f32::from(signs[rank]) * f32::MAX
}

const UP: [i8; 6] = [1; 6];
const DOWN: [i8; 6] = [-1; 6];
/// The first rack's sum would be the largest one; the total is smaller.
const BOTH: [i8; 6] = [1, 1, 1, 1, -1, -1];

fn one_in_each_block(signs: &[i8], rank: usize, values: &mut [f32]) {
    values.iter_mut().step_by(256).for_each(|value| *value = largest(signs, rank));
}

/// Two racks of two workers that are summed there, and the two sums at the core.
const TREE: &str = "
name: tree
nodes: [{name: r1, kind: switch, aggregation_capacity: 2 Gbps},
  {name: r2, kind: switch, aggregation_capacity: 2 Gbps},
  {name: core, kind: switch, aggregation_capacity: 2 Gbps}, {name: s, kind: server},
  {name: a, kind: worker}, {name: b, kind: worker}, {name: c, kind: worker}, {name: d, kind: worker}]
links: [{ends: [a, r1], rate: 1 Gbps}, {ends: [b, r1], rate: 1 Gbps}, {ends: [c, r2], rate: 1 Gbps},
  {ends: [d, r2], rate: 1 Gbps}, {ends: [r1, core], rate: 1 Gbps}, {ends: [r2, core], rate: 1 Gbps},
  {ends: [core, s], rate: 1 Gbps}]
";

fn two_levels() -> InstalledNetwork {
    let topology = Topology::from_yaml(TREE).unwrap();
    let plans =
        plan_all(&topology, &Planning { levels: Levels::Two, ..Planning::new(schemes::OPTIMIZED) }).unwrap();
    assert!(plans[0].trunks.iter().any(|trunk| trunk.path.last() != Some(&trunk.server)));
    InstalledNetwork::install(&topology, dataplane(), &plans, 8).unwrap()
}

fn options(adjust: Adjust) -> Options {
    Options { rounds: 4, gradient_values: 1600, adjust: Some(adjust), ..Options::default() }
}

fn run(network: &InstalledNetwork, faults: &str, options: &Options) -> Report {
    let faults = Faults::from_yaml(faults).unwrap();
    simulate(network, &faults, options, None).unwrap()
}

const LOSSY: &str =
    "links: [{drop: 3%, duplicate: 2%, reorder: 3%, reorder_by: 200 us, delay: 1%, delay_by: 1 ms}]";

/// Runs without and with faults: every sum is right, the bits are equal, and no sum saturates.
fn saturates_nowhere(what: &str, network: &InstalledNetwork, options: &Options) {
    let undisturbed = run(network, "", options);
    let lossy = run(network, LOSSY, options);
    for report in [&undisturbed, &lossy] {
        assert_eq!(report.failure, None, "{what}");
        assert_eq!((report.jobs[0].rounds, report.jobs[0].ends.len()), (options.rounds, 0), "{what}");
        assert_eq!(report.jobs[0].digest, undisturbed.jobs[0].digest, "{what}");
        for server in &report.jobs[0].servers {
            assert_eq!((server.overflows, server.other_numbers, server.other_shapes), (0, 0, 0), "{what}");
        }
    }
    assert!(undisturbed.refused.is_empty() && lossy.faults["frame lost"] > 0, "{what}");
}

#[test]
fn the_largest_values_of_all_workers_saturate_nowhere() {
    let topology = fig1();
    let cases: [(&str, Adjust); 5] = [
        ("all values up", |_, rank, _, values| values.fill(largest(&UP, rank))),
        ("all values down", |_, rank, _, values| values.fill(largest(&DOWN, rank))),
        ("one value of each block up", |_, rank, _, v| one_in_each_block(&UP, rank, v)),
        ("one value of each block down", |_, rank, _, v| one_in_each_block(&DOWN, rank, v)),
        ("up and down, and a smaller sum", |_, rank, _, v| one_in_each_block(&BOTH, rank, v)),
    ];
    for (name, adjust) in cases {
        for scheme in [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM] {
            let network = network(&topology, scheme, 8);
            saturates_nowhere(&format!("{name}, {scheme}"), &network, &options(adjust));
        }
    }
}

#[test]
fn sums_of_sums_of_the_largest_values_saturate_nowhere() {
    let network = two_levels();
    let cases: [(&str, Adjust); 3] = [
        ("in one rack", |_, rank, _, v| one_in_each_block(&[1, 1, 0, 0], rank, v)),
        ("in both racks", |_, rank, _, v| one_in_each_block(&[-1; 4], rank, v)),
        ("at the core", |_, rank, _, v| one_in_each_block(&[1, 0, 0, 1], rank, v)),
    ];
    for (name, adjust) in cases {
        saturates_nowhere(name, &network, &options(adjust));
    }
}

#[test]
fn sums_survive_the_loss_of_any_single_frame() {
    let network = network(&fig1(), schemes::OPTIMIZED, 2);
    let options = Options {
        rounds: 1,
        gradient_values: 300,
        ..options(|_, rank, _, v| one_in_each_block(&UP, rank, v))
    };
    let undisturbed = run(&network, "", &options);
    assert_eq!(undisturbed.failure, None);
    for hop in 0..undisturbed.packet_hops {
        for way in [SingleFault::Drop, SingleFault::Duplicate, SingleFault::Delay(Span(300_000_000))] {
            let report = run(&network, "", &Options { single: Some((hop, way)), ..options.clone() });
            assert_eq!(report.failure, None, "hop {hop}: {way:?}");
            assert_eq!(report.jobs[0].digest, undisturbed.jobs[0].digest, "hop {hop}: {way:?}");
        }
    }
    println!("{} hops, each lost, duplicated and delayed: equal bits", undisturbed.packet_hops);
}

#[test]
fn a_nan_or_an_infinity_ends_the_job_at_every_worker_by_name() {
    let topology = fig1();
    let cases: [Adjust; 3] = [
        |_, rank, round, values| values[77] = if (rank, round) == (3, 2) { f32::NAN } else { 1.0 },
        |_, rank, round, values| values[0] = if (rank, round) == (3, 2) { f32::INFINITY } else { 1.0 },
        |_, rank, round, values| values[1599] = if (rank, round) == (3, 2) { f32::NEG_INFINITY } else { 1.0 },
    ];
    for adjust in cases {
        for scheme in [schemes::OPTIMIZED, schemes::LBMM] {
            for faults in ["", LOSSY] {
                let report = run(&network(&topology, scheme, 8), faults, &options(adjust));
                assert_eq!(report.failure, None, "{report}");
                // A peer that still waits for a lost result of the previous round first learns that the job
                // is aborted.
                let least = if faults.is_empty() { 2 } else { 1 };
                assert!(
                    (least..=2).contains(&report.jobs[0].rounds),
                    "the rounds before have their sums: {report}"
                );
                assert_eq!(report.jobs[0].ends.len(), 6, "{report}");
                for end in &report.jobs[0].ends {
                    let own = end.worker == "w4";
                    let expected = "worker 3 (w4) has a gradient with a NaN or an infinity";
                    assert!(own || end.end.contains(expected), "{}: {}", end.worker, end.end);
                    assert!(!own || end.end.contains("of this worker's gradient"), "{}", end.end);
                }
            }
        }
    }
}
