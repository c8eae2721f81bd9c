//! Peers and their coordinator in virtual time, compared with the fluid model of rounds and of stale
//! synchronous training, which has no chunks, no messages and no coordinator.
#![allow(clippy::unwrap_used)]

use inart_peers_agent::Sync;
use inart_planner_peers::{Multicast, Reading, Scheme, Sharing};
use inart_simulator_peers::ideal::{Draw, SspOptions, run_rounds, run_ssp};
use inart_simulator_peers::{Figures, Options, Outcome, Rounds, SimulationError, Stale, Until, simulate};
use inart_topologies::peers::Mesh;

/// Returns ports of 60 to 139 Mbit/s; updates of 1.5 MB: 100 chunks of 15 kB.
fn document(peers: usize, receivers: usize, link: &str, more: &str) -> String {
    let each = |of: &dyn Fn(usize) -> String| (1..=peers).map(of).collect::<String>();
    let rate = |at: usize| (60 + 17 * at % 80, 60 + 29 * at % 80);
    let link = |at: usize| {
        let (up, down) = rate(at);
        format!("  - {{ends: [p{at}, s1], rate: [{up} Mbps, {down} Mbps]{link}}}\n")
    };
    format!(
        "name: mesh\nnodes:\n  - {{name: s1, kind: switch}}\n{}links:\n{}{more}jobs:\n  - {{name: job, receivers: {receivers}, \
         update: 1500 kB, compute: {{mean: 400 ms, cv: 0.5}}}}\n",
        each(&|at| format!("  - {{name: p{at}, kind: peer}}\n")),
        each(&link)
    )
}

fn mesh(peers: usize, receivers: usize) -> Mesh {
    Mesh::from_yaml(&document(peers, receivers, "", "")).unwrap()
}

fn bsp(scheme: Scheme, multicast: Multicast, rounds: u32) -> Options {
    Options {
        scheme,
        given: None,
        reading: Reading::default(),
        multicast,
        sync: Sync::Bsp,
        force_after: None,
        until: Until::Rounds(rounds),
        chunks: 100,
        seed: 3,
    }
}

fn ssp(scheme: Scheme, multicast: Multicast, seconds: f64) -> Options {
    let (sync, until) = (Sync::Ssp { staleness: 4 }, Until::Seconds(seconds));
    Options { sync, until, force_after: Some(4), ..bsp(scheme, multicast, 1) }
}

fn run(mesh: &Mesh, options: &Options) -> Outcome {
    simulate(mesh, &mesh.jobs()[0], options).unwrap()
}

fn rounds(outcome: &Outcome) -> &Rounds {
    let Figures::Rounds(rounds) = &outcome.figures else { panic!("{outcome:?}") };
    rounds
}

fn stale(outcome: &Outcome) -> &Stale {
    let Figures::Stale(stale) = &outcome.figures else { panic!("{outcome:?}") };
    stale
}

fn is_fault_free(outcome: &Outcome) {
    let Outcome { given_up, gone, rounds_with_previous_receivers, repairs, lost, overflowed, .. } = *outcome;
    assert_eq!(
        [given_up, gone, rounds_with_previous_receivers, repairs, lost, overflowed],
        [0; 6],
        "{outcome:?}"
    );
}

#[test]
fn equal_updates_take_as_long_as_in_the_fluid_model() {
    let mesh = mesh(12, 4);
    for multicast in [Multicast::Switch, Multicast::Hosts] {
        for scheme in Scheme::ALL {
            let options = bsp(scheme, multicast, 6);
            let outcome = run(&mesh, &options);
            is_fault_free(&outcome);
            let ours = rounds(&outcome);
            let plan = inart_planner_peers::Options {
                seed: 3,
                ..inart_planner_peers::Options::new(scheme, multicast)
            };
            let fluid = run_rounds(&mesh, &mesh.jobs()[0], &plan, Draw::Random, Sharing::Fair, 6).unwrap();
            let case = format!("{scheme} by {multicast}: {ours:?}, {fluid:?}");
            eprintln!("{case}");
            assert_eq!(ours.rounds, 6, "{case}");
            assert!((0.98..1.10).contains(&(ours.seconds / ours.planned_s)), "{case}");
            if matches!(scheme, Scheme::Optimized | Scheme::Optimal) {
                // Orpheus draws others, and Algorithm 1 breaks ties by waits.
                assert!((ours.planned_s / fluid.seconds - 1.0).abs() < 1e-6, "{case}");
            }
            // Every update of every round reached all its receivers, and was compared there.
            let reached = ours.receivers_mean * 12.0 * 6.0;
            assert!((outcome.updates_compared as f64 - reached).abs() < 1e-6 && ours.receivers_mean >= 4.0);
            assert_eq!(outcome.averages_compared, 12 * 6, "{case}");
        }
    }
}

#[test]
fn stale_synchronous_training_is_near_the_fluid_model() {
    let mesh = mesh(12, 4);
    for (multicast, scheme) in [
        (Multicast::Switch, Scheme::Optimized),
        (Multicast::Switch, Scheme::Selmcast),
        (Multicast::Switch, Scheme::Orpheus),
        (Multicast::Hosts, Scheme::Optimized),
    ] {
        let outcome = run(&mesh, &ssp(scheme, multicast, 20.0));
        let ours = stale(&outcome);
        let plan = inart_planner_peers::Options {
            seed: 3,
            force_after: Some(4),
            ..inart_planner_peers::Options::new(scheme, multicast)
        };
        let options = SspOptions {
            plan,
            reading: Reading::default(),
            draw: Draw::Random,
            staleness: Some(4),
            sharing: Sharing::Fair,
            duration_s: 20.0,
        };
        let fluid = run_ssp(&mesh, &mesh.jobs()[0], &options).unwrap();
        let case = format!("{scheme} by {multicast}: {ours:?}, {fluid:?}, {outcome:?}");
        eprintln!("{case}");
        assert_eq!(
            [outcome.given_up, outcome.gone, outcome.rounds_with_previous_receivers, outcome.lost],
            [0; 4],
            "{case}"
        );
        assert!((ours.utilization / fluid.utilization - 1.0).abs() < 0.2, "{case}");
        assert!((ours.scale / fluid.scale - 1.0).abs() < 0.25, "{case}");
        assert!(ours.max_gap <= 5 && ours.rounds > 100, "{case}");
        assert!(outcome.updates_compared >= 4 * ours.rounds, "{case}");
    }
}

/// With more than 64 peers a chunk leaves in several frames.
#[test]
fn many_peers_are_all_reached() {
    let mesh = mesh(100, 10);
    let options = Options { chunks: 20, ..bsp(Scheme::Selmcast, Multicast::Switch, 2) };
    let outcome = run(&mesh, &options);
    assert_eq!(outcome.averages_compared, 200, "{outcome:?}");
    assert!(outcome.updates_compared >= 2000 && outcome.given_up == 0, "{outcome:?}");
    let (seconds, planned_s) = (rounds(&outcome).seconds, rounds(&outcome).planned_s);
    assert!((0.98..1.10).contains(&(seconds / planned_s)), "{outcome:?}");
    assert!(outcome.overflowed == 0, "{outcome:?}");
}

#[test]
fn losses_are_retransmitted_and_equal_words_arrive() {
    let mesh = Mesh::from_yaml(&document(8, 3, ", loss: 2%, delay: 2 ms", "")).unwrap();
    for multicast in [Multicast::Switch, Multicast::Hosts] {
        for options in [bsp(Scheme::Optimized, multicast, 5), ssp(Scheme::Selmcast, multicast, 6.0)] {
            let outcome = run(&mesh, &options);
            assert!(outcome.lost > 0 && outcome.repairs > 0, "{outcome:?}");
            assert_eq!([outcome.given_up, outcome.gone], [0; 2], "{outcome:?}");
            if options.sync == Sync::Bsp {
                let reached = rounds(&outcome).receivers_mean * 8.0 * 5.0;
                assert!((outcome.updates_compared as f64 - reached).abs() < 1e-6, "{outcome:?}");
            }
        }
    }
}

/// A port's incoming rate falls to a seventh after two seconds. An update alone takes 0.6 s on it, and so
/// would a round if the coordinator used the topology's rate; it detects the drop by the updates, and sends
/// less to that port.
#[test]
fn the_coordinator_follows_a_port_that_others_use() {
    let trace = "traces:\n  - {link: [s1, p3], every: 2 s, rates: [147 Mbps, 20 Mbps]}\n";
    let mesh = Mesh::from_yaml(&document(8, 2, "", trace)).unwrap();
    for (multicast, most) in [(Multicast::Switch, 0.40), (Multicast::Hosts, 0.55)] {
        let outcome = run(&mesh, &bsp(Scheme::Optimized, multicast, 60));
        let case = format!("{outcome:?}");
        eprintln!("{case}");
        assert!(rounds(&outcome).seconds < most, "{case}");
        assert_eq!(outcome.overflowed > 0, multicast == Multicast::Switch, "{case}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_does_not() {
    let mesh = mesh(8, 3);
    let options = ssp(Scheme::Orpheus, Multicast::Hosts, 5.0);
    assert_eq!(run(&mesh, &options), run(&mesh, &options));
    assert_ne!(run(&mesh, &options), run(&mesh, &Options { seed: 4, ..options }));
}

#[test]
fn invalid_runs_are_named() {
    let mesh = mesh(4, 1);
    let refused = |options: &Options| simulate(&mesh, &mesh.jobs()[0], options).unwrap_err().to_string();
    let good = bsp(Scheme::Optimized, Multicast::Hosts, 1);
    assert_eq!(refused(&Options { chunks: 0, ..good.clone() }), "the number of chunks must be above 0");
    assert!(refused(&Options { chunks: 2_000_000, ..good.clone() }).contains("give at most 1500000"));
    let rounds = Options { until: Until::Rounds(0), ..good.clone() };
    assert_eq!(refused(&rounds), "the number of rounds must be above 0");
    let timed = |seconds| Options { until: Until::Seconds(seconds), ..good.clone() };
    assert_eq!(refused(&timed(f64::NAN)), "the duration must be above 0");
    assert!(refused(&timed(1e9)).contains("give a shorter one"));
    assert!(
        refused(&ssp(Scheme::Optimal, Multicast::Hosts, 1.0)).contains("run selmcast, orpheus or optimized")
    );
    let other = |from: &str, to: &str| {
        let text = document(4, 1, "", "");
        assert!(text.contains(from));
        let mesh = Mesh::from_yaml(&text.replace(from, to)).unwrap();
        simulate(&mesh, &mesh.jobs()[0], &timed(5.0)).unwrap_err()
    };
    let compute = ", compute: {mean: 400 ms, cv: 0.5}";
    assert!(matches!(other(compute, ""), SimulationError::NoCompute { .. }));
    assert!(matches!(other(compute, ", required_pairs: [[p1, p2]]"), SimulationError::OneRound { .. }));
    let unequal = other("update: 1500 kB", "update: {default: 1500 kB, overrides: {p2: 3 MB}}").to_string();
    assert!(unequal.contains("update of p2 has another length than that of p1"), "{unequal}");
}
