//! User mistakes: a job run again under its plan version, a worker with another gradient length, values of
//! any magnitude.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::{Scheme, schemes};
use inart_simulator_aggregation::gradients::Sizes;
use inart_simulator_aggregation::{OddLength, Options, Report, Skip, simulate};
use inart_topologies::faults::Faults;
use support::{fig1, network};

const LOSS: &str = "links: [{drop: 0.5%, duplicate: 0.5%, reorder: 1%, reorder_by: 300 us}]";

fn run(scheme: &dyn Scheme, faults: &str, options: &Options) -> Report {
    let network = network(&fig1(), scheme, 4);
    let report = simulate(&network, &Faults::from_yaml(faults).unwrap(), options, None).unwrap();
    assert_eq!(report.failure, None, "{scheme}, {options:?}: {report}");
    report
}

#[test]
fn a_job_that_is_run_again_under_its_plan_version_has_the_sums_of_its_own_run() {
    for (scheme, faults) in [(schemes::OPTIMIZED, ""), (schemes::ATP, LOSS)] {
        // As many chunks as slots, fewer and more, of two values each or of 32: the slots hold sums of the
        // previous run at the same sequences.
        for gradient_values in [8 * 2, 5 * 2, 700] {
            let options = Options { rounds: 3, runs: 4, gradient_values, ..Options::default() };
            let report = run(scheme, faults, &options);
            assert_eq!((report.jobs[0].rounds, report.tally.reruns), (12, 3), "{report}");
            assert!(report.summed_in_switches > 0, "{report}");
        }
    }
}

#[test]
fn every_worker_learns_whose_gradient_has_another_length() {
    for scheme in [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM] {
        for rank in [0, 3, 5] {
            // A shorter last chunk, a chunk less and more, only exact values, and no values.
            for gradient_values in [295, 280, 340, 256, 0] {
                let odd = Some(OddLength { rank, gradient_values });
                let options = Options { gradient_values: 300, odd_length: odd, ..Options::default() };
                let report = run(scheme, LOSS, &options);
                assert_eq!((report.sums_checked, report.jobs[0].ends.len()), (0, 6), "{report}");
                let expected = format!("worker {rank} (w{}) ", rank + 1);
                assert!(report.jobs[0].ends.iter().all(|end| end.end.contains(&expected)), "{report}");
            }
        }
    }
}

/// Chunks of the skipped round fit those of the next one, so only the labels show it.
#[test]
fn a_skipped_round_of_the_same_length_ends_every_worker_by_name() {
    for scheme in [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM] {
        for (rank, round) in [(0, 0), (3, 1), (5, 40)] {
            for (gradient_values, tensors) in [(300, 1), (10, 1), (700, 5), (0, 1)] {
                let skip = Some(Skip { rank, round });
                let options = Options { gradient_values, tensors, skip, ..Options::default() };
                let report = run(scheme, LOSS, &options);
                assert!(report.jobs[0].rounds >= round, "rounds before are summed: {report}");
                assert_eq!(report.jobs[0].ends.len(), 6, "{report}");
                let named = format!("worker {rank} (w{}) and its peers started different tensors", rank + 1);
                assert!(report.jobs[0].ends.iter().all(|end| end.end.contains(&named)), "{report}");
            }
        }
    }
}

#[test]
fn an_unknown_worker_skips_nothing() {
    let network = network(&fig1(), schemes::OPTIMIZED, 4);
    let skip = Skip { rank: 6, round: 1 };
    let options = Options { skip: Some(skip), ..Options::default() };
    let error = simulate(&network, &Faults::default(), &options, None).unwrap_err();
    assert_eq!(error.to_string(), "skip: rank 6: job digits has ranks 0 to 5");
    assert_eq!("6=1".parse(), Ok(skip));
    assert_eq!(skip.to_string(), "6=1");
    assert!("6".parse::<Skip>().unwrap_err().contains("is not RANK=ROUND"));
}

#[test]
fn an_unknown_worker_has_no_length() {
    let network = network(&fig1(), schemes::OPTIMIZED, 4);
    let odd = OddLength { rank: 6, gradient_values: 1 };
    let options = Options { odd_length: Some(odd), ..Options::default() };
    let error = simulate(&network, &Faults::default(), &options, None).unwrap_err();
    assert_eq!(error.to_string(), "odd length: rank 6: job digits has ranks 0 to 5");
    assert_eq!("6=1".parse(), Ok(odd));
    assert!("6".parse::<OddLength>().is_err());
}

/// The report is a failure if any sum is beyond the bound that `docs/protocol/numbers.md` states.
#[test]
fn sums_of_values_of_any_size_are_within_the_bound() {
    for sizes in Sizes::ALL {
        for (faults, spikes) in [("", "0"), (LOSS, "20%")] {
            let options = Options {
                rounds: 12,
                gradient_values: 500,
                sizes,
                spikes: spikes.parse().unwrap(),
                ..Options::default()
            };
            assert_eq!(run(schemes::OPTIMIZED, faults, &options).jobs[0].rounds, 12);
        }
        assert_eq!(sizes.to_string().parse(), Ok(sizes));
    }
    assert!("huge".parse::<Sizes>().unwrap_err().contains("even, tiny, sparse, outlier, wild, mixed"));
}
