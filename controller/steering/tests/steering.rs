//! Decisions from observations: no flapping, no unneeded change, immediate reaction to failures.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_planner_aggregation::schemes;
use inart_steering::{Decision, LinkSeen, Outcome, ReplanThresholds, Shares, SwitchSeen, Trigger, Verdict};
use proptest::prelude::*;

use crate::support::{Owner, STEP, link, network, node};

#[test]
fn congestion_is_avoided_once() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let (spine, busy) = (owner.spine(), link(&owner.topology, "l1", owner.spine()));
    let others = owner.all_up(|id, _| if id == busy { 3e9 } else { 0.0 });
    assert!(owner.step(&others).is_none(), "one interval may be a burst");
    let decision = owner.step(&others).unwrap();
    assert!(
        matches!(&decision.trigger, Trigger::Background { resource, now_bps, .. }
        if resource.contains(spine) && *now_bps == 3e9),
        "{decision}"
    );
    assert!(decision.is_change() && decision.gain.unwrap() > 1.9, "{decision}");
    assert_ne!(owner.spine(), spine);
    for _ in 0..200 {
        assert!(owner.step(&others).is_none());
    }
    let last = owner.steering.decisions().next_back().unwrap();
    assert!(matches!(last.outcome, Some(Outcome::Done)), "{last}");
    let line = last.to_string();
    assert!(
        line.contains("background traffic uses 3 Gbps of 4 Gbps on link") && !line.contains('\n'),
        "{line}"
    );
    let read: Decision = serde_json::from_str(&serde_json::to_string(last).unwrap()).unwrap();
    assert_eq!(&read, last);
}

#[test]
fn a_burst_of_one_interval_is_ignored() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let quiet = owner.all_up(|_, _| 0.0);
    let burst = owner.all_up(|_, _| 3e9);
    for _ in 0..20 {
        assert!(owner.step(&burst).is_none());
        assert!(owner.step(&quiet).is_none());
    }
}

#[test]
fn background_offered_to_a_full_link_exceeds_the_carried_part() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let busy = link(&owner.topology, "l1", owner.spine());
    let planned = format!("link l1->{}", owner.spine());
    let load = owner.active[0].load.iter().find(|load| load.resource == planned);
    let planned_bps = load.unwrap().used_bps;
    // Our traffic gets four fifths of its plan: background traffic gets between four fifths and all of what
    // it sends.
    let rate_bps = owner.topology.link(busy).rate_bps();
    let ours_bps = 0.8 * planned_bps;
    let back = owner.topology.node(owner.topology.link(busy).ends[0]).name != "l1";
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.record_link(busy, back, LinkSeen::up(ours_bps, rate_bps - ours_bps));
    assert!(owner.step(&seen).is_none());
    owner.step(&seen);
    let believed = owner.steering.background().links[busy.index()][usize::from(back)];
    let sent_bps = ((rate_bps - ours_bps) / 0.8_f64.sqrt()).min(0.95 * rate_bps);
    assert!((believed - sent_bps).abs() < 1.0, "{believed} of {rate_bps}, {ours_bps} ours");
    // A link with spare capacity carries all background traffic.
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.record_link(busy, back, LinkSeen::up(ours_bps, 0.1 * rate_bps));
    owner.step(&seen);
    owner.step(&seen);
    assert_eq!(owner.steering.background().links[busy.index()][usize::from(back)], 0.1 * rate_bps);
}

#[test]
fn a_change_is_coordinated_where_the_active_routes_carry_a_quarter_at_least() {
    for (others_bps, is_coordinated) in [(2.5e9, true), (3.5e9, false)] {
        let mut owner = Owner::new(network(), ReplanThresholds::default());
        let busy = link(&owner.topology, "l1", owner.spine());
        let seen = owner.all_up(|id, _| if id == busy { others_bps } else { 0.0 });
        assert!(owner.step(&seen).is_none());
        owner.now += STEP;
        let request = owner.steering.observe(owner.now, &seen).unwrap();
        let plans = request.plan(schemes::OPTIMIZED, &|| f64::INFINITY).unwrap();
        let decision = owner.steering.answer(owner.now, request.number, Ok(&plans), STEP).unwrap();
        assert!(decision.is_change(), "{decision}");
        assert_eq!(request.is_coordinated(&decision), is_coordinated, "{decision}");
    }
}

#[test]
fn ended_traffic_decays_with_the_time_constant() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let busy = link(&owner.topology, "l1", owner.spine());
    let others = owner.all_up(|id, _| if id == busy { 3e9 } else { 0.0 });
    owner.step(&others);
    assert!(owner.step(&others).unwrap().is_change());
    let quiet = owner.all_up(|_, _| 0.0);
    // Of 3 Gbit/s, 3 e^(-t / 2 s) remain: after 2 s a bit more than 1.1, from the second quiet interval on.
    (0..11).for_each(|_| drop(owner.step(&quiet)));
    let left = owner.steering.background().links[busy.index()][0];
    assert!((left - 3e9 * (-1.0_f64).exp()).abs() < 1e3, "{left}");
}

#[test]
fn a_link_failure_is_handled_at_once_despite_gap_and_budget() {
    let thresholds = ReplanThresholds {
        gap: Duration::from_secs(3600),
        per_hour: 1,
        gain: 100.0,
        ..ReplanThresholds::default()
    };
    let mut owner = Owner::new(network(), thresholds);
    let mut used = Vec::new();
    for _ in 0..2 {
        let spine = owner.spine();
        used.push(spine);
        let broken = link(&owner.topology, "l1", spine);
        let mut seen = owner.all_up(|_, _| 0.0);
        seen.record_link(broken, false, LinkSeen::down());
        let decision = owner.step(&seen).unwrap();
        assert!(decision.is_change(), "{decision}");
        assert_eq!(decision.jobs[0].in_force_bps, 0.0);
        assert!(decision.to_string().contains(&format!("link l1-{spine} failed")), "{decision}");
        // The first spine is still in its hold-down time when the other one fails.
        let recovered = owner.all_up(|_, _| 0.0);
        for _ in 0..11 {
            assert!(owner.step(&recovered).is_none());
        }
    }
    assert_ne!(used[0], used[1]);
}

#[test]
fn without_a_possible_plan_the_failure_is_reported_and_retried_later() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.record_link(link(&owner.topology, "w2", "l1"), true, LinkSeen::down());
    let decision = owner.step(&seen).unwrap();
    assert!(matches!(&decision.verdict, Verdict::Stay { reason } if reason.contains("w2")), "{decision}");
    let again = (0..30).find_map(|n| owner.step(&seen).map(|decision| (n, decision)));
    let (after, decision) = again.unwrap();
    assert!(after >= 23, "5 s are 25 intervals, not {after}");
    assert!(!decision.is_change());
    // After 2 s of health the network is as before: only a look is due.
    let recovered = owner.all_up(|_, _| 0.0);
    let looked = (0..20).find_map(|_| owner.step(&recovered)).unwrap();
    assert!(matches!(&looked.trigger, Trigger::Back { parts } if parts == &["link w2-l1"]), "{looked}");
    assert!(!looked.is_change(), "{looked}");
}

#[test]
fn an_unused_failed_link_is_probed_later() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let spine = owner.spine();
    let broken = link(&owner.topology, "l1", spine);
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.record_link(broken, false, LinkSeen::down());
    assert!(owner.step(&seen).unwrap().is_change());
    // Without traffic the link shows no state.
    seen.links[broken.index()] = [None; 2];
    let mut waits = Vec::new();
    for _ in 0..3 {
        let quiet = (0..1300).find(|_| {
            owner.step(&seen);
            owner.steering.failed().is_empty()
        });
        waits.push(quiet.unwrap());
        let mut down = seen.clone();
        down.record_link(broken, false, LinkSeen::down());
        owner.step(&down);
    }
    assert_eq!(waits, [299, 599, 1199], "60 s, then twice as long each time");
}

#[test]
fn a_switch_without_aggregation_only_forwards() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    assert!(owner.active[0].trunks.iter().any(|trunk| trunk.aggregator == "l1"));
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.switches.insert(node(&owner.topology, "l1"), SwitchSeen { aggregates: false, ..SwitchSeen::up() });
    let decision = owner.step(&seen).unwrap();
    assert!(decision.is_change(), "{decision}");
    assert!(decision.to_string().contains("aggregation of switch l1 failed"), "{decision}");
    assert!(owner.active[0].trunks.iter().all(|trunk| trunk.aggregator != "l1"));
    let mut gone = owner.all_up(|_, _| 0.0);
    let spine = owner.spine();
    gone.switches.insert(node(&owner.topology, spine), SwitchSeen { is_up: false, ..SwitchSeen::up() });
    assert!(owner.step(&gone).unwrap().is_change());
    assert_ne!(owner.spine(), spine);
    assert_eq!(owner.steering.failed(), [format!("switch {spine}"), "aggregation of switch l1".to_owned()]);
}

#[test]
fn a_failed_change_is_retried_later() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let broken = link(&owner.topology, "l1", owner.spine());
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.record_link(broken, false, LinkSeen::down());
    owner.now += STEP;
    let request = owner.steering.observe(owner.now, &seen).unwrap();
    assert!(owner.steering.observe(owner.now, &seen).is_none(), "one request at a time");
    let plans = request.plan(schemes::OPTIMIZED, &|| f64::INFINITY).unwrap();
    assert!(owner.steering.answer(owner.now, 7, Ok(&plans), STEP).is_none(), "no such request");
    let decision = owner.steering.answer(owner.now, request.number, Ok(&plans), STEP).unwrap();
    assert!(decision.is_change() && !request.is_coordinated(&decision), "the active routes carry nothing");
    assert!(owner.steering.observe(owner.now, &seen).is_none(), "a change is active");
    let reason = "worker-3 does not follow".to_owned();
    owner.steering.done(owner.now, Outcome::Failed { reason }, owner.active.clone());
    let last = owner.steering.decisions().next_back().unwrap().to_string();
    assert!(last.ends_with("change failed: worker-3 does not follow"), "{last}");
    assert!((0..24).all(|_| owner.step(&seen).is_none()));
    assert!((0..2).find_map(|_| owner.step(&seen)).unwrap().is_change());
}

#[test]
fn commands_schedules_and_dry_runs() {
    let thresholds = ReplanThresholds {
        shares_every: Some(Duration::from_secs(3)),
        dry_run: true,
        ..ReplanThresholds::default()
    };
    let mut owner = Owner::new(network(), thresholds);
    let asked = owner.steering.command(owner.now, Shares::Kept).unwrap();
    assert!(owner.steering.command(owner.now, Shares::Kept).is_none());
    let plans = asked.plan(schemes::OPTIMIZED, &|| f64::INFINITY).unwrap();
    let decision = owner.steering.answer(owner.now, asked.number, Ok(&plans), STEP).unwrap();
    assert!(decision.to_string().contains("the active plan is the best found"), "{decision}");
    let quiet = owner.all_up(|_, _| 0.0);
    assert!((0..14).all(|_| owner.step(&quiet).is_none()));
    assert_eq!(owner.step(&quiet).unwrap().trigger, Trigger::Schedule);
    let busy = link(&owner.topology, "l1", owner.spine());
    let others = owner.all_up(|id, _| if id == busy { 3e9 } else { 0.0 });
    owner.step(&others);
    let decision = owner.step(&others).unwrap();
    assert!(
        decision.to_string().contains("dry run: would change") && decision.gain.unwrap() > 1.9,
        "{decision}"
    );
}

#[test]
fn plans_that_others_activate_are_watched() {
    let mut owner = Owner::new(network(), ReplanThresholds::default());
    let spine = owner.spine();
    let broken = link(&owner.topology, "l1", spine);
    let over_it = owner.active.clone();
    let mut seen = owner.all_up(|_, _| 0.0);
    seen.record_link(broken, false, LinkSeen::down());
    assert!(owner.step(&seen).unwrap().is_change());
    assert!(owner.step(&seen).is_none());
    owner.steering.set_active(over_it);
    assert!(owner.step(&seen).unwrap().is_change());
    owner.steering.set_active(Vec::new());
    assert!(owner.step(&seen).is_none(), "no job runs");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        rng_seed: proptest::test_runner::RngSeed::Fixed(17),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Constant background traffic of any amount: at most one change.
    #[test]
    fn constant_background_gives_at_most_one_change(parts in prop::collection::vec(0.0f64..1.3, 14)) {
        let mut owner = Owner::new(network(), ReplanThresholds::default());
        let seen = owner.all_up(|id, back| 4e9 * parts[2 * id.index() + usize::from(back)]);
        (0..100).for_each(|_| drop(owner.step(&seen)));
        prop_assert!(owner.changes <= 1 && owner.requests <= 2, "{} {}", owner.changes, owner.requests);
    }

    /// Background traffic that varies by less than the hysteresis: no request.
    #[test]
    fn noise_below_the_hysteresis_gives_none(
        level in prop::collection::vec(0.0f64..0.9, 14),
        noise in prop::collection::vec(0.0f64..0.049, 14 * 60),
    ) {
        let mut owner = Owner::new(network(), ReplanThresholds::default());
        let settle = owner.all_up(|id, back| 4e9 * level[2 * id.index() + usize::from(back)]);
        (0..10).for_each(|_| drop(owner.step(&settle)));
        let (changes, requests) = (owner.changes, owner.requests);
        for at in 0..60 {
            let seen = owner.all_up(|id, back| {
                let n = 2 * id.index() + usize::from(back);
                4e9 * (level[n] + noise[14 * at + n])
            });
            owner.step(&seen);
        }
        prop_assert_eq!((owner.changes, owner.requests), (changes, requests));
    }

    /// Any traffic: no more changes than the budget, and none before the gap has passed.
    #[test]
    fn budget_and_gap_are_kept(parts in prop::collection::vec(0.0f64..1.0, 14 * 20), per_hour in 0usize..4) {
        let gap = Duration::from_secs(3);
        let thresholds = ReplanThresholds { per_hour, gap, ..ReplanThresholds::default() };
        let mut owner = Owner::new(network(), thresholds);
        let mut changed: Vec<Duration> = Vec::new();
        for at in 0..20 {
            let seen =
                owner.all_up(|id, back| 4e9 * parts[14 * at + 2 * id.index() + usize::from(back)]);
            for _ in 0..10 {
                if owner.step(&seen).is_some_and(|decision| decision.is_change()) {
                    changed.push(owner.now);
                }
            }
        }
        prop_assert!(changed.len() <= per_hour, "{changed:?}");
        prop_assert!(changed.windows(2).all(|pair| pair[1] - pair[0] >= gap), "{changed:?}");
    }
}
