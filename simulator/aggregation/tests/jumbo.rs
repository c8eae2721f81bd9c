//! Jumbo frames: the same protocol, with up to 2048 values in a frame.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::sync::Arc;

use inart_planner_aggregation::{Options as Planning, plan_all, schemes};
use inart_simulator_aggregation::{Dataplane, InstalledNetwork, Options, SwitchKind, simulate};
use inart_topologies::faults::Faults;
use inart_wire::ValuesPerFrame;
use support::fig1;

#[test]
fn every_sum_is_right_with_and_without_loss() {
    let topology = fig1().with_mtu(9000);
    let plans = plan_all(&topology, &Planning::new(schemes::OPTIMIZED)).unwrap();
    for values in [ValuesPerFrame::N1024, ValuesPerFrame::N2048] {
        let dataplane = Arc::new(Dataplane::new(SwitchKind::V1model, values).unwrap());
        let network = InstalledNetwork::install(&topology, &dataplane, &plans, 16).unwrap();
        // 300,000 values do not fill a whole number of frames.
        for (loss, tensors, retransmits) in [("0%", 1, false), ("1%", 3, true)] {
            let faults = Faults::from_yaml(&format!("links: [{{drop: {loss}}}]")).unwrap();
            let options = Options { rounds: 3, gradient_values: 300_000, tensors, ..Options::default() };
            let report = simulate(&network, &faults, &options, None).unwrap();
            assert_eq!(report.failure, None, "{values} values, loss {loss}");
            assert_eq!(report.jobs[0].retransmissions > 0, retransmits, "{values} values, loss {loss}");
            // Each tensor but the last may end in a part of a block.
            let blocks = 3 * 300_000u64.div_ceil(256);
            let sums = report.sums_checked / 6;
            assert!((blocks..blocks + 3 * u64::from(tensors)).contains(&sums), "{sums} of {blocks}");
        }
    }
}

#[test]
fn frames_that_the_links_do_not_carry_are_refused() {
    let topology = fig1();
    let plans = plan_all(&topology, &Planning::new(schemes::LBMM)).unwrap();
    let dataplane = Arc::new(Dataplane::new(SwitchKind::V1model, ValuesPerFrame::N1024).unwrap());
    let refused = InstalledNetwork::install(&topology, &dataplane, &plans, 16).unwrap_err().to_string();
    assert!(refused.starts_with("values: link ") && refused.contains("MTU of 1500"), "{refused}");
}
