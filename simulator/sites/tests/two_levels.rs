//! Rounds of networks of both levels: composition of their time.
#![allow(clippy::unwrap_used)]

use inart_planner_sites::{AuxiliaryUse, Options as TreeOptions, Scheme, Sharing, Tuning};
use inart_simulator_sites::ideal::{Knowledge, RunOptions, Until, run, timeline};
use inart_topologies::sites::Hierarchy;

const NETWORK: &str = include_str!("../../../topologies/two-levels.yaml");

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
fn without_an_inside_rounds_are_those_between_sites() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    for scheme in Scheme::ALL {
        let options = options(scheme, 2);
        let times = timeline(&both, job, &options, &[0.0, 0.0]).unwrap();
        let alone = run(&both.overlay, job, &options).unwrap();
        assert!((times.seconds - alone.mean_s).abs() < 1e-9 * alone.mean_s, "{scheme:?}");
        assert_eq!((times.sums, times.inside_s, times.back_s), (alone.sums, 0.0, 0.0));
    }
}

/// Two sites and one link: K chunks leave the first site at its inside's rate, and cross the link.
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
    // Chunks of 100 units of 8 KiB. The tree's root is a: b's chunks are ready at once, 0.1 s each; a's own
    // within 4 s; sums return to b.
    let options = RunOptions {
        plan: TreeOptions { root: both.overlay.site_named("a"), ..TreeOptions::new(Scheme::Mst) },
        ..options(Scheme::Mst, 3)
    };
    let times = timeline(&both, job, &options, &[4.0]).unwrap();
    // The last chunk is ready after 4 s, crosses in 0.1 s; a's workers have it 0.4 s after a.
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
