//! Random trials: see `make soak` for more of them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use std::ops::RangeInclusive;
use std::sync::Arc;

use inart_planner_aggregation::Levels;
use inart_simulator_aggregation::campaign::Trial;
use inart_simulator_aggregation::{Dataplane, SwitchKind, Tally};
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_wire::ValuesPerFrame;
use support::dataplane;

#[test]
fn random_trials_end_in_right_sums_or_named_failures() {
    end_in_right_sums_or_named_failures(200);
}

#[test]
#[ignore = "soak: about 15 s"]
fn three_hundred_random_trials_end_in_right_sums_or_named_failures() {
    end_in_right_sums_or_named_failures(300);
}

fn end_in_right_sums_or_named_failures(trials: u64) {
    let (mut tally, mut sums) = (Tally::default(), 0);
    let mut failed = Vec::new();
    for seed in 1..=trials {
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
        "sum skipped",
        "plan version used again",
        "frame of an earlier run",
        "interface down",
        "values of uncommon magnitudes",
        "NaN or infinity passed",
        "NaN or infinity that aborts the job",
        "several tensors",
        "plan change",
        "plan change undone",
        "tables refused by a switch",
        "run with replanning",
        "plan change by replanning",
        "job added",
        "job removed",
        "job paused",
        "running job deleted",
        "job migrated",
        "migration undone",
        "membership view",
        "stop point",
        "state loaded",
        "host crashed",
        "host restarted",
        "duplicate host refused",
        "waiting host interrupted",
        "job usage check",
        "sum sent onward",
        "sum of all received",
        "long-delayed sum",
        "larger job ended",
    ] {
        assert!(happened.contains_key(what), "{what}: {happened:?}");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Same trials for the Tofino programs; docs/how-to/inject-faults.md lists the additional checks.
#[test]
fn random_trials_on_tofino_end_in_right_sums_or_named_failures() {
    end_in_right_sums_on_tofino([
        (SwitchKind::Tofino, ValuesPerFrame::N32, 1..=8),
        // Two passes.
        (SwitchKind::Tofino, ValuesPerFrame::N64, 31..=46),
        (SwitchKind::Tofino2, ValuesPerFrame::N64, 61..=70),
    ]);
}

#[test]
#[ignore = "soak: about 40 s"]
fn seventy_random_trials_on_tofino_end_in_right_sums_or_named_failures() {
    end_in_right_sums_on_tofino([
        (SwitchKind::Tofino, ValuesPerFrame::N32, 1..=30),
        (SwitchKind::Tofino, ValuesPerFrame::N64, 31..=60),
        (SwitchKind::Tofino2, ValuesPerFrame::N64, 61..=70),
    ]);
}

fn end_in_right_sums_on_tofino(programs: [(SwitchKind, ValuesPerFrame, RangeInclusive<u64>); 3]) {
    let mut failed = Vec::new();
    for (kind, values, seeds) in programs {
        let dataplane = Arc::new(Dataplane::new(kind, values).unwrap());
        let (mut tally, mut sums, mut summed) = (Tally::default(), 0, 0);
        for seed in seeds {
            let report = Trial::of_seed(seed).run(&dataplane);
            let report = report.unwrap_or_else(|error| panic!("{kind}, seed {seed}: {error}"));
            failed.extend(report.failure.map(|failure| format!("{kind}, seed {seed}: {failure}")));
            tally.add(&report.tally);
            sums += report.sums_checked;
            summed += report.summed_in_switches;
        }
        println!(
            "{kind}, {values} values: {sums} sums checked, {summed} frames summed in switches; {:?}",
            tally.by_name()
        );
        assert!(sums > 0 && summed > 0 && tally.restarts > 0 && tally.reordered > 0, "{kind}: {tally:?}");
        let two_passes = (kind, values) == (SwitchKind::Tofino, ValuesPerFrame::N64);
        assert_eq!(tally.recirculated > 0, two_passes, "{kind}, {values} values: {tally:?}");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Two plan versions had one range of slots and different paths; the driver took them for two paths of one
/// sum.
#[test]
fn a_seed_whose_plan_versions_share_slots_on_tofino() {
    let dataplane = Arc::new(Dataplane::new(SwitchKind::Tofino, ValuesPerFrame::N32).unwrap());
    assert_eq!(Trial::of_seed(1480).run(&dataplane).unwrap().failure, None);
}

#[test]
fn a_failing_trial_is_shrunk_to_its_cause() {
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

/// A two-level plan that the controller could not install: frames reached a switch by one port on two of
/// their paths.
#[test]
fn a_seed_whose_sums_crossed_the_paths_of_their_gradients() {
    let trial = Trial::of_seed(3557);
    assert_eq!(trial.levels, Levels::Two);
    assert_eq!(trial.run(support::dataplane()).unwrap().failure, None);
}

/// A server that restarted during its job's migration was not notified: no host used a plan version that it
/// knew, so it learned too late that the others had aborted.
#[test]
fn a_seed_whose_server_restarts_during_a_migration() {
    let report = Trial::of_seed(543).run(dataplane()).unwrap();
    assert_eq!(report.failure, None);
    assert_eq!((report.tally.server_restarts, report.jobs[0].ends.len()), (1, 4), "{report}");
    let restarted = |end: &str| end.contains("parameter server s0 (shard 0) was restarted");
    assert!(report.jobs[0].ends.iter().all(|end| restarted(&end.end)), "{report}");
    assert!(report.seconds < 6.0, "long before workers stop waiting for a peer that may start: {report}");
}
