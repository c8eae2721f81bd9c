//! Whole runs, with and without faults.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{Options, simulate};
use inart_topologies::faults::Faults;
use support::{fig1, network};

#[test]
fn every_scheme_sums_right_without_faults_and_sends_nothing_twice() {
    let topology = fig1();
    for scheme in [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM, schemes::R_INART] {
        let network = network(&topology, scheme, 16);
        let options = Options { rounds: 3, gradient_values: 10_000, ..Options::default() };
        let report = simulate(&network, &Faults::default(), &options, None).unwrap();
        assert_eq!(report.failure, None, "{scheme}");
        assert_eq!((report.jobs[0].rounds, report.jobs[0].retransmissions), (3, 0), "{scheme}");
        assert_eq!(report.summed_in_switches > 0, scheme != schemes::LBMM);
    }
}
