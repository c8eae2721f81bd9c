//! Flags about QUIC connections that sites, peers and their schedulers and coordinators share.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use anyhow::{Context, ensure};
use inart_tls::{IdentityFiles, MutualTls};

/// The files of mutual TLS.
#[derive(clap::Args)]
pub struct TlsFiles {
    /// Certificate of the authority that all processes trust (PEM).
    #[arg(long, value_name = "FILE")]
    tls_ca: PathBuf,
    /// Certificate of this process (PEM).
    #[arg(long, value_name = "FILE")]
    tls_cert: PathBuf,
    /// Private key of --tls-cert (PEM).
    #[arg(long, value_name = "FILE")]
    tls_key: PathBuf,
}

impl TlsFiles {
    /// Returns the authority's certificate, the own one and its key.
    pub fn paths(&self) -> [&PathBuf; 3] {
        [&self.tls_ca, &self.tls_cert, &self.tls_key]
    }

    /// Reads the files for connections of a protocol.
    ///
    /// # Errors
    /// The first file that cannot be read or does not fit the others.
    pub fn load(&self, protocol: &str) -> anyhow::Result<MutualTls> {
        let identity = IdentityFiles { certificate: self.tls_cert.clone(), key: self.tls_key.clone() };
        MutualTls::load(&self.tls_ca, &identity, protocol).context("TLS")
    }
}

/// Reads NAME=HOST:PORT.
///
/// # Errors
/// Returns how to write a place, or that its host has no address.
pub fn place(text: &str) -> Result<(String, SocketAddr), String> {
    let (name, address) = text.split_once('=').ok_or("write NAME=HOST:PORT")?;
    let found = address.to_socket_addrs().map_err(|error| format!("{address}: {error}; write HOST:PORT"))?;
    let first = found.into_iter().next().ok_or(format!("{address}: no such host"))?;
    Ok((name.to_owned(), first))
}

/// Returns all by name.
///
/// # Errors
/// A name that was given twice.
pub fn each_once<T: Clone>(flag: &str, places: &[(String, T)]) -> anyhow::Result<BTreeMap<String, T>> {
    let mut all = BTreeMap::new();
    for (name, address) in places {
        let is_new = all.insert(name.clone(), address.clone()).is_none();
        ensure!(is_new, "{flag} {name} was given twice; give it once");
    }
    Ok(all)
}
