//! Options of a run, and supported faults.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use inart_protocol_aggregation::NonFinite;
use inart_topologies::faults::Capabilities;
use inart_topologies::faults::quantity::{Share, Span};

use crate::changes::Changes;
use crate::gradients::{Adjust, Sizes};
use crate::live::Live;
use crate::onward::Onward;
use crate::watch::{LinkTraffic, Watch};
use crate::wire::SingleFault;

/// Supported parts of a fault schedule: all that need no controller process.
pub const CAPABILITIES: Capabilities = Capabilities {
    controller: false,
    scheduler: false,
    frames: true,
    lasting: false,
    worker_restart: false,
    injection: true,
    rates: false,
    connections: false,
    tcp: false,
    frame_bytes: 64..=9000,
};

/// A worker of the first job whose gradient has another length than that of its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddLength {
    /// Rank.
    pub rank: usize,
    /// The length, in values.
    pub gradient_values: usize,
}

/// Prints `RANK=VALUES`, as on the command line.
impl fmt::Display for OddLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.rank, self.gradient_values)
    }
}

impl FromStr for OddLength {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = text.split_once('=').and_then(|(rank, values)| {
            Some(Self { rank: rank.parse().ok()?, gradient_values: values.parse().ok()? })
        });
        read.ok_or_else(|| format!("\"{text}\" is not RANK=VALUES; write one like 0=64"))
    }
}

/// A worker of the first job whose program skips the sums of a round. Its later tensors have the shapes that
/// its peers expect, but belong to later steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Rank.
    pub rank: usize,
    /// The round, counted from 0.
    pub round: u32,
}

/// Prints `RANK=ROUND`, as on the command line.
impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.rank, self.round)
    }
}

impl FromStr for Skip {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = text
            .split_once('=')
            .and_then(|(rank, round)| Some(Self { rank: rank.parse().ok()?, round: round.parse().ok()? }));
        read.ok_or_else(|| format!("\"{text}\" is not RANK=ROUND; write one like 0=3"))
    }
}

/// Gradients that have a NaN or an infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spoilt {
    /// Share of gradients with a non-finite value.
    pub share: Share,
    /// Workers' handling of such values.
    pub handling: NonFinite,
}

/// Options of the hosts, and durations.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rounds of each run of a job.
    pub rounds: u32,
    /// Number of consecutive runs of each job, with restarted hosts and other gradients, under the same plan
    /// version on the same switches.
    pub runs: u32,
    /// Values of each gradient.
    pub gradient_values: usize,
    /// Number of tensors that each gradient is cut into, of different lengths and all in flight at once.
    pub tensors: u32,
    /// Worker with another gradient length, if any: no sum is right then, and the job must end.
    pub odd_length: Option<OddLength>,
    /// Worker that skips a round, if any: rounds continue until the job ends with an error that names it.
    pub skip: Option<Skip>,
    /// Magnitude of the values.
    pub sizes: Sizes,
    /// Share of gradients with one value that is far larger than the others.
    pub spikes: Share,
    /// Gradients with a NaN or an infinity, if any.
    pub spoilt: Option<Spoilt>,
    /// Changes every gradient before its round starts, if given.
    pub adjust: Option<Adjust>,
    /// Decides gradients and faults.
    pub seed: u64,
    /// Time that hosts wait for a silent peer.
    pub peer_timeout: Duration,
    /// Virtual time after which a run that has not ended is a failure.
    pub limit: Span,
    /// Share of plan installations that some switch refuses, so that written tables are rolled back.
    pub refused: Share,
    /// Job and host events, if any; excludes other plan changes.
    pub live: Option<Live>,
    /// Jobs that are parts of a larger one, if any; excludes `live`.
    pub onward: Option<Onward>,
    /// Plan changes while the jobs run, if any.
    pub changes: Option<Changes>,
    /// Background traffic on links.
    pub others: Vec<LinkTraffic>,
    /// Observation and replanning, if enabled; excludes `changes`.
    pub watch: Option<Watch>,
    /// One hop, by its number from 0, that fares otherwise.
    pub single: Option<(u64, SingleFault)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: 10,
            runs: 1,
            gradient_values: 10_000,
            tensors: 1,
            odd_length: None,
            skip: None,
            sizes: Sizes::default(),
            spikes: Share::default(),
            spoilt: None,
            adjust: None,
            seed: 1,
            peer_timeout: Duration::from_secs(2),
            limit: Span(600_000_000_000),
            refused: Share::default(),
            live: None,
            onward: None,
            changes: None,
            others: Vec::new(),
            watch: None,
            single: None,
        }
    }
}
