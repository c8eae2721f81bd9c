//! State shared by the links and the training programs of a run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use inart_connections::PeerNo;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};

/// Converts seconds to nanoseconds as machines round times: an event within a nanosecond happens at its end.
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).ceil() as u64
}

/// Converts seconds to a duration as [`nanos`] does.
pub(crate) fn time(seconds: f64) -> Duration {
    Duration::from_nanos(nanos(seconds))
}

/// Converts a whole number of nanoseconds to seconds.
pub(crate) fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 * 1e-9
}

/// Returns the process of a site.
pub(crate) fn process(site: SiteNo) -> PeerNo {
    PeerNo(site.0.into())
}

/// Returns the site of a process that is not the scheduler's.
pub(crate) fn site(process: PeerNo) -> SiteNo {
    SiteNo(process.0 as u16)
}

/// State that links and programs share.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// Time of the links, in seconds and in the world's nanoseconds. Links keep fractions of nanoseconds.
    pub clock: (f64, Duration),
    /// Start of the traces, in seconds; `None` before.
    pub traces_began_s: Option<f64>,
    /// Dead processes.
    pub dead: BTreeSet<PeerNo>,
    /// Plans by version.
    pub plans: BTreeMap<u64, Arc<TransmissionPolicy>>,
    /// Versions of plans that a scheduler has sent to a site.
    pub offered: BTreeSet<u64>,
    /// Plans that every site must refuse.
    pub refused: Vec<Arc<TransmissionPolicy>>,
    /// Numbers of events other than rounds and faults, by name.
    pub seen: BTreeMap<&'static str, u64>,
}

/// Handle to the shared state.
pub(crate) type Shared = Rc<RefCell<Common>>;

impl Common {
    /// Counts an event.
    pub fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// Returns a time of the world in seconds, with the links' fraction of a nanosecond if it is theirs.
    pub fn seconds(&self, now: Duration) -> f64 {
        let (of_links_s, known) = self.clock;
        if known == now { of_links_s } else { seconds(now) }
    }
}
