//! Restarted and stopped sites, on connections over the loopback interface.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_quic::{Congestion, PROTOCOL};
use inart_sites_agent::Setup;
use inart_sites_host::{HostOptions, Next, SiteHost};
use inart_tls::{IdentityFiles, MutualTls};
use inart_topologies::sites::Overlay;

use crate::certificates::certify;
use crate::loopback::loopback;

const NETWORK: &str = "name: line
nodes: [{name: n1, kind: site}, {name: n2, kind: site}]
links: [{ends: [n1, n2], rate: 1 Gbps}]
jobs: [{name: job, gradient: 4000 B, chunk: 400 B}]
";
const NAMES: [&str; 2] = ["n1", "n2"];
const VALUES: usize = 1000;
/// Longer than all operations here; only a failure waits this long.
const TIMEOUT: Duration = Duration::from_secs(100);

fn open(folder: &Path, addresses: &BTreeMap<&str, SocketAddr>, me: usize) -> SiteHost {
    let overlay = Overlay::from_yaml(NETWORK).unwrap();
    let (name, other) = (NAMES[me], NAMES[1 - me]);
    let options = Options::new(Scheme::Fapt);
    let setup = Setup::new(&overlay, &overlay.jobs()[0], name, &options, AuxiliaryUse::default()).unwrap();
    let file = |end: &str| folder.join(format!("{name}.{end}"));
    let files = IdentityFiles { certificate: file("pem"), key: file("key") };
    let tls = MutualTls::load(&folder.join("ca.pem"), &files, PROTOCOL).unwrap();
    let peers = BTreeMap::from([(other.to_owned(), addresses[other])]);
    let congestion = Congestion::default();
    let options = HostOptions { listen: addresses[name], tls, peers, scheduler: None, congestion };
    SiteHost::open(&overlay, Arc::new(setup), options).unwrap()
}

fn addresses() -> BTreeMap<&'static str, SocketAddr> {
    let sockets = NAMES.map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap()));
    sockets.iter().map(|(name, socket)| (*name, socket.local_addr().unwrap())).collect()
}

/// Returns the bytes of a state, longer than the longest message of any endpoint.
fn state() -> Bytes {
    (0..70 << 20).map(|at: u32| (at % 251) as u8).collect()
}

#[test]
fn a_site_that_restarts_loads_a_state_that_is_longer_than_any_message() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path(), &NAMES);
    let addresses = addresses();
    let (asked, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let mut n1 = open(folder.path(), &addresses, 0);
    let (counted, over) = (asked.clone(), is_over.clone());
    let first = thread::spawn(move || {
        let whole = state();
        let training = || {
            counted.fetch_add(1, SeqCst);
            // Written slowly.
            thread::sleep(Duration::from_secs(2));
            whole.clone()
        };
        n1.start().unwrap();
        while !over.load(SeqCst) && n1.all_reduce(vec![1.0; VALUES], &training).is_ok() {}
    });
    let mut n2 = open(folder.path(), &addresses, 1);
    n2.start().unwrap();
    n2.all_reduce(vec![2.0; VALUES], &Bytes::new).unwrap();
    // The process exits without a final report.
    drop(n2);
    let (loaded, news) = channel();
    let path = folder.path().to_owned();
    thread::spawn(move || {
        let mut n2 = open(&path, &addresses, 1);
        let Next::Round { training, .. } = n2.start().unwrap() else { panic!("it is over") };
        let reduced = n2.all_reduce(vec![2.0; VALUES], &Bytes::new).unwrap();
        loaded.send((training, reduced.sum, n2)).unwrap();
    });
    let (training, sum, n2) = news.recv_timeout(TIMEOUT).expect("it joins");
    assert!(training.unwrap() == state(), "the bytes are those of the program at n1");
    assert_eq!(sum.unwrap(), [3.0; VALUES]);
    assert_eq!(asked.load(SeqCst), 1, "the program at n1 wrote its state once");
    is_over.store(true, SeqCst);
    n2.stopper().stop();
    drop(n2);
    first.join().unwrap();
}

#[test]
fn a_site_that_is_stopped_ends_both_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path(), &NAMES);
    let addresses = addresses();
    let hosts = [0, 1].map(|me| open(folder.path(), &addresses, me));
    let stopper = hosts[1].stopper();
    let (done, rounds) = channel();
    let threads = hosts.map(|mut host| {
        let done = done.clone();
        thread::spawn(move || {
            host.start().unwrap();
            loop {
                match host.all_reduce(vec![1.0; VALUES], &Bytes::new) {
                    Ok(_) => done.send(()).unwrap(),
                    Err(error) => return error.to_string(),
                }
            }
        })
    });
    (0..4).for_each(|_| rounds.recv_timeout(TIMEOUT).unwrap());
    assert!(stopper.stop());
    for (name, thread) in NAMES.into_iter().zip(threads) {
        let error = thread.join().unwrap();
        assert!(error.starts_with("site n2 was stopped"), "{name}: {error}");
    }
    assert!(!stopper.stop(), "it has ended");
}
