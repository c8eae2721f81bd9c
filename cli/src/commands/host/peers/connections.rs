//! What a peer and a coordinator are told about their connections.

use std::net::SocketAddr;

use inart_peers_host::{HostOptions, PROTOCOL};
use inart_quic::Congestion;

use crate::commands::host::connections::{TlsFiles, each_once, place};

/// Flags about connections.
#[derive(clap::Args)]
pub struct Connections {
    /// Its name: the peer's in the network, or the coordinator's; a DNS name of its certificate.
    #[arg(long)]
    pub name: String,
    /// Where to listen, by UDP.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Where another peer is, as NAME=HOST:PORT: every other one of the job for a peer, none with --multicast
    /// switch; all for the coordinator.
    #[arg(long = "peer", value_name = "NAME=HOST:PORT", value_parser = place)]
    peers: Vec<(String, SocketAddr)>,
    #[command(flatten)]
    tls: TlsFiles,
    /// How connections follow the network: cubic, or bbr, which goes on at the link's rate when packets are
    /// lost.
    #[arg(long, default_value = "cubic", value_parser = ["cubic", "bbr"])]
    congestion: String,
}

impl Connections {
    /// With the coordinators of a peer.
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
