//! Measuring and planning at other intervals than by default.
#![allow(clippy::unwrap_used)]

use inart_overlay::{
    AuxiliaryUse, Disjoint, Knowledge, Options, Overlay, RunOptions, Scheme, Sharing, Tuning, Until, run,
    run_tuned,
};

const GEO9: &str = include_str!("../../topologies/geo9.yaml");
const DEFAULT: Tuning = Tuning { update_s: 0.0, samples: 4, least_bytes: 0 };

fn options(scheme: Scheme) -> RunOptions {
    let auxiliary = (scheme == Scheme::Netstorm).then_some(Disjoint::Nodes);
    RunOptions {
        plan: Options { auxiliary, ..Options::new(scheme) },
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: Knowledge::Passive,
        prior_bps: 87.5e6,
        until: Until::Seconds(600.0),
    }
}

#[test]
fn the_default_is_passive_knowledge() {
    let overlay = Overlay::from_yaml(GEO9).unwrap();
    for scheme in [Scheme::Netstorm, Scheme::Mst, Scheme::Inart] {
        let options = options(scheme);
        let plain = run(&overlay, &overlay.jobs()[0], &options).unwrap();
        assert_eq!(run_tuned(&overlay, &overlay.jobs()[0], &options, &DEFAULT).unwrap(), plain);
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
        // Longer than any chunk; later than the end; more than there are.
        Tuning { least_bytes: job.chunk_bytes + 1, ..DEFAULT },
        Tuning { update_s: 1e6, ..DEFAULT },
        Tuning { samples: 1_000_000, ..DEFAULT },
    ] {
        let run = run_tuned(&overlay, job, &options, &tuning).unwrap();
        let seconds: Vec<f64> = run.rounds.iter().map(|round| round.seconds).collect();
        assert_eq!(seconds, nothing, "{tuning:?}");
    }
}
