//! What a peer and a coordinator are told about their connections.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use anyhow::{Context, ensure};
use inart_peer_host::{HostOptions, PROTOCOL};
use inart_quic::Congestion;
use inart_tls::{IdentityFiles, MutualTls};

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
    /// The certificate of the authority that all of them trust (PEM).
    #[arg(long, value_name = "FILE")]
    tls_ca: PathBuf,
    /// Its own certificate (PEM).
    #[arg(long, value_name = "FILE")]
    tls_cert: PathBuf,
    /// The key of --tls-cert (PEM).
    #[arg(long, value_name = "FILE")]
    tls_key: PathBuf,
    /// How connections follow the network: cubic, or bbr, which goes on at the link's rate when packets are
    /// lost.
    #[arg(long, default_value = "cubic", value_parser = ["cubic", "bbr"])]
    congestion: String,
}

/// Reads NAME=HOST:PORT.
pub fn place(text: &str) -> Result<(String, SocketAddr), String> {
    let (name, address) = text.split_once('=').ok_or("write NAME=HOST:PORT")?;
    let found = address.to_socket_addrs().map_err(|error| format!("{address}: {error}; write HOST:PORT"))?;
    let first = found.into_iter().next().ok_or(format!("{address}: no such host"))?;
    Ok((name.to_owned(), first))
}

impl Connections {
    /// With the coordinators of a peer.
    pub fn options(&self, coordinators: &[(String, SocketAddr)]) -> anyhow::Result<HostOptions> {
        let identity = IdentityFiles { certificate: self.tls_cert.clone(), key: self.tls_key.clone() };
        Ok(HostOptions {
            listen: self.listen,
            peers: each_once("--peer", &self.peers)?,
            coordinators: each_once("--coordinator", coordinators)?,
            tls: MutualTls::load(&self.tls_ca, &identity, PROTOCOL).context("TLS")?,
            congestion: if self.congestion == "bbr" { Congestion::Bbr } else { Congestion::Cubic },
        })
    }
}

fn each_once(flag: &str, places: &[(String, SocketAddr)]) -> anyhow::Result<BTreeMap<String, SocketAddr>> {
    let mut all = BTreeMap::new();
    for (name, address) in places {
        ensure!(all.insert(name.clone(), *address).is_none(), "{flag} {name} is there twice; give it once");
    }
    Ok(all)
}
