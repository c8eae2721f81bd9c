//! What processes are told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use inart_order_agent::Precision;
use inart_quic::Congestion;
use inart_tls::MutualTls;
use inart_wire::{JobId, MacAddr, ValuesPerPacket};

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

/// How a process reaches the others by frames (docs/protocol.md, "Push and pull by frames"). Frames are
/// neither authenticated nor encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameOptions {
    /// The interface to the network, such as `eth0`.
    pub interface: String,
    /// The Ethernet addresses of others, by name.
    pub peers: BTreeMap<String, MacAddr>,
    /// The job's number in frames.
    pub job: JobId,
    /// All frames have room for so many values, as InArt switches need it; otherwise those with parts of
    /// packets have room for as many as the interface's MTU carries, and others are short.
    pub values: Option<ValuesPerPacket>,
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
