//! Training by way of parameter servers: what jobs of networks of switches say of it, and what follows for
//! their hosts.

mod entries;
mod fabric;
mod jobs;
mod network;
mod switched;
mod training;

pub use entries::star;
pub use network::{Cluster, Job, Kind, Nic, Participant, Time};
pub use switched::Switched;
