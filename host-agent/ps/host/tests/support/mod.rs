//! Hosts of a test: certificates and addresses.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use inart_ps_host::{HostOptions, PROTOCOL, QuicOptions};
use inart_quic::Congestion;
use inart_tls::{IdentityFiles, MutualTls};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

/// An authority, and its identities.
pub struct Identities {
    folder: tempfile::TempDir,
    ca: CertificateParams,
    key: KeyPair,
}

impl Identities {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), ca.self_signed(&key).unwrap().pem()).unwrap();
        Identities { folder, ca, key }
    }

    pub fn of(&self, name: &str) -> MutualTls {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let signed = params.signed_by(&key, &Issuer::from_params(&self.ca, &self.key)).unwrap();
        let file = |end: &str| self.folder.path().join(format!("{name}.{end}"));
        std::fs::write(file("pem"), signed.pem()).unwrap();
        std::fs::write(file("key"), key.serialize_pem()).unwrap();
        let files = IdentityFiles { certificate: file("pem"), key: file("key") };
        MutualTls::load(&self.folder.path().join("ca.pem"), &files, PROTOCOL).unwrap()
    }
}

pub fn options(tls: MutualTls, listen: SocketAddr, peers: BTreeMap<String, SocketAddr>) -> HostOptions {
    HostOptions::Quic(Box::new(QuicOptions { listen, tls, peers, congestion: Congestion::Bbr }))
}
