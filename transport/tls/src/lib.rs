//! Mutual TLS for gRPC: the identity of a side and its trusted authority, read from PEM files and checked
//! before anything is served.
//!
//! Every gRPC connection of the workspace, to a switch or to the controller, uses a [`ClientTls`] or a
//! [`ServerTls`], or is plain. Plain connections are for this machine only ([`is_local`]) unless the user
//! asks for more. Keys are never printed: neither type shows its contents.

pub mod accept;
mod address;
pub mod advice;
mod channel;
mod endpoint;
mod error;
mod failure;
mod pem;
mod quic;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

pub use address::is_local;
pub use channel::{ChannelError, connect_channel, connect_with_pings};
pub use endpoint::{EndpointError, Security, endpoint};
pub use error::{TlsError, innermost};
pub use failure::{Presence, TlsFailure, disagreement, failure_at, presence};
pub use quic::MutualTls;

/// PEM files of the identity of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// Certificate, followed by those between it and the authority, if there are any.
    pub certificate: PathBuf,
    /// The key of the certificate: PKCS #8, PKCS #1 or SEC 1, without a passphrase.
    pub key: PathBuf,
}

/// Identity of a client, and the servers that it trusts.
#[derive(Clone)]
pub struct ClientTls(ClientTlsConfig);

impl ClientTls {
    /// Loads a client that trusts servers with a certificate of the authority in `ca` for the name in the
    /// address, or for `server_name` if given; servers that request a certificate need `identity`.
    ///
    /// # Errors
    /// Returns an error that names the file that cannot be read, or has invalid contents.
    pub fn load(
        ca: &Path,
        identity: Option<&IdentityFiles>,
        server_name: Option<&str>,
    ) -> Result<Self, TlsError> {
        let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem::authority(ca)?));
        if let Some(files) = identity {
            config = config.identity(load_identity(files)?);
        }
        if let Some(name) = server_name {
            config = config.domain_name(name);
        }
        Ok(Self(config))
    }

    /// Returns the configuration for an endpoint, whose address must start with `https://`.
    pub fn config(&self) -> ClientTlsConfig {
        self.0.clone()
    }
}

/// Identity of a server, and the clients that it trusts.
#[derive(Clone)]
pub struct ServerTls {
    config: ServerTlsConfig,
    rustls: Arc<ServerConfig>,
}

impl ServerTls {
    /// Loads a server that shows `identity`. With `client_ca` it serves only clients with a certificate of
    /// that authority (mutual TLS); without, all clients.
    ///
    /// # Errors
    /// Returns an error that names the file that cannot be read, or has invalid contents.
    pub fn load(identity: &IdentityFiles, client_ca: Option<&Path>) -> Result<Self, TlsError> {
        let mut config = ServerTlsConfig::new().identity(load_identity(identity)?);
        if let Some(ca) = client_ca {
            config = config.client_ca_root(Certificate::from_pem(pem::authority(ca)?));
        }
        let rustls = Arc::new(Self::rustls(identity, client_ca)?);
        Ok(Self { config, rustls })
    }

    fn rustls(identity: &IdentityFiles, client_ca: Option<&Path>) -> Result<ServerConfig, TlsError> {
        let wrong = |file: &Path, error: String| TlsError::Certificate {
            file: file.to_owned(),
            reason: format!("it cannot be used ({error})"),
        };
        let provider = Arc::new(ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| wrong(&identity.certificate, error.to_string()))?;
        let builder = match client_ca {
            None => builder.with_no_client_auth(),
            Some(ca) => {
                let roots = Arc::new(pem::roots(ca)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| wrong(ca, error.to_string()))?)
            }
        };
        let (chain, key) = pem::chain(identity)?;
        let config = builder.with_single_cert(chain, key);
        let mut config = config.map_err(|error| wrong(&identity.certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    /// For a server of tonic that accepts by itself. [`accept::Incoming`] is given `self` instead.
    pub fn config(&self) -> ServerTlsConfig {
        self.config.clone()
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.rustls.clone())
    }
}

fn load_identity(files: &IdentityFiles) -> Result<Identity, TlsError> {
    let (certificate, key) = pem::identity(files)?;
    Ok(Identity::from_pem(certificate, key))
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTls(..)")
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls(..)")
    }
}
