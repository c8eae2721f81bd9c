//! What may happen, and when.

use inart_faults::Faults;
use inart_overlay::Overlay;
use inart_sites::SiteNo;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::SimulationError;

/// The scheduler's name in a fault schedule.
const SCHEDULER: &str = "scheduler";

/// What is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A link, by number, in both directions.
    Link(usize),
    /// A site's process; it knows nothing when it starts again.
    Site(SiteNo),
    /// The scheduler's process.
    Scheduler,
}

/// When something is gone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedFault {
    /// From when, in seconds.
    pub at_s: f64,
    /// How long, in seconds; for good if not given.
    pub lasts_s: Option<f64>,
    /// What.
    pub fault: Fault,
}

/// The faults of a document: `link_down: [n1, n2]` and `crash: n1`, or `crash: scheduler`.
///
/// # Errors
/// Links and sites that there are not; sites that never start again; faults of other kinds.
pub fn resolve(overlay: &Overlay, faults: &Faults) -> Result<Vec<PlannedFault>, SimulationError> {
    let sections = [("links", faults.links.is_empty()), ("background", faults.background.is_empty())];
    if let Some((section, _)) = sections.into_iter().find(|(_, is_empty)| !is_empty) {
        return Err(SimulationError::Section { section });
    }
    let mut all = Vec::new();
    for (event, number) in faults.events.iter().zip(1..) {
        let wrong = |problem: String, fix| SimulationError::Fault { number, problem, fix };
        let site = |name: &str| {
            let fix = "name a site of the network, or the scheduler";
            overlay.site_named(name).ok_or_else(|| wrong(format!("there is no site {name}"), fix))
        };
        let fault = match (&event.link_down, &event.crash) {
            (Some([a, b]), None) => {
                let ends = [site(a)?, site(b)?];
                let found = overlay
                    .links()
                    .iter()
                    .position(|link| link.ends == ends || link.ends == [ends[1], ends[0]]);
                let fix = "name both ends of a link";
                Fault::Link(found.ok_or_else(|| wrong(format!("there is no link {a} to {b}"), fix))?)
            }
            (None, Some(name)) if name == SCHEDULER => Fault::Scheduler,
            (None, Some(name)) => {
                let fix = "say when it starts again, like `for: 3 s`: the others wait for it";
                if event.lasts.is_none() {
                    return Err(wrong(format!("site {name} does not start again"), fix));
                }
                Fault::Site(SiteNo(site(name)?.index() as u16))
            }
            _ => {
                let fix = "write `link_down: [n1, n2]`, `crash: n1` or `crash: scheduler`";
                return Err(wrong("it is nothing that happens to sites".to_owned(), fix));
            }
        };
        let lasts_s = event.lasts.map(|span| span.duration().as_secs_f64());
        all.push(PlannedFault { at_s: event.at.duration().as_secs_f64(), lasts_s, fault });
    }
    Ok(all)
}

/// From one to three faults within some time, by a seed; all end.
pub fn draw(overlay: &Overlay, within_s: f64, seed: u64) -> Vec<PlannedFault> {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
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
