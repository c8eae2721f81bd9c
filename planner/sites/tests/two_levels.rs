//! Plans of networks of two levels.
#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{Options as InnerOptions, schemes};
use inart_planner_sites::{Options, Scheme, plan_two_levels};
use inart_topologies::sites::Hierarchy;

const NETWORK: &str = include_str!("../../../topologies/two-levels.yaml");
/// Payload share of frames that contain only gradients.
const WHOLE: f64 = 1.0;

fn read(text: &str) -> Hierarchy {
    Hierarchy::from_yaml(text).unwrap()
}

#[test]
fn both_levels_sum_the_same_gradient() {
    let other = NETWORK.replace("workers: [w5, w6],", "workers: [w5, w6], gradient: 50 MB,");
    let both = read(&other);
    let job = &both.overlay.jobs()[0];
    let trees = Options::new(Scheme::Optimized);
    let error = plan_two_levels(&both, job, &InnerOptions::new(schemes::DEFAULT), &trees, WHOLE)
        .unwrap_err()
        .to_string();
    assert!(error.contains("inside site n2") && error.contains("60 MB"), "{error}");
}

/// n2's workers have 200 Mbps, and v3 aggregates them. In n1 two gradients share v2's link to v1.
#[test]
fn plans_of_both_levels_have_their_bounds() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    let trees = Options::new(Scheme::Optimized);
    let plan = plan_two_levels(&both, job, &InnerOptions::new(schemes::DEFAULT), &trees, WHOLE).unwrap();
    for (inside, of) in plan.insides.iter().zip(&both.insides) {
        let checked = inart_planner_aggregation::check(&of.topology, &inside.plan);
        assert_eq!(checked, Ok(()));
        assert!(inside.seconds >= inside.bound_s * 0.999_999);
    }
    let bits = job.gradient_bytes() as f64 * 8.0;
    assert!((plan.insides[1].seconds - bits / 200e6).abs() < 1e-6, "{}", plan.insides[1].seconds);
    assert!(inart_planner_sites::check(&both.overlay, job, &plan.between).is_empty());
    assert_eq!(plan.bound_s, plan.between.bounds.seconds);
    let slow = NETWORK.replace("rate: 200 Mbps", "rate: 20 Mbps");
    let both = read(&slow);
    let plan = plan_two_levels(&both, job, &InnerOptions::new(schemes::DEFAULT), &trees, WHOLE).unwrap();
    assert!((plan.bound_s - bits / 20e6).abs() < 1e-6, "the inside is the slowest: {}", plan.bound_s);
}
