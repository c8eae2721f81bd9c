//! Protection of a command's gRPC connections.

use std::path::PathBuf;

use anyhow::{Context, bail};
use inart_tls::{ClientTls, IdentityFiles, Security, ServerTls};

/// Arguments of every command that connects to a switch or to the controller.
#[derive(clap::Args, Clone, Default)]
pub struct ClientArgs {
    /// Connect by TLS, and trust servers with a certificate of this authority (PEM).
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Client certificate, for servers that ask for one (PEM).
    #[arg(long, value_name = "FILE", requires_all = ["tls_ca", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Name in the servers' certificates, if it differs from the host of their addresses.
    #[arg(long, value_name = "NAME", requires = "tls_ca")]
    tls_name: Option<String>,
    /// Connect to other machines without TLS; others on the network can read and change data.
    #[arg(long, conflicts_with = "tls_ca")]
    insecure: bool,
}

impl ClientArgs {
    /// Returns arguments for TLS with these files.
    pub fn by_tls(ca: PathBuf, certificate: PathBuf, key: PathBuf) -> Self {
        let (tls_ca, tls_cert, tls_key) = (Some(ca), Some(certificate), Some(key));
        Self { tls_ca, tls_cert, tls_key, ..Self::default() }
    }

    /// Returns the protection that the flags ask for. Without --insecure, plain connections stay on this
    /// machine.
    pub fn security(&self) -> anyhow::Result<Security> {
        let Some(ca) = &self.tls_ca else {
            return Ok(if self.insecure { Security::Plain } else { Security::Local });
        };
        let identity = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(IdentityFiles { certificate: certificate.clone(), key: key.clone() })
            }
            _ => None,
        };
        let tls = ClientTls::load(ca, identity.as_ref(), self.tls_name.as_deref()).context("TLS")?;
        Ok(Security::Tls(tls))
    }
}

/// Arguments of the controller's own server. TLS is mutual here: the controller authenticates its clients.
#[derive(clap::Args)]
pub struct ListenArgs {
    /// Accept TLS connections only, from clients with a certificate of this authority (PEM).
    #[arg(long, value_name = "FILE", requires_all = ["listen_cert", "listen_key"])]
    listen_ca: Option<PathBuf>,
    /// Certificate of the controller (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_ca")]
    listen_cert: Option<PathBuf>,
    /// Private key of --listen-cert (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_ca")]
    listen_key: Option<PathBuf>,
    /// Allow a --listen address that other machines reach, without TLS.
    #[arg(long, conflicts_with = "listen_ca")]
    insecure_listen: bool,
}

impl ListenArgs {
    /// Returns the server's TLS files; `None` for plain connections.
    pub fn tls(&self) -> anyhow::Result<Option<ServerTls>> {
        let (Some(ca), Some(certificate), Some(key)) = (&self.listen_ca, &self.listen_cert, &self.listen_key)
        else {
            return Ok(None);
        };
        let identity = IdentityFiles { certificate: certificate.clone(), key: key.clone() };
        Ok(Some(ServerTls::load(&identity, Some(ca)).context("TLS")?))
    }

    /// Whether the server may listen on addresses that other machines reach.
    pub fn allows_any_address(&self) -> bool {
        self.insecure_listen || self.listen_ca.is_some()
    }
}

/// The TLS options of `simple_switch_grpc`.
#[derive(clap::Args, Default)]
pub struct ServerArgs {
    /// Serve P4Runtime by TLS only.
    #[arg(long)]
    grpc_server_ssl: bool,
    /// With --grpc-server-with-client-auth: authority of the clients' certificates (PEM).
    ///
    /// Without the flag, clients need no certificate.
    #[arg(long, value_name = "FILE")]
    grpc_server_cacert: Option<PathBuf>,
    /// Certificate of the switch (PEM).
    #[arg(long, value_name = "FILE")]
    grpc_server_cert: Option<PathBuf>,
    /// Private key of --grpc-server-cert (PEM).
    #[arg(long, value_name = "FILE")]
    grpc_server_key: Option<PathBuf>,
    /// Serve only clients with a certificate of --grpc-server-cacert (mutual TLS).
    #[arg(long)]
    grpc_server_with_client_auth: bool,
}

impl ServerArgs {
    /// Returns these options; options that are not set come from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            grpc_server_ssl: self.grpc_server_ssl || other.grpc_server_ssl,
            grpc_server_cacert: self.grpc_server_cacert.or(other.grpc_server_cacert),
            grpc_server_cert: self.grpc_server_cert.or(other.grpc_server_cert),
            grpc_server_key: self.grpc_server_key.or(other.grpc_server_key),
            grpc_server_with_client_auth: self.grpc_server_with_client_auth
                || other.grpc_server_with_client_auth,
        }
    }

    /// Returns a note on an option that has no effect.
    pub fn note(&self) -> Option<&'static str> {
        let is_unused =
            self.grpc_server_ssl && self.grpc_server_cacert.is_some() && !self.grpc_server_with_client_auth;
        is_unused.then_some(
            "clients need no certificate: --grpc-server-cacert is used with --grpc-server-with-client-auth only",
        )
    }

    /// Returns the server's TLS files; `None` for plain connections.
    pub fn tls(self) -> anyhow::Result<Option<ServerTls>> {
        if !self.grpc_server_ssl {
            let parts = [&self.grpc_server_cacert, &self.grpc_server_cert, &self.grpc_server_key];
            if self.grpc_server_with_client_auth || parts.iter().any(|part| part.is_some()) {
                bail!("certificates are for TLS: add --grpc-server-ssl");
            }
            return Ok(None);
        }
        let certificate = self.grpc_server_cert.context("--grpc-server-ssl needs --grpc-server-cert FILE")?;
        let key = self.grpc_server_key.context("--grpc-server-ssl needs --grpc-server-key FILE")?;
        let client_ca = match (self.grpc_server_with_client_auth, self.grpc_server_cacert) {
            (true, None) => bail!("--grpc-server-with-client-auth needs --grpc-server-cacert FILE"),
            (true, ca) => ca,
            // As simple_switch_grpc does: without client authentication, no client's certificate is examined.
            (false, _) => None,
        };
        let identity = IdentityFiles { certificate, key };
        Ok(Some(ServerTls::load(&identity, client_ca.as_deref()).context("TLS")?))
    }
}
