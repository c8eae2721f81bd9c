//! Sites and their scheduler in virtual time: without faults as `inart_overlay::run`, with faults as
//! docs/protocol.md says; what is wrong is named.
#![allow(clippy::unwrap_used)]

use inart_faults::Faults;
use inart_overlay::{
    AuxiliaryUse, Options as PlanOptions, Overlay, RunOptions, Scheme, Sharing, Tuning, Until,
};
use inart_site_simulator::{Fault, Knowledge, Options, Outcome, Traces, draw, resolve, simulate};

/// The nine sites, with short gradients and rates in proportion.
fn network(text: &str) -> Overlay {
    let overlay = Overlay::from_yaml(text).unwrap();
    let job = &overlay.jobs()[0];
    overlay.scaled(job, 64 << 10, f64::from(64 << 10) / job.gradient_bytes() as f64).0
}

fn fixed() -> Overlay {
    network(include_str!("../../topologies/geo9-static.yaml"))
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
        seed: 7,
    }
}

fn run(overlay: &Overlay, options: &Options, schedule: &str) -> Outcome {
    let faults = resolve(overlay, &Faults::from_yaml(schedule).unwrap()).unwrap();
    simulate(overlay, options, &faults).unwrap()
}

/// All sites hold what they received after a round trip only, connections have to be made, and chunks of 20
/// bytes are not cut as finely; so a few percent.
#[test]
fn without_faults_rounds_take_as_long_as_planned_ones() {
    let overlay = fixed();
    for scheme in Scheme::ALL {
        let here = run(&overlay, &options(scheme, 4), "events: []");
        let knowledge = inart_overlay::Knowledge::Static;
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
        let there = inart_overlay::run(&overlay, &overlay.jobs()[0], &there).unwrap();
        // The first round has the connections' making in it.
        let mean_s = here.rounds[1..].iter().map(|round| round.seconds).sum::<f64>() / 3.0;
        let ratio = mean_s / there.mean_s;
        assert!((0.95..1.10).contains(&ratio), "{scheme:?}: {mean_s} s, {} s", there.mean_s);
        assert_eq!((here.joined, here.plans, here.rounds.len()), (0, 1, 4), "{scheme:?}");
        assert_eq!(here.values_compared, 4 * 9 * (64 << 10) / 4, "{scheme:?}");
        assert_eq!(here, run(&overlay, &options(scheme, 4), "events: []"), "the same run again");
    }
}

/// Schemes that plan again without what is dead.
const PLAN_AGAIN: [Scheme; 4] = [Scheme::Inart, Scheme::Netstorm, Scheme::Fapt, Scheme::Mst];

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
    let schedule = format!("events: [{{at: 20 s, link_down: [{a}, {b}], for: 2000 s}}]");
    let outcome = run(overlay, &options(scheme, 6), &schedule);
    let consequence = &outcome.faults[0];
    assert_eq!(consequence.noticed_s, Some(25.0), "{scheme:?} {consequence:?}");
    let (_, begun) = consequence.without_it.unwrap();
    assert!(begun <= 2, "{scheme:?} {consequence:?}");
}

#[test]
fn a_short_interruption_is_nobodys_business() {
    let overlay = fixed();
    let options = options(Scheme::Inart, 4);
    let calm = run(&overlay, &options, "events: []");
    let cut = run(&overlay, &options, "events: [{at: 15 s, link_down: [n1, n3], for: 4 s}]");
    assert_eq!((cut.faults[0].noticed_s, cut.plans, cut.asks), (None, 1, calm.asks));
    assert!(cut.mean_s > calm.mean_s && cut.mean_s < calm.mean_s + 4.0);
}

#[test]
fn a_killed_site_joins_again_and_a_scheduler_delays_nobody() {
    let overlay = network(include_str!("../../topologies/geo9.yaml"));
    let options = Options { knowledge: Knowledge::Passive, ..options(Scheme::Inart, 8) };
    let schedule = "events: [{at: 20 s, crash: n5, for: 30 s}, {at: 90 s, crash: n1, for: 1 s}]";
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
fn without_a_scheduler_rounds_take_what_the_plan_of_the_document_says() {
    let text = "name: triangle
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}]
links:
  - {ends: [n1, n2], rate: 1 Mbps}
  - {ends: [n2, n3], rate: 100 Mbps}
  - {ends: [n1, n3], rate: 100 Mbps}
jobs: [{name: job, gradient: 4 MB, chunk: 64 KB}]
";
    let overlay = network(text);
    for scheme in [Scheme::Inart, Scheme::Netstorm, Scheme::Fapt, Scheme::Mst] {
        let plan = PlanOptions::new(scheme);
        let job = &overlay.jobs()[0];
        let predicted_s =
            inart_overlay::plan(&overlay, job, &overlay.rates_at(0.0), &plan).unwrap().predicted_s;
        let alone = run(&overlay, &options(scheme, 4), "events: [{at: 0 s, crash: scheduler}]");
        assert_eq!((alone.plans, alone.rounds.len()), (0, 4), "{scheme}");
        let mean_s = alone.rounds[1..].iter().map(|round| round.seconds).sum::<f64>() / 3.0;
        assert!(mean_s < 1.3 * predicted_s, "{scheme}: {mean_s} s, and the plan says {predicted_s} s");
    }
}

/// What `inart simulate --soak` runs.
#[test]
fn random_faults_leave_every_sum_right() {
    random_faults(8);
}

#[test]
#[ignore = "soak: about 12 s"]
fn random_faults_of_24_seeds_leave_every_sum_right() {
    random_faults(24);
}

/// Runs that many seeds, times CAMPAIGN_TIMES.
fn random_faults(seeds: u64) {
    let times = std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1u64);
    let overlay = network(include_str!("../../topologies/geo9.yaml"));
    let (mut joined, mut asks, mut kinds) = (0, 0, [0; 3]);
    for seed in 0..seeds * times {
        let faults = draw(&overlay, 100.0, seed);
        for fault in &faults {
            let kind = match fault.fault {
                Fault::Link(_) => 0,
                Fault::Site(_) => 1,
                Fault::Scheduler => 2,
            };
            kinds[kind] += 1;
        }
        let scheme = Scheme::ALL[seed as usize % Scheme::ALL.len()];
        let knowledge = if seed % 2 == 0 { Knowledge::Passive } else { Knowledge::Static };
        let options = Options { seed, knowledge, ..options(scheme, 5) };
        let outcome = simulate(&overlay, &options, &faults).unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(outcome.rounds.len(), 5, "{seed}");
        joined += outcome.joined;
        asks += outcome.asks;
    }
    assert!(joined > 0 && asks > 0 && kinds.iter().all(|count| *count > 0), "{joined} {asks} {kinds:?}");
}

#[test]
fn wrong_schedules_are_named() {
    let overlay = fixed();
    let cases = [
        ("events: [{at: 1 s, link_down: [n1, n9], for: 1 s}]", "event 1: there is no link n1 to n9"),
        ("events: [{at: 1 s, link_down: [n1, n99], for: 1 s}]", "event 1: there is no site n99"),
        (
            "events: [{at: 1 s, crash: scheduler}, {at: 1 s, crash: n2}]",
            "event 2: site n2 does not start again",
        ),
        ("events: [{at: 1 s, crash: n77, for: 1 s}]", "event 1: there is no site n77"),
        ("events: [{at: 1 s, restart: n1, for: 1 s}]", "event 1: it is nothing that happens to sites"),
        ("links: [{drop: 1%}]", "`links` is of networks of switches"),
    ];
    for (schedule, named) in cases {
        let error = resolve(&overlay, &Faults::from_yaml(schedule).unwrap()).unwrap_err().to_string();
        assert!(error.contains(named), "{schedule}: {error}");
    }
}
