//! Flags of the connections of a peer and a coordinator.

use std::net::SocketAddr;

use inart_peers_host::{HostOptions, PROTOCOL};
use inart_quic::Congestion;

use crate::commands::host::connections::{TlsFiles, each_once, place};

/// Flags about connections.
#[derive(clap::Args)]
pub struct Connections {
    /// Name of the peer or coordinator, as in the network and in its certificate (DNS name).
    #[arg(long)]
    pub name: String,
    /// UDP address to listen on.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Address of another peer: every other one for a peer, all for the coordinator.
    ///
    /// A peer with --multicast switch needs none.
    #[arg(long = "peer", value_name = "NAME=HOST:PORT", value_parser = place)]
    peers: Vec<(String, SocketAddr)>,
    #[command(flatten)]
    tls: TlsFiles,
    /// Congestion control of QUIC: cubic, or bbr (keeps the link's rate when packets are lost).
    #[arg(long, default_value = "cubic", value_parser = ["cubic", "bbr"])]
    congestion: String,
}

impl Connections {
    /// Returns the connection options with the coordinators of a peer.
    pub fn options(&self, coordinators: &[(String, SocketAddr)]) -> anyhow::Result<HostOptions> {
        Ok(HostOptions {
            listen: self.listen,
            peers: each_once("--peer", &self.peers)?,
            coordinators: each_once("--coordinator", coordinators)?,
            tls: self.tls.load(PROTOCOL)?,
            congestion: if self.congestion == "bbr" { Congestion::Bbr } else { Congestion::Cubic },
        })
    }
}
