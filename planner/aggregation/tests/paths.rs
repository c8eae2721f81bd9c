//! Plans over any simple path: detours where they help, bounds that hold for all of them, and no plan that
//! the checker refuses.

#![allow(clippy::unwrap_used)]

use crate::brute;

use brute::{Size, network, optimum};
use inart_planner_aggregation::plan::Moved;
use inart_planner_aggregation::{
    Levels, LpMethod, Options, Order, Paths, Plan, PlanError, Results, check, check_jobs, lp_bound,
    lp_bound_over, plan, plan_jobs, schemes,
};
use inart_topologies::switched::Topology;

const TRIANGLE: &str = include_str!("../../../topologies/triangle.yaml");
const ONEWAY: &str = include_str!("data/oneway.yaml");

fn topology(text: &str) -> Topology {
    Topology::from_yaml(text).unwrap()
}

fn made(topology: &Topology, options: &Options<'_>) -> Result<Plan, PlanError> {
    let plan = plan(topology, &topology.jobs()[0], options)?;
    let read = Plan::from_json(&plan.to_json()).unwrap();
    assert_eq!(check(topology, &read), Ok(()), "{:?}\n{}", options, topology.to_yaml());
    Ok(plan)
}

fn inart(topology: &Topology) -> Plan {
    made(topology, &Options::new(schemes::OPTIMIZED)).unwrap()
}

/// Returns the triangle with `bps` of background traffic from v0 to v2.
fn loaded(bps: u32) -> Topology {
    topology(&format!("{TRIANGLE}background:\n  - {{link: [v0, v2], rate: {bps} bps}}\n"))
}

#[test]
fn a_detour_around_a_slow_link() {
    let triangle = topology(TRIANGLE);
    for scheme in [schemes::OPTIMIZED, schemes::OPTIMAL] {
        let any = made(&triangle, &Options::new(scheme)).unwrap();
        assert_eq!((any.rate_bps, any.paths), (10e6, Some(Paths::Any)), "{scheme}");
        assert!(any.is_proven_optimal(), "{scheme}");
        assert_eq!(any.flows[0].path, ["w0", "v0", "v1", "v2", "s0"]);
        let shortest = Options { paths: Paths::Shortest, ..Options::new(scheme) };
        let shortest = made(&triangle, &shortest).unwrap();
        assert_eq!((shortest.rate_bps, shortest.paths), (1e6, Some(Paths::Shortest)), "{scheme}");
        assert!(shortest.is_proven_optimal(), "{scheme}");
    }
    let two = Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) };
    assert_eq!(made(&triangle, &two).unwrap().rate_bps, 10e6);
    let job = &triangle.jobs()[0];
    for (paths, bps) in [(Paths::Any, 10e6), (Paths::Shortest, 1e6)] {
        let found =
            lp_bound_over(&triangle, job, false, (paths, Results::Counted), LpMethod::Program).unwrap();
        assert!((found / bps - 1.0).abs() < 1e-6, "{paths}: {found}");
    }
    assert_eq!(lp_bound(&triangle, job, false, LpMethod::Quickest).unwrap(), 10e6);
}

#[test]
fn the_checker_holds_a_plan_to_the_paths_it_states() {
    let triangle = topology(TRIANGLE);
    let mut plan = inart(&triangle);
    plan.paths = None; // as plans were before
    let old = Plan::from_json(&plan.to_json()).unwrap();
    assert_eq!((old.paths, check(&triangle, &old)), (None, Ok(())));
    plan.paths = Some(Paths::Shortest);
    let refused = check(&triangle, &plan).unwrap_err();
    assert!(refused[0].to_string().contains("longer than others"), "{refused:?}");
}

#[test]
fn more_other_traffic_never_raises_the_rate() {
    let rate = |paths: Paths, bps: u32| {
        made(&loaded(bps), &Options { paths, ..Options::new(schemes::OPTIMIZED) })
            .map_or(0.0, |plan| plan.rate_bps)
    };
    let levels = [0, 1, 500_000, 999_999, 1_000_000];
    assert!(levels.iter().all(|&bps| rate(Paths::Any, bps) == 10e6));
    let shortest: Vec<f64> = levels.iter().map(|&bps| rate(Paths::Shortest, bps)).collect();
    assert_eq!(shortest, [1e6, 999_999.0, 500e3, 1.0, 0.0]);
}

#[test]
fn a_running_plan_with_a_detour_stays() {
    let triangle = topology(TRIANGLE);
    let running = inart(&triangle);
    let again = Options { running: Some(&running), ..Options::new(schemes::OPTIMIZED) };
    let plan = made(&triangle, &again).unwrap();
    assert_eq!((plan.rate_bps, plan.moved), (10e6, Some(Moved { flows: 0, trunks: 0 })));
    // The tool's own plan from before the short link existed.
    let before = topology(&TRIANGLE.replace("  - {ends: [v0, v2], rate: 1 Mbps}\n", ""));
    let running = inart(&before);
    let again = Options { running: Some(&running), ..Options::new(schemes::OPTIMIZED) };
    let plan = made(&triangle, &again).unwrap();
    assert_eq!((plan.rate_bps, plan.moved), (10e6, Some(Moved { flows: 0, trunks: 0 })));
}

#[test]
fn several_jobs_make_detours() {
    let text = TRIANGLE.replace(
        "  - {name: s0, kind: server}",
        "  - {name: s0, kind: server}\n  - {name: w1, kind: worker}",
    );
    let jobs =
        "jobs:\n  - {name: a, workers: [w0], servers: [s0]}\n  - {name: b, workers: [w1], servers: [s0]}\n";
    let both = topology(&format!("{text}  - {{ends: [w1, v0], rate: 10 Mbps}}\n{jobs}"));
    let jobs: Vec<_> = both.jobs().iter().collect();
    for (order, least) in [(Order::Together, 4.9e6), (Order::InTurn, 0.99e6)] {
        let options = Options::new(schemes::OPTIMIZED);
        match plan_jobs(&both, &jobs, &options, order) {
            Ok(plans) => {
                assert_eq!(check_jobs(&both, &plans), Ok(()), "{order:?}");
                assert!(plans.min_rate_bps >= least, "{order:?}: {}", plans.min_rate_bps);
            }
            // The first job takes all of the server's link.
            Err(error) => assert!(matches!(error, PlanError::TakenBefore { .. }), "{error}"),
        }
    }
}

#[test]
fn a_link_full_in_one_direction() {
    let oneway = topology(ONEWAY);
    for &scheme in schemes::ALL {
        let plan = made(&oneway, &Options::new(scheme)).unwrap();
        assert_eq!(plan.rate_bps, 5e6, "{scheme}");
    }
    let two = Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) };
    assert_eq!(made(&oneway, &two).unwrap().rate_bps, 5e6);
    let shortest = Options { paths: Paths::Shortest, ..Options::new(schemes::OPTIMIZED) };
    assert_eq!(made(&oneway, &shortest).unwrap().rate_bps, 5e6);
}

#[test]
fn no_plan_is_refused_where_links_are_full_in_one_direction() {
    no_plan_is_refused(50, 120);
}

#[test]
#[ignore = "soak: about 35 s"]
fn no_plan_of_250_networks_is_refused_where_links_are_full_in_one_direction() {
    no_plan_is_refused(250, 800);
}

/// Plans networks of these seeds under every scheme; more than `least` plans must exist.
fn no_plan_is_refused(networks: u64, least: u32) {
    let mut planned = 0;
    for seed in 0..networks {
        let network = topology(&network(seed, &Size { switches: 6, workers: 4, servers: 2 }, 3));
        // For some the results have no path.
        let results = if seed % 2 == 0 { Results::Counted } else { Results::Ignored };
        for paths in [Paths::Any, Paths::Shortest] {
            for scheme in
                schemes::ALL.iter().copied().filter(|&scheme| scheme != schemes::OPTIMAL || seed % 10 == 0)
            {
                let options = Options { paths, results, ..Options::new(scheme) };
                planned += u32::from(made(&network, &options).is_ok());
            }
            let two = Options { paths, results, levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) };
            let two = made(&network, &two);
            if let (Ok(running), Paths::Any) = (&two, paths) {
                // From a plan whose trunks may end at other switches: only its flows' paths count.
                let one = Plan { levels: 1, ..running.clone() };
                let again = Options { running: Some(&one), results, ..Options::new(schemes::OPTIMIZED) };
                let _ = made(&network, &again);
            }
        }
    }
    assert!(planned > least, "{planned} planned");
}

/// Compares plans with the optimum over all simple paths on networks of these seeds: solved, plans below it
/// (and how far at worst), and plans proven.
fn against_brute_force(seeds: std::ops::Range<u64>, size: &Size, binaries: usize) -> [u32; 3] {
    let [mut solved, mut below, mut proven] = [0; 3];
    let mut worst: f64 = 1.0;
    for seed in seeds {
        let text = network(seed, size, 0);
        let network = topology(&text);
        let Some(best) = optimum(&network, &network.jobs()[0], true, binaries, Results::Counted) else {
            continue;
        };
        let plan = match made(&network, &Options::new(schemes::OPTIMIZED)) {
            Ok(plan) => plan,
            Err(error) => {
                assert_eq!(best, 0.0, "seed {seed}: {error}\n{text}");
                continue;
            }
        };
        solved += 1;
        let bounds = &plan.bounds;
        assert!(
            best <= bounds.integral_bps * (1.0 + 1e-6),
            "seed {seed}: {best} is above {bounds:?}\n{text}"
        );
        assert!(bounds.lp_bps.is_none_or(|lp| best <= lp * (1.0 + 1e-6)), "seed {seed}: {best}, {bounds:?}");
        if plan.rate_bps < best * (1.0 - 1e-6) {
            below += 1;
            worst = worst.min(plan.rate_bps / best);
            eprintln!("seed {seed}: {} of {best}, bound {}", plan.rate_bps, bounds.integral_bps);
        }
        proven += u32::from(plan.is_proven_optimal());
    }
    eprintln!("{solved} solved, {below} plans below the optimum, {worst:.3} of it at worst; {proven} proven");
    [solved, below, proven]
}

#[test]
fn small_networks_are_planned_as_well_as_by_brute_force() {
    plans_are_as_good_as_by_brute_force(60);
}

#[test]
#[ignore = "soak: about 30 s"]
fn three_hundred_small_networks_are_planned_as_well_as_by_brute_force() {
    plans_are_as_good_as_by_brute_force(300);
}

/// Compares plans of `networks` networks, unless the environment asks for others.
#[expect(clippy::disallowed_methods, reason = "the planner reads no environment, its tests may")]
fn plans_are_as_good_as_by_brute_force(networks: u64) {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (first, count) = (number("FIRST", 1), number("NETWORKS", networks));
    let size =
        Size { switches: number("SWITCHES", 5) as usize, workers: number("WORKERS", 3) as usize, servers: 2 };
    let [solved, below, proven] =
        against_brute_force(first..first + count, &size, number("BINARIES", 250) as usize);
    assert!(u64::from(solved) * 2 > count, "{solved} solved");
    assert!(below * 50 <= solved, "{below} of {solved} are below the optimum");
    assert!(proven * 10 >= solved * 8, "{proven} of {solved} proven");
}
