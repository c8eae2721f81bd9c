//! A job that joins running ones, and one that leaves.
#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{
    JobPlans, Levels, Options, Order, Plan, PlanError, check_jobs, plan, plan_jobs, plan_joining, schemes,
};
use inart_topologies::switched::generate::{Equipment, deal_jobs, fat_tree};
use inart_topologies::switched::{Job, Topology};

/// Two jobs of two workers and a server each, on one switch: they share only the switch's aggregation.
fn one_switch(aggregation: &str) -> Topology {
    let text = format!(
        "{{name: shared, nodes: [{{name: v, kind: switch, aggregation_capacity: {aggregation}}},
           {{name: s, kind: server}}, {{name: t, kind: server}},
           {{name: a, kind: worker}}, {{name: b, kind: worker}},
           {{name: c, kind: worker}}, {{name: d, kind: worker}}],
          links: [{{ends: [a, v], rate: 3 Mbps}}, {{ends: [b, v], rate: 3 Mbps}},
           {{ends: [c, v], rate: 3 Mbps}}, {{ends: [d, v], rate: 3 Mbps}},
           {{ends: [s, v], rate: 3 Mbps}}, {{ends: [t, v], rate: 3 Mbps}}],
          jobs: [{{name: one, workers: [a, b], servers: [s]}}, {{name: two, workers: [c, d], servers: [t]}}]}}"
    );
    Topology::from_yaml(&text).unwrap()
}

/// Checks the plans as a set, and that no job could be faster without slowing one that is no faster.
fn checked(topology: &Topology, plans: Vec<Plan>) -> Vec<Plan> {
    let min_rate_bps = plans.iter().map(|plan| plan.rate_bps).fold(f64::INFINITY, f64::min);
    let set = JobPlans {
        topology: topology.name().into(),
        order: Order::InTurn,
        plans,
        min_rate_bps,
        max_min_bound_bps: None,
        solve_ms: 0.0,
    };
    check_jobs(topology, &set).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    for plan in &set.plans {
        let full = |used: f64, capacity: f64| used >= capacity * (1.0 - 1e-6);
        let at_limit = plan.load.iter().any(|load| full(load.used_bps, load.capacity_bps));
        assert!(at_limit, "job {} could send faster", plan.job);
    }
    set.plans
}

fn routes(plan: &Plan) -> impl PartialEq + std::fmt::Debug + use<> {
    let shares: Vec<f64> = plan.shards.iter().map(|shard| shard.share).collect();
    (plan.flows.clone(), plan.trunks.clone(), plan.results.clone(), shares)
}

#[test]
fn a_job_takes_from_a_running_one_what_fairness_gives_it_and_gives_it_back() {
    let topology = one_switch("6 Mbps");
    let options = Options::new(schemes::OPTIMIZED);
    let [one, two] = [0, 1].map(|job| &topology.jobs()[job]);
    let alone = plan(&topology, one, &options).unwrap();
    assert!((alone.rate_bps - 3e6).abs() < 1.0, "both workers' gradients fill the switch");
    let both =
        checked(&topology, plan_joining(&topology, std::slice::from_ref(&alone), &[two], &options).unwrap());
    assert_eq!(routes(&both[0]), routes(&alone), "the running job keeps its routes");
    // Each server receives 3 Mbps: 1.5 without the switch. One aggregates at 3 Mbps or less; the split is
    // fair if neither could have more.
    let rates: Vec<f64> = both.iter().map(|plan| plan.rate_bps / 1e6).collect();
    assert!(rates.iter().all(|rate| (1.5 - 1e-6..=3.0 + 1e-6).contains(rate)), "{rates:?}");
    let left = checked(&topology, plan_joining(&topology, &both[..1], &[], &options).unwrap());
    assert!((left[0].rate_bps - alone.rate_bps).abs() < 1.0, "the job that stays has its rate again");
    assert_eq!(routes(&left[0]), routes(&alone));
    assert!(left[0].other_jobs.is_empty());
}

#[test]
fn jobs_that_share_nothing_change_nothing() {
    let topology = one_switch("12 Mbps");
    let options = Options::new(schemes::OPTIMIZED);
    let alone = plan(&topology, &topology.jobs()[0], &options).unwrap();
    let both =
        plan_joining(&topology, std::slice::from_ref(&alone), &[&topology.jobs()[1]], &options).unwrap();
    let rates: Vec<f64> = both.iter().map(|plan| (plan.rate_bps / 1e6 * 1e6).round() / 1e6).collect();
    assert_eq!(rates, [3.0, 3.0]);
}

#[test]
fn on_fat_trees_jobs_join_one_after_the_other_nearly_as_fairly_as_planned_together() {
    let mut worst = f64::INFINITY;
    for seed in 1..=6 {
        let equipment = Equipment {
            servers: 6,
            workers: 10,
            rate_bps: 10e6,
            aggregation_bps: 9e6,
            ingress_bps: 10e6,
            delay_seconds: 0.0,
            gradient_bytes: 1,
            seed,
        };
        let topology = deal_jobs(&fat_tree(4, &equipment).unwrap(), 3, 3).unwrap();
        let jobs: Vec<&Job> = topology.jobs().iter().collect();
        let options = Options { seed, ..Options::new(schemes::OPTIMIZED) };
        let mut running: Vec<Plan> = Vec::new();
        for job in &jobs {
            let before: Vec<_> = running.iter().map(routes).collect();
            running = checked(&topology, plan_joining(&topology, &running, &[job], &options).unwrap());
            let after: Vec<_> = running.iter().map(routes).take(before.len()).collect();
            assert_eq!(before, after, "seed {seed}: those that run keep their routes");
        }
        let together = plan_jobs(&topology, &jobs, &options, Order::Together).unwrap();
        let least = |plans: &[Plan]| plans.iter().map(|plan| plan.rate_bps).fold(f64::INFINITY, f64::min);
        worst = worst.min(least(&running) / least(&together.plans));
    }
    assert!(worst >= 0.5, "the slowest has {worst} of the rate that planning together gives it");
    eprintln!("the slowest job has at least {worst:.3} of the smallest rate when planned together");
}

#[test]
fn a_plan_that_is_not_of_this_network_is_named() {
    let topology = one_switch("6 Mbps");
    let options = Options::new(schemes::OPTIMIZED);
    let [one, two] = [0, 1].map(|job| &topology.jobs()[job]);
    let right = plan(&topology, one, &options).unwrap();
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = right.clone();
        change(&mut plan);
        plan_joining(&topology, &[plan], &[two], &options).unwrap_err().to_string()
    };
    for (wrong, named) in [
        (refused(&|plan| plan.topology = "other".into()), "topology \"other\", not \"shared\""),
        (refused(&|plan| plan.job = "three".into()), "job \"three\", which the topology has not"),
        (refused(&|plan| plan.flows[0].path.insert(1, "b".into())), "a network with a link between a and b"),
        (refused(&|plan| plan.flows[0].server = "t".into()), "server t, of which it has no share"),
        (
            refused(&|plan| plan.shards.iter_mut().for_each(|shard| shard.server = "a".into())),
            "of which it has no share",
        ),
    ] {
        assert!(wrong.contains(named), "{wrong}");
    }
    let two_levels = Options { levels: Levels::Two, ..options };
    assert_eq!(plan_joining(&topology, &[right], &[two], &two_levels), Err(PlanError::OneLevel));
}
