//! Problems of certificates and keys.

use std::error::Error;
use std::path::PathBuf;

/// Problem of a file: its path, the problem, and the fix.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// File that cannot be read.
    #[error("cannot read {}: {cause}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// A file of certificates without one, or with one that is broken.
    #[error("{}: {reason}; give a PEM file with -----BEGIN CERTIFICATE-----", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Problem.
        reason: String,
    },
    /// A file of a key without one, or with one that is broken.
    #[error("{}: {reason}; give a PEM file with -----BEGIN PRIVATE KEY-----, without a passphrase", file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// Problem. Never a part of the key.
        reason: String,
    },
    /// The key and the certificate are of two different owners.
    #[error(
        "the key in {} is not that of the certificate in {}: give the two that were made together",
        key.display(), certificate.display()
    )]
    Pair {
        /// The key's file.
        key: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
    },
}

/// Returns the innermost cause: a transport's own text is "transport error".
pub fn innermost(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
