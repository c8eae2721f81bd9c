//! Options of a process.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use inart_connections::QuicOptions;
use inart_quic::Congestion;
use inart_tls::MutualTls;

/// Connection settings of a process.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// UDP address to listen on.
    pub listen: SocketAddr,
    /// Own identity and trusted peers, for [`inart_quic::PROTOCOL`].
    pub tls: MutualTls,
    /// Addresses by name: of a site's neighbors, or of all sites for the scheduler.
    pub peers: BTreeMap<String, SocketAddr>,
    /// Name and address of the scheduler, for a site that has one.
    pub scheduler: Option<(String, SocketAddr)>,
    /// Congestion control of connections.
    pub congestion: Congestion,
}

impl HostOptions {
    /// Returns the settings of all connections, for messages of up to `most_bytes` bytes.
    pub(crate) fn quic(mut self, most_bytes: u64) -> QuicOptions {
        self.peers.extend(self.scheduler);
        QuicOptions {
            listen: self.listen,
            tls: self.tls,
            peers: self.peers,
            congestion: self.congestion,
            most_bytes,
            held_bytes: None,
            sample: None,
        }
    }
}
