//! Settings of a daemon, and its final errors.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use inart_targets::{Endpoint, Precedence, Program, SwitchError};
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;

use super::steered::Steer;
use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::membership::Timing;
use crate::records::Records;

/// Settings of a daemon.
pub struct Config {
    /// Topology.
    pub topology: Topology,
    /// Plans, as for [`Controller::install`](crate::Controller::install).
    pub jobs: Vec<JobPlan>,
    /// Network of peers on the same switches, unless it is the one in the records.
    pub peers: Option<Mesh>,
    /// Program of the switches.
    pub program: Arc<dyn Program>,
    /// Endpoints of the switches, by name.
    pub switches: BTreeMap<String, Endpoint>,
    /// Precedence of this controller, above those of earlier ones. At its first contact with the switches
    /// the daemon raises it above the greatest one that they have seen; then it stays.
    pub precedence: Precedence,
    /// Longest wait of a start for further switches once one has answered. A missing switch is configured
    /// when it answers.
    pub switches_within: Duration,
    /// Records of earlier controllers and installations.
    pub records: Records,
    /// Whether the daemon may load the program into switches that run another one.
    pub replace_program: bool,
    /// Interval at which a switch's tables are read and verified without a sign of a problem.
    pub check_every: Duration,
    /// Time limit of a plan change, for the switches and then for the hosts; then it is undone.
    pub change_within: Duration,
    /// Timing of the rendezvous of elastic jobs.
    pub timing: Timing,
    /// Settings of replanning, if enabled.
    pub steer: Option<Steer>,
    /// Whether jobs that left the topology are removed from the switches, unless their frames still arrive.
    pub remove_departed: bool,
    /// Source of randomness for precedences and pauses: [`by_chance`], or numbers of a seed.
    pub chance: Chance,
}

/// Source of random numbers; each call returns another one.
pub type Chance = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Returns a source of random numbers that differ between processes.
pub fn by_chance() -> Chance {
    Arc::new(|| RandomState::new().build_hasher().finish())
}

/// Final error of a daemon.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Plans that cannot be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// Takeover by another controller.
    #[error("switch {switch}: another controller took over, so this one ends: {cause}")]
    Superseded {
        /// First switch that reported the takeover.
        switch: String,
        /// Report of the switch.
        cause: Box<SwitchError>,
    },
}

impl DaemonError {
    pub(super) fn superseded(switch: &str, cause: SwitchError) -> Self {
        Self::Superseded { switch: switch.to_owned(), cause: Box::new(cause) }
    }
}

/// Returns a precedence above that of every controller that started earlier by a monotonic clock:
/// microseconds since 1970. The daemon raises it above all that the switches have seen.
pub fn precedence_of_now() -> Precedence {
    Precedence(SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros()))
}
