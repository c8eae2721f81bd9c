//! Every single transmission of a small job, on every hop, lost, duplicated or delayed in turn.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{InstalledNetwork, Options, SingleFault, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use support::{fig1, network};

/// Runs with each hop of the undisturbed run disturbed in turn. Returns the number of hops.
fn disturb_each_hop(network: &InstalledNetwork, options: &Options) -> u64 {
    let faults = Faults::default();
    let undisturbed = simulate(network, &faults, options, None).unwrap();
    assert_eq!((undisturbed.failure.as_deref(), undisturbed.faults.len()), (None, 0));
    // Held back beyond the end of the round without it, and beyond the first timeout.
    let ways = [
        SingleFault::Drop,
        SingleFault::Duplicate,
        SingleFault::Delay(Span(200_000)),
        SingleFault::Delay(Span(300_000_000)),
    ];
    for hop in 0..undisturbed.packet_hops {
        for way in ways {
            let options = Options { single: Some((hop, way)), ..options.clone() };
            let report = simulate(network, &faults, &options, None).unwrap();
            assert_eq!(report.failure, None, "hop {hop}: {way:?}");
            assert_eq!(report.jobs[0].digest, undisturbed.jobs[0].digest, "hop {hop}: {way:?}");
            assert_eq!(
                (report.sums_checked, report.faults.values().sum()),
                (undisturbed.sums_checked, 1),
                "hop {hop}: {way:?}"
            );
        }
    }
    undisturbed.packet_hops
}

#[test]
fn the_same_bits_whichever_hop_fails() {
    let topology = fig1();
    let mut hops = 0;
    for (scheme, window) in [(schemes::OPTIMIZED, 2), (schemes::ATP, 1), (schemes::LBMM, 4)] {
        let network = network(&topology, scheme, window);
        // Maxima, then a block of eight chunks and one of a chunk; and three chunks of exact sums.
        for (rounds, gradient_values) in [(1, 260), (2, 5)] {
            let options = Options { rounds, gradient_values, ..Options::default() };
            hops += disturb_each_hop(&network, &options);
        }
    }
    println!("{hops} transmissions, each lost, duplicated and delayed twice: {} runs, equal bits", 4 * hops);
}
