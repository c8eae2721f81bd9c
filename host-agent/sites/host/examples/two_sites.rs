//! Gradient that a site sends and receives per second of CPU time: two sites on the loopback interface,
//! rounds of 100 MB, every sum compared bit for bit.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for people to read")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_quic::{Congestion, PROTOCOL};
use inart_sites_agent::Setup;
use inart_sites_agent::audit::sum_of_sites;
use inart_sites_host::{HostOptions, Next, SiteHost};
use inart_tls::{IdentityFiles, MutualTls};
use inart_topologies::sites::Overlay;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

const ROUNDS: u32 = 5;
const VALUES: usize = 25_000_000;
const NETWORK: &str = "name: pair
nodes: [{name: a, kind: site}, {name: b, kind: site}]
links: [{ends: [a, b], rate: 10 Gbps}]
jobs: [{name: job, gradient: 100 MB, chunk: 1 MB}]
";

/// Creates certificates of one authority for both sites.
fn certificates(folder: &Path) -> BTreeMap<&'static str, MutualTls> {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    std::fs::write(folder.join("ca.pem"), ca.self_signed(&ca_key).unwrap().pem()).unwrap();
    let issuer = Issuer::from_params(&ca, &ca_key);
    let identity = |name: &'static str| {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let file = |end: &str| folder.join(format!("{name}.{end}"));
        std::fs::write(file("pem"), params.signed_by(&key, &issuer).unwrap().pem()).unwrap();
        std::fs::write(file("key"), key.serialize_pem()).unwrap();
        let files = IdentityFiles { certificate: file("pem"), key: file("key") };
        (name, MutualTls::load(&folder.join("ca.pem"), &files, PROTOCOL).unwrap())
    };
    ["a", "b"].map(identity).into()
}

/// Returns the CPU time of the sites' network threads so far, in seconds, including their kernel time.
fn processor_seconds() -> f64 {
    let mut ticks = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let text = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
        let Some((name, rest)) = text.rsplit_once(')') else { continue };
        if name.ends_with("(site") {
            let fields: Vec<&str> = rest.split_whitespace().collect();
            ticks += fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        }
    }
    ticks as f64 / 100.0
}

fn gradient(site: usize, round: u32) -> Vec<f32> {
    let value = |at: usize| ((at * 2_654_435_761 + site * 97 + round as usize) % 20_011) as f32 / 1e4 - 1.0;
    (0..VALUES).map(value).collect()
}

/// Runs one site's rounds. Returns a digest of each sum, and the CPU time of both sites at the last one.
fn train(mut host: SiteHost, site: usize) -> (Vec<u64>, f64) {
    let mut next = host.start().unwrap();
    let mut sums = Vec::new();
    while let Next::Round { round, .. } = next
        && round <= ROUNDS
    {
        let reduced = host.all_reduce(gradient(site, round), &Bytes::new).unwrap();
        sums.push(digest(&reduced.sum.unwrap()));
        next = reduced.next;
    }
    let busy = processor_seconds();
    host.finish(Bytes::new()).unwrap();
    (sums, busy)
}

/// Returns a hash of the bits.
fn digest(sum: &[f32]) -> u64 {
    inart_terms::fingerprint(sum.iter().map(|value| u64::from(value.to_bits())))
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let mut identities = certificates(folder.path());
    let overlay = Overlay::from_yaml(NETWORK).unwrap();
    let free = || UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let addresses: [(&str, SocketAddr); 2] = [("a", free()), ("b", free())];
    let options = Options::new(Scheme::Mst);
    let mut hosts = Vec::new();
    for at in 0..2 {
        let (name, listen) = addresses[at];
        let job = &overlay.jobs()[0];
        let setup = Arc::new(Setup::new(&overlay, job, name, &options, AuxiliaryUse::default()).unwrap());
        let (other, address) = addresses[1 - at];
        let options = HostOptions {
            listen,
            tls: identities.remove(name).unwrap(),
            peers: BTreeMap::from([(other.to_owned(), address)]),
            scheduler: None,
            congestion: Congestion::DeliveryRate,
        };
        hosts.push(SiteHost::open(&overlay, setup, options).unwrap());
    }
    let began = Instant::now();
    let sites = hosts.into_iter().enumerate();
    let threads: Vec<_> = sites.map(|(at, host)| std::thread::spawn(move || train(host, at))).collect();
    let ends: Vec<(Vec<u64>, f64)> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let (seconds, busy) = (began.elapsed().as_secs_f64(), ends.iter().map(|end| end.1).fold(0.0, f64::max));
    for round in 1..=ROUNDS {
        let gradients = [gradient(0, round), gradient(1, round)];
        let right = digest(&sum_of_sites(&gradients.each_ref().map(|own| &own[..]), &[VALUES]));
        assert!(ends.iter().all(|end| end.0[round as usize - 1] == right), "round {round}");
    }
    // Each site sends its gradient, or the sum, and receives the other, once per round.
    let gigabytes = f64::from(ROUNDS) * VALUES as f64 * 4.0 * 2.0 / 1e9;
    let per_site = busy / 2.0;
    println!(
        "{ROUNDS} rounds of {} MB in {seconds:.2} s; each site moved {gigabytes:.1} GB in {per_site:.2} s of its processor: \
         {:.1} GB per minute and site on one core; every sum compared bit for bit",
        VALUES * 4 / 1_000_000,
        gigabytes / per_site * 60.0
    );
}
