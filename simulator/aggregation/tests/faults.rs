//! Faults and the simulator: drawn trials can be written to files, and unsupported faults are refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::campaign::Trial;
use inart_simulator_aggregation::{Options, simulate};
use inart_topologies::faults::Faults;
use support::{fig1, network};

#[test]
fn faults_are_written_as_they_are_read() {
    for seed in 0..200 {
        let faults = Trial::of_seed(seed).faults;
        let text = faults.to_yaml();
        assert_eq!(Faults::from_yaml(&text), Ok(faults), "seed {seed}:\n{text}");
    }
}

#[test]
fn unsupported_faults_are_refused() {
    let topology = fig1();
    let network = network(&topology, schemes::ATP, 2);
    let options = Options { rounds: 1, gradient_values: 64, ..Options::default() };
    for (text, named) in [
        ("events: [{at: 1 ms, crash: w9}]", "events[0]: topology fig1 has no node w9"),
        ("events: [{at: 1 ms, restart: controller, duration: 1 ms}]", "has no node controller"),
        ("events: [{at: 1 ms, crash: w1, duration: 1 ms}]", "a worker that was killed has lost its job"),
    ] {
        let faults = Faults::from_yaml(text).unwrap();
        let error = simulate(&network, &faults, &options, None).map(drop).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}
