//! Exact-sum jobs through the compiled P4: the audit compares every sum with the exact sum of the floats,
//! computed digit by digit.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use inart_planner_aggregation::{Scheme, schemes};
use inart_simulator_aggregation::campaign::Trial;
use inart_simulator_aggregation::{Options, Report, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::switched::{Job, Topology};
use support::{fig1, network};

const FAULTS: &str = "
links: [{drop: 3%, duplicate: 2%, reorder: 3%, reorder_by: 200 us, delay: 1%, delay_by: 1 ms}]
events: [{at: 100 us, restart: v1, duration: 2 ms}, {at: 4 ms, restart: v2, duration: 1 ms}]
";

/// Floats of all exponents, subnormal numbers among them; those of two workers cancel but for their last
/// bits.
fn wild(_job: usize, rank: usize, round: u32, values: &mut [f32]) {
    for (index, value) in (0u32..).zip(values) {
        let mixed = (index + round * 7919).wrapping_mul(0x9e37_79b9);
        let (exponent, last) = (mixed % 250 + rank as u32 / 2, (rank as u32).wrapping_mul(mixed) >> 27);
        *value = f32::from_bits((rank as u32 & 1) << 31 | exponent << 23 | mixed >> 9 ^ last);
    }
}

/// Returns Fig. 1 with its job, exact or not, and a second job of the other kind.
fn two_jobs(first_exact: bool) -> Topology {
    let fig1 = fig1();
    let job = |name: &str, exact| Job { name: name.to_owned(), exact, ..fig1.jobs()[0].clone() };
    fig1.with_jobs(vec![job("one", first_exact), job("other", !first_exact)])
}

fn run(topology: &Topology, scheme: &dyn Scheme, faults: &str, options: &Options) -> Report {
    let report =
        simulate(&network(topology, scheme, 8), &Faults::from_yaml(faults).unwrap(), options, None).unwrap();
    assert_eq!(report.failure, None, "{scheme}: {report}");
    assert!(report.jobs.iter().all(|job| job.rounds == options.rounds), "{report}");
    report
}

#[test]
fn sums_are_exact_whatever_is_lost_or_restarted() {
    let fig1 = fig1();
    let exact = fig1.with_jobs(vec![Job { exact: true, ..fig1.jobs()[0].clone() }]);
    let options = Options { rounds: 4, gradient_values: 1000, adjust: Some(wild), ..Options::default() };
    for scheme in [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM] {
        let undisturbed = run(&exact, scheme, "", &options);
        let faulty = run(&exact, scheme, FAULTS, &options);
        assert_eq!(undisturbed.jobs[0].digest, faulty.jobs[0].digest, "{scheme}");
        assert!(
            faulty.faults["frame lost"] > 0 && faulty.faults["switch restart"] == 2,
            "{:?}",
            faulty.faults
        );
        for server in undisturbed.jobs[0].servers.iter().chain(&faulty.jobs[0].servers) {
            assert_eq!(server.partials > 0, scheme != schemes::LBMM, "{scheme}");
            assert_eq!((server.other_numbers, server.overflows, server.other_shapes), (0, 0, 0), "{scheme}");
        }
        println!("{scheme}: {} exact sums, twice", undisturbed.sums_checked);
    }
}

/// Switches sum both.
#[test]
fn exact_jobs_run_next_to_others() {
    let options = Options { rounds: 3, gradient_values: 1000, ..Options::default() };
    for first_exact in [true, false] {
        let report = run(&two_jobs(first_exact), schemes::OPTIMIZED, FAULTS, &options);
        let partials =
            |job: usize| report.jobs[job].servers.iter().map(|server| server.partials).sum::<u64>();
        assert!(partials(0) > 0 && partials(1) > 0, "{report}");
    }
}

/// The campaign draws exact jobs, and their replay files contain them.
#[test]
fn random_trials_have_exact_jobs() {
    let exact = |seed: &u64| Trial::of_seed(*seed).topology.jobs().iter().any(|job| job.exact);
    let seeds: Vec<u64> = (1..=300).filter(exact).collect();
    assert!((30..90).contains(&seeds.len()), "{seeds:?}");
    assert!(Trial::of_seed(seeds[0]).topology.to_yaml().contains("sum: exact"));
}
