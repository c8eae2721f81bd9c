//! The InArt paper's Fig. 1, whose numbers are exact (enumeration of all 3^12 placements).

#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{Options, Scheme, check, plan, schemes};
use inart_topologies::switched::Topology;

fn fig1() -> Topology {
    Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).unwrap()
}

fn gbps(scheme: &dyn Scheme, equal_shares: bool) -> (f64, f64, Option<f64>) {
    let topology = fig1();
    let options = Options { equal_shares, ..Options::new(scheme) };
    let plan = plan(&topology, &topology.jobs()[0], &options).unwrap();
    check(&topology, &plan).unwrap();
    (plan.rate_bps / 1e9, plan.bounds.integral_bps / 1e9, plan.bounds.lp_bps.map(|lp| lp / 1e9))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn lbmm_is_four_thirds() {
    assert!(close(gbps(schemes::LBMM, false).0, 4.0 / 3.0));
}

#[test]
fn atp_is_two() {
    assert!(close(gbps(schemes::ATP, false).0, 2.0));
}

#[test]
fn inart_is_five_halves_and_proven() {
    let (rate, bound, lp) = gbps(schemes::OPTIMIZED, false);
    assert!(close(rate, 2.5), "{rate}");
    assert!(close(bound, rate), "{bound}");
    assert!(close(lp.unwrap(), 21.0 / 8.0), "{lp:?}");
}

#[test]
fn equal_shares_reach_twelve_fifths() {
    let (rate, bound, lp) = gbps(schemes::OPTIMIZED, true);
    assert!(close(rate, 2.4), "{rate}");
    assert!(close(bound, rate), "{bound}");
    assert!(close(lp.unwrap(), 21.0 / 8.0), "{lp:?}");
}

#[test]
fn r_inart_lies_between() {
    let options = |seed| Options { seed, equal_shares: true, ..Options::new(schemes::INART) };
    let topology = fig1();
    let rates: Vec<f64> = (0..300)
        .map(|seed| plan(&topology, &topology.jobs()[0], &options(seed)).unwrap().rate_bps / 1e9)
        .collect();
    let mean = rates.iter().sum::<f64>() / 300.0;
    let best = rates.iter().copied().fold(0.0, f64::max);
    assert!((1.7..2.2).contains(&mean), "{mean}");
    assert!(best <= 2.4 + 1e-6 && best > 2.2, "{best}");
}

#[test]
fn exact_agrees() {
    assert!(close(gbps(schemes::OPTIMAL, false).0, 2.5));
    assert!(close(gbps(schemes::OPTIMAL, true).0, 2.4));
}
