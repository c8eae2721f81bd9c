//! An authority for one emulation, and a certificate for everybody in it.

use std::io;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::machine::scratch::Scratch;

/// Writes `ca.pem`, and `NAME.pem` with `NAME.key` for everybody. `network`: the name of what they are in.
pub fn write<'n>(
    network: &str,
    names: impl IntoIterator<Item = &'n str>,
    scratch: &Scratch,
) -> io::Result<()> {
    let ca_key = KeyPair::generate().map_err(io::Error::other)?;
    let mut ca = CertificateParams::default();
    ca.distinguished_name.push(DnType::CommonName, format!("authority of {network}"));
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = ca.self_signed(&ca_key).map_err(io::Error::other)?;
    std::fs::write(scratch.path("ca.pem"), own.pem())?;
    let issuer = Issuer::from_params(&ca, &ca_key);
    for name in names {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let params = CertificateParams::new(vec![name.to_owned()]).map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
        std::fs::write(scratch.path(&format!("{name}.pem")), certificate.pem())?;
        std::fs::write(scratch.path(&format!("{name}.key")), key.serialize_pem())?;
    }
    Ok(())
}
