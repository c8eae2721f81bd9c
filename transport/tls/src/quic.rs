//! Mutual TLS between equals, for protocols with their own transport: both sides show a certificate of one
//! authority.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ServerConfig};

use crate::{IdentityFiles, TlsError, pem};

/// Identity of a side and its trusted authority, both ways.
#[derive(Clone)]
pub struct MutualTls {
    client: ClientConfig,
    server: ServerConfig,
    own_names: Vec<String>,
}

impl MutualTls {
    /// Loads a side that shows `identity` and trusts certificates of the authority in `ca`, by TLS 1.3.
    /// `protocol`: the protocol of both sides (ALPN).
    ///
    /// # Errors
    /// Returns an error that names the file that cannot be read, or has invalid contents.
    pub fn load(ca: &Path, identity: &IdentityFiles, protocol: &str) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let roots = Arc::new(pem::roots(ca)?);
        let wrong = |error: String| TlsError::Certificate {
            file: identity.certificate.clone(),
            reason: format!("it cannot be used ({error})"),
        };
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone());
        let verifier = verifier.build().map_err(|error| wrong(error.to_string()))?;
        let (chain, key) = pem::chain(identity)?;
        let own_names = chain.first().map(|own| Self::names(own)).unwrap_or_default();
        let versions = &[&rustls::version::TLS13];
        let client = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions);
        let mut client = client
            .map_err(|error| wrong(error.to_string()))?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain.clone(), key.clone_key())
            .map_err(|error| wrong(error.to_string()))?;
        let server = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions);
        let mut server = server
            .map_err(|error| wrong(error.to_string()))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| wrong(error.to_string()))?;
        client.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        server.alpn_protocols = client.alpn_protocols.clone();
        Ok(Self { client, server, own_names })
    }

    /// Returns the configuration of connections that this side starts.
    pub fn client(&self) -> ClientConfig {
        self.client.clone()
    }

    /// Returns the configuration of connections that others start.
    pub fn server(&self) -> ServerConfig {
        self.server.clone()
    }

    /// Returns the DNS names in this side's own certificate.
    pub fn own_names(&self) -> &[String] {
        &self.own_names
    }

    /// Returns the DNS names in a certificate that the other side has shown, in DER.
    pub fn names(certificate: &[u8]) -> Vec<String> {
        let certificate = rustls::pki_types::CertificateDer::from(certificate);
        let Ok(parsed) = webpki::EndEntityCert::try_from(&certificate) else { return Vec::new() };
        parsed.valid_dns_names().map(str::to_owned).collect()
    }
}

impl std::fmt::Debug for MutualTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MutualTls(..)")
    }
}
