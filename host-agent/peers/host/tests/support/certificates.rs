//! Authorities, certificates, and connection probes with wrong ones.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use inart_peers_host::PROTOCOL;
use inart_quic::{Endpoint, Event, Options};
use inart_tls::{IdentityFiles, MutualTls};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// Duration of a probe. It connects repeatedly, also on a busy machine.
const PROBING: Duration = Duration::from_secs(3);

/// An authority with its files.
pub struct Authority {
    folder: tempfile::TempDir,
    params: CertificateParams,
    key: KeyPair,
    identities: AtomicUsize,
}

impl Authority {
    pub fn found() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Authority { folder, params, key, identities: AtomicUsize::new(0) }
    }

    /// Returns an identity with a new certificate for that name.
    pub fn identify(&self, name: &str) -> MutualTls {
        self.load(&self.certify(name))
    }

    /// Returns an identity that trusts this authority, with a certificate of another one.
    pub fn forge(&self, name: &str) -> MutualTls {
        let other = Authority::found();
        self.load(&other.certify(name))
    }

    fn load(&self, files: &IdentityFiles) -> MutualTls {
        MutualTls::load(&self.folder.path().join("ca.pem"), files, PROTOCOL).unwrap()
    }

    fn certify(&self, name: &str) -> IdentityFiles {
        let number = self.identities.fetch_add(1, Ordering::Relaxed);
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &Issuer::from_params(&self.params, &self.key)).unwrap();
        let file = |end: &str| self.folder.path().join(format!("{name}-{number}.{end}"));
        std::fs::write(file("pem"), certificate.pem()).unwrap();
        std::fs::write(file("key"), key.serialize_pem()).unwrap();
        IdentityFiles { certificate: file("pem"), key: file("key") }
    }
}

/// A probe that connects to a peer.
pub struct ConnectionProbe {
    pub tls: MutualTls,
    pub name: String,
    pub to: String,
    pub address: SocketAddr,
}

impl ConnectionProbe {
    /// Connects until it is refused, or for some seconds. Returns whether any of its data was accepted.
    pub fn was_let_in(self) -> bool {
        let ConnectionProbe { tls, name, to, address } = self;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // Of two peers, the one with the lesser name connects.
            let peers = BTreeMap::from([(to, address)]);
            let mut options = Options::new("127.0.0.1:0".parse().unwrap(), tls, name, peers);
            options.events = 16;
            let (endpoint, mut events) = Endpoint::open(options).unwrap();
            let mut was_taken = false;
            let watch = async {
                while let Some(event) = events.next().await {
                    match event {
                        Event::Up { peer } => endpoint.send(&peer, 1, vec![1, 0, 0].into(), 0).unwrap(),
                        Event::Acknowledged { .. } => was_taken = true,
                        _ => {}
                    }
                }
            };
            let _ = tokio::time::timeout(PROBING, watch).await;
            was_taken
        })
    }
}
