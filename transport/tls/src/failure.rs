//! Causes of TLS disagreements: found in a transport's error, or by probing the server.

use std::error::Error;
use std::time::Duration;

use rustls::{AlertDescription, CertificateError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::advice::{
    BE_PLAIN, EXPECT_NAME, RENEW, REPLACE_CERTIFICATE, TRUST_AUTHORITY, USE_ACCEPTED_CERTIFICATE, USE_TLS,
};
use crate::{Security, innermost};

/// Time for a server to show its protocol.
const LOOK: Duration = Duration::from_secs(2);

/// The preface of HTTP/2 (RFC 9113, section 3.4), and an empty SETTINGS frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Prefix of rustls's texts of alerts.
const ALERT: &str = "received fatal alert: ";

/// Alerts of a server that does not accept its client's certificate, or the lack of one.
const REFUSALS: [AlertDescription; 10] = [
    AlertDescription::CertificateRequired,
    AlertDescription::NoCertificate,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateUnknown,
    AlertDescription::UnknownCA,
    AlertDescription::DecryptError,
    AlertDescription::AccessDenied,
];

/// Reason that TLS fails though the server answers. The text follows "a server answers at ADDRESS, but".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsFailure {
    /// The certificate's time is over.
    #[error("its certificate has expired: {RENEW}")]
    Expired,
    /// Certificate that is not valid yet.
    #[error("its certificate is not valid yet: {RENEW}, or set this machine's clock")]
    NotYetValid,
    /// No known authority signed it.
    #[error(
        "its certificate is not of an authority that this client knows ({detail}): {TRUST_AUTHORITY}, or have the server \
         send the certificates between it and that authority"
    )]
    UnknownIssuer {
        /// In the words of the library.
        detail: String,
    },
    /// The certificate is another server's.
    #[error(
        "its certificate is for another name ({detail}): connect by a name in the certificate, or {EXPECT_NAME}"
    )]
    WrongName {
        /// The names.
        detail: String,
    },
    /// The certificate is for another use, such as a client's.
    #[error("its certificate is not for servers ({detail}): {REPLACE_CERTIFICATE}")]
    WrongUse {
        /// In the words of the library.
        detail: String,
    },
    /// The certificate cannot be read or used.
    #[error("its certificate cannot be used ({detail}): {REPLACE_CERTIFICATE}")]
    Unusable {
        /// In the words of the library.
        detail: String,
    },
    /// Server that requires a certificate, or another one.
    #[error("it does not accept this client ({detail}): {USE_ACCEPTED_CERTIFICATE}")]
    ClientRefused {
        /// The alert.
        detail: String,
    },
    /// Client with TLS, server without.
    #[error("it does not use TLS: {BE_PLAIN}, or have the server use TLS")]
    PlainServer,
    /// Client without TLS, server with.
    #[error("it accepts TLS only: {USE_TLS}")]
    PlainClient,
    /// Server with neither TLS nor HTTP/2.
    #[error("it does not use HTTP/2, as gRPC does: correct the address")]
    OtherProtocol,
    /// Something else.
    #[error("TLS with it fails ({detail}): {USE_ACCEPTED_CERTIFICATE}, or look at the server's log")]
    Other {
        /// In the words of the library.
        detail: String,
    },
}

impl TlsFailure {
    /// Finds the cause in the error of a transport; `None` where the error is not one of TLS.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            // The cause of an I/O error is not among its sources.
            let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            let inner = wrapped.and_then(|inner| inner.downcast_ref::<rustls::Error>());
            if let Some(found) = error.downcast_ref::<rustls::Error>().or(inner) {
                return Some(Self::of_rustls(found));
            }
            next = error.source();
        }
        // HTTP/2 keeps only the text of an alert that arrives after the handshake.
        let detail = innermost(error);
        let alert = detail.strip_prefix(ALERT)?;
        match REFUSALS.iter().any(|refusal| format!("{refusal:?}") == alert) {
            true => Some(Self::ClientRefused { detail }),
            false => Some(Self::Other { detail }),
        }
    }

    fn of_rustls(error: &rustls::Error) -> Self {
        let detail = error.to_string();
        match error {
            rustls::Error::InvalidCertificate(error) => Self::of_certificate(error),
            rustls::Error::InvalidMessage(_) => Self::PlainServer,
            rustls::Error::AlertReceived(alert) if REFUSALS.contains(alert) => Self::ClientRefused { detail },
            _ => Self::Other { detail },
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        let detail = error.to_string();
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                Self::UnknownIssuer { detail }
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::WrongName { detail }
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                Self::WrongUse { detail }
            }
            _ => Self::Unusable { detail },
        }
    }
}

/// Finds out why a connection to `address` failed or ended before the server had sent anything. `found` is
/// the cause in the transport's error ([`TlsFailure::of`]); if that is not enough, the server's protocol is
/// probed. `None` if the failure does not involve TLS.
pub async fn failure_at(address: &str, security: &Security, found: Option<TlsFailure>) -> Option<TlsFailure> {
    match found {
        found @ (None | Some(TlsFailure::Other { .. })) => disagreement(address, security).await.or(found),
        found => found,
    }
}

/// Probes whether the server at `address` uses TLS where `security` does not, or the reverse, or neither TLS
/// nor HTTP/2. A server that does not show it within two seconds is assumed to agree with the client.
pub async fn disagreement(address: &str, security: &Security) -> Option<TlsFailure> {
    if address.starts_with("unix:") {
        return None;
    }
    match (security, spoken(address).await?) {
        (Security::Tls(_), Spoken::Plain) => Some(TlsFailure::PlainServer),
        (Security::Local | Security::Plain, Spoken::Tls) => Some(TlsFailure::PlainClient),
        (_, Spoken::Other) => Some(TlsFailure::OtherProtocol),
        _ => None,
    }
}

/// A server's protocol, as its first bytes show.
enum Spoken {
    Plain,
    Tls,
    Other,
}

/// Behavior of a server after a connection to it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// No server accepts a connection any more.
    Absent {
        /// The system's words.
        reason: String,
    },
    /// A server accepts connections, and greets clients without TLS.
    Plain,
    /// A server accepts connections, and shows no greeting without TLS.
    Silent,
}

/// Probes whether a server still accepts connections at `address`, and whether it uses plain HTTP/2. A server
/// that does not show it within two seconds is silent.
pub async fn presence(address: &str) -> Presence {
    if let Some(path) = address.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return match UnixStream::connect(path).await {
            Ok(_) => Presence::Plain,
            Err(error) => Presence::Absent { reason: error.to_string() },
        };
    }
    match timeout(LOOK, greet(address)).await {
        Ok(Err(error)) => Presence::Absent { reason: error.to_string() },
        Ok(Ok(Some(Spoken::Plain))) => Presence::Plain,
        Ok(Ok(_)) | Err(_) => Presence::Silent,
    }
}

/// Protocol of a server; `None` if the server does not show it in time.
async fn spoken(address: &str) -> Option<Spoken> {
    timeout(LOOK, greet(address)).await.ok()?.ok()?
}

/// Greets a server without TLS, and reads its answer: SETTINGS, or an alert. Returns an error if it accepts
/// no connection.
async fn greet(address: &str) -> std::io::Result<Option<Spoken>> {
    let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
    let mut stream = TcpStream::connect(bare).await?;
    let mut answer = [0; 4];
    let greeting = async {
        stream.write_all(PREFACE).await?;
        stream.read_exact(&mut answer).await
    };
    Ok(greeting.await.ok().map(|_| match answer {
        [0x15 | 0x16, 3, ..] => Spoken::Tls,
        [_, _, _, 4] => Spoken::Plain,
        _ => Spoken::Other,
    }))
}
