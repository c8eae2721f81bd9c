//! Certificates of one authority.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// Writes `ca.pem`, and a certificate and key for every name, as `NAME.pem` and `NAME.key`.
pub fn certify(folder: &Path, names: &[&str]) {
    let ca_key = KeyPair::generate().expect("a key");
    let mut ca = CertificateParams::new(Vec::new()).expect("no names");
    ca.distinguished_name.push(DnType::CommonName, "authority");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let write = |name: String, text: String| std::fs::write(folder.join(name), text).expect("written");
    write("ca.pem".to_owned(), ca.self_signed(&ca_key).expect("signed").pem());
    let issuer = Issuer::from_params(&ca, &ca_key);
    for name in names {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![(*name).to_owned()]).expect("a name");
        write(format!("{name}.pem"), params.signed_by(&key, &issuer).expect("signed").pem());
        write(format!("{name}.key"), key.serialize_pem());
    }
}
