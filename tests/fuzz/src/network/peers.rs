//! Networks of peers: small ones are planned, the plan is checked, and a training on them ends.

use inart_planner_peers::{Multicast, Options, Reading, Scheme, Sharing, check, plan};
use inart_simulator_peers::ideal::{Draw, SspOptions, run_rounds, run_ssp};
use inart_topologies::peers::{Mesh, PeerJob};

/// Duration of a training, in mean compute times, and in durations of updates at most.
const ROUNDS: f64 = 4.0;

pub fn run(mesh: &Mesh, text: &str, bytes: &[u8]) {
    let job = &mesh.jobs()[0];
    let scheme = Scheme::ALL[bytes.len() % Scheme::ALL.len()];
    let multicast =
        if bytes.first().is_some_and(|first| first % 2 == 0) { Multicast::Switch } else { Multicast::Hosts };
    let options = Options { force_after: Some(4), ..Options::new(scheme, multicast) };
    // The solver may give up where sizes differ by many orders; a plan has to hold.
    let Ok(plan) = plan(mesh, job, &options) else { return };
    let wrong = check(mesh, job, &plan);
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    let run = run_rounds(mesh, job, &options, Draw::Random, Sharing::Fair, 1);
    assert!(run.is_ok_and(|run| run.seconds.is_finite()), "{text}");
    // As long as a few rounds, so that neither updates nor computations are repeated without end.
    let Some(shortest) = job.computes.iter().map(|compute| compute.mean_seconds).min_by(f64::total_cmp)
    else {
        return;
    };
    let duration_s = ROUNDS * shortest;
    let reading = Reading::default();
    let ssp = SspOptions {
        plan: options,
        reading,
        draw: Draw::Fixed,
        staleness: Some(2),
        sharing: Sharing::Split,
        duration_s,
    };
    let Ok(run) = run_ssp(mesh, job, &ssp) else { return };
    assert!(run.max_gap <= 3 && run.longest_wait <= 4.max(longest(job)), "{run:?}\n{text}");
}

/// Returns the longest initial wait of the document.
fn longest(job: &PeerJob) -> u32 {
    job.waited.iter().map(|(.., rounds)| rounds.saturating_add(1)).max().unwrap_or(0)
}
