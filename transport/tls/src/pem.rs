//! PEM files, checked as they are read: a server cannot report later problems.

use std::path::Path;

use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use crate::{IdentityFiles, TlsError};

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|cause| TlsError::Read { file: file.to_owned(), cause })
}

fn certificates(file: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = |reason: String| TlsError::Certificate { file: file.to_owned(), reason };
    let parsed: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(text).collect();
    match parsed {
        Ok(certificates) if certificates.is_empty() => Err(wrong("it has no certificate".to_owned())),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Returns the text of a file with the certificates of an authority.
pub(crate) fn authority(file: &Path) -> Result<Vec<u8>, TlsError> {
    let text = read(file)?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file, &text)? {
        roots.add(certificate).map_err(|error| TlsError::Certificate {
            file: file.to_owned(),
            reason: format!("an authority's certificate in it is broken ({error})"),
        })?;
    }
    Ok(text)
}

/// Returns the texts of a certificate and its key.
pub(crate) fn identity(files: &IdentityFiles) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
    let (certificate, key) = (read(&files.certificate)?, read(&files.key)?);
    let chain = certificates(&files.certificate, &certificate)?;
    let wrong = |reason: &str| TlsError::Key { file: files.key.clone(), reason: reason.to_owned() };
    let parsed = PrivateKeyDer::from_pem_slice(&key).map_err(|error| match error {
        pem::Error::NoItemsFound => wrong("it has no key"),
        _ => wrong("the key in it is broken"),
    })?;
    let signer = ring::default_provider().key_provider.load_private_key(parsed);
    let signer = signer.map_err(|_| wrong("the key in it is broken or of an unknown kind"))?;
    match CertifiedKey::new(chain, signer).keys_match() {
        // Unknown: the provider cannot derive the public key of this kind.
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {
            Ok((certificate, key))
        }
        Err(rustls::Error::InconsistentKeys(_)) => {
            Err(TlsError::Pair { key: files.key.clone(), certificate: files.certificate.clone() })
        }
        Err(error) => Err(TlsError::Certificate {
            file: files.certificate.clone(),
            reason: format!("the certificate in it is broken ({error})"),
        }),
    }
}

/// Returns the certificates of an authority, as those that are believed.
pub(crate) fn roots(file: &Path) -> Result<RootCertStore, TlsError> {
    let text = authority(file)?;
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates(file, &text)?);
    debug_assert!(added > 0, "they were checked");
    Ok(roots)
}

/// Returns a certificate with those between it and the authority, and its key.
pub(crate) fn chain(
    files: &IdentityFiles,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let (certificate, key) = identity(files)?;
    let chain = certificates(&files.certificate, &certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|error| TlsError::Key { file: files.key.clone(), reason: error.to_string() })?;
    Ok((chain, key))
}
