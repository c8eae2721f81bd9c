//! An authority for one emulation, and a certificate for every site and the scheduler.

use std::io;

use inart_overlay::Overlay;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::scratch::Scratch;

/// The scheduler's name.
pub const SCHEDULER: &str = "scheduler";

/// Writes `ca.pem`, and `NAME.pem` with `NAME.key` for everybody.
pub fn write(overlay: &Overlay, scratch: &Scratch) -> io::Result<()> {
    let ca_key = KeyPair::generate().map_err(io::Error::other)?;
    let mut ca = CertificateParams::default();
    ca.distinguished_name.push(DnType::CommonName, format!("authority of {}", overlay.name()));
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = ca.self_signed(&ca_key).map_err(io::Error::other)?;
    std::fs::write(scratch.path("ca.pem"), own.pem())?;
    let issuer = Issuer::from_params(&ca, &ca_key);
    for name in overlay.sites().iter().map(String::as_str).chain([SCHEDULER]) {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let params = CertificateParams::new(vec![name.to_owned()]).map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
        std::fs::write(scratch.path(&format!("{name}.pem")), certificate.pem())?;
        std::fs::write(scratch.path(&format!("{name}.key")), key.serialize_pem())?;
    }
    Ok(())
}
