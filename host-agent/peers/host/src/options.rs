//! What a process is told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use inart_connections::QuicOptions;
use inart_quic::Congestion;
use inart_tls::MutualTls;

/// Longest message: a chunk of an update has at most 64 KiB, and what a coordinator chooses is shorter.
const MOST_BYTES: u64 = 1 << 20;

/// How a process reaches the others.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Where it listens, by UDP.
    pub listen: SocketAddr,
    /// Who it is and whom it trusts, for [`PROTOCOL`](crate::PROTOCOL).
    pub tls: MutualTls,
    /// Where peers are, by name: all others of the job.
    pub peers: BTreeMap<String, SocketAddr>,
    /// Where coordinators are, by name, for a peer. The one with the newest term is in charge.
    pub coordinators: BTreeMap<String, SocketAddr>,
    /// How connections follow the network.
    pub congestion: Congestion,
}

impl HostOptions {
    /// Returns the settings of connections to all others.
    pub(crate) fn quic(mut self) -> QuicOptions {
        self.peers.extend(self.coordinators);
        QuicOptions {
            listen: self.listen,
            tls: self.tls,
            peers: self.peers,
            congestion: self.congestion,
            most_bytes: MOST_BYTES,
            held_bytes: None,
            sample: None,
        }
    }
}

/// How long a peer waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the coordinator's choice of receivers, before it sends to the last ones.
    pub choice: Duration,
    /// A peer of which nothing is heard for that long is gone.
    pub peer_timeout: Duration,
    /// For a coordinator that takes it in.
    pub meeting: Duration,
}

impl Default for Patience {
    /// Two seconds, five seconds, five minutes.
    fn default() -> Self {
        Patience {
            choice: Duration::from_secs(2),
            peer_timeout: Duration::from_secs(5),
            meeting: Duration::from_secs(300),
        }
    }
}
