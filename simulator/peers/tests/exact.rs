//! Predicted rounds and trainings compared with exact values of a reference computation.
#![allow(clippy::unwrap_used)]

use inart_planner_peers::{Multicast, Options, Reading, Scheme, Sharing, plan};
use inart_simulator_peers::ideal::{Draw, SspOptions, run_rounds, run_ssp};
use inart_topologies::peers::{Drawn, Mesh, draw};
use serde_json::Value;

use crate::support::{self, Instance};

fn close(is: f64, value: &Value) {
    let should = value.as_f64().unwrap();
    assert!((is - should).abs() <= 1e-9 * should, "{is} {should}");
}

fn layer(value: &Value) -> Multicast {
    if value["layer"] == 3 { Multicast::Switch } else { Multicast::Hosts }
}

fn simulated(mesh: &Mesh, options: &Options) -> f64 {
    run_rounds(mesh, &mesh.jobs()[0], options, Draw::Random, Sharing::Fair, 1).unwrap().seconds
}

#[test]
fn rounds_of_equal_updates() {
    let Some(data) = support::data() else { return };
    for value in data["instances"].as_array().unwrap() {
        let (mesh, multicast) = (Instance::of(value).mesh(), layer(value));
        let seed = value["seed"].as_u64().unwrap();
        let options = Options { seed, ..Options::new(Scheme::Selmcast, multicast) };
        close(simulated(&mesh, &options), &value["t_sim"]);
    }
}

#[test]
fn rounds_of_unequal_updates_with_forced_pairs() {
    let Some(data) = support::data() else { return };
    for value in data["forced"].as_array().unwrap() {
        let (mesh, multicast) = (Instance::of(value).mesh(), layer(value));
        let planned =
            |scheme| plan(&mesh, &mesh.jobs()[0], &Options::new(scheme, multicast)).unwrap().seconds;
        let (ours, optimal) = (planned(Scheme::Optimized), planned(Scheme::Optimal));
        // With pacing, a round takes as long as planned, which max-min shares alone do not reach.
        let paced = simulated(&mesh, &Options::new(Scheme::Optimized, multicast));
        assert!((paced - ours).abs() <= 1e-9 * paced, "{paced} {ours}");
        assert!(simulated(&mesh, &Options::new(Scheme::Optimal, multicast)) > 1.05 * optimal);
    }
}

/// Runs of an independent computation: 50 peers, 15 receivers, rates within 50 % of 40 Gbit/s, 200 MB, 60 s,
/// with seed 1. Its sums of floats are its own. Times are drawn in the order of events, so that one event in
/// another order changes all that follow.
#[test]
fn stale_synchronous_runs_event_by_event() {
    let run = |cv: f64, scheme, sharing, force_after| {
        let compute = Some(inart_topologies::peers::Compute { mean_seconds: 1.0, cv });
        let mesh = draw(&Drawn {
            name: "mesh".to_owned(),
            peers: 50,
            receivers: 15,
            lambda: 0.5,
            mu: 1.0,
            rate_bps: 40e9,
            update_bytes: 200e6,
            changes: None,
            compute,
            seed: 1,
        });
        let options = SspOptions {
            plan: Options { force_after, ..Options::new(scheme, Multicast::Switch) },
            reading: Reading::default(),
            draw: Draw::Random,
            staleness: Some(4),
            sharing,
            duration_s: 60.0,
        };
        run_ssp(&mesh, &mesh.jobs()[0], &options).unwrap()
    };
    for (cv, scheme, sharing, force_after, (utilization, scale, rounds, max_gap)) in [
        (0.57, Scheme::Selmcast, Sharing::Split, Some(4), (0.7186593593001297, 0.50162060889929, 2135, 5)),
        (0.57, Scheme::Orpheus, Sharing::Split, Some(4), (0.6466696660589967, 0.30000000000000177, 1933, 4)),
        (0.57, Scheme::Selmcast, Sharing::Fair, Some(4), (0.7665204408075785, 0.501780104712034, 2292, 4)),
        (0.57, Scheme::Orpheus, Sharing::Fair, Some(4), (0.6534376375637668, 0.3000100603621735, 1988, 5)),
        (0.57, Scheme::Selmcast, Sharing::Split, None, (0.7330817737035307, 0.4821451392058334, 2191, 5)),
        (0.57, Scheme::Orpheus, Sharing::Split, None, (0.650257345586697, 0.3000000000000022, 1914, 5)),
        (0.57, Scheme::Selmcast, Sharing::Fair, None, (0.7929698780110086, 0.4664846703065844, 2381, 4)),
        (0.57, Scheme::Orpheus, Sharing::Fair, None, (0.6510554157439065, 0.30000000000000066, 1978, 5)),
        (0.26, Scheme::Selmcast, Sharing::Split, Some(4), (0.8140363141581335, 0.46050580431176513, 2412, 5)),
        (0.26, Scheme::Orpheus, Sharing::Split, Some(4), (0.6508179273708401, 0.30004096262160906, 1953, 4)),
        (0.26, Scheme::Selmcast, Sharing::Fair, Some(4), (0.8255580368862054, 0.46933820544051036, 2463, 4)),
        (0.26, Scheme::Orpheus, Sharing::Fair, Some(4), (0.6858387181404452, 0.29999999999999943, 2032, 5)),
        (0.26, Scheme::Selmcast, Sharing::Split, None, (0.8820540973560885, 0.3968697638994554, 2626, 4)),
        (0.26, Scheme::Orpheus, Sharing::Split, None, (0.6564347577813376, 0.3000000000000015, 1944, 5)),
        (0.26, Scheme::Selmcast, Sharing::Fair, None, (0.8689772843845276, 0.4068091721725514, 2573, 5)),
        (0.26, Scheme::Orpheus, Sharing::Fair, None, (0.7003905862681352, 0.2999999999999986, 2070, 3)),
    ] {
        let found = run(cv, scheme, sharing, force_after);
        assert!((found.utilization - utilization).abs() < 1e-7, "{found:?}");
        assert!((found.scale - scale).abs() < 1e-7, "{found:?}");
        assert_eq!((found.rounds, found.max_gap), (rounds, max_gap), "{found:?}");
    }
}
