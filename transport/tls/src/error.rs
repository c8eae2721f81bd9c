//! What can be wrong with certificates and keys.

use std::error::Error;
use std::path::PathBuf;

/// Which file, what is wrong with it, and how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// It cannot be read.
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
        /// What is wrong.
        reason: String,
    },
    /// A file of a key without one, or with one that is broken.
    #[error("{}: {reason}; give a PEM file with -----BEGIN PRIVATE KEY-----, without a passphrase", file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// What is wrong. Never a part of the key.
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

/// The innermost cause: what a transport says of itself is "transport error".
pub fn innermost(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
