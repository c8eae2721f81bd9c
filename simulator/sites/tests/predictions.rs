//! Predicted rounds of all schemes, whose sums are all compared.
#![allow(clippy::unwrap_used)]

use inart_planner_sites::{
    AuxiliaryChoice, AuxiliaryUse, Disjoint, Options, Scheme, Sharing, Tuning, check, plan,
};
use inart_simulator_sites::ideal::{Knowledge, Run, RunOptions, Until, run};
use inart_topologies::sites::Overlay;
use proptest::prelude::*;

use crate::support;

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

fn options(plan: Options) -> RunOptions {
    RunOptions {
        plan,
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: Knowledge::Oracle,
        prior_bps: 87.5e6,
        tuning: Tuning::default(),
        until: Until::Rounds(1),
    }
}

fn played(overlay: &Overlay, options: &RunOptions) -> Run {
    let job = &overlay.jobs()[0];
    let played = run(overlay, job, options).unwrap();
    assert!(played.sums >= played.rounds.len() as u64 * job.sites.len() as u64);
    played
}

/// Returns all variants of NETSTORM on constant links.
fn netstorms() -> impl Iterator<Item = RunOptions> {
    let paths = [None, Some(Disjoint::Edges), Some(Disjoint::Nodes)];
    let choices = [AuxiliaryChoice::Lazy, AuxiliaryChoice::Eager];
    let all = paths.into_iter().flat_map(move |auxiliary| choices.map(|choice| (auxiliary, choice)));
    all.flat_map(|(auxiliary, choice)| {
        [Sharing::Fair, Sharing::Fifo].map(|sharing| RunOptions {
            auxiliary: AuxiliaryUse { choice, ..AuxiliaryUse::default() },
            sharing,
            ..options(Options { auxiliary, ..Options::new(Scheme::Netstorm) })
        })
    })
}

#[test]
fn ours_is_near_the_bound_and_far_from_the_best_variant_of_netstorm() {
    let Some(data) = support::data() else { return };
    let mut gains = 0.0;
    for name in ["sym1", "sym2", "src0"] {
        let overlay = support::instance(&data, name, 61);
        let ours = played(&overlay, &options(Options::new(Scheme::Optimized))).mean_s;
        let plan =
            plan(&overlay, &overlay.jobs()[0], &overlay.rates_at(0.0), &Options::new(Scheme::Optimized))
                .unwrap();
        assert!(plan.bounds.seconds <= ours && ours <= 1.15 * plan.bounds.seconds, "{name}: {ours}");
        let best = netstorms().map(|options| played(&overlay, &options).mean_s).fold(f64::INFINITY, f64::min);
        gains += best / ours / 3.0;
    }
    assert!(gains >= 1.4, "{gains}");
}

#[test]
fn knowing_the_rates_pays_when_they_change() {
    let overlay = Overlay::from_yaml(include_str!("../../../topologies/geo9.yaml")).unwrap();
    for (scheme, seconds) in [(Scheme::Fapt, 3600.0), (Scheme::Netstorm, 3600.0), (Scheme::Optimized, 900.0)]
    {
        let until = Until::Seconds(seconds);
        let with =
            |knowledge| played(&overlay, &RunOptions { knowledge, until, ..options(Options::new(scheme)) });
        let (oracle, kept) = (with(Knowledge::Oracle), with(Knowledge::Static));
        let passive = with(Knowledge::Passive);
        assert_eq!(oracle.table_error, 0.0);
        assert!(kept.table_error > 0.3 && passive.table_error < kept.table_error, "{scheme}");
        assert!(oracle.mean_s < passive.mean_s && passive.mean_s < kept.mean_s, "{scheme}");
    }
}

#[test]
fn predicted_rounds_equal_run_rounds() {
    let overlay = Overlay::from_yaml(BY_HAND).unwrap();
    let options = RunOptions {
        knowledge: Knowledge::Static,
        prior_bps: 1e6,
        until: Until::Rounds(2),
        ..options(Options::new(Scheme::Optimized))
    };
    let rounds = run(&overlay, &overlay.jobs()[0], &options).unwrap().rounds;
    let rates = overlay.rates_at(0.0);
    let planned = plan(&overlay, &overlay.jobs()[0], &rates, &Options::new(Scheme::Optimized)).unwrap();
    let ours = planned.predicted_s;
    assert!(rounds.iter().all(|round| (round.seconds / ours - 1.0).abs() < 1e-9), "{rounds:?} {ours}");
}

/// A printed plan, parsed again, gives the rounds of the original plan.
#[test]
fn a_plan_that_is_read_back_is_followed() {
    let overlay = support::equal(50, 40);
    let (job, rates) = (&overlay.jobs()[0], overlay.rates_at(0.0));
    let with_paths = Options { auxiliary: Some(Disjoint::Nodes), ..Options::new(Scheme::Netstorm) };
    for plan_options in Scheme::ALL.map(Options::new).into_iter().chain([with_paths]) {
        let scheme = plan_options.scheme;
        let made = plan(&overlay, job, &rates, &plan_options).unwrap();
        let following = Options::following(made).unwrap();
        let [asked, followed] = [plan_options, following].map(|plan| {
            let (knowledge, until) = (Knowledge::Static, Until::Rounds(2));
            let options = RunOptions { knowledge, prior_bps: 1e6, until, ..options(plan) };
            run(&overlay, job, &options).unwrap()
        });
        assert_eq!(asked, followed, "{scheme}");
    }
}

prop_compose! {
    /// Random connected networks: a path, and other links.
    fn overlays()(sites in 2usize..9)(
        sites in Just(sites),
        rates in prop::collection::vec((20u32..155, 20u32..155), sites * sites),
        more in prop::collection::vec(any::<bool>(), sites * sites),
        chunks in 1u32..20,
    ) -> Overlay {
        let nodes = (0..sites).map(|at| format!("{{name: n{at}, kind: site}}")).collect::<Vec<_>>().join(", ");
        let mut text = format!("name: random\nnodes: [{nodes}]\nlinks:\n");
        for a in 0..sites {
            for b in a + 1..sites {
                if b == a + 1 || more[a * sites + b] {
                    let (there, back) = rates[a * sites + b];
                    text += &format!("  - {{ends: [n{a}, n{b}], rate: [{there} Mbps, {back} Mbps], delay: 5 ms}}\n");
                }
            }
        }
        Overlay::from_yaml(&format!("{text}jobs: [{{name: j, gradient: {} MB, chunk: 1 MB}}]\n", chunks)).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// On any network every scheme's plan passes the checker, every sum of its rounds is right, and no round
    /// beats the bound.
    #[test]
    fn every_scheme_sums_on_every_network(overlay in overlays()) {
        let job = &overlay.jobs()[0];
        for scheme in Scheme::ALL {
            let made = plan(&overlay, job, &overlay.rates_at(0.0), &Options::new(scheme)).unwrap();
            prop_assert_eq!(check(&overlay, job, &made), Vec::<String>::new());
            let played = run(&overlay, job, &options(Options::new(scheme))).unwrap();
            prop_assert_eq!(played.sums % job.sites.len() as u64, 0);
            prop_assert!(played.mean_s >= made.bounds.seconds * (1.0 - 1e-9), "{}", scheme);
        }
        for variant in netstorms() {
            let played = run(&overlay, job, &variant).unwrap();
            let chunks = job.gradient_bytes() / 1_000_000;
            prop_assert_eq!(played.sums, job.sites.len() as u64 * chunks);
        }
    }
}
