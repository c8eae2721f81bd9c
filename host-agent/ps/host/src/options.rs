//! What processes are told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use inart_connections::FrameOptions;
use inart_ps_agent::Precision;
use inart_quic::Congestion;
use inart_tls::MutualTls;

/// Chunks under way to each process at most.
pub(crate) const WINDOW: usize = 16;

/// How a process reaches the others: all for the server, the server for a worker.
#[derive(Debug, Clone)]
pub enum HostOptions {
    /// By QUIC, across routed networks.
    Quic(Box<QuicOptions>),
    /// By frames, inside one network.
    Frames(FrameOptions),
}

/// How a process reaches the others by QUIC.
#[derive(Debug, Clone)]
pub struct QuicOptions {
    /// Where it listens, by UDP.
    pub listen: SocketAddr,
    /// Who it is and whom it trusts, for [`PROTOCOL`](crate::PROTOCOL).
    pub tls: MutualTls,
    /// Where others are, by name: all workers for the server, the server for a worker.
    pub peers: BTreeMap<String, SocketAddr>,
    /// How connections follow the network.
    pub congestion: Congestion,
}

/// How a server runs.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// How values travel.
    pub precision: Precision,
    /// By worker, the rate at which the model is sent to it, in bit/s; no limit unless told. By QUIC it is
    /// that of packets, by frames that of Ethernet frames.
    pub rates_bps: Vec<Option<f64>>,
    /// How long to wait for all workers before it begins with those that are there.
    pub gather: Duration,
    /// A worker without a connection for so long takes no part any more.
    pub absence: Duration,
    /// The training is over when all that take part have done so many iterations; never unless told.
    pub iterations: Option<u64>,
}
