//! Training with parameter servers: the settings of jobs of switched networks, and the resulting parameters
//! of their hosts.

mod entries;
mod fabric;
mod jobs;
mod network;
mod switched;
mod training;

pub use entries::star;
pub use network::{Cluster, Job, Kind, Nic, Participant, Time};
pub use switched::Switched;
