//! The congestion mark in the real code: from a queue into a frame, a sum, a result, and to every worker.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{Options, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::switched::Topology;
use support::network;

/// The only long queue is that of v1 towards v2, where w3 sends as well; v2 sums.
const LINE: &str = "
name: line
nodes: [{name: v1, kind: switch}, {name: v2, kind: switch, aggregation_capacity: 10 Gbps},
  {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker},
  {name: s, kind: server, ingress_capacity: 100 Mbps}]
links: [{ends: [w1, v1], rate: 1 Gbps}, {ends: [w2, v1], rate: 1 Gbps}, {ends: [w3, v1], rate: 1 Gbps},
  {ends: [v1, v2], rate: 200 Mbps}, {ends: [v2, s], rate: 10 Gbps}]
jobs: [{name: marked, workers: [w1, w2], servers: [s]}]
";

/// Frames of a kind that were sent on a channel: with the mark, and in all.
fn count(log: &str, channel: &str, kind: &str) -> (usize, usize) {
    let sent = format!(" {channel} sent {kind} ");
    let frames: Vec<_> = log.lines().filter(|line| line.contains(&sent)).collect();
    (frames.iter().filter(|line| line.contains("congestion")).count(), frames.len())
}

#[test]
fn a_queue_marks_a_frame_the_sum_and_the_result_for_every_worker() {
    let topology = Topology::from_yaml(LINE).unwrap();
    let network = network(&topology, schemes::OPTIMIZED, 64);
    let options = Options { rounds: 3, gradient_values: 6400, ..Options::default() };
    for (faults, marks) in [("", false), ("background: [{from: w3, to: s, rate: 40 Mbps}]", true)] {
        let mut log = Vec::new();
        let report =
            simulate(&network, &Faults::from_yaml(faults).unwrap(), &options, Some(&mut log)).unwrap();
        assert_eq!((report.failure, report.jobs[0].retransmissions), (None, 0));
        let log = String::from_utf8(log).unwrap();
        // Hosts do not mark frames; the queues behind v2 are short.
        assert_eq!(count(&log, "w1>v1", "gradient").0 + count(&log, "w2>v1", "gradient").0, 0);
        let [gradients, partials, results, delivered] = [
            count(&log, "v1>v2", "gradient"),
            count(&log, "v2>s", "partial"),
            count(&log, "s>v2", "result"),
            count(&log, "v1>w1", "result"),
        ];
        // 200 chunks of values a round, and one of maxima.
        assert_eq!((gradients.1, partials.1, results.1, delivered.1), (1206, 603, 603, 603), "{faults}");
        assert_eq!(
            [gradients.0, partials.0, results.0, delivered.0].map(|marked| marked > 0),
            [marks; 4],
            "{faults}"
        );
        // One mark is enough for a sum; a result has just those of its sum.
        assert!(gradients.0 <= 2 * partials.0 && partials.0 <= gradients.0, "{gradients:?} {partials:?}");
        assert_eq!((results.0, delivered.0), (partials.0, partials.0), "{faults}");
        assert_eq!(report.jobs[0].servers[0].marked, partials.0 as u64, "{faults}");
    }
}
