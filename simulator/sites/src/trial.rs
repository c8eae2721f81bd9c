//! Random runs: faults of all kinds, drawn from a seed.

use inart_protocol_sites::SiteNo;
use inart_sites_agent::PART_BYTES;
use inart_topologies::sites::Overlay;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fault::{Fault, OtherDocument, PlannedFault, Setting};

/// Random run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Faults of the run.
    pub faults: Vec<PlannedFault>,
    /// Length of the training program's state, in bytes: several parts in some runs.
    pub state_bytes: usize,
}

impl Trial {
    /// Draws a run whose faults start within some time, in seconds. Equal seeds give equal runs.
    pub fn of_seed(overlay: &Overlay, within_s: f64, seed: u64) -> Self {
        let mut trial = Trial { faults: gone(overlay, within_s, seed), state_bytes: 0 };
        let mut draws = stream(seed, 1);
        let site = |draws: &mut ChaCha8Rng| SiteNo(draws.random_range(0..overlay.sites().len() as u16));
        match draws.random_range(0..12) {
            0 => {
                let setting = if draws.random_bool(0.5) { Setting::Rounds } else { Setting::Seed };
                let fault = Fault::OtherTerms(site(&mut draws), setting);
                trial.faults = vec![PlannedFault { at_s: 0.0, lasts_s: None, fault }];
                return trial;
            }
            1 => trial.end_by(Fault::Site(site(&mut draws)), within_s, &mut draws),
            2 => trial.end_by(Fault::Hangs(site(&mut draws)), within_s, &mut draws),
            3..=5 => trial.load_in_parts(overlay, within_s, seed),
            _ => {}
        }
        trial.misbehave(overlay, within_s, seed);
        trial
    }

    /// Adds the fault that ends the training. All other faults are ones that every site survives, so that the
    /// cause is clear.
    fn end_by(&mut self, fault: Fault, within_s: f64, draws: &mut ChaCha8Rng) {
        self.faults.retain(|planned| planned.fault == Fault::Scheduler);
        self.faults.push(PlannedFault { at_s: draws.random_range(0.0..within_s), lasts_s: None, fault });
    }

    /// Restarts a site whose state has several parts, and meanwhile cuts off the site or a neighbor.
    fn load_in_parts(&mut self, overlay: &Overlay, within_s: f64, seed: u64) {
        let mut draws = stream(seed, 2);
        self.state_bytes = PART_BYTES * draws.random_range(2..5) + draws.random_range(1..PART_BYTES);
        let site = overlay.site_ids().nth(draws.random_range(0..overlay.sites().len()));
        let Some(site) = site else { return };
        let (at_s, gone_s) = (draws.random_range(0.0..within_s), draws.random_range(0.1..3.0));
        let fault = Fault::Site(SiteNo(site.index() as u16));
        self.faults.push(PlannedFault { at_s, lasts_s: Some(gone_s), fault });
        let links = overlay.links().iter().enumerate().filter(|(_, link)| link.ends.contains(&site));
        let links: Vec<_> = links.map(|(number, link)| (number, link.ends)).collect();
        let (link, ends) = links[draws.random_range(0..links.len())];
        let other = if ends[0] == site { ends[1] } else { ends[0] };
        let fault = match draws.random_bool(0.5) {
            true => Fault::Link(link),
            false => Fault::Site(SiteNo(other.index() as u16)),
        };
        let at_s = at_s + gone_s + draws.random_range(0.5..12.0);
        self.faults.push(PlannedFault { at_s, lasts_s: Some(draws.random_range(0.1..8.0)), fault });
    }

    /// Adds sites that impersonate others or send duplicates, and schedulers with other documents.
    fn misbehave(&mut self, overlay: &Overlay, within_s: f64, seed: u64) {
        let mut draws = stream(seed, 3);
        let sites = overlay.sites().len() as u16;
        let mut push = |draws: &mut ChaCha8Rng, fault| {
            let (at_s, lasts_s) = (draws.random_range(0.0..within_s), draws.random_range(0.1..within_s));
            self.faults.push(PlannedFault { at_s, lasts_s: Some(lasts_s), fault });
        };
        if draws.random_bool(0.3) {
            let fault = Fault::Impostor(SiteNo(draws.random_range(0..sites)));
            push(&mut draws, fault);
        }
        if draws.random_bool(0.2) {
            let fault = Fault::Repeats(SiteNo(draws.random_range(0..sites)));
            push(&mut draws, fault);
        }
        if draws.random_bool(0.3) {
            let all = [OtherDocument::Link, OtherDocument::Chunks, OtherDocument::Scheme];
            let fault = Fault::Stranger(all[draws.random_range(0..all.len())]);
            push(&mut draws, fault);
        }
    }
}

/// Returns a separate stream of random numbers, so that one kind of faults does not change the others of a
/// seed.
fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    draws.set_stream(number);
    draws
}

/// Draws one to three links, sites and schedulers that fail for a while.
fn gone(overlay: &Overlay, within_s: f64, seed: u64) -> Vec<PlannedFault> {
    let mut draws = stream(seed, 0);
    let mut all: Vec<PlannedFault> = Vec::new();
    for _ in 0..1 + seed % 3 {
        let fault = match draws.random_range(0..3) {
            0 => Fault::Link(draws.random_range(0..overlay.links().len())),
            1 => Fault::Site(SiteNo(draws.random_range(0..overlay.sites().len() as u16))),
            _ => Fault::Scheduler,
        };
        let (at_s, lasts_s) = (draws.random_range(0.0..within_s), draws.random_range(0.1..20.0));
        all.push(PlannedFault { at_s, lasts_s: Some(lasts_s), fault });
    }
    all
}
