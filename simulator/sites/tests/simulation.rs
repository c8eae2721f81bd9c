//! Sites and their scheduler in virtual time: without faults as predicted, with faults as in
//! docs/protocol/sites.md; errors name their cause.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use inart_planner_sites::{AuxiliaryUse, Options as PlanOptions, Scheme, Sharing, Tuning};
use inart_protocol_sites::SiteNo;
use inart_simulator_sites::ideal::{self, RunOptions, Until};
use inart_simulator_sites::{
    Fault, Knowledge, Options, OtherDocument, Outcome, PlannedFault, Setting, Traces, Trial, resolve,
    simulate,
};
use inart_topologies::faults::Faults;
use inart_topologies::sites::Overlay;

/// Returns the nine sites, with short gradients and rates in proportion.
fn network(text: &str) -> Overlay {
    let overlay = Overlay::from_yaml(text).unwrap();
    let job = &overlay.jobs()[0];
    overlay.scaled(job, 64 << 10, f64::from(64 << 10) / job.gradient_bytes() as f64).0
}

fn fixed() -> Overlay {
    network(include_str!("../../../topologies/geo9-static.yaml"))
}

fn options(scheme: Scheme, rounds: u32) -> Options {
    Options {
        plan: PlanOptions::new(scheme),
        auxiliary: AuxiliaryUse::default(),
        sharing: scheme.sharing(Sharing::Fair),
        knowledge: Knowledge::Static,
        traces: Traces::FromTheStart,
        compute_s: 0.0,
        prior_bps: 2e4,
        rounds,
        state_bytes: 0,
        seed: 7,
    }
}

fn run(overlay: &Overlay, options: &Options, schedule: &str) -> Outcome {
    let faults = resolve(overlay, &Faults::from_yaml(schedule).unwrap()).unwrap();
    simulate(overlay, options, &faults).unwrap()
}

/// A few percent longer: all sites hold the received chunks only after a round trip, connections must be
/// made, and chunks of 20 bytes are not cut as finely.
#[test]
fn without_faults_rounds_take_as_long_as_planned_ones() {
    let overlay = fixed();
    for scheme in Scheme::ALL {
        let here = run(&overlay, &options(scheme, 4), "events: []");
        let knowledge = ideal::Knowledge::Static;
        let (auxiliary, plan, until) = (AuxiliaryUse::default(), PlanOptions::new(scheme), Until::Rounds(4));
        let sharing = Sharing::Fair;
        let there = RunOptions {
            plan,
            auxiliary,
            sharing,
            knowledge,
            prior_bps: 1.0,
            tuning: Tuning::default(),
            until,
        };
        let there = ideal::run(&overlay, &overlay.jobs()[0], &there).unwrap();
        // The first round includes the setup of connections.
        let mean_s = here.rounds[1..].iter().map(|round| round.seconds).sum::<f64>() / 3.0;
        let ratio = mean_s / there.mean_s;
        assert!((0.95..1.10).contains(&ratio), "{scheme:?}: {mean_s} s, {} s", there.mean_s);
        assert_eq!((here.joined, here.plans, here.rounds.len()), (0, 1, 4), "{scheme:?}");
        assert_eq!(here.values_compared, 4 * 9 * (64 << 10) / 4, "{scheme:?}");
        assert_eq!(here, run(&overlay, &options(scheme, 4), "events: []"), "the same run again");
    }
}

/// Schemes that replan without failed components.
const PLAN_AGAIN: [Scheme; 4] = [Scheme::Optimized, Scheme::Netstorm, Scheme::Fapt, Scheme::Mst];

/// Each link with one of the schemes, by turns.
#[test]
fn a_dead_link_is_planned_without_within_two_rounds() {
    let overlay = fixed();
    let links = 0..overlay.links().len();
    links.for_each(|link| is_planned_without(&overlay, PLAN_AGAIN[link % PLAN_AGAIN.len()], link));
}

#[test]
#[ignore = "soak: about 25 s"]
fn a_dead_link_is_planned_without_within_two_rounds_by_every_scheme() {
    let overlay = fixed();
    for scheme in PLAN_AGAIN {
        (0..overlay.links().len()).for_each(|link| is_planned_without(&overlay, scheme, link));
    }
}

fn is_planned_without(overlay: &Overlay, scheme: Scheme, link: usize) {
    let [a, b] = overlay.links()[link].ends.map(|end| overlay.site_name(end));
    let schedule = format!("events: [{{at: 20 s, link_down: [{a}, {b}], duration: 2000 s}}]");
    let outcome = run(overlay, &options(scheme, 6), &schedule);
    let consequence = &outcome.faults[0];
    assert_eq!(consequence.noticed_s, Some(25.0), "{scheme:?} {consequence:?}");
    let (_, begun) = consequence.without_it.unwrap();
    assert!(begun <= 2, "{scheme:?} {consequence:?}");
}

#[test]
fn a_short_interruption_goes_unnoticed() {
    let overlay = fixed();
    let options = options(Scheme::Optimized, 4);
    let calm = run(&overlay, &options, "events: []");
    let cut = run(&overlay, &options, "events: [{at: 15 s, link_down: [n1, n3], duration: 4 s}]");
    assert_eq!((cut.faults[0].noticed_s, cut.plans, cut.asks), (None, 1, calm.asks));
    assert!(cut.mean_s > calm.mean_s && cut.mean_s < calm.mean_s + 4.0);
}

#[test]
fn a_killed_site_rejoins_and_a_failed_scheduler_delays_no_site() {
    let overlay = network(include_str!("../../../topologies/geo9.yaml"));
    let options = Options { knowledge: Knowledge::Passive, ..options(Scheme::Optimized, 8) };
    let schedule = "events: [{at: 20 s, crash: n5, duration: 30 s}, {at: 90 s, crash: n1, duration: 1 s}]";
    let outcome = run(&overlay, &options, schedule);
    assert_eq!((outcome.joined, outcome.rounds.len()), (2, 8), "{:?}", outcome.faults);
    assert!(outcome.plans > 1, "it plans by what is measured");
    let calm = run(&overlay, &options, "events: []");
    let alone = run(&overlay, &options, "events: [{at: 1 s, crash: scheduler}]");
    assert_eq!((alone.joined, alone.rounds.len()), (0, 8));
    assert!(alone.plans <= 1 && calm.plans > alone.plans);
}

/// Sites that never meet a scheduler follow the scheme's plan for the document's rates: the time of a round
/// is what `inart plan` predicts. A tree that ignores rates takes 32 times as long here.
#[test]
fn without_a_scheduler_rounds_take_the_time_of_the_documents_plan() {
    let text = "name: triangle
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}]
links:
  - {ends: [n1, n2], rate: 1 Mbps}
  - {ends: [n2, n3], rate: 100 Mbps}
  - {ends: [n1, n3], rate: 100 Mbps}
jobs: [{name: job, gradient: 4 MB, chunk: 64 KB}]
";
    let overlay = network(text);
    for scheme in [Scheme::Optimized, Scheme::Netstorm, Scheme::Fapt, Scheme::Mst] {
        let plan = PlanOptions::new(scheme);
        let job = &overlay.jobs()[0];
        let predicted_s =
            inart_planner_sites::plan(&overlay, job, &overlay.rates_at(0.0), &plan).unwrap().predicted_s;
        let alone = run(&overlay, &options(scheme, 4), "events: [{at: 0 s, crash: scheduler}]");
        assert_eq!((alone.plans, alone.rounds.len()), (0, 4), "{scheme}");
        let mean_s = alone.rounds[1..].iter().map(|round| round.seconds).sum::<f64>() / 3.0;
        assert!(mean_s < 1.3 * predicted_s, "{scheme}: {mean_s} s, and the plan says {predicted_s} s");
    }
}

/// Runs with these faults.
fn with(faults: &[(f64, Option<f64>, Fault)], options: &Options) -> Outcome {
    let planned = faults.iter().map(|&(at_s, lasts_s, fault)| PlannedFault { at_s, lasts_s, fault });
    simulate(&fixed(), options, &planned.collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_permanently_failed_site_ends_the_training_by_its_name() {
    let outcome = with(&[(20.0, None, Fault::Site(SiteNo(4)))], &options(Scheme::Optimized, 20));
    let error = outcome.ended.unwrap();
    assert!(error.contains("no progress for") && error.contains("waiting for n5 (no connection)"), "{error}");
    assert!(outcome.rounds.len() < 20);
}

#[test]
fn a_program_that_hangs_ends_the_training_by_the_name_of_its_site() {
    let outcome = with(&[(20.0, None, Fault::Hangs(SiteNo(4)))], &options(Scheme::Optimized, 20));
    let error = outcome.ended.unwrap();
    assert!(error.contains("waiting for n5 (has not reported this round)"), "{error}");
}

#[test]
fn other_settings_end_the_training_before_the_first_round() {
    for (setting, named) in [(Setting::Seed, "has seed 8"), (Setting::Rounds, "has rounds 4")] {
        let fault = Fault::OtherTerms(SiteNo(4), setting);
        let outcome = with(&[(0.0, None, fault)], &options(Scheme::Optimized, 3));
        let error = outcome.ended.unwrap();
        assert!(error.contains(named), "{error}");
        assert_eq!(outcome.rounds, []);
    }
}

#[test]
fn no_site_follows_plans_of_a_scheduler_with_another_document() {
    for other in [OtherDocument::Link, OtherDocument::Chunks, OtherDocument::Scheme] {
        for knowledge in [Knowledge::Static, Knowledge::Passive] {
            let options = Options { knowledge, ..options(Scheme::Optimized, 6) };
            let outcome = with(&[(5.0, Some(1e4), Fault::Stranger(other))], &options);
            assert_eq!((outcome.rounds.len(), outcome.ended), (6, None), "{other:?}");
        }
    }
}

#[test]
fn impersonating_and_duplicating_sites_change_no_sum() {
    let all = (0..5).flat_map(|site| [Fault::Impostor(SiteNo(site)), Fault::Repeats(SiteNo(site))]);
    let all: Vec<_> = all.map(|fault| PlannedFault { at_s: 0.0, lasts_s: Some(1e4), fault }).collect();
    for scheme in Scheme::ALL {
        let outcome = simulate(&drawn(), &options(scheme, 3), &all).unwrap();
        assert_eq!(outcome.rounds.len(), 3, "{scheme:?}");
        let seen = |what| outcome.seen.get(what).copied().unwrap_or(0);
        assert!(seen("chunk repeated") > 0, "{scheme:?}: {:?}", outcome.seen);
        assert!(seen("message in another's name dropped") > 0, "{scheme:?}: {:?}", outcome.seen);
    }
}

#[test]
fn a_state_in_parts_is_resumed_when_its_sender_fails() {
    let options = Options { state_bytes: 5 << 20, ..options(Scheme::Optimized, 6) };
    // Site 5 has links to several sites; the possible senders are killed in sequence.
    let mut faults = vec![(20.0, Some(2.0), Fault::Site(SiteNo(4)))];
    faults.extend((0..4).map(|site| (26.0 + f64::from(site), Some(1.0), Fault::Site(SiteNo(site)))));
    let outcome = with(&faults, &options);
    assert_eq!(outcome.rounds.len(), 6);
    assert!(outcome.seen["state loaded in parts"] > 0, "{:?}", outcome.seen);
}

/// What `inart simulate --trials` runs.
#[test]
fn random_faults_leave_every_sum_right() {
    random_faults(&drawn(), 60);
}

#[test]
#[ignore = "soak: about 40 s"]
fn random_faults_on_nine_sites_leave_every_sum_right() {
    random_faults(&network(include_str!("../../../topologies/geo9.yaml")), 24);
}

/// Five sites, with a short gradient.
fn drawn() -> Overlay {
    let text = "name: five
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}, {name: n4, kind: site},
  {name: n5, kind: site}]
links:
  - {ends: [n1, n2], rate: [20 Mbps, 15 Mbps], delay: 10 ms}
  - {ends: [n2, n3], rate: 30 Mbps, delay: 20 ms}
  - {ends: [n3, n4], rate: 10 Mbps, delay: 5 ms}
  - {ends: [n4, n5], rate: 25 Mbps, delay: 10 ms}
  - {ends: [n5, n1], rate: 40 Mbps, delay: 30 ms}
  - {ends: [n1, n3], rate: 12 Mbps, delay: 10 ms}
jobs: [{name: job, gradient: 40 MB, chunk: 1 MB}]
";
    let overlay = Overlay::from_yaml(text).unwrap();
    let job = &overlay.jobs()[0];
    overlay.scaled(job, 16 << 10, f64::from(16 << 10) / job.gradient_bytes() as f64).0
}

/// Kinds of events in the runs of the default form of the test.
const KINDS: [&str; 17] = [
    "link down",
    "site killed",
    "scheduler gone",
    "site gone for good",
    "site that speaks as others",
    "message in another's name dropped",
    "site that repeats its chunks",
    "chunk repeated",
    "scheduler with another link",
    "scheduler with other chunks",
    "scheduler with another scheme",
    "program that hangs",
    "site with other rounds",
    "site with another seed",
    "state loaded in parts",
    "state resumed after its first parts",
    "message in another's name",
];

/// Runs `seeds` seeds, times CAMPAIGN_TIMES.
fn random_faults(overlay: &Overlay, seeds: u64) {
    let times = std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1u64);
    let (mut joined, mut asks, mut ended) = (0, 0, 0);
    let mut seen = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..seeds * times {
        let trial = Trial::of_seed(overlay, 100.0, seed);
        let scheme = Scheme::ALL[seed as usize % Scheme::ALL.len()];
        let knowledge = if seed % 2 == 0 { Knowledge::Passive } else { Knowledge::Static };
        let options = Options { seed, knowledge, state_bytes: trial.state_bytes, ..options(scheme, 5) };
        let outcome = simulate(overlay, &options, &trial.faults)
            .unwrap_or_else(|error| panic!("{seed}: {error}: {:?}", trial.faults));
        assert!(outcome.ended.is_some() || outcome.rounds.len() == 5, "{seed}");
        joined += outcome.joined;
        asks += outcome.asks;
        ended += u64::from(outcome.ended.is_some());
        outcome.seen.iter().for_each(|(what, count)| *seen.entry(what).or_default() += count);
    }
    println!("{joined} joined, {asks} asks, {ended} ended early, {seen:?}");
    assert!(joined > 0 && asks > 0 && ended > 0, "{joined} {asks} {ended}");
    for what in KINDS {
        assert!(seeds < 60 || seen.contains_key(what), "{what} never happened: {seen:?}");
    }
}

/// A partition is the links around its sites, and a bounce all links of a site: each fault has the span.
#[test]
fn a_partition_and_a_bounce_take_links_down() {
    let overlay = drawn();
    let text = "events: [{at: 1 s, partition: [n1, n2], duration: 2 s}, {at: 4 s, interface_down: n4, duration: 1 s}, \
                {at: 6 s, link_down: [n2, n1]}, {at: 7 s, crash: scheduler}]";
    let found = resolve(&overlay, &Faults::from_yaml(text).unwrap()).unwrap();
    // Links, by number: n1-n2, n2-n3, n3-n4, n4-n5, n5-n1, n1-n3.
    let of = |at_s, lasts_s, links: &[usize]| -> Vec<_> {
        links.iter().map(|link| PlannedFault { at_s, lasts_s, fault: Fault::Link(*link) }).collect()
    };
    let scheduler = PlannedFault { at_s: 7.0, lasts_s: None, fault: Fault::Scheduler };
    let expected =
        [of(1.0, Some(2.0), &[1, 4, 5]), of(4.0, Some(1.0), &[2, 3]), of(6.0, None, &[0]), vec![scheduler]];
    assert_eq!(found, expected.concat());
}

#[test]
fn wrong_schedules_are_named() {
    let overlay = fixed();
    let cases = [
        (
            "events: [{at: 1 s, link_down: [n1, n9], duration: 1 s}]",
            "events[0]: there is no link between n1 and n9",
        ),
        (
            "events: [{at: 1 s, link_down: [n1, n99], duration: 1 s}]",
            "events[0]: network geo9-static has no node n99",
        ),
        (
            "events: [{at: 1 s, crash: scheduler}, {at: 1 s, crash: n2}]",
            "events[1]: site n2 does not start again; say when",
        ),
        ("events: [{at: 1 s, crash: n77, duration: 1 s}]", "events[0]: network geo9-static has no node n77"),
        (
            "events: [{at: 1 s, crash: controller, duration: 1 s}]",
            "events[0]: network geo9-static has no node controller",
        ),
        (
            "events: [{at: 1 s, restart: n1, duration: 1 s}]",
            "events[0]: `restart: n1` is of networks of switches; write `crash: n1`",
        ),
        (
            "events: [{at: 1 s, pause: n1, duration: 1 s}]",
            "events[0]: host n1 stopped does not happen to sites",
        ),
        (
            "events: [{at: 1 s, link_down: [n1, n3], crash: n1, duration: 1 s}]",
            "events[0]: it needs exactly one of",
        ),
        ("events: [{at: 1 s, slow: [n1, n3], rate: 1 Mbps}]", "events[0]: rates change in simulations"),
        ("links: [{drop: 1%}]", "links: `links` is of networks of switches"),
        (
            "background: [{from: n1, to: n2, rate: 1 Mbps}]",
            "background: `background` is of networks of switches",
        ),
    ];
    for (schedule, named) in cases {
        let error = resolve(&overlay, &Faults::from_yaml(schedule).unwrap()).unwrap_err().to_string();
        assert!(error.contains(named), "{schedule}: {error}");
    }
}
