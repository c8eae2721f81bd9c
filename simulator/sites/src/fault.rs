//! What may happen, and when.

use inart_protocol_sites::SiteNo;
use inart_topologies::faults::Faults;
use inart_topologies::sites::Overlay;

use crate::error::SimulationError;

/// The scheduler's name in a fault schedule.
const SCHEDULER: &str = "scheduler";

/// How the document of a scheduler differs from that of the sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherDocument {
    /// It has one link more, the fastest of all.
    Link,
    /// Its chunks have another length.
    Chunks,
    /// It plans with another scheme.
    Scheme,
}

/// A setting that all sites must share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// The number of rounds.
    Rounds,
    /// The seed of the training.
    Seed,
}

impl Setting {
    /// Returns the setting's name in hellos.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Rounds => "rounds",
            Setting::Seed => "seed",
        }
    }
}

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A link is down, by number, in both directions.
    Link(usize),
    /// A site's process is gone; it knows nothing when it starts again.
    Site(SiteNo),
    /// The scheduler's process is gone.
    Scheduler,
    /// A site also sends chunks, questions and plans in the names of other sites, and plans of its own.
    Impostor(SiteNo),
    /// A site sends each of its chunks many times.
    Repeats(SiteNo),
    /// A scheduler with another document runs in the place of the right one.
    Stranger(OtherDocument),
    /// A site's training program does not return.
    Hangs(SiteNo),
    /// A site begins with another value of a setting than all others.
    OtherTerms(SiteNo, Setting),
}

/// When something fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedFault {
    /// From when, in seconds.
    pub at_s: f64,
    /// How long, in seconds; for good if not given.
    pub lasts_s: Option<f64>,
    /// What.
    pub fault: Fault,
}

impl PlannedFault {
    /// Returns the kind of the fault, as the summary of a soak names it.
    pub fn kind(&self) -> &'static str {
        match self.fault {
            Fault::Link(_) => "link down",
            Fault::Site(_) if self.lasts_s.is_none() => "site gone for good",
            Fault::Site(_) => "site killed",
            Fault::Scheduler => "scheduler gone",
            Fault::Impostor(_) => "site that speaks as others",
            Fault::Repeats(_) => "site that repeats its chunks",
            Fault::Stranger(OtherDocument::Link) => "scheduler with another link",
            Fault::Stranger(OtherDocument::Chunks) => "scheduler with other chunks",
            Fault::Stranger(OtherDocument::Scheme) => "scheduler with another scheme",
            Fault::Hangs(_) => "program that hangs",
            Fault::OtherTerms(_, Setting::Rounds) => "site with other rounds",
            Fault::OtherTerms(_, Setting::Seed) => "site with another seed",
        }
    }

    /// Returns the site because of which the training ends early, if the fault is such a one.
    pub(crate) fn ends_because_of(&self) -> Option<SiteNo> {
        match self.fault {
            Fault::Site(site) if self.lasts_s.is_none() => Some(site),
            Fault::Hangs(site) | Fault::OtherTerms(site, _) => Some(site),
            _ => None,
        }
    }

    /// Whether the fault lasts at a time, in seconds.
    pub(crate) fn lasts_at(&self, now_s: f64) -> bool {
        let end_s = self.lasts_s.map_or(f64::INFINITY, |lasts_s| self.at_s + lasts_s);
        self.at_s <= now_s && now_s < end_s
    }
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
