//! Certificates for tests.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use inart_quic::{Endpoint, Events, Options, PROTOCOL};
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

    /// Who has a certificate for that name.
    pub fn identify(&self, name: &str) -> MutualTls {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &Issuer::from_params(&self.params, &self.key)).unwrap();
        let file = |end: &str| self.directory.path().join(format!("{name}.{end}"));
        std::fs::write(file("pem"), certificate.pem()).unwrap();
        std::fs::write(file("key"), key.serialize_pem()).unwrap();
        let files = IdentityFiles { certificate: file("pem"), key: file("key") };
        MutualTls::load(&self.directory.path().join("ca.pem"), &files, PROTOCOL).unwrap()
    }

    pub fn options(&self, name: &str, peers: &BTreeMap<String, SocketAddr>) -> Options {
        Options::new("127.0.0.1:0".parse().unwrap(), self.identify(name), name, peers.clone())
    }

    pub fn open(&self, name: &str, peers: &BTreeMap<String, SocketAddr>) -> (Endpoint, Events) {
        Endpoint::open(self.options(name, peers)).unwrap()
    }
}
