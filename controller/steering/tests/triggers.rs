//! Triggers of plan requests: plans that others activate, congestion reports of hosts, scheduled share
//! updates; and the time until a trigger is noticed.
//! for new shares; and how long it took to notice.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_planner_aggregation::{Options, Plan, plan_all, schemes};
use inart_steering::{Decision, HostSeen, LinkSeen, ReplanThresholds, Shares, Trigger};
use inart_topologies::switched::{Job, Topology};

use crate::support::{Owner, STEP, link, network, node};

fn ms(decision: &Decision) -> f64 {
    decision.noticed_ms.unwrap()
}

#[test]
fn decisions_state_the_time_until_the_trigger_was_noticed() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let quiet = owner.all_up(|_, _| 0.0);
    (0..5).for_each(|_| drop(owner.step(&quiet)));
    // Two intervals without a state of the link, then one that shows it down.
    let broken = link(&owner.topology, "l1", owner.spine());
    let mut seen = quiet.clone();
    seen.links[broken.index()] = [None; 2];
    (0..2).for_each(|_| assert!(owner.step(&seen).is_none()));
    seen.record_link(broken, false, LinkSeen::down());
    let decision = owner.step(&seen).unwrap();
    assert_eq!(ms(&decision), 600.0, "three intervals of 200 ms: {decision}");
    assert!(decision.to_string().contains("failed, noticed within 600 ms; job"), "{decision}");
    assert_eq!(decision.planning_ms, 20.0);
    // Background traffic: from the start of the first of two intervals that show it.
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    (0..5).for_each(|_| drop(owner.step(&quiet)));
    let busy = link(&owner.topology, "l1", owner.spine());
    let others = owner.all_up(|id, _| if id == busy { 3e9 } else { 0.0 });
    owner.step(&others);
    assert_eq!(ms(&owner.step(&others).unwrap()), 400.0);
    // A command has nothing to notice.
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let asked = owner.steering.command(owner.now, Shares::Kept).unwrap();
    let plans = asked.plan(schemes::OPTIMIZED, &|| f64::INFINITY).unwrap();
    let decision = owner.steering.answer(owner.now, asked.number, Ok(&plans), STEP).unwrap();
    assert_eq!(decision.noticed_ms, None);
}

/// Others made a job's plan worse: once they are done, the usual thresholds apply.
#[test]
fn plans_that_others_activate_are_examined_after_they_have_settled() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let quiet = owner.all_up(|_, _| 0.0);
    assert!((0..20).all(|_| owner.step(&quiet).is_none()), "the first plans are known");
    let good = owner.active.clone();
    // Lost aggregation, as after a view of fewer workers; and again while the job settles.
    let poor = Plan { rate_bps: good[0].rate_bps / 2.0, ..good[0].clone() };
    let other = Plan { rate_bps: good[0].rate_bps / 3.0, ..good[0].clone() };
    owner.steering.set_active(vec![other]);
    assert!((0..5).all(|_| owner.step(&quiet).is_none()), "not settled yet");
    // Between two views no host follows.
    owner.steering.set_active(Vec::new());
    assert!(owner.step(&quiet).is_none());
    owner.steering.set_active(vec![poor]);
    let asked = (1..30).find_map(|n| owner.step(&quiet).map(|decision| (n, decision)));
    let (after, decision) = asked.unwrap();
    assert_eq!(after, 11, "2 s after the first observation");
    assert_eq!(decision.trigger, Trigger::Moved { jobs: vec!["net".into()] });
    assert!(decision.is_change() && decision.gain.unwrap() > 1.9, "{decision}");
    assert_eq!(ms(&decision), 2000.0);
    assert!((0..50).all(|_| owner.step(&quiet).is_none()), "a decision's own plan is no trigger");
    // An equally good plan stays.
    let (now, mut as_good) = (owner.active.clone(), owner.active.clone());
    as_good[0].rate_bps *= 0.99;
    owner.steering.set_active(as_good);
    let decision = (0..30).find_map(|_| owner.step(&quiet)).unwrap();
    assert!(!decision.is_change(), "{decision}");
    assert_eq!(now[0].job, decision.jobs[0].job);
}

#[test]
fn congestion_that_hosts_report_is_a_trigger_where_counters_show_nothing() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let (w1, quiet) = (node(&owner.topology, "w1"), owner.all_up(|_, _| 0.0));
    // Reports differ.
    let reports = std::cell::Cell::new(0);
    let report = |host: HostSeen| {
        let mut seen = quiet.clone();
        reports.set(reports.get() + 1);
        seen.hosts.insert(w1, HostSeen { started: Some(reports.get()), ..host });
        seen
    };
    let fine = || report(HostSeen { delivered: Some(0.9), marked: Some(0.1), ..HostSeen::default() });
    assert!((0..10).all(|_| owner.step(&fine()).is_none()));
    let signs = [
        (
            HostSeen { retransmitted: Some(0.08), ..HostSeen::default() },
            "8.0 % of sent frames are retransmissions",
        ),
        (
            HostSeen { marked: Some(0.5), ..HostSeen::default() },
            "50.0 % of received frames have a congestion mark",
        ),
        (HostSeen { delivered: Some(0.4), ..HostSeen::default() }, "at 40.0 % of the planned rate"),
    ];
    for (sign, words) in signs {
        let queueing = Some(Duration::from_millis(7));
        let bad = || report(HostSeen { queueing, ..sign });
        // Neither two consecutive reports suffice, nor observations without a new report.
        (0..2).for_each(|_| assert!(owner.step(&bad()).is_none()));
        assert!(owner.step(&fine()).is_none());
        assert!(owner.step(&bad()).is_none());
        let second = bad();
        (0..5).for_each(|_| assert!(owner.step(&second).is_none()));
        assert!(owner.step(&quiet).is_none());
        let decision = owner.step(&bad()).unwrap();
        let line = decision.to_string();
        assert!(line.contains("congestion at w1 of job net: ") && line.contains(words), "{line}");
        assert!(line.contains("queueing delay 7.0 ms"), "{line}");
        assert_eq!(ms(&decision), 1600.0, "{line}");
        // Not requested again at once.
        assert!((0..100).all(|_| owner.step(&bad()).is_none()));
        (0..300).for_each(|_| assert!(owner.step(&fine()).is_none()));
    }
}

/// Two servers behind links of their own; background traffic fills most of one link.
fn two_servers(elastic: [bool; 2]) -> Topology {
    let job = |name: &str, workers: &str, elastic: bool| {
        format!("{{name: {name}, workers: [{workers}], servers: [s1, s2], elastic: {elastic}}}")
    };
    let jobs = [job("one", "a, b", elastic[0]), job("two", "c, d", elastic[1])].join(", ");
    let text = format!(
        "{{name: net, nodes: [{{name: v, kind: switch, aggregation_capacity: 40 Gbps}}, {{name: s1, kind: server}},
        {{name: s2, kind: server}}, {{name: a, kind: worker}}, {{name: b, kind: worker}},
        {{name: c, kind: worker}}, {{name: d, kind: worker}}],
        links: [{{ends: [a, v], rate: 40 Gbps}}, {{ends: [b, v], rate: 40 Gbps}},
        {{ends: [c, v], rate: 40 Gbps}}, {{ends: [d, v], rate: 40 Gbps}},
        {{ends: [s1, v], rate: 4 Gbps}}, {{ends: [s2, v], rate: 4 Gbps}}],
        jobs: [{jobs}]}}"
    );
    Topology::from_yaml(&text).unwrap()
}

fn shares(plan: &Plan) -> Vec<f64> {
    plan.shards.iter().map(|shard| shard.share).collect()
}

/// Runs until a scheduled share update while background traffic fills three quarters of a server's link.
fn shares_in_time(elastic: [bool; 2]) -> (Owner, Vec<Plan>, Decision) {
    let thresholds = ReplanThresholds {
        shares_every: Some(Duration::from_secs(3)),
        hysteresis: 1.0,
        ..ReplanThresholds::default()
    };
    let mut owner = Owner::new(two_servers(elastic), thresholds);
    let before = owner.active.clone();
    let busy = link(&owner.topology, "s1", "v");
    let others = owner.all_up(|id, _| if id == busy { 3e9 } else { 0.0 });
    let decision = (0..15).find_map(|_| owner.step(&others)).unwrap();
    assert_eq!(decision.trigger, Trigger::Schedule);
    (owner, before, decision)
}

#[test]
fn scheduled_updates_give_elastic_jobs_new_shares() {
    let (owner, before, decision) = shares_in_time([true, true]);
    assert!(decision.is_change() && decision.gain.unwrap() > 1.5, "{decision}");
    assert!(decision.jobs.iter().all(|job| job.note.is_empty()), "{decision}");
    // Both jobs avoid the busy link: 1 Gbit/s of 5.
    let at_s1 = |plans: &[Plan]| plans.iter().map(|plan| shares(plan)[0] * plan.rate_bps).sum::<f64>();
    assert!(at_s1(&before) > 1.5e9 && at_s1(&owner.active) < 1.001e9, "{decision}");
}

#[test]
fn jobs_that_are_not_elastic_keep_their_shares_with_a_note() {
    let (owner, before, decision) = shares_in_time([false, false]);
    assert!(!decision.is_change(), "{decision}");
    let note = "(routes only: its shares stay while it runs, since it is not elastic)";
    assert_eq!(decision.to_string().matches(note).count(), 2, "{decision}");
    assert_eq!(owner.active, before);

    let (owner, before, decision) = shares_in_time([true, false]);
    assert_eq!(decision.to_string().matches(note).count(), 1, "{decision}");
    assert!(decision.jobs[0].note.is_empty(), "{decision}");
    assert_eq!(shares(&before[1]), shares(&owner.active[1]));
    // The plans together fit.
    for server in ["s1", "s2"] {
        let load = |plan: &Plan| {
            let load = plan.load.iter().filter(|load| load.resource.to_string().contains(server));
            load.map(|load| load.used_bps).fold(0.0, f64::max)
        };
        let all: f64 = owner.active.iter().map(load).sum();
        assert!(all <= 4.001e9, "{server}: {all}");
    }
}

/// Shares of a job whose servers changed are free, and the first request optimizes them.
#[test]
fn changes_of_servers_free_the_shares() {
    let topology = two_servers([true, true]);
    let mut owner =
        Owner::new(topology.clone(), ReplanThresholds { gain: 1.0, ..ReplanThresholds::default() });
    let s1 = topology.node_named("s1").unwrap();
    let jobs: Vec<Job> = topology.jobs().iter().map(|job| Job { servers: vec![s1], ..job.clone() }).collect();
    let fewer = plan_all(&topology.with_jobs(jobs), &Options::new(schemes::OPTIMIZED)).unwrap();
    owner.steering.set_active(fewer);
    let quiet = owner.all_up(|_, _| 0.0);
    owner.now += STEP;
    assert!(owner.steering.observe(owner.now, &quiet).is_none());
    owner.now += Duration::from_secs(2);
    let request = owner.steering.observe(owner.now, &quiet).unwrap();
    assert_eq!(request.shares, Shares::Free, "{}", request.trigger);
}

/// Kernels of hosts send some frames on their own, such as IPv6's; they are not listed as background
/// traffic.
#[test]
fn background_traffic_is_listed_from_a_thousandth_of_the_capacity_on() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let [chatter, busy] =
        [("w1", 71.0), ("w2", 4e6)].map(|(host, bps)| (link(&owner.topology, host, "l1"), bps));
    let seen = owner.all_up(|id, back| match (id, back) {
        (id, _) if id == chatter.0 => chatter.1,
        (id, false) if id == busy.0 => busy.1,
        _ => 0.0,
    });
    (0..5).for_each(|_| drop(owner.step(&seen)));
    let named = owner.steering.background_by_name();
    assert_eq!(named, [("link w2->l1".to_owned(), 4e6)].into());
}
