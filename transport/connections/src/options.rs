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
    /// Where the process listens, by UDP.
    pub listen: SocketAddr,
    /// Its own certificate and the authority that it trusts, for its system's protocol (ALPN).
    pub tls: MutualTls,
    /// Addresses of others, by name.
    pub peers: BTreeMap<String, SocketAddr>,
    /// How connections follow the network.
    pub congestion: Congestion,
    /// Longest message, in bytes.
    pub most_bytes: u64,
    /// Bytes of one peer's messages that wait; `None` for the default of `inart-quic`.
    pub held_bytes: Option<u64>,
    /// Least duration of a sample of a link; `None` without samples.
    pub sample: Option<Duration>,
}

/// Settings of connections by frames, inside one network (docs/protocol/ps.md, "Push and pull by frames").
/// Frames are neither authenticated nor encrypted.
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
    pub values: Option<ValuesPerFrame>,
}

/// Settings of frames that switches copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyOptions {
    /// The interface to the switches, such as `eth0`.
    pub interface: String,
    /// Length of the longest frame, in bytes.
    pub frame_bytes: usize,
}
