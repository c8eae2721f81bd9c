//! The document of faults: what is read, and what is wrong with what is not.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use inart_planner::Scheme;
use inart_simulator::campaign::Trial;
use inart_simulator::{Faults, Options, simulate};
use support::{fig1, network};

#[test]
fn faults_are_written_as_they_are_read() {
    for seed in 0..200 {
        let faults = Trial::of_seed(seed).faults;
        let text = faults.to_yaml();
        assert_eq!(Faults::from_yaml(&text).map_err(|e| e.to_string()), Ok(faults), "seed {seed}:\n{text}");
    }
}

#[test]
fn every_mistake_is_one_line_that_names_the_place_and_the_mend() {
    let topology = fig1();
    let network = network(&topology, Scheme::Atp, 2);
    let mut errors = Vec::new();
    for text in [
        "links: 7",
        "lnks: []",
        "links: [{drop: 101%}]",
        "links: [{drop: often}]",
        "links: [{reorder: 1%}]",
        "links: [{link: [v1, nobody], drop: 1%}]",
        "links: [{link: [w1, w2], drop: 1%}]",
        "queue: 0 frames",
        "queue: long",
        "events: [{at: 1 ms}]",
        "events: [{at: 1 ms, crash: w1, pause: w2, for: 1 s}]",
        "events: [{at: 1 ms, pause: w1}]",
        "events: [{at: soon, crash: w1}]",
        "events: [{at: 1 ms, restart: w1, for: 1 ms}]",
        "events: [{at: 1 ms, bounce: v1, for: 1 ms}]",
        "events: [{at: 1 ms, bounce: w1}]",
        "events: [{at: 1 ms, crash: v1}]",
        "events: [{at: 1 ms, crash: w1, for: 1 ms}]",
        "events: [{at: 1 ms, stale: w1}]",
        "events: [{at: 1 ms, partition: [w1, w9], for: 1 ms}]",
        "background: [{from: w1, to: w1, rate: 1 Gbps}]",
        "background: [{from: w1, to: v1, rate: 1 Gbps}]",
        "background: [{from: w1, to: s1, rate: 0}]",
        "background: [{from: w1, to: s1, rate: 1 Gbps, frame_bytes: 20}]",
    ] {
        let result = Faults::from_yaml(text).and_then(|faults| {
            simulate(
                &network,
                &faults,
                &Options { rounds: 1, gradient_values: 64, ..Options::default() },
                None,
            )
        });
        let error = result.map(|_| ()).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{text}: {error}");
        errors.push(format!("{text}\n    {error}"));
    }
    insta::assert_snapshot!(errors.join("\n"));
}
