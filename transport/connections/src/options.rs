//! Settings of transports.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use inart_quic::Congestion;
use inart_tls::MutualTls;
use inart_wire::{JobId, MacAddr, ValuesPerFrame};

/// Settings of QUIC connections, across routed networks.
#[derive(Debug, Clone)]
pub struct QuicOptions {
    /// UDP address to listen on.
    pub listen: SocketAddr,
    /// Own certificate and trusted authority, for the system's protocol (ALPN).
    pub tls: MutualTls,
    /// Addresses of others, by name.
    pub peers: BTreeMap<String, SocketAddr>,
    /// Congestion control of connections.
    pub congestion: Congestion,
    /// Longest message, in bytes.
    pub most_bytes: u64,
    /// Most bytes of one peer's waiting messages; `None` for the default of `inart-quic`.
    pub held_bytes: Option<u64>,
    /// Least duration of a sample of a link; `None` without samples.
    pub sample: Option<Duration>,
}

/// Settings of connections by frames, inside one network (docs/protocol/ps.md, "Push and pull by frames").
/// Frames are neither authenticated nor encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameOptions {
    /// Interface to the network, such as `eth0`.
    pub interface: String,
    /// Ethernet addresses of the others, by name.
    pub peers: BTreeMap<String, MacAddr>,
    /// Number of the job in frames.
    pub job: JobId,
    /// Values per frame for all frames, as InArt switches need it; `None`: frames with parts of packets hold
    /// as many as the interface's MTU permits, and others are short.
    pub values: Option<ValuesPerFrame>,
}

/// Settings of frames that switches copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyOptions {
    /// Interface to the switches, such as `eth0`.
    pub interface: String,
    /// Length of the longest frame, in bytes.
    pub frame_bytes: usize,
}
