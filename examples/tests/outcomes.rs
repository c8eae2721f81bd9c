//! Every example has a test of its outcome here.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, reason = "the examples' own main functions")]

#[path = "../all_reduce.rs"]
mod all_reduce;
#[path = "../elastic.rs"]
mod elastic;
#[path = "../embedded_switch.rs"]
mod embedded_switch;
#[path = "../own_scheme.rs"]
mod own_scheme;
#[path = "../p4runtime_client.rs"]
mod p4runtime_client;

use inart_switch::Port;
use inart_wire::{Contributors, Frame, Kind};

#[test]
fn every_worker_of_the_all_reduce_has_the_exact_sum() {
    let sums = all_reduce::run().unwrap();
    assert_eq!(sums.len(), 3);
    // Worker n has n times the number at each place: 1 + 2 + 3 times.
    let right: Vec<f32> = (0..100_000).map(|index| 6.0 * (index % 1000) as f32).collect();
    for sum in sums {
        assert_eq!(sum, right);
    }
}

#[test]
fn all_workers_of_the_elastic_job_end_with_the_same_weights() {
    let weights = elastic::run().unwrap();
    assert_eq!(weights.len(), 3);
    let bits = |weights: &[f32]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
    assert!(weights.iter().all(|of| bits(of) == bits(&weights[0])));
    // The mean of all three workers' wishes.
    assert!(weights[0].iter().all(|weight| (weight - 2.0).abs() < 1e-3), "{:?}", &weights[0][..5]);
}

#[test]
fn the_embedded_switch_sends_one_frame_with_the_sum() {
    let sent = embedded_switch::run().unwrap();
    assert_eq!(sent.len(), 1, "nothing leaves before the last worker's frame");
    assert_eq!(sent[0].port, Port(4));
    let frame = Frame::new_checked(&sent[0].frame).unwrap();
    assert_eq!(frame.kind(), Kind::Partial);
    assert_eq!(frame.contributors(), Contributors { bitmap: 0b111, ..Contributors::default() });
    let right: Vec<i32> = (0..32).map(|index| 6_000_000 - 3 * 7919 * index).collect();
    assert_eq!(frame.values().collect::<Vec<_>>(), right);
}

#[tokio::test]
async fn the_p4runtime_client_reads_what_it_wrote() {
    let read = p4runtime_client::run().await.unwrap();
    let lines = read.map(|entries| {
        let mut lines: Vec<_> = entries.iter().map(ToString::to_string).collect();
        lines.sort();
        lines
    });
    let line = |dst: &str, action: &str| format!("mac[dst={dst}] -> {action}");
    let broadcast = line("281474976710655", "flood(group=1)");
    let written =
        [line("2199023255553", "send(port=1)"), line("2199023255554", "send(port=2)"), broadcast.clone()];
    assert_eq!(lines[0], written);
    assert_eq!(lines[1], [line("2199023255553", "send(port=3)"), broadcast]);
}

#[test]
fn the_own_scheme_plans_and_is_no_better_than_the_planners_own() {
    let plans = own_scheme::run().unwrap();
    let [("one-switch", own), ("optimized", best)] = &plans[..] else { panic!("other schemes") };
    assert!(own.flows.iter().all(|flow| flow.aggregator.as_deref() == Some("v2")));
    // Twelve units of half a gradient each are too many for the 6 Gbps of one switch at more than 1 Gbps.
    assert!((own.rate_bps - 1e9).abs() < 1.0, "{}", own.rate_bps);
    assert!(own.rate_bps < best.rate_bps);
}

/// Finds examples without a test, whose failure would go unnoticed.
#[test]
fn every_example_is_among_them() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let this = include_str!("outcomes.rs");
    let mut examples = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".rs") {
            examples += 1;
            assert!(this.contains(&format!("#[path = \"../{name}\"]")), "no test runs examples/{name}");
        }
    }
    assert!(examples >= 5);
}
