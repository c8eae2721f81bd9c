//! Ends of rounds in runs of one seed, to the last digit.
#![allow(clippy::unwrap_used)]

use inart_planner_sites::{AuxiliaryUse, Options as PlanOptions, Scheme, Sharing};
use inart_simulator_sites::{Knowledge, Options, Traces, simulate};
use inart_topologies::sites::Overlay;

/// By scheme: time of the first site's start, and the ends of three rounds, in seconds. `inart simulate`
/// printed these while sites had an event loop of their own (docs/decisions/0048-sites-on-the-world.md).
const ENDS_S: [(Scheme, f64, [f64; 3]); 6] = [
    (Scheme::Optimized, 0.340000002, [16.101941072751952, 31.4464551098284, 46.74254371979279]),
    (Scheme::Star, 0.28, [102.78291704558734, 204.17512779062707, 305.57137642025185]),
    (Scheme::Bkt, 0.310000001, [53.27259814931343, 106.17026725349004, 159.03341252430195]),
    (Scheme::Mst, 0.28, [26.868945986110973, 53.337891968221896, 79.80683795033309]),
    (Scheme::Fapt, 0.22, [27.674422186894333, 55.06702705485809, 82.45963192282154]),
    (Scheme::Netstorm, 0.340000002, [26.411984512762924, 52.1415851077801, 77.63470451953147]),
];

#[test]
fn rounds_without_faults_end_when_they_did() {
    let overlay = Overlay::from_yaml(include_str!("../../../topologies/geo9-static.yaml")).unwrap();
    let job = &overlay.jobs()[0];
    let overlay = overlay.scaled(job, 64 << 10, f64::from(64 << 10) / job.gradient_bytes() as f64).0;
    for (scheme, began_s, ends_s) in ENDS_S {
        let options = Options {
            plan: PlanOptions::new(scheme),
            auxiliary: AuxiliaryUse::default(),
            sharing: scheme.sharing(Sharing::Fair),
            knowledge: Knowledge::Static,
            traces: Traces::FromTheStart,
            compute_s: 0.0,
            prior_bps: 2e4,
            rounds: 3,
            state_bytes: 0,
            seed: 1,
        };
        let outcome = simulate(&overlay, &options, &[]).unwrap();
        let ended: Vec<f64> = outcome.rounds.iter().map(|round| round.ended_s).collect();
        assert_eq!((outcome.began_s, &ended[..]), (began_s, &ends_s[..]), "{scheme:?}");
    }
}
