//! Gradients that are too large for the switches' 32-bit additions, and such as have no sum, through the
//! compiled P4.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use inart_core::quantise::{dequantise, first_exponent, fit_sums, next_exponent};
use inart_faults::quantity::Span;
use inart_planner::{Levels, Options as Planning, Topology, plan_all, schemes};
use inart_simulator::{Adjust, Faults, InstalledNetwork, Options, Report, SingleFault, simulate};
use support::{dataplane, fig1, network};

/// A quantised value that fits int32, while the sum of two does not.
const LARGE: i32 = 0x7800_0000;

const UP: [i64; 6] = [1; 6];
const DOWN: [i64; 6] = [-1; 6];
/// The sum of the first rack does not fit on its way to the sum of all, which is smaller.
const BOTH: [i64; 6] = [1, 1, 1, 1, -1, -1];

/// What the worker of that rank sends, if in every round before every chunk's largest sum was that of such
/// values: it is [`LARGE`] at the exponent which the chunk has then, with the worker's sign.
fn large(signs: &[i64], rank: usize, round: u32) -> f32 {
    let workers = signs.len();
    let mut exponent = first_exponent(workers);
    for _ in 0..round {
        let mut sums = [signs.iter().sum::<i64>() * i64::from(LARGE)];
        let result = fit_sums(&mut sums, exponent);
        exponent = next_exponent(workers, &[sums[0] as i32], result, false);
    }
    dequantise(LARGE, exponent) * signs[rank] as f32
}

fn one_in_each_chunk(signs: &[i64], rank: usize, round: u32, values: &mut [f32]) {
    values.iter_mut().step_by(32).for_each(|value| *value = large(signs, rank, round));
}

/// Two racks of two workers that are summed there, and the two sums at the core.
const TREE: &str = "
name: tree
nodes: [{name: r1, kind: switch, aggregation: 2 Gbps}, {name: r2, kind: switch, aggregation: 2 Gbps},
  {name: core, kind: switch, aggregation: 2 Gbps}, {name: s, kind: server},
  {name: a, kind: worker}, {name: b, kind: worker}, {name: c, kind: worker}, {name: d, kind: worker}]
links: [{ends: [a, r1], rate: 1 Gbps}, {ends: [b, r1], rate: 1 Gbps}, {ends: [c, r2], rate: 1 Gbps},
  {ends: [d, r2], rate: 1 Gbps}, {ends: [r1, core], rate: 1 Gbps}, {ends: [r2, core], rate: 1 Gbps},
  {ends: [core, s], rate: 1 Gbps}]
";

fn two_levels() -> InstalledNetwork {
    let topology = Topology::from_yaml(TREE).unwrap();
    let plans =
        plan_all(&topology, &Planning { levels: Levels::Two, ..Planning::new(schemes::INART) }).unwrap();
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

/// Runs without and with faults: every sum is right, the same bits; how often servers discarded a partial and
/// asked, without.
fn overflows(what: &str, network: &InstalledNetwork, options: &Options) -> u64 {
    let calm = run(network, "", options);
    let lossy = run(network, LOSSY, options);
    for report in [&calm, &lossy] {
        assert_eq!(report.failure, None, "{what}");
        assert_eq!((report.jobs[0].rounds, report.jobs[0].ends.len()), (options.rounds, 0), "{what}");
        assert_eq!(report.jobs[0].digest, calm.jobs[0].digest, "{what}");
        for server in &report.jobs[0].servers {
            assert_eq!((server.overlaps, server.exponents, server.clipped), (0, 0, 0), "{what}: {server:?}");
            assert!(server.requests_sent >= server.overflows, "{what}: {server:?}");
        }
        let requests: u64 = report.jobs[0].servers.iter().map(|server| server.requests_sent).sum();
        assert!(report.jobs[0].bypasses >= requests.min(1), "{what}");
    }
    assert!(calm.refused.is_empty() && lossy.faults["frame lost"] > 0, "{what}");
    calm.jobs[0].servers.iter().map(|server| server.overflows).sum()
}

#[test]
fn sums_that_saturate_in_switches_are_discarded_and_made_at_the_server() {
    let topology = fig1();
    let cases: [(&str, Adjust, bool); 5] = [
        ("all values up", |_, rank, round, values| values.fill(large(&UP, rank, round)), true),
        ("all values down", |_, rank, round, values| values.fill(large(&DOWN, rank, round)), true),
        ("one value of each chunk up", |_, rank, round, v| one_in_each_chunk(&UP, rank, round, v), true),
        ("one value of each chunk down", |_, rank, round, v| one_in_each_chunk(&DOWN, rank, round, v), true),
        (
            "up and down, and a smaller sum",
            |_, rank, round, v| one_in_each_chunk(&BOTH, rank, round, v),
            false,
        ),
    ];
    for (name, adjust, all) in cases {
        for scheme in [schemes::INART, schemes::ATP, schemes::LBMM] {
            let network = network(&topology, scheme, 8);
            let what = format!("{name}, {scheme}");
            let overflows = overflows(&what, &network, &options(adjust));
            println!("{what}: {overflows} sums discarded");
            // Without sums in switches, none saturates.
            assert_eq!(overflows > 0, scheme != schemes::LBMM, "{what}");
            // Every chunk of every round of a worker that is summed anywhere.
            assert!(overflows >= 4 * 50 || !all || scheme == schemes::LBMM, "{what}: {overflows}");
        }
    }
}

#[test]
fn a_sum_of_sums_keeps_the_mark_of_the_one_that_saturated() {
    let network = two_levels();
    // Saturates in one rack, in both, and only where the two sums meet.
    let cases: [(&str, Adjust); 3] = [
        ("in one rack", |_, rank, round, v| one_in_each_chunk(&[1, 1, 0, 0], rank, round, v)),
        ("in both racks", |_, rank, round, v| one_in_each_chunk(&[-1; 4], rank, round, v)),
        ("at the core", |_, rank, round, v| one_in_each_chunk(&[1, 0, 0, 1], rank, round, v)),
    ];
    for (name, adjust) in cases {
        // Fifty chunks in each of four rounds, and one sum of all for each.
        assert_eq!(overflows(name, &network, &options(adjust)), 200, "{name}");
    }
}

#[test]
fn healing_survives_the_loss_of_any_single_frame() {
    let network = network(&fig1(), schemes::INART, 2);
    let options = Options {
        rounds: 2,
        gradient_values: 100,
        ..options(|_, rank, round, v| one_in_each_chunk(&UP, rank, round, v))
    };
    let calm = run(&network, "", &options);
    assert_eq!(calm.failure, None);
    assert!(calm.jobs[0].servers.iter().all(|server| server.overflows > 0), "{calm:?}");
    for hop in 0..calm.packet_hops {
        for way in [SingleFault::Drop, SingleFault::Duplicate, SingleFault::Delay(Span(300_000_000))] {
            let report = run(&network, "", &Options { single: Some((hop, way)), ..options.clone() });
            assert_eq!(report.failure, None, "hop {hop}: {way:?}");
            assert_eq!(report.jobs[0].digest, calm.jobs[0].digest, "hop {hop}: {way:?}");
        }
    }
    println!("{} hops, each lost, doubled and held back: the same bits", calm.packet_hops);
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
        for scheme in [schemes::INART, schemes::LBMM] {
            for faults in ["", LOSSY] {
                let report = run(&network(&topology, scheme, 8), faults, &options(adjust));
                assert_eq!(report.failure, None, "{report}");
                // A peer that still waits for a lost result of the round before hears first that the job is
                // aborted.
                let least = if faults.is_empty() { 2 } else { 1 };
                assert!(
                    (least..=2).contains(&report.jobs[0].rounds),
                    "the rounds before have their sums: {report}"
                );
                assert_eq!(report.jobs[0].ends.len(), 6, "{report}");
                for end in &report.jobs[0].ends {
                    let own = end.worker == "w4";
                    let told = "worker 3 (w4) has a gradient with a NaN or an infinity";
                    assert!(own || end.end.contains(told), "{}: {}", end.worker, end.end);
                    assert!(!own || end.end.contains("of this worker's gradient"), "{}", end.end);
                }
            }
        }
    }
}
