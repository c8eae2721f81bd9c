//! Measurement and planning at other intervals than the default ones.
#![allow(clippy::unwrap_used)]

use inart_planner_sites::{AuxiliaryUse, Disjoint, Options, Scheme, Sharing, Tuning};
use inart_simulator_sites::ideal::{Knowledge, RunOptions, Until, run};
use inart_topologies::sites::Overlay;

const GEO9: &str = include_str!("../../../topologies/geo9.yaml");

fn options(scheme: Scheme) -> RunOptions {
    let auxiliary = (scheme == Scheme::Netstorm).then_some(Disjoint::Nodes);
    RunOptions {
        plan: Options { auxiliary, ..Options::new(scheme) },
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: Knowledge::Passive,
        prior_bps: 87.5e6,
        tuning: Tuning::default(),
        until: Until::Seconds(600.0),
    }
}

#[test]
fn without_samples_or_updates_nothing_is_learnt() {
    let overlay = Overlay::from_yaml(GEO9).unwrap();
    let job = &overlay.jobs()[0];
    let options = options(Scheme::Netstorm);
    let nothing = RunOptions { knowledge: Knowledge::Uniform, ..options.clone() };
    let nothing: Vec<f64> =
        run(&overlay, job, &nothing).unwrap().rounds.iter().map(|round| round.seconds).collect();
    for tuning in [
        // Longer than any chunk; later than the end; more than available.
        Tuning { least_bytes: job.chunk_bytes + 1, ..Tuning::default() },
        Tuning { update_s: 1e6, ..Tuning::default() },
        Tuning { samples: 1_000_000, ..Tuning::default() },
    ] {
        let run = run(&overlay, job, &RunOptions { tuning, ..options.clone() }).unwrap();
        let seconds: Vec<f64> = run.rounds.iter().map(|round| round.seconds).collect();
        assert_eq!(seconds, nothing, "{tuning:?}");
    }
}
