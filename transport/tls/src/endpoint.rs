//! Address and security of a client's connection.

use tonic::transport::Endpoint;

use crate::advice::{ALLOW_PLAIN, USE_TLS};
use crate::{ClientTls, innermost, is_local};

/// Security of a client's connection.
#[derive(Clone, Debug, Default)]
pub enum Security {
    /// Not at all, so it stays on this machine: other addresses are refused.
    #[default]
    Local,
    /// Plain connection to any host: others in the network may read and change the data. For users who
    /// request it.
    Plain,
    /// By TLS.
    Tls(ClientTls),
}

/// Reason that there is no endpoint.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EndpointError {
    /// The address cannot be understood.
    #[error("\"{address}\" is not an address ({reason}); write host:port or unix:/path")]
    Address {
        /// The address.
        address: String,
        /// Problem.
        reason: String,
    },
    /// A plain connection that would leave this machine.
    #[error(
        "{address} is another machine: {tls}, or {plain}, which others on the network can read and change",
        tls = USE_TLS,
        plain = ALLOW_PLAIN
    )]
    Unprotected {
        /// The address.
        address: String,
    },
    /// The authority's certificate, the identity or the server's name cannot be used.
    #[error("TLS to {address} cannot be set up: {reason}")]
    Tls {
        /// The address.
        address: String,
        /// Problem.
        reason: String,
    },
}

/// Returns the endpoint at `address`: `host:port`, the same after `http://` or `https://`, or `unix:/path`,
/// which needs no TLS.
///
/// # Errors
/// [`EndpointError`] for an invalid address, a plain connection to another machine, or unusable
/// certificates.
pub fn endpoint(address: &str, security: &Security) -> Result<Endpoint, EndpointError> {
    let is_socket = address.starts_with("unix:");
    let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
    if let Some((_, path)) = bare.split_once('/').filter(|(_, path)| !path.is_empty() && !is_socket) {
        let reason = format!("\"/{path}\" follows the port");
        return Err(EndpointError::Address { address: address.to_owned(), reason });
    }
    let uri = match security {
        _ if is_socket => address.to_owned(),
        Security::Tls(_) => format!("https://{bare}"),
        Security::Local | Security::Plain => format!("http://{bare}"),
    };
    let wrong = |error: tonic::transport::Error| EndpointError::Address {
        address: address.to_owned(),
        reason: innermost(&error),
    };
    let endpoint = Endpoint::from_shared(uri).map_err(wrong)?;
    match security {
        Security::Local if !is_local(address) => {
            Err(EndpointError::Unprotected { address: address.to_owned() })
        }
        Security::Tls(tls) if !is_socket => endpoint
            .tls_config(tls.config())
            .map_err(|error| EndpointError::Tls { address: address.to_owned(), reason: innermost(&error) }),
        _ => Ok(endpoint),
    }
}
