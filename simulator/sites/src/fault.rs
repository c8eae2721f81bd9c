//! Faults and their times.

use inart_protocol_sites::SiteNo;
use inart_topologies::faults::{Capabilities, Error, Faults, Lasting, Schedule, Step, Victim};
use inart_topologies::sites::{Overlay, SiteId};

/// Faults of a schedule that runs of sites support.
pub const CAPABILITIES: Capabilities = Capabilities {
    controller: false,
    scheduler: true,
    frames: false,
    lasting: true,
    worker_restart: true,
    injection: false,
    rates: false,
    connections: false,
    tcp: false,
    frame_bytes: 64..=9000,
};

/// How the document of a scheduler differs from that of the sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherDocument {
    /// One additional link, the fastest of all.
    Link,
    /// Another length of chunks.
    Chunks,
    /// Another scheme.
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

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Failure of a link, by number, in both directions.
    Link(usize),
    /// Crash of a site's process, which loses its state.
    Site(SiteNo),
    /// Crash of the scheduler's process.
    Scheduler,
    /// Site that also sends chunks, requests and plans in the names of other sites, and plans of its own.
    Impostor(SiteNo),
    /// Site that sends each of its chunks many times.
    Repeats(SiteNo),
    /// Scheduler with another document instead of the right one.
    Stranger(OtherDocument),
    /// Training program of a site that does not return.
    Hangs(SiteNo),
    /// Site with another value of a setting than all others.
    OtherTerms(SiteNo, Setting),
}

/// Fault with its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedFault {
    /// Start, in seconds.
    pub at_s: f64,
    /// Duration, in seconds; permanent if `None`.
    pub lasts_s: Option<f64>,
    /// The fault.
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

    /// Returns the site that causes the early end of the training, if the fault ends the training.
    pub(crate) fn ends_because_of(&self) -> Option<SiteNo> {
        match self.fault {
            Fault::Site(site) if self.lasts_s.is_none() => Some(site),
            Fault::Hangs(site) | Fault::OtherTerms(site, _) => Some(site),
            _ => None,
        }
    }

    /// Whether the fault is active at a time, in seconds.
    pub(crate) fn lasts_at(&self, now_s: f64) -> bool {
        let end_s = self.lasts_s.map_or(f64::INFINITY, |lasts_s| self.at_s + lasts_s);
        self.at_s <= now_s && now_s < end_s
    }
}

/// Resolves a fault schedule on a network of sites: failed links, killed and restarted processes, partitions.
///
/// # Errors
/// Names that the network does not have; sites that never restart; faults of other kinds.
pub fn resolve(overlay: &Overlay, faults: &Faults) -> Result<Vec<PlannedFault>, Error> {
    for (at, event) in faults.events.iter().enumerate() {
        if let Some(name) = &event.restart {
            let problem = format!("`restart: {name}` is of networks of switches; write `crash: {name}`");
            return Err(Error::Entry { place: format!("events[{at}]"), problem });
        }
    }
    let schedule = Schedule::new(overlay, faults, &CAPABILITIES)?;
    let planned = schedule.faults.iter().map(|lasting| planned(overlay, lasting));
    Ok(planned.collect::<Result<Vec<_>, _>>()?.concat())
}

fn planned(overlay: &Overlay, lasting: &Lasting<SiteId, usize>) -> Result<Vec<PlannedFault>, Error> {
    let wrong = |problem: String| Error::Entry { place: format!("events[{}]", lasting.event), problem };
    let number = |site: SiteId| SiteNo(site.index() as u16);
    let faults = match lasting.first {
        Step::LinkDown(link) => vec![Fault::Link(link)],
        Step::InterfaceDown(site) => {
            let links = overlay.links().iter().enumerate();
            links.filter(|(_, link)| link.ends.contains(&site)).map(|(at, _)| Fault::Link(at)).collect()
        }
        Step::Kill(Victim::Controller) => vec![Fault::Scheduler],
        Step::Kill(Victim::Host(site)) if lasting.until.is_some() => vec![Fault::Site(number(site))],
        Step::Kill(Victim::Host(site)) => {
            let name = overlay.site_name(site);
            return Err(wrong(format!(
                "site {name} does not start again; say when, like `duration: 3 s`: the others wait for it"
            )));
        }
        step => {
            let what = step.describe(overlay);
            return Err(wrong(format!(
                "{what} does not happen to sites; write `link_down`, `partition`, `interface_down` or `crash`"
            )));
        }
    };
    let at_s = lasting.at.duration().as_secs_f64();
    let lasts_s =
        lasting.until.map(|until| until.duration().saturating_sub(lasting.at.duration()).as_secs_f64());
    Ok(faults.into_iter().map(|fault| PlannedFault { at_s, lasts_s, fault }).collect())
}
