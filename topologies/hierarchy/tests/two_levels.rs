//! Networks of both levels: what is read and refused, planned, and where time goes.
#![allow(clippy::unwrap_used)]

use inart_hierarchy::{plan, timeline};
use inart_planner_aggregation::{Options, schemes};
use inart_planner_sites::{
    AuxiliaryUse, Knowledge, Options as TreeOptions, RunOptions, Scheme, Sharing, Tuning, Until,
};
use inart_topologies::sites::{CHUNK_UNIT_BYTES, Hierarchy};

const NETWORK: &str = include_str!("../../two-levels.yaml");
/// Of a frame's bits, all are gradient.
const WHOLE: f64 = 1.0;

fn read(text: &str) -> Hierarchy {
    Hierarchy::from_yaml(text).unwrap()
}

fn options(scheme: Scheme, rounds: u32) -> RunOptions {
    RunOptions {
        plan: TreeOptions::new(scheme),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: Knowledge::Oracle,
        prior_bps: 1e8,
        tuning: Tuning::default(),
        until: Until::Rounds(rounds),
    }
}

#[test]
fn a_document_is_taken_apart() {
    let both = read(NETWORK);
    assert_eq!(both.overlay.sites(), ["n1", "n2", "n3"]);
    assert_eq!(both.overlay.links().len(), 3);
    let insides: Vec<_> = both.insides.iter().map(|inside| inside.site.as_str()).collect();
    assert_eq!(insides, ["n1", "n2"]);
    let first = &both.insides[0].topology;
    assert_eq!(
        (first.name(), first.jobs()[0].workers.len(), first.jobs()[0].servers.len()),
        ("two-levels-n1", 4, 1)
    );
    assert!(Hierarchy::is_one(NETWORK));
    assert!(!Hierarchy::is_one(include_str!("../../geo9.yaml")));
    assert!(!Hierarchy::is_one(include_str!("../../fig1.yaml")));
    assert!(!Hierarchy::is_one("site: ["));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let cases: [(&str, &str, &[&str]); 10] = [
        (
            "{name: v3, kind: switch, aggregation: 10 Gbps, site: n2}",
            "{name: v3, kind: switch}",
            &["line 14", "v3", "in no site"],
        ),
        ("10 Gbps, site: n2}", "10 Gbps, site: n9}", &["line 14", "v3", "no site \"n9\""]),
        ("{name: w5, kind: worker,", "{name: w5, kind: server,", &["line 15", "w5", "parameter server"]),
        ("ends: [w5, v3]", "ends: [w5, v1]", &["line 27", "w5 to v1", "leaves site n2"]),
        ("workers: [w5, w6]", "workers: [w4, w6]", &["line 33", "n2-inside", "not inside one site"]),
        ("workers: [w5, w6]", "workers: []", &["line 33", "n2-inside", "not inside one site"]),
        ("servers: [n2]", "servers: [n1]", &["line 33", "n2-inside", "servers: [n2]"]),
        ("  - {name: n2-inside, workers: [w5, w6], servers: [n2]}\n", "", &["n2", "0 jobs"]),
        (
            "{ends: [w5, v3], rate: 200 Mbps}",
            "{ends: [w5, v3], rate: 0 Mbps}",
            &["inside site n2", "line 27", "rate is 0"],
        ),
        ("rate: 60 Mbps, delay", "rate: 0 Mbps, delay", &["line 19", "n2-n3", "rate"]),
    ];
    for (old, new, named) in cases {
        assert!(NETWORK.contains(old), "{old}");
        let error = Hierarchy::from_yaml(&NETWORK.replacen(old, new, 1)).unwrap_err().to_string();
        for word in named {
            assert!(error.contains(word), "{new}: {error}");
        }
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn both_levels_sum_the_same_gradient() {
    let other = NETWORK.replace("workers: [w5, w6],", "workers: [w5, w6], gradient: 50 MB,");
    let both = read(&other);
    let job = &both.overlay.jobs()[0];
    let trees = TreeOptions::new(Scheme::Inart);
    let error = plan(&both, job, &Options::new(schemes::DEFAULT), &trees, WHOLE).unwrap_err().to_string();
    assert!(error.contains("inside site n2") && error.contains("60 MB"), "{error}");
}

/// n2's workers have 200 Mbps, and v3 adds them up. In n1 two gradients share v2's link to v1.
#[test]
fn plans_of_both_levels_have_their_bounds() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    let trees = TreeOptions::new(Scheme::Inart);
    let plan = plan(&both, job, &Options::new(schemes::DEFAULT), &trees, WHOLE).unwrap();
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
    let plan = inart_hierarchy::plan(&both, job, &Options::new(schemes::DEFAULT), &trees, WHOLE).unwrap();
    assert!((plan.bound_s - bits / 20e6).abs() < 1e-6, "the inside is the slowest: {}", plan.bound_s);
}

#[test]
fn without_an_inside_rounds_are_those_between_sites() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    for scheme in Scheme::ALL {
        let options = options(scheme, 2);
        let times = timeline(&both, job, &options, &[0.0, 0.0]).unwrap();
        let alone = inart_planner_sites::run(&both.overlay, job, &options).unwrap();
        assert!((times.seconds - alone.mean_s).abs() < 1e-9 * alone.mean_s, "{scheme:?}");
        assert_eq!((times.sums, times.inside_s, times.back_s), (alone.sums, 0.0, 0.0));
    }
}

/// Two sites and one link: K chunks come out of the first site at its inside's rate, and cross.
#[test]
fn chunks_go_on_as_soon_as_they_are_summed() {
    let text = "name: pair
nodes:
  - {name: a, kind: site}
  - {name: b, kind: site}
  - {name: v, kind: switch, site: a}
  - {name: w, kind: worker, site: a}
links:
  - {ends: [a, b], rate: 65.536 Mbps}
  - {ends: [w, v], rate: 1 Gbps}
  - {ends: [v, a], rate: 1 Gbps}
jobs:
  - {name: job, gradient: 8192000 B, chunk: 819200 B}
  - {name: inside, workers: [w]}
";
    let both = read(text);
    let job = &both.overlay.jobs()[0];
    // Chunks of 100 units of 8 KiB. The tree's root is a: b's come at once, 0.1 s each; a's own within 4 s;
    // sums go back to b.
    let options = RunOptions {
        plan: TreeOptions { root: both.overlay.site_named("a"), ..TreeOptions::new(Scheme::Mst) },
        ..options(Scheme::Mst, 3)
    };
    let times = timeline(&both, job, &options, &[4.0]).unwrap();
    // The last chunk is there after 4 s, crosses in 0.1 s; a's workers have it 0.4 s after a.
    let near = |value: f64, right: f64| assert!((value - right).abs() < 1e-6, "{value}, {right}");
    near(times.inside_s, 4.0);
    near(times.between_s, 0.1);
    near(times.back_s, 0.3);
    near(times.seconds, 4.4);
    near(times.one_after_the_other_s, 4.0 + 1.1 + 4.0);
}

#[test]
fn no_round_beats_the_bound_or_loses_by_overlapping() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    for scheme in Scheme::ALL {
        for inside_s in [[0.5, 9.0], [3.0, 3.0], [20.0, 0.1]] {
            let times = timeline(&both, job, &options(scheme, 2), &inside_s).unwrap();
            let alone = inart_planner_sites::plan(
                &both.overlay,
                job,
                &both.overlay.rates_at(0.0),
                &TreeOptions::new(scheme),
            );
            let least = inside_s[0].max(inside_s[1]).max(alone.unwrap().bounds.seconds);
            assert!(times.seconds >= least, "{scheme:?} {inside_s:?}: {times:?}");
            assert!(
                times.seconds <= times.one_after_the_other_s + 1e-9,
                "{scheme:?} {inside_s:?}: {times:?}"
            );
            let parts = times.inside_s + times.between_s + times.back_s;
            assert!((parts - times.seconds).abs() < 1e-9, "{times:?}");
        }
    }
}

#[test]
fn a_network_for_another_gradient_is_written_and_read_back() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    let (small, time) = both.scaled(job, 600_000, 0.1);
    assert!((time - 0.1).abs() < 1e-12);
    assert_eq!(small.insides[0].topology.links()[0].rate_bps(), 100e6);
    let delay = |both: &Hierarchy| both.overlay.links()[0].delay_seconds;
    assert!((delay(&small) - 0.1 * 0.03).abs() < 1e-12 && (delay(&both) - 0.03).abs() < 1e-12);
    let again = read(&small.to_yaml());
    assert_eq!(again.to_yaml(), small.to_yaml());
    assert_eq!(again.overlay.jobs()[0].gradient_bytes(), 600_000);
    // 1 MB in proportion is 10 KB: one unit, rounded up to two.
    assert_eq!(again.overlay.jobs()[0].chunk_bytes, 2 * CHUNK_UNIT_BYTES);
    assert_eq!(both.overlay.jobs()[0].chunk_bytes % CHUNK_UNIT_BYTES, 0);
    let names = |both: &Hierarchy| {
        let all = both.contributors(&both.overlay.jobs()[0]);
        all.into_iter().map(|one| one.worker.unwrap_or(one.site)).collect::<Vec<_>>()
    };
    assert_eq!(names(&again), ["w1", "w2", "w3", "w4", "w5", "w6", "n3"]);
    assert_eq!(names(&both), names(&again));
}

#[test]
fn jobs_inside_whose_sums_cannot_go_on_are_refused() {
    for (key, why) in [("sum: exact", "sites round"), ("elastic: true", "join or leave")] {
        let text = NETWORK.replace("servers: [n2]}", &format!("servers: [n2], {key}}}"));
        let told = Hierarchy::from_yaml(&text).unwrap_err().to_string();
        assert!(told.contains("inside site n2") && told.contains(why), "{told}");
    }
}
