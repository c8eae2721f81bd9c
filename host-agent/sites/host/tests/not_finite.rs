//! A NaN or an infinity at one of three sites without workers, on connections over the loopback interface.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_quic::{Congestion, PROTOCOL};
use inart_sites_agent::Setup;
use inart_sites_host::{HostError, HostOptions, Next, SiteHost};
use inart_tls::{IdentityFiles, MutualTls};
use inart_topologies::sites::Overlay;

use crate::certificates::certify;
use crate::loopback::loopback;

const NAMES: [&str; 3] = ["n1", "n2", "n3"];
const VALUES: usize = 1000;
/// n1 and n3 communicate only through n2.
const NETWORK: &str = "name: line
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}]
links: [{ends: [n1, n2], rate: 1 Gbps}, {ends: [n2, n3], rate: 1 Gbps}]
jobs: [{name: job, gradient: 4000 B, chunk: 400 B}]
";

/// Returns integers, whose sums are exact as floats.
fn gradient(site: usize, round: u32) -> Vec<f32> {
    (0..VALUES).map(|at| (at * (site + 2) % 101) as f32 + round as f32).collect()
}

fn open(overlay: &Overlay, name: &str, addresses: &BTreeMap<&str, SocketAddr>, tls: MutualTls) -> SiteHost {
    let options = Options::new(Scheme::Fapt);
    let setup = Setup::new(overlay, &overlay.jobs()[0], name, &options, AuxiliaryUse::default()).unwrap();
    let peers = setup.my_neighbors().iter().map(|&site| setup.name(site));
    let peers = peers.map(|peer| (peer.clone(), addresses[&*peer])).collect();
    let congestion = Congestion::default();
    let options = HostOptions { listen: addresses[name], tls, peers, scheduler: None, congestion };
    SiteHost::open(overlay, Arc::new(setup), options).unwrap()
}

/// Returns all sums until a site fails, and its error.
fn train(mut host: SiteHost, own: impl Fn(u32) -> Vec<f32>) -> (Vec<Vec<f32>>, HostError) {
    let (mut sums, mut next) = (Vec::new(), host.start().unwrap());
    loop {
        let Next::Round { round, .. } = next else { panic!("{next:?}") };
        match host.all_reduce(own(round), &Bytes::new) {
            Ok(reduced) => {
                sums.extend(reduced.sum);
                next = reduced.next;
            }
            Err(error) => return (sums, error),
        }
    }
}

#[test]
fn all_sites_end_in_the_same_round_with_the_name_of_the_site() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path(), &NAMES);
    let overlay = Overlay::from_yaml(NETWORK).unwrap();
    for (value, culprit, round) in [(f32::NAN, 1, 3), (f32::NEG_INFINITY, 2, 2)] {
        let sockets = NAMES.map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap()));
        let addresses = sockets.iter().map(|(name, socket)| (*name, socket.local_addr().unwrap())).collect();
        drop(sockets);
        let sites = [0, 1, 2].map(|site| {
            let name = NAMES[site];
            let file = |end: &str| folder.path().join(format!("{name}.{end}"));
            let files = IdentityFiles { certificate: file("pem"), key: file("key") };
            let tls = MutualTls::load(&folder.path().join("ca.pem"), &files, PROTOCOL).unwrap();
            let host = open(&overlay, name, &addresses, tls);
            thread::spawn(move || {
                train(host, |now| {
                    let mut own = gradient(site, now);
                    if (site, now) == (culprit, round) {
                        own[VALUES - 1] = value;
                    }
                    own
                })
            })
        });
        let sum = |now: u32| -> Vec<f32> {
            let of = [0, 1, 2].map(|site| gradient(site, now));
            (0..VALUES).map(|at| of.iter().map(|values| values[at]).sum()).collect()
        };
        let before: Vec<Vec<f32>> = (1..round).map(sum).collect();
        let said = format!("round {round}: the gradient of site {} has a NaN or an infinity", NAMES[culprit]);
        for site in sites {
            let (sums, error) = site.join().unwrap();
            assert_eq!(sums, before, "the sums of the rounds before, and no other one");
            assert!(error.to_string().contains(&said), "{error}");
        }
    }
}
