//! Where client and server do not agree on TLS, every client names the cause, and never says that nothing
//! answers.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::tls::Running;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use support::{Workbench, is_refusal};

/// An authority whose certificate is in `NAME-ca.pem`.
struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    fn found(bench: &Workbench, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, format!("authority {name}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        bench.write(&format!("{name}-ca.pem"), params.self_signed(&key).unwrap().pem());
        Authority(Issuer::new(params, key))
    }

    /// Writes `NAME.pem` and `NAME.key` for a server called `host`.
    fn certify(
        &self,
        bench: &Workbench,
        name: &str,
        host: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        change(&mut params);
        bench.write(&format!("{name}.pem"), params.signed_by(&key, &self.0).unwrap().pem());
        bench.write(&format!("{name}.key"), key.serialize_pem());
    }
}

/// A switch that serves with this certificate, or plainly, and its address.
fn serve(bench: &Workbench, certificate: Option<&str>, more: &[&str]) -> (Running, String) {
    let mut arguments = vec!["switch", "--no-p4", "--", "--grpc-server-addr", "127.0.0.1:0"];
    let files = certificate.map(|name| (format!("{name}.pem"), format!("{name}.key")));
    if let Some((certificate, key)) = &files {
        arguments.extend(["--grpc-server-ssl", "--grpc-server-cert", certificate, "--grpc-server-key", key]);
    }
    arguments.extend(more);
    let mut command = bench.command(&arguments);
    let mut process = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    (process, address)
}

/// Runs a client of each protocol against the server; all of them say this of it.
fn all_say(bench: &Workbench, address: &str, options: &[&str], said: &[&str]) {
    let [one, two] = ["v1", "v2"].map(|name| format!("{name}={address}"));
    let list = ["remove", "fig1.yaml", "--switch", &one, "--switch", &two];
    let by_bfruntime = [&list[..], &["--target", "tofino", "--values", "32"]].concat();
    for client in [&list[..], &by_bfruntime, &["status", address]] {
        let arguments = [client, options].concat();
        let output = bench.inart(&arguments);
        is_refusal(&output, &arguments, &[&[address, "a server answers"], said].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        for wrong in ["no P4Runtime server", "no BFRuntime server", "start ", "not installed"] {
            assert!(!text.contains(wrong), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_servers_certificate_is_named() {
    let bench = Workbench::new();
    let [our, their] = ["our", "their"].map(|name| Authority::found(&bench, name));
    our.certify(&bench, "expired", "127.0.0.1", |params| params.not_after = date_time_ymd(2001, 1, 1));
    our.certify(&bench, "early", "127.0.0.1", |params| params.not_before = date_time_ymd(2999, 1, 1));
    our.certify(&bench, "other", "elsewhere", |_| {});
    our.certify(&bench, "client", "127.0.0.1", |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    their.certify(&bench, "unknown", "127.0.0.1", |_| {});
    let cases: [(&str, &[&str]); 5] = [
        ("expired", &["its certificate has expired", "renew it"]),
        ("early", &["not valid yet"]),
        ("other", &["for another name", "elsewhere", "--tls-name"]),
        ("client", &["not for servers", "serverAuth"]),
        ("unknown", &["not of an authority that this client knows", "--tls-ca"]),
    ];
    for (certificate, said) in cases {
        let (_switch, address) = serve(&bench, Some(certificate), &[]);
        all_say(&bench, &address, &["--tls-ca", "our-ca.pem"], said);
    }
}

#[test]
fn a_side_without_tls_is_named() {
    let bench = Workbench::new();
    let our = Authority::found(&bench, "our");
    our.certify(&bench, "switch", "127.0.0.1", |_| {});
    let (_plain, address) = serve(&bench, None, &[]);
    all_say(&bench, &address, &["--tls-ca", "our-ca.pem"], &["does not use TLS"]);
    let (_tls, address) = serve(&bench, Some("switch"), &[]);
    all_say(&bench, &address, &[], &["accepts TLS only", "--tls-ca"]);
    let mutual = ["--grpc-server-cacert", "our-ca.pem", "--grpc-server-with-client-auth"];
    let (_mutual, address) = serve(&bench, Some("switch"), &mutual);
    all_say(&bench, &address, &["--tls-ca", "our-ca.pem"], &["does not accept this client", "--tls-cert"]);
}
