//! Random trials: see `make soak` for more of them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod support;

use inart_faults::quantity::Span;
use inart_planner::Levels;
use inart_simulator::campaign::Trial;
use inart_simulator::{Faults, Tally};
use support::dataplane;

#[test]
fn random_trials_end_in_right_sums_or_named_failures() {
    let (mut tally, mut sums) = (Tally::default(), 0);
    let mut failed = Vec::new();
    for seed in 1..=300 {
        let trial = Trial::of_seed(seed);
        let report = trial.run(dataplane()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if let Some(failure) = &report.failure {
            failed.push(format!("seed {seed}: {failure}"));
        }
        tally.add(&report.tally);
        sums += report.sums_checked;
    }
    let happened = tally.by_name();
    println!("{sums} sums checked; {happened:?}");
    for what in [
        "forged frame",
        "length mismatched",
        "epoch used again",
        "frame of the run before",
        "interface down",
        "values of uncommon sizes",
        "several tensors",
        "change of plans",
        "change of plans undone",
        "tables refused by a switch",
        "plans that follow",
        "change that follows",
        "job that came",
        "job that went",
        "job paused",
        "job deleted while it ran",
        "job moved",
        "move undone",
        "run of an elastic job",
        "boundary",
        "state loaded",
        "host that died",
        "host that came back",
    ] {
        assert!(happened.contains_key(what), "{what}: {happened:?}");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_trial_that_fails_is_shrunk_to_what_it_fails_of() {
    let mut trial = Trial::of_seed(3);
    // Not even the first frame arrives in a microsecond, whatever the faults.
    trial.options.limit = Span(1000);
    let failure = |trial: &Trial| trial.run(dataplane()).unwrap().failure.unwrap();
    assert!(failure(&trial).starts_with("hang: "), "{}", failure(&trial));
    let least = trial.shrink(dataplane());
    assert!(failure(&least).starts_with("hang: "));
    assert_eq!(least.faults, Faults { jitter: least.faults.jitter, ..Faults::default() });
    assert_eq!((least.options.rounds, least.options.gradient_values), (1, 1));
}

/// A plan of two levels that the controller could not install: frames came to a switch by one port on two of
/// their ways.
#[test]
fn a_seed_whose_sums_crossed_the_ways_of_their_gradients() {
    let trial = Trial::of_seed(3557);
    assert_eq!(trial.levels, Levels::Two);
    assert_eq!(trial.run(support::dataplane()).unwrap().failure, None);
}

/// A server that came back while its job moved was not told where to: nobody spoke to it in an epoch that it
/// knew, so it heard too late that the others had given up.
#[test]
fn a_seed_whose_server_comes_back_during_a_move() {
    let report = Trial::of_seed(543).run(dataplane()).unwrap();
    assert_eq!(report.failure, None);
    assert_eq!((report.tally.server_restarts, report.jobs[0].ends.len()), (1, 4), "{report}");
    let restarted = |end: &str| end.contains("parameter server s0 (shard 0) was restarted");
    assert!(report.jobs[0].ends.iter().all(|end| restarted(&end.end)), "{report}");
    assert!(report.seconds < 6.0, "long before workers stop waiting for a peer that may start: {report}");
}
