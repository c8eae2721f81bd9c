//! TLS that fails: both sides log the cause and the fix at once, and not again with each attempt.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use inart_quic::{Endpoint, Options, PROTOCOL};
use inart_tls::MutualTls;
use quinn::crypto::rustls::QuicClientConfig;
use rcgen::ExtendedKeyUsagePurpose;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::support::{Authority, TIMEOUT, log};

/// Attempts after which the warnings are counted.
const ATTEMPTS: u64 = 4;

fn open(name: &str, tls: MutualTls, peers: &[(&str, SocketAddr)]) -> (Endpoint, SocketAddr) {
    let peers: BTreeMap<_, _> = peers.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
    let (endpoint, events) =
        Endpoint::open(Options::new("127.0.0.1:0".parse().unwrap(), tls, name, peers)).unwrap();
    // Nothing but logs is looked at.
    std::mem::forget(events);
    let address = endpoint.address().unwrap();
    (endpoint, address)
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(TIMEOUT, wait).await.is_ok(), "never: {what}; {:?}", log::warnings(&[]));
}

/// Makes `a` connect to `b` at a process whose name and certificate are `there`. Returns the warnings of
/// both.
async fn both_warn(here: MutualTls, there: (&str, MutualTls), at_a: &str, at_b: &str) {
    log::keep();
    let (b, b_address) = open(there.0, there.1, &[]);
    let (a, a_address) = open("a", here, &[("b", b_address)]);
    b.set_peer("a", a_address);
    let at = |name: &str, address: SocketAddr| format!("no connection to {name} ({address}): ");
    let (to_b, to_a) = (at("b", b_address), at("a", a_address));
    until(at_a, || !log::warnings(&[&to_b, at_a]).is_empty()).await;
    until(at_b, || !log::warnings(&[&to_a, at_b]).is_empty()).await;
    let refused = b.counters().refused;
    until("attempts", || b.counters().refused >= refused + ATTEMPTS).await;
    for (who, why) in [(to_b, at_a), (to_a, at_b)] {
        let said = log::warnings(&[&who, why]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("; "), "no fix: {said:?}");
    }
    // Statuses and waits have the cause, too.
    let trouble = a.trouble("b").unwrap();
    assert_eq!(trouble.address, b_address);
    assert!(trouble.cause.unwrap().contains(at_a));
    drop((a, b));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_another_authority() {
    let (ours, theirs) = (Authority::found("ours"), Authority::found("theirs"));
    let at_a = "its certificate is of another authority; give both";
    let at_b = "it refuses this process, whose certificate is of another authority";
    both_warn(theirs.identify("a"), ("b", ours.identify("b")), at_a, at_b).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_has_expired_here_or_there() {
    let authority = Authority::found("one");
    let expired = |name: &str| {
        authority.identify_with(name, &[name], PROTOCOL, |params| {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        })
    };
    let refuses = "its certificate has expired; renew";
    let is_refused = "it refuses this process, whose certificate has expired; renew";
    both_warn(authority.identify("a"), ("b", expired("b")), refuses, is_refused).await;
    both_warn(expired("a"), ("b", authority.identify("b")), is_refused, refuses).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_another_name() {
    let authority = Authority::found("one");
    let at_a = "its certificate is for another name (z); correct the address";
    let at_z = "it refuses this process, whose certificate is for another name (z); correct";
    both_warn(authority.identify("a"), ("z", authority.identify("z")), at_a, at_z).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_for_servers_only() {
    let authority = Authority::found("one");
    let a = authority.identify_with("a", &["a"], PROTOCOL, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    let at_a = "it refuses this process, whose certificate is not for this use; issue one";
    let at_b = "its certificate is not for this use; issue one";
    both_warn(a, ("b", authority.identify("b")), at_a, at_b).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_another_system() {
    let authority = Authority::found("one");
    let a = authority.identify_with("a", &["a"], "inart-peers/1", |_| ());
    let at_a = "it does not support inart-peers/1; correct the address";
    let at_b = "it does not support inart-sites/4; correct the address";
    both_warn(a, ("b", authority.identify("b")), at_a, at_b).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_no_peer() {
    log::keep();
    let authority = Authority::found("one");
    let (b, b_address) = open("b", authority.identify("b"), &[]);
    let (_a, _) = open("a", authority.identify("a"), &[("b", b_address)]);
    let said =
        format!("no connection to b ({b_address}): it refuses this process: b has no peer called a; give");
    until(&said, || !log::warnings(&[&said]).is_empty()).await;
    until("attempts", || b.counters().unknown_senders >= 2 * ATTEMPTS).await;
    assert_eq!(log::warnings(&[&said]).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_without_a_certificate() {
    log::keep();
    let authority = Authority::found("one");
    let (_b, b_address) = open("b", authority.identify("b"), &[]);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.certificate()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls =
        ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]);
    let mut tls = tls.unwrap().with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![PROTOCOL.into()];
    let client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    let connecting = client.connect_with(config, b_address, "b").unwrap();
    let from =
        format!("no connection from {}: it shows no certificate; start it", client.local_addr().unwrap());
    until(&from, || !log::warnings(&[&from]).is_empty()).await;
    drop(connecting.await);
}
