//! Settings of a process.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use inart_connections::QuicOptions;
use inart_quic::Congestion;
use inart_tls::MutualTls;

/// Longest message: a chunk of an update has at most 64 KiB, and a coordinator's choice is shorter.
const MOST_BYTES: u64 = 1 << 20;

/// Addresses, credentials and congestion control of a process.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// UDP address to listen on.
    pub listen: SocketAddr,
    /// Own certificate and trusted authority, for [`PROTOCOL`](crate::PROTOCOL).
    pub tls: MutualTls,
    /// Addresses of all other peers of the job, by name.
    pub peers: BTreeMap<String, SocketAddr>,
    /// Addresses of coordinators, by name, for a peer. The one with the newest term is in charge.
    pub coordinators: BTreeMap<String, SocketAddr>,
    /// Congestion control of connections.
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

/// Timeouts of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the coordinator's choice of receivers, before the peer sends to the last ones.
    pub choice: Duration,
    /// Without a sign of life of another peer, before it counts as failed.
    pub peer_timeout: Duration,
    /// For admission by a coordinator.
    pub meeting: Duration,
}

impl Default for Patience {
    /// Returns two seconds, five seconds, five minutes.
    fn default() -> Self {
        Patience {
            choice: Duration::from_secs(2),
            peer_timeout: Duration::from_secs(5),
            meeting: Duration::from_secs(300),
        }
    }
}
