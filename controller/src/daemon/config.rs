//! Settings of a daemon, and why it ends.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use inart_targets::{Place, Precedence, Program, SwitchError};
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;

use super::steered::Steer;
use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::membership::Timing;
use crate::records::Records;

/// Settings of a daemon.
pub struct Config {
    /// The network.
    pub topology: Topology,
    /// The plans, as for [`Controller::install`](crate::Controller::install).
    pub jobs: Vec<JobPlan>,
    /// The network of peers on the same switches, if it is not that of the records.
    pub peers: Option<Mesh>,
    /// What the switches run.
    pub program: Arc<dyn Program>,
    /// Where they are.
    pub switches: BTreeMap<String, Place>,
    /// The precedence of this controller: greater than those of earlier ones. At its first contact with the
    /// switches the daemon takes a greater one if they have seen such; later it keeps what it has.
    pub precedence: Precedence,
    /// How long a start waits for further switches once one has answered. What is away then is put in order
    /// when it answers.
    pub switches_within: Duration,
    /// What earlier controllers and pushes did.
    pub records: Records,
    /// Whether the program may be loaded into switches that run another one.
    pub replace_program: bool,
    /// How often a switch's tables are read and compared though nothing seems to be wrong.
    pub check_every: Duration,
    /// How long a change of a running job's plan may take the switches, and then the hosts, before it is
    /// undone.
    pub change_within: Duration,
    /// How long the rendezvous of elastic jobs wait.
    pub timing: Timing,
    /// How the network is watched and followed, if it is.
    pub steer: Option<Steer>,
    /// Whether jobs that left the topology are removed from the switches, if no frames of them are on the
    /// way.
    pub remove_departed: bool,
    /// Draws the number that spreads precedences, and pauses: [`by_chance`], or numbers that a seed names.
    pub chance: Chance,
}

/// Returns another random number at each call.
pub type Chance = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Random numbers that no other process draws.
pub fn by_chance() -> Chance {
    Arc::new(|| RandomState::new().build_hasher().finish())
}

/// Why a daemon ends.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The plans cannot be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// Another controller has taken over.
    #[error("switch {switch}: another controller took over, so this one ends: {cause}")]
    Superseded {
        /// The first switch that said so.
        switch: String,
        /// In its words.
        cause: Box<SwitchError>,
    },
}

impl DaemonError {
    pub(super) fn superseded(switch: &str, cause: SwitchError) -> Self {
        Self::Superseded { switch: switch.to_owned(), cause: Box::new(cause) }
    }
}

/// A precedence above that of every controller that started earlier, by any clock that does not go back:
/// microseconds since 1970. Where one did, the daemon takes more than the switches have seen.
pub fn precedence_of_now() -> Precedence {
    Precedence(SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros()))
}
