//! Links that are nearly full, or much narrower than others: no network with a plan is refused for its
//! numbers, and such links cost nothing.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use inart_planner_aggregation::{
    JobPlans, LpMethod, Options, Order, Paths, Results, check, check_jobs, lp_bound, lp_bound_over, plan,
    plan_jobs, schemes,
};
use inart_topologies::switched::{Job, Topology};

/// A deterministic random number generator.
pub struct Draws(pub u64);

impl Draws {
    /// Draws from 0 to below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Two jobs share the only narrow path to s1; each could have half of it.
const TWO_SWITCHES: &str = "
name: narrow
nodes:
  - {name: v0, kind: switch}
  - {name: v1, kind: switch}
  - {name: s0, kind: server}
  - {name: s1, kind: server}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [v0, v1], rate: 10 Mbps}
  - {ends: [s0, v1], rate: 1 Gbps}
  - {ends: [s1, v0], rate: 1 Gbps}
  - {ends: [w2, v1], rate: 1 Gbps}
  - {ends: [w3, v1], rate: 1 Gbps}
jobs:
";

fn together(topology: &Topology) -> JobPlans {
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    let plans = plan_jobs(topology, &jobs, &Options::new(schemes::OPTIMIZED), Order::Together).unwrap();
    check_jobs(topology, &plans).unwrap();
    plans
}

#[test]
fn a_narrow_link_that_two_jobs_share() {
    let j0 = "  - {name: j0, workers: [w2], servers: [s1]}\n";
    let j1 = "  - {name: j1, workers: [w3], servers: [s0, s1]}\n";
    for jobs in [[j0, j1], [j1, j0]] {
        let topology = Topology::from_yaml(&(TWO_SWITCHES.to_owned() + &jobs.concat())).unwrap();
        let plans = together(&topology);
        let rate = |job: &str| plans.plans.iter().find(|plan| plan.job == job).unwrap().rate_bps;
        // j1 has s0 for itself, at 1 Gbps, so j0 has all of the narrow link.
        assert!((rate("j0") / 10e6 - 1.0).abs() < 1e-5, "{}", rate("j0"));
        assert!((rate("j1") / 1e9 - 1.0).abs() < 1e-5, "{}", rate("j1"));
    }
}

/// Returns two servers, one of them behind a link between switches with `left_bps` available.
fn two_servers(left_bps: u64) -> Topology {
    let background = format!("background:\n  - {{link: [v1, v0], rate: {} bps}}\n", 1_000_000_000 - left_bps);
    let text = TWO_SWITCHES.replace("rate: 10 Mbps", "rate: 1 Gbps").replace("jobs:", &background);
    Topology::from_yaml(&format!("{text}jobs:\n  - {{name: j}}\n")).unwrap()
}

#[test]
fn a_server_behind_a_link_that_is_nearly_full() {
    for left_bps in [1, 20, 1000, 100_000] {
        let topology = two_servers(left_bps);
        for scheme in [schemes::OPTIMIZED, schemes::INART, schemes::OPTIMAL] {
            for paths in [Paths::Any, Paths::Shortest] {
                let options = Options { paths, ..Options::new(scheme) };
                let plan = plan(&topology, &topology.jobs()[0], &options).unwrap();
                check(&topology, &plan).unwrap();
                if scheme.name() == "inart" {
                    continue;
                }
                // Two workers send 500 Mbps each to s0.
                assert!((plan.rate_bps / 0.5e9 - 1.0).abs() < 1e-3, "{left_bps} {}", plan.rate_bps);
                assert!(plan.bounds.integral_bps <= 0.5e9 * (1.0 + 1e-2), "{:?}", plan.bounds);
            }
        }
        let bound = lp_bound(&topology, &topology.jobs()[0], false, LpMethod::Program).unwrap();
        assert!(bound >= 0.5e9 && bound <= 0.5e9 + left_bps as f64 * 2.0 + 100.0, "{left_bps} {bound}");
    }
}

/// The difference of a rate and its use by others is 1e-7 bit/s, by rounding: the link is full.
#[test]
fn a_rounding_error_is_no_capacity() {
    let used = [1e9, 999_999_999.999_999_9];
    assert!(used[0] - used[1] > 0.0);
    let problems = used.map(|used| {
        let full = format!("background:\n  - {{link: [v1, v0], rate: {used:?} bps}}\n");
        let text = TWO_SWITCHES.replace("rate: 10 Mbps", "rate: 1 Gbps").replace("jobs:", &full);
        let text = format!("{text}jobs:\n  - {{name: j, workers: [w2], servers: [s1]}}\n");
        let topology = Topology::from_yaml(&text).unwrap();
        plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap_err().to_string()
    });
    assert_eq!(problems[0], problems[1]);
}

/// Returns a network of up to four switches, two servers and three workers at 1 Gbps, some of whose link
/// directions are nearly full, and the same with these directions full.
fn nearly_full(draws: &mut Draws) -> [String; 2] {
    let switches = 2 + draws.below(3);
    let servers = 1 + draws.below(2);
    let workers = 2 + draws.below(2);
    let mut links: Vec<(String, String)> = Vec::new();
    for v in 1..switches {
        links.push((format!("v{}", draws.below(v)), format!("v{v}")));
    }
    for (a, b) in [(0, switches - 1), (1, switches - 1)] {
        let link = (format!("v{a}"), format!("v{b}"));
        if a < b && !links.contains(&link) {
            links.push(link);
        }
    }
    let between = links.len();
    let mut nodes = String::new();
    for v in 0..switches {
        let aggregation = [0, 500, 1500, 3000][draws.below(4)];
        let _ = writeln!(nodes, "  - {{name: v{v}, kind: switch, aggregation_capacity: {aggregation} Mbps}}");
    }
    for (kind, letter, count) in [("server", 's', servers), ("worker", 'w', workers)] {
        for at in 0..count {
            let _ = writeln!(nodes, "  - {{name: {letter}{at}, kind: {kind}}}");
            let at_switch = draws.below(switches);
            links.push((format!("{letter}{at}"), format!("v{at_switch}")));
        }
    }
    let mut other = [String::new(), String::new()];
    let mut full: Vec<(usize, bool)> = Vec::new();
    for _ in 0..1 + draws.below(3) {
        // Mostly between switches.
        let link = if draws.below(4) > 0 { draws.below(between) } else { draws.below(links.len()) };
        let back = draws.below(2) == 1;
        if !full.contains(&(link, back)) {
            full.push((link, back));
            let (a, b) = &links[link];
            let (a, b) = if back { (b, a) } else { (a, b) };
            let left = [1u64, 7, 20, 300][draws.below(4)];
            for (other, left) in other.iter_mut().zip([left, 0]) {
                let _ = writeln!(other, "  - {{link: [{a}, {b}], rate: {} bps}}", 1_000_000_000 - left);
            }
        }
    }
    let links: String =
        links.iter().map(|(a, b)| format!("  - {{ends: [{a}, {b}], rate: 1 Gbps}}\n")).collect();
    other.map(|other| {
        format!("name: full\nnodes:\n{nodes}links:\n{links}background:\n{other}jobs: [{{name: j}}]\n")
    })
}

#[test]
fn links_that_are_nearly_full_cost_nothing() {
    let mut draws = Draws(1);
    let mut compared = 0;
    for _ in 0..200 {
        let [nearly, whole] = nearly_full(&mut draws).map(|text| Topology::from_yaml(&text).unwrap());
        let options = Options::new(schemes::OPTIMIZED);
        let made = plan(&nearly, &nearly.jobs()[0], &options);
        let made = made.unwrap_or_else(|error| panic!("{error}\n{}", nearly.to_yaml()));
        assert_eq!(check(&nearly, &made), Ok(()), "{}", nearly.to_yaml());
        let lp = made.bounds.lp_bps;
        assert!(lp.is_some(), "{}", nearly.to_yaml());
        let Ok(without) = plan(&whole, &whole.jobs()[0], &options) else { continue };
        compared += 1;
        let (rate, least) = (made.rate_bps, without.rate_bps);
        assert!(rate >= least * (1.0 - 1e-6), "{rate} below {least}\n{}", nearly.to_yaml());
        // The most that the links could carry: 300 bit/s each.
        let bound = made.bounds.integral_bps;
        assert!(bound <= without.bounds.integral_bps + 5000.0, "{bound}\n{}", nearly.to_yaml());
        let of_lp = (Paths::Any, Results::Counted);
        let f = lp_bound_over(&whole, &whole.jobs()[0], false, of_lp, LpMethod::Quickest).unwrap();
        assert!(lp.unwrap() >= f * (1.0 - 1e-6), "{lp:?} below {f}\n{}", nearly.to_yaml());
    }
    assert!(compared > 50, "{compared}");
}
