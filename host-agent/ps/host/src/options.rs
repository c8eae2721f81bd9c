//! Settings of processes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use inart_connections::FrameOptions;
use inart_ps_agent::Precision;
use inart_quic::Congestion;
use inart_tls::MutualTls;

/// Most chunks in flight to each process.
pub(crate) const WINDOW: usize = 16;

/// Transport to the other processes: to all workers for the server, to the server for a worker.
#[derive(Debug, Clone)]
pub enum HostOptions {
    /// QUIC, across routed networks.
    Quic(Box<QuicOptions>),
    /// Frames, inside one network.
    Frames(FrameOptions),
}

/// Addresses, credentials and congestion control for QUIC.
#[derive(Debug, Clone)]
pub struct QuicOptions {
    /// UDP address to listen on.
    pub listen: SocketAddr,
    /// Own certificate and trusted authority, for [`PROTOCOL`](crate::PROTOCOL).
    pub tls: MutualTls,
    /// Addresses of the others, by name: all workers for the server, the server for a worker.
    pub peers: BTreeMap<String, SocketAddr>,
    /// Congestion control of connections.
    pub congestion: Congestion,
}

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Wire format of values.
    pub precision: Precision,
    /// By worker, the highest rate at which the model is sent to it, in bit/s; `None` for no limit. Counts
    /// packets with QUIC, and Ethernet frames with frames.
    pub rates_bps: Vec<Option<f64>>,
    /// Longest wait for all workers; then the training starts with those that have joined.
    pub gather: Duration,
    /// Time without a connection after which a worker times out.
    pub absence: Duration,
    /// Iterations after which the training is over, once all members have done them; `None` for no end.
    pub iterations: Option<u64>,
}
