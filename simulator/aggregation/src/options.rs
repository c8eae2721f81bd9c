//! What the hosts of a run do, and what a run can do of a fault schedule.

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

/// What a run can do of a fault schedule: everything that needs no process of the controller.
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

/// A worker of the first job whose gradient has another length than its peers'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddLength {
    /// Its rank.
    pub rank: usize,
    /// The length, in values.
    pub gradient_values: usize,
}

/// As on the command line: `RANK=VALUES`.
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

/// A worker of the first job whose program skips the sums of a round. Its later tensors fit those of its
/// peers, and are of later steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Its rank.
    pub rank: usize,
    /// The round, counted from 0.
    pub round: u32,
}

/// As on the command line: `RANK=ROUND`.
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
    /// Share of gradients with one such value.
    pub share: Share,
    /// What workers do with them.
    pub handling: NonFinite,
}

/// What the hosts do, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rounds of each run of a job.
    pub rounds: u32,
    /// How often each job is run, one after the other: with hosts that begin anew, and other gradients, under
    /// the same plan version on the same switches.
    pub runs: u32,
    /// Values of each gradient.
    pub gradient_values: usize,
    /// Tensors that each gradient is cut into, of different lengths and all in flight at once.
    pub tensors: u32,
    /// A worker with another length, if there is one: no sum is right then, and the job is to end.
    pub odd_length: Option<OddLength>,
    /// A worker that skips a round, if there is one: rounds then go on until the job ends by that worker's
    /// name.
    pub skip: Option<Skip>,
    /// How large the values are.
    pub sizes: Sizes,
    /// Share of gradients with one value that is far larger than the others.
    pub spikes: Share,
    /// Gradients with a NaN or an infinity, if there are any.
    pub spoilt: Option<Spoilt>,
    /// Changes every gradient before its round starts, if given.
    pub adjust: Option<Adjust>,
    /// Decides gradients and faults.
    pub seed: u64,
    /// How long hosts wait for a silent peer.
    pub peer_timeout: Duration,
    /// Virtual time after which a run that has not ended is a failure.
    pub limit: Span,
    /// Share of new plans' tables that some switch refuses, so that what was written is taken back.
    pub refused: Share,
    /// Jobs that come and go, and elastic jobs' hosts that do, if there are such; not together with other
    /// changes of plans.
    pub live: Option<Live>,
    /// Jobs that are parts of a larger one, if there are such; not together with `live`.
    pub onward: Option<Onward>,
    /// Changes of plans while the jobs run, if there are any.
    pub changes: Option<Changes>,
    /// Other traffic on links.
    pub others: Vec<LinkTraffic>,
    /// What is looked at meanwhile, and whether plans follow it; not together with `changes`.
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
