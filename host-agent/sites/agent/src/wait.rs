//! Waits of a site and their descriptions.

use std::time::Duration;

use inart_protocol_sites::SiteNo;

/// Reason why a site is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallCause {
    /// Missing connection to the neighbor.
    NoConnection,
    /// Round that the site has not reported: its training program may compute.
    Computing,
    /// Missing hello or chunks of a site that may wait for another one.
    NoWord,
}

/// Site that is waited for, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacking {
    /// The site.
    pub site: SiteNo,
    /// Reason of the wait.
    pub cause: StallCause,
}

/// Cause of a wait of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// Connections and hellos of neighbors, before the first round or after a restart.
    Neighbors(Vec<Lacking>),
    /// First plan of the scheduler.
    Scheduler,
    /// State of another site, after a restart.
    State {
        /// The other site.
        of: SiteNo,
        /// Bytes that have arrived.
        received: u64,
        /// Length of the state, in bytes, if it is known.
        total: Option<u64>,
    },
    /// Plan that the sites agreed on for the next round.
    Plan,
    /// Chunks of a round.
    Chunks {
        /// The round.
        round: u32,
        /// The sites that have not sent theirs.
        of: Vec<Lacking>,
    },
    /// Gradient of this site's own training program.
    Program {
        /// The round.
        round: u32,
    },
    /// Last rounds of neighbors that still need this site.
    Ends(Vec<SiteNo>),
}

/// Report of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Cause of the wait.
    pub wait: Wait,
    /// Duration of the wait so far.
    pub waited: Duration,
}

impl Wait {
    /// Describes the wait. `name` returns the name of a site, with more about a missing connection if its
    /// second argument is true.
    pub fn in_words(&self, name: &dyn Fn(SiteNo, bool) -> String) -> String {
        let lacking = |one: &Lacking| match one.cause {
            StallCause::NoConnection => name(one.site, true),
            StallCause::Computing => format!("{}: has not reported this round", name(one.site, false)),
            StallCause::NoWord => format!("{}: connected, nothing received", name(one.site, false)),
        };
        let all = |of: &[Lacking]| of.iter().map(lacking).collect::<Vec<_>>().join("; ");
        match self {
            Wait::Neighbors(of) => format!("waiting for {}", all(of)),
            Wait::Scheduler => "waiting for the scheduler's first plan".to_owned(),
            Wait::State { of, received, total } => {
                let total = total.map_or("an unknown number of".to_owned(), |total| total.to_string());
                format!("waiting for the state of {}: {received} of {total} bytes", name(*of, false))
            }
            Wait::Plan => "waiting for the plan that the sites agreed on".to_owned(),
            Wait::Chunks { round, of } => format!("round {round}: waiting for {}", all(of)),
            Wait::Program { round } => format!("round {round}: waiting for this site's gradient"),
            Wait::Ends(of) => {
                let names: Vec<_> = of.iter().map(|site| name(*site, false)).collect();
                format!("all rounds are done; waiting for {} to finish", names.join(", "))
            }
        }
    }

    /// Whether a site is missing, rather than waiting for another site.
    pub(crate) fn names_the_cause(&self) -> bool {
        match self {
            Wait::Neighbors(of) | Wait::Chunks { of, .. } => {
                of.iter().any(|one| one.cause != StallCause::NoWord)
            }
            _ => false,
        }
    }
}

/// Start of a wait, and the reports about it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Time of the last progress; `None` before the first tick.
    pub progress_at: Option<Duration>,
    pub reported_at: Option<Duration>,
    pub waiting: Option<Waiting>,
}
