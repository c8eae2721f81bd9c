//! The checker judges all numbers that a plan states; no number makes it fail.

use inart_planner_sites::{Options, Plan, Scheme, check, plan};
use inart_topologies::sites::Overlay;

/// 1 MB must get from n0 to n2: 100 Mbps by way of n1, from 20 ms on, and 50 Mbps on the direct link, from
/// 300 ms on. No round takes less than 100 ms.
const BY_HAND: &str = "
name: byhand
nodes: [{name: n0, kind: site}, {name: n1, kind: site}, {name: n2, kind: site}]
links:
  - {ends: [n0, n1], rate: 100 Mbps, delay: 10 ms}
  - {ends: [n1, n2], rate: 100 Mbps, delay: 10 ms}
  - {ends: [n0, n2], rate: 50 Mbps, delay: 300 ms}
jobs:
  - {name: j, sites: [n0, n1, n2], gradient: 1 MB, chunk: 1 MB}
";
const BOUND_S: f64 = 0.1;

fn planned() -> (Overlay, Plan) {
    let overlay = Overlay::from_yaml(BY_HAND).unwrap();
    let plan = plan(&overlay, &overlay.jobs()[0], &overlay.rates_at(0.0), &Options::new(Scheme::Optimized));
    (overlay, plan.unwrap())
}

/// Returns the checker's findings on a plan that states these seconds for its bound and for its round.
fn findings(bound_s: f64, predicted_s: f64) -> Vec<String> {
    let (overlay, mut plan) = planned();
    plan.bounds.seconds = bound_s;
    plan.predicted_s = predicted_s;
    check(&overlay, &overlay.jobs()[0], &plan)
}

fn is_proven(bound_s: f64) -> bool {
    let (_, plan) = planned();
    !findings(bound_s, plan.predicted_s).iter().any(|finding| finding.contains("is not proven"))
}

#[test]
fn a_bound_is_proven_up_to_the_time_that_no_round_beats() {
    for below in [BOUND_S, BOUND_S / 2.0, 1e-9, 1e-300, 5e-324, 0.0, -0.0, -1e300] {
        assert!(is_proven(below), "{below}");
    }
}

#[test]
fn a_bound_above_that_time_is_not_proven_however_large() {
    let larger = [1e3, 1e9, 1e15, 9.3e18, 1e30, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
    for above in [BOUND_S * 1.01].into_iter().chain(larger) {
        assert!(!is_proven(above), "{above}");
    }
}

#[test]
fn a_round_shorter_than_its_bound_or_its_links_is_refused() {
    for seconds in [f64::NAN, -1.0, -0.0, 0.0, 5e-324, BOUND_S / 2.0] {
        let found = findings(BOUND_S, seconds);
        assert!(found.iter().any(|finding| finding.starts_with("predicted_s: ")), "{seconds}: {found:?}");
    }
}
