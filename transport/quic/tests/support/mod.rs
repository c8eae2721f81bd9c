//! Certificates for tests, and waiting for events.

pub mod log;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use inart_quic::{Endpoint, Event, Events, Options, PROTOCOL};
use inart_tls::{IdentityFiles, MutualTls};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// An authority with its files.
pub struct Authority {
    directory: tempfile::TempDir,
    params: CertificateParams,
    key: KeyPair,
}

impl Authority {
    pub fn found(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, format!("authority {name}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Authority { directory, params, key }
    }

    /// Returns an identity with a certificate for that name.
    pub fn identify(&self, name: &str) -> MutualTls {
        self.identify_as(name, &[name])
    }

    /// Returns an identity with a certificate for those names.
    pub fn identify_as(&self, name: &str, names: &[&str]) -> MutualTls {
        self.identify_with(name, names, PROTOCOL, |_| ())
    }

    /// Returns the path of the authority's certificate.
    pub fn certificate(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// Returns an identity with a certificate that is changed before it is signed, for a protocol.
    pub fn identify_with(
        &self,
        name: &str,
        names: &[&str],
        protocol: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> MutualTls {
        let key = KeyPair::generate().unwrap();
        let names = names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &Issuer::from_params(&self.params, &self.key)).unwrap();
        let file = |end: &str| self.directory.path().join(format!("{name}.{end}"));
        std::fs::write(file("pem"), certificate.pem()).unwrap();
        std::fs::write(file("key"), key.serialize_pem()).unwrap();
        let files = IdentityFiles { certificate: file("pem"), key: file("key") };
        MutualTls::load(&self.certificate(), &files, protocol).unwrap()
    }

    pub fn options(&self, name: &str, peers: &BTreeMap<String, SocketAddr>) -> Options {
        Options::new("127.0.0.1:0".parse().unwrap(), self.identify(name), name, peers.clone())
    }

    pub fn open(&self, name: &str, peers: &BTreeMap<String, SocketAddr>) -> (Endpoint, Events) {
        Endpoint::open(self.options(name, peers)).unwrap()
    }
}

/// Longer than anything here takes; only a failure waits for it.
pub const TIMEOUT: Duration = Duration::from_secs(60);

pub async fn next(events: &mut Events) -> Event {
    tokio::time::timeout(TIMEOUT, events.next()).await.unwrap().unwrap()
}

/// Returns the first event that is looked for; others are dropped.
pub async fn find(events: &mut Events, is_it: impl Fn(&Event) -> bool) -> Event {
    loop {
        let event = next(events).await;
        if is_it(&event) {
            return event;
        }
    }
}

pub fn is_up(event: &Event) -> bool {
    matches!(event, Event::Up { .. })
}

pub fn pattern(length: usize, seed: usize) -> Bytes {
    (0..length).map(|at| (at * 31 + at / 251 + seed) as u8).collect()
}
