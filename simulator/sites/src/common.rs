//! What the links and the training programs of a run both know.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use inart_connections::PeerNo;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};

/// Seconds as machines take times: an event within a nanosecond happens at its end.
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).ceil() as u64
}

/// As [`nanos`].
pub(crate) fn time(seconds: f64) -> Duration {
    Duration::from_nanos(nanos(seconds))
}

/// A whole number of nanoseconds, in seconds.
pub(crate) fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 * 1e-9
}

/// The process of a site.
pub(crate) fn process(site: SiteNo) -> PeerNo {
    PeerNo(site.0.into())
}

/// The site of a process that is not the scheduler's.
pub(crate) fn site(process: PeerNo) -> SiteNo {
    SiteNo(process.0 as u16)
}

/// State that links and programs share.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// The time of the links, in seconds and as the world has it. Links keep fractions of nanoseconds.
    pub clock: (f64, Duration),
    /// When traces began, in seconds; `None` before that.
    pub traces_began_s: Option<f64>,
    /// Processes that are dead.
    pub dead: BTreeSet<PeerNo>,
    /// Plans by version.
    pub plans: BTreeMap<u64, Arc<TransmissionPolicy>>,
    /// Versions of plans that a scheduler has sent to a site.
    pub offered: BTreeSet<u64>,
    /// Plans that every site must refuse.
    pub refused: Vec<Arc<TransmissionPolicy>>,
    /// What happened beside rounds and faults, by name.
    pub seen: BTreeMap<&'static str, u64>,
}

/// A handle to what is shared.
pub(crate) type Shared = Rc<RefCell<Common>>;

impl Common {
    /// Counts something that happened.
    pub fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// Returns a time of the world in seconds, with the links' fraction of a nanosecond if it is theirs.
    pub fn seconds(&self, now: Duration) -> f64 {
        let (of_links_s, known) = self.clock;
        if known == now { of_links_s } else { seconds(now) }
    }
}
