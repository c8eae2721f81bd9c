//! What a process is told.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use inart_connections::QuicOptions;
use inart_quic::Congestion;
use inart_tls::MutualTls;

/// How a process reaches the others.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Where it listens, by UDP.
    pub listen: SocketAddr,
    /// Who it is and whom it trusts, for [`inart_quic::PROTOCOL`].
    pub tls: MutualTls,
    /// Where others are, by name: a site's neighbours, or all sites for the scheduler.
    pub peers: BTreeMap<String, SocketAddr>,
    /// The scheduler's name and address, for a site that has one.
    pub scheduler: Option<(String, SocketAddr)>,
    /// How connections follow the network.
    pub congestion: Congestion,
}

impl HostOptions {
    /// Returns the settings of connections to all others, for messages of at most so many bytes.
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
