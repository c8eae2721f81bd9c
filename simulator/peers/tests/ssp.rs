//! Stale synchronous training in virtual time: properties of all schemes.
#![allow(clippy::unwrap_used)]

use inart_planner_peers::{Multicast, Options, PlanError, Reading, Scheme, Sharing};
use inart_simulator_peers::ideal::{Draw, Ssp, SspOptions, run_ssp};
use inart_topologies::peers::{Compute, Drawn, Mesh, draw};

fn mesh(cv: f64, seed: u64) -> Mesh {
    draw(&Drawn {
        name: "mesh".to_owned(),
        peers: 24,
        receivers: 7,
        lambda: 0.5,
        mu: 1.0,
        rate_bps: 40e9,
        update_bytes: 400e6,
        changes: None,
        compute: Some(Compute { mean_seconds: 1.0, cv }),
        seed,
    })
}

fn options(scheme: Scheme, multicast: Multicast) -> SspOptions {
    SspOptions {
        plan: Options { force_after: Some(4), ..Options::new(scheme, multicast) },
        reading: Reading::default(),
        draw: Draw::Random,
        staleness: Some(4),
        sharing: Sharing::Split,
        duration_s: 40.0,
    }
}

fn run(mesh: &Mesh, options: &SspOptions) -> Ssp {
    run_ssp(mesh, &mesh.jobs()[0], options).unwrap()
}

const CHOOSING: [Scheme; 3] = [Scheme::Optimized, Scheme::Selmcast, Scheme::Orpheus];

#[test]
fn the_bound_on_staleness_and_the_rule_of_k_hold() {
    for seed in 1..4 {
        for cv in [0.0, 0.3, 1.5] {
            let mesh = mesh(cv, seed);
            for scheme in CHOOSING {
                for multicast in [Multicast::Switch, Multicast::Hosts] {
                    for sharing in [Sharing::Split, Sharing::Fair] {
                        for (staleness, force_after) in [(4, 4), (0, 2), (2, 0)] {
                            let base = options(scheme, multicast);
                            let plan = Options { force_after: Some(force_after), ..base.plan.clone() };
                            let run =
                                run(&mesh, &SspOptions { plan, staleness: Some(staleness), sharing, ..base });
                            assert!(run.max_gap <= staleness + 1, "{run:?}");
                            assert!(run.longest_wait <= force_after, "{run:?}");
                            assert!(run.utilization > 0.0 && run.utilization < 1.0, "{run:?}");
                            assert!(run.scale >= 7.0 / 24.0 - 1e-12 && run.scale <= 23.0 / 24.0, "{run:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn without_the_rule_and_the_bound_peers_run_free() {
    let mesh = mesh(1.5, 1);
    let base = options(Scheme::Orpheus, Multicast::Switch);
    let plan = Options { force_after: None, ..base.plan.clone() };
    let free =
        run(&mesh, &SspOptions { plan, staleness: None, draw: Draw::Fixed, duration_s: 120.0, ..base });
    assert!(free.max_gap > 5 && free.longest_wait > 4, "{free:?}");
    assert!((free.scale - 7.0 / 24.0).abs() < 1e-12, "{free:?}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    for scheme in CHOOSING {
        let of = |seed| {
            let mesh = mesh(0.57, 1);
            let base = options(scheme, Multicast::Switch);
            run(&mesh, &SspOptions { plan: Options { seed, ..base.plan.clone() }, ..base })
        };
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }
}

#[test]
fn choosing_by_ports_reaches_more_peers_and_computes_more() {
    let mean = |scheme| {
        let runs: Vec<Ssp> =
            (1..4).map(|seed| run(&mesh(0.57, seed), &options(scheme, Multicast::Switch))).collect();
        let of = |value: fn(&Ssp) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
        (of(|run| run.utilization), of(|run| run.scale))
    };
    let (orpheus, selmcast, inart) = (mean(Scheme::Orpheus), mean(Scheme::Selmcast), mean(Scheme::Optimized));
    for other in [selmcast, inart] {
        assert!(other.0 > orpheus.0 && other.1 > 1.2 * orpheus.1, "{orpheus:?} {selmcast:?} {inart:?}");
    }
}

/// One peer's update at a time: 0.4 Gbit at 1 Gbit/s to the one other peer, and as long to compute.
#[test]
fn two_peers_without_noise_compute_and_send_in_turn() {
    let text = "name: t
nodes: [{name: a, kind: peer}, {name: b, kind: peer}, {name: s, kind: switch}]
links: [{ends: [a, s], rate: 1 Gbps}, {ends: [b, s], rate: [1 Gbps, 0.5 Gbps]}]
traces: [{link: [s, b], every: 3 s, rates: [0.5 Gbps, 1 Gbps]}]
jobs: [{name: j, receivers: 1, update: 50 MB, compute: {default: {mean: 0.4 s},
  overrides: {b: {mean: 0.8 s}}}}]
";
    let mesh = Mesh::from_yaml(text).unwrap();
    for scheme in CHOOSING {
        let base = options(scheme, Multicast::Switch);
        let free = run(&mesh, &SspOptions { staleness: None, duration_s: 2.41, ..base.clone() });
        // a: 0.4 s to compute and 0.8 s to send; b: 0.8 s and 0.4 s.
        assert_eq!((free.rounds, free.max_gap), (4, 0));
        assert!((free.utilization - (0.81 + 1.61) / 2.0 / 2.41).abs() < 1e-9, "{free:?}");
        // From 3 s on a sends as fast as b: a round takes 0.8 s. By 6.21 s: a ends at 1.2, 2.4, 3.3, 4.1,
        // 4.9, 5.7.
        let free = run(&mesh, &SspOptions { staleness: None, duration_s: 6.21, ..base.clone() });
        assert_eq!((free.rounds, free.max_gap), (6 + 5, 1));
        // With a staleness of 0 a waits for b in every round: both rounds take 1.2 s.
        let bound = run(&mesh, &SspOptions { staleness: Some(0), duration_s: 6.21, ..base });
        assert_eq!((bound.rounds, bound.max_gap), (5 + 5, 0));
    }
}

#[test]
fn invalid_runs_are_refused() {
    let mesh = mesh(0.3, 1);
    let optimal = run_ssp(&mesh, &mesh.jobs()[0], &options(Scheme::Optimal, Multicast::Switch)).unwrap_err();
    assert!(matches!(optimal, PlanError::RoundsOnly { .. }) && optimal.to_string().contains("selmcast"));
    let long = SspOptions { duration_s: 1e7, ..options(Scheme::Optimized, Multicast::Switch) };
    let error = run_ssp(&mesh, &mesh.jobs()[0], &long).unwrap_err();
    assert!(
        error.to_string().contains("10000000 rounds of job job") && error.to_string().contains("shorter")
    );
    let text = mesh.to_yaml();
    let (before, _) = text.split_once(", compute: ").unwrap();
    let mesh = Mesh::from_yaml(&format!("{before}}}\n")).unwrap();
    let error = run_ssp(&mesh, &mesh.jobs()[0], &options(Scheme::Optimized, Multicast::Switch)).unwrap_err();
    assert!(error.to_string().contains("add `compute: {mean: 1 s, cv: 0.57}`"), "{error}");
}
