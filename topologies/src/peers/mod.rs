//! Networks of peers: hosts at the ports of one switch fabric, and the jobs that train on them.

mod draw;
mod entries;
mod fabric;
mod jobs;
mod links;
mod network;
mod nodes;
mod on_switches;
mod read;
mod scaled;
mod validate;

pub use draw::{Changes, Drawn, draw, draw_ports};
pub use network::{Compute, Mesh, Peer, PeerId, PeerJob, Ports, TrunkLink};
pub use on_switches::FIRST_JOB;
pub(crate) use validate::build;
