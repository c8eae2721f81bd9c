//! Jobs that are parts of a larger one: their servers forward sums, and the returned value is the result, at
//! any delay and in any order. Every forwarded sum and every result is compared bit for bit.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::gradients::Sizes;
use inart_simulator_aggregation::{Onward, Options, Report, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_topologies::switched::{Job, Topology};
use support::{network, racks};

/// Three rounds of three workers behind three switches, of 1000 values in two tensors, in 8 chunks in flight.
fn options(within: Span, ends: Option<Span>) -> Options {
    let topology = racks(3);
    let jobs = vec![topology.jobs()[0].name.clone()];
    let onward = Some(Onward { jobs, others: 2, within, ends });
    Options { rounds: 3, gradient_values: 1000, tensors: 2, onward, ..Options::default() }
}

fn run(faults: &str, options: &Options) -> Report {
    run_on(&racks(3), faults, options)
}

fn run_on(topology: &Topology, faults: &str, options: &Options) -> Report {
    let network = network(topology, schemes::OPTIMIZED, 8);
    simulate(&network, &Faults::from_yaml(faults).unwrap(), options, None).unwrap()
}

/// Chunks of 333 values, then of 667: eleven, and twenty-one. Maxima do not go on.
const CHUNKS: u64 = 11 + 21;
/// Blocks of them.
const BLOCKS: u64 = 2 + 3;

#[test]
fn the_returned_sum_is_the_result_under_loss_duplication_and_delay() {
    let faults = "{queue: 100 frames, links: [{drop: 2%, duplicate: 2%, reorder: 5%, reorder_by: 2 ms}], \
                  events: [{at: 5 ms, restart: T0, duration: 10 ms}, {at: 30 ms, pause: s0, duration: 50 ms}]}";
    for within in [Span(2_000), Span(3_000_000), Span(400_000_000)] {
        let report = run(faults, &options(within, None));
        assert_eq!((report.failure.as_deref(), report.jobs[0].rounds), (None, 3), "{report}");
        assert_eq!(report.tally.sums_forwarded, 3 * CHUNKS, "each once: {report}");
        assert_eq!(report.tally.results_returned, 3 * CHUNKS, "{report}");
        assert_eq!(report.sums_checked, 3 * 3 * BLOCKS, "{report}");
        assert!(report.tally.dropped > 0 && report.tally.duplicated > 0 && report.tally.restarts == 1);
    }
}

#[test]
fn exact_sums_of_any_size_are_forwarded_and_return() {
    let job = racks(3).jobs()[0].clone();
    let exact = racks(3).with_jobs(vec![Job { exact: true, ..job }]);
    let faults = "links: [{drop: 2%, duplicate: 2%, reorder: 5%, reorder_by: 2 ms}]";
    // Of two tensors, as digits (two values in a frame) or floats (32): 200 and 400 values of an exact-sum
    // job, and in any job 30 and 60, or 100 and 200.
    for (topology, gradient_values, chunks) in
        [(&exact, 600, 7 + 200), (&racks(3), 90, 15 + 30), (&racks(3), 300, 4 + 7)]
    {
        for sizes in [Sizes::Even, Sizes::Mixed] {
            let options = Options { gradient_values, sizes, ..options(Span(3_000_000), None) };
            let report = run_on(topology, faults, &options);
            assert_eq!((report.failure.as_deref(), report.jobs[0].rounds), (None, 3), "{report}");
            assert_eq!(
                (report.tally.sums_forwarded, report.tally.results_returned),
                (3 * chunks, 3 * chunks),
                "{report}"
            );
            assert_eq!(
                report.summed_in_switches == 0,
                gradient_values == 300,
                "switches sum digits only: {report}"
            );
        }
    }
}

/// Workers wait for longer than the peer timeout, and blame no peer.
#[test]
fn no_worker_times_out_while_a_sum_is_forwarded_for_longer_than_the_peer_timeout() {
    let report = run("{}", &options(Span(60_000_000_000), None));
    assert_eq!(report.failure, None, "{report}");
    assert!(report.tally.long_delayed > 0 && report.jobs[0].ends.is_empty(), "{report}");
}

#[test]
fn a_crashed_host_is_named_at_all_others_while_sums_are_forwarded() {
    let report = run("events: [{at: 10 ms, crash: w1}]", &options(Span(50_000_000), None));
    assert_eq!(report.failure, None, "{report}");
    let ends: Vec<_> = report.jobs[0].ends.iter().filter(|end| end.worker != "w1").collect();
    assert_eq!(ends.len(), 2, "{report}");
    assert!(ends.iter().all(|end| end.end.contains("(w1) is silent")), "{report}");
}

/// Results for its first incarnation are dropped.
#[test]
fn a_server_that_is_started_again_ends_its_part_by_name() {
    let report = run("events: [{at: 10 ms, crash: s0, duration: 20 ms}]", &options(Span(50_000_000), None));
    assert_eq!(report.failure, None, "{report}");
    let restarted = "parameter server s0 (shard 0) was restarted";
    let ends = &report.jobs[0].ends;
    assert!(ends.len() == 3 && ends.iter().all(|end| end.end.contains(restarted)), "{report}");
    assert!(report.tally.results_returned < report.tally.sums_forwarded, "{report}");
}

#[test]
fn every_worker_learns_what_ended_the_larger_job() {
    let faults = "links: [{drop: 5%}]";
    let report = run(faults, &options(Span(50_000_000), Some(Span(20_000_000))));
    assert_eq!((report.failure.as_deref(), report.tally.ended_elsewhere), (None, 1), "{report}");
    let expected = "the job was aborted: site n2: worker w5 was stopped";
    let ends = &report.jobs[0].ends;
    assert!(ends.len() == 3 && ends.iter().all(|end| end.end == expected), "{report}");
}

#[test]
fn jobs_that_cannot_forward_sums_are_refused() {
    let refused = |options: &Options| {
        let network = network(&racks(3), schemes::OPTIMIZED, 8);
        simulate(&network, &Faults::default(), options, None).unwrap_err().to_string()
    };
    let mut options = options(Span(1_000), Some(Span(1_000)));
    options.runs = 2;
    assert_eq!(refused(&options), "onward: the larger job ends, and its parts run 2 times; expected once");
    options.onward.as_mut().unwrap().jobs.push("unknown".to_owned());
    assert_eq!(refused(&options), "onward: the run has no job unknown; give a name of the topology");
}
