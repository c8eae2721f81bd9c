//! InArt's scheme compared with every other scheme on small networks with unequal links and delays, and the
//! bound compared with an independent computation.
#![allow(clippy::unwrap_used)]

use highs::{HighsModelStatus, RowProblem, Sense};
use inart_planner_sites::{Options, Scheme, check, plan, plan_and_policy, predicted_seconds};
use inart_topologies::sites::Overlay;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A satellite link next to two short ones.
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

fn predicted_s(overlay: &Overlay, scheme: Scheme) -> f64 {
    plan(overlay, &overlay.jobs()[0], &overlay.rates_at(0.0), &Options::new(scheme)).unwrap().predicted_s
}

#[test]
fn a_link_of_long_delay_is_left_out() {
    let overlay = Overlay::from_yaml(BY_HAND).unwrap();
    let ours = predicted_s(&overlay, Scheme::Optimized);
    // One tree with root n1, 1 MB at 100 Mbps up, one chunk of 64 KiB down, 10 ms each.
    let by_hand = 0.08 + 0.01 + 65_536.0 * 8.0 / 100e6 + 0.01;
    assert!(ours <= by_hand * (1.0 + 1e-9), "{ours}, not {by_hand}");
    // 1 MB has to get from n0 to n2: 100 Mbps by way of n1, from 20 ms on.
    let bound = plan(&overlay, &overlay.jobs()[0], &overlay.rates_at(0.0), &Options::new(Scheme::Mst));
    let bound = bound.unwrap().bounds.seconds;
    assert!((bound - 0.1).abs() < 1e-6, "{bound}");
}

/// A slow link takes two of 64 chunks in a packing, which is more than it can carry in time.
#[test]
fn a_slow_link_is_left_out() {
    let text =
        BY_HAND.replace("50 Mbps, delay: 300 ms", "1 Mbps, delay: 10 ms").replace("1 MB, c", "4 MB, c");
    let overlay = Overlay::from_yaml(&text).unwrap();
    let [ours, mst] = [Scheme::Optimized, Scheme::Mst].map(|scheme| predicted_s(&overlay, scheme));
    assert!(ours <= mst && ours < 0.36, "{ours} {mst}");
}

prop_compose! {
    /// Three or four sites in a ring with chords, rates from 1 to 1000 Mbps, delays from 0.1 to 300 ms.
    fn overlays()(sites in 3usize..5)(
        sites in Just(sites),
        links in prop::collection::vec((0.0f64..3.0, 0.0f64..3.0, -1.0f64..2.5, any::<bool>()), 6),
        kilobytes in prop::sample::select(vec![64u32, 256, 1000, 4000, 16_000]),
        chunk in prop::sample::select(vec![64u32, 256, 1000, 4000]),
    ) -> Overlay {
        let nodes = (0..sites).map(|at| format!("{{name: n{at}, kind: site}}")).collect::<Vec<_>>().join(", ");
        let mut text = format!("name: random\nnodes: [{nodes}]\nlinks:\n");
        let mut draws = links.iter();
        for a in 0..sites {
            for b in a + 1..sites {
                let (there, back, delay, is_there) = draws.next().unwrap();
                if *is_there || b == a + 1 || (a == 0 && b == sites - 1) {
                    let (there, back) = (10f64.powf(*there), 10f64.powf(*back));
                    text += &format!("  - {{ends: [n{a}, n{b}], rate: [{there:.3} Mbps, {back:.3} Mbps], ");
                    text += &format!("delay: {:.4} ms}}\n", 10f64.powf(*delay));
                }
            }
        }
        text += &format!("jobs: [{{name: j, gradient: {kilobytes} KB, chunk: {} KB}}]\n", chunk.min(kilobytes));
        Overlay::from_yaml(&text).unwrap()
    }
}

/// Returns the shortest time in which a gradient gets from one site to another, by its linear program: times
/// of sites such that links carry exactly one gradient from before to after.
fn quickest_s(overlay: &Overlay, from: usize, to: usize) -> f64 {
    let bits = overlay.jobs()[0].gradient_bytes() as f64 * 8.0;
    let mut program = RowProblem::new();
    let times: Vec<_> = (0..overlay.sites().len())
        .map(|at| program.add_column(f64::from(u8::from(at == to)), 0.0..=if at == from { 0.0 } else { 1e4 }))
        .collect();
    let mut carried = Vec::new();
    for arc in overlay.arcs() {
        let (tail, head) = overlay.ends(arc);
        let open = program.add_column(0.0, 0.0..);
        let ends = [(times[head.index()], 1.0), (times[tail.index()], -1.0), (open, -1.0)];
        program.add_row(..=overlay.delay_seconds(arc), ends);
        carried.push((open, overlay.rates_at(0.0).of(arc) / bits));
    }
    program.add_row(..=1.0, carried);
    let mut model = program.optimise(Sense::Maximise);
    model.make_quiet();
    let solved = model.solve();
    assert_eq!(solved.status(), HighsModelStatus::Optimal);
    solved.objective_value()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        // The number of cases is fixed: equal networks in every run.
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    /// No other scheme's round is predicted to be shorter than InArt's, none is below the bound, and the
    /// bound is the longest time that a pair of sites needs.
    #[test]
    fn ours_is_the_best_of_all_schemes(overlay in overlays()) {
        let job = &overlay.jobs()[0];
        let rates = overlay.rates_at(0.0);
        let plans = Scheme::ALL.map(|scheme| plan(&overlay, job, &rates, &Options::new(scheme)).unwrap());
        let ours = plans[0].predicted_s;
        for plan in &plans {
            let other = plan.predicted_s;
            prop_assert!(ours <= other * (1.0 + 1e-9), "{} {ours} {other}\n{}", plan.scheme, overlay.to_yaml());
            prop_assert!(plan.bounds.seconds <= other, "{} {}", plan.scheme, overlay.to_yaml());
        }
        prop_assert_eq!(check(&overlay, job, &plans[0]), Vec::<String>::new());
        let sites = overlay.sites().len();
        let pairs = (0..sites).flat_map(|from| (0..sites).map(move |to| (from, to)));
        let of_pairs = pairs.filter(|(from, to)| from != to).map(|(from, to)| quickest_s(&overlay, from, to));
        let longest = of_pairs.fold(0.0, f64::max);
        let bound = plans[0].bounds.seconds;
        prop_assert!((bound / longest - 1.0).abs() < 1e-5, "{bound} {longest}\n{}", overlay.to_yaml());
    }

    /// A scheduler's plan, made quickly and not kept, is not worse than another scheme's either.
    #[test]
    fn a_plan_that_is_soon_made_again_is_the_best_of_all_schemes(overlay in overlays()) {
        let job = &overlay.jobs()[0];
        let rates = overlay.rates_at(0.0);
        let (ours, _) = plan_and_policy(&overlay, job, &rates, &Options::new(Scheme::Optimized)).unwrap();
        let ours = predicted_seconds(&overlay, job, &rates, &ours).unwrap();
        for scheme in Scheme::ALL.into_iter().filter(|&scheme| scheme != Scheme::Optimized) {
            let other = plan(&overlay, job, &rates, &Options::new(scheme)).unwrap().predicted_s;
            prop_assert!(ours <= other * (1.0 + 1e-9), "{scheme} {ours} {other}\n{}", overlay.to_yaml());
        }
    }
}
