//! Networks of sites: small ones are planned, and the plan is checked.

use inart_planner_sites::{Options, Scheme, check, plan};
use inart_topologies::sites::Hierarchy;

/// Longer gradients are not planned: rounds are played chunk by chunk.
const MOST_CHUNKS: u64 = 100;

pub fn run(network: &Hierarchy, text: &str, bytes: &[u8]) {
    let overlay = &network.overlay;
    for inside in &network.insides {
        assert!(overlay.site_named(&inside.site).is_some(), "{text}");
        assert_eq!(inside.topology.jobs().len(), 1, "{text}");
    }
    let job = &overlay.jobs()[0];
    let scheme = Scheme::ALL[bytes.len() % Scheme::ALL.len()];
    if job.tensors_bytes.iter().map(|bytes| bytes.div_ceil(job.chunk_bytes)).sum::<u64>() > MOST_CHUNKS {
        return;
    }
    // The solver may give up where rates differ by many orders; a plan has to hold.
    if let Ok(plan) = plan(overlay, job, &overlay.rates_at(0.0), &Options::new(scheme)) {
        let wrong = check(overlay, job, &plan);
        assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    }
}
