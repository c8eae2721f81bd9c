//! Sites and a scheduler with different documents or trainings, on connections over the loopback interface.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_quic::{Congestion, PROTOCOL};
use inart_sites_agent::{Scheduler, Setup};
use inart_sites_host::{Ending, HostError, HostOptions, Next, SchedulerHost, SiteHost};
use inart_tls::{IdentityFiles, MutualTls};
use inart_topologies::sites::Overlay;

use crate::certificates::certify;
use crate::loopback::loopback;

const NAMES: [&str; 3] = ["n1", "n2", "n3"];
const VALUES: usize = 1000;
const LINE: &str = "name: line
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}]
links: [{ends: [n1, n2], rate: 100 Mbps}, {ends: [n2, n3], rate: 100 Mbps}]
jobs: [{name: job, gradient: 4000 B, chunk: 400 B}]
";

struct World {
    folder: tempfile::TempDir,
    addresses: BTreeMap<&'static str, SocketAddr>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = ["n1", "n2", "n3", "scheduler"];
        certify(folder.path(), &names);
        let sockets = names.map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap()));
        let addresses = sockets.iter().map(|(name, socket)| (*name, socket.local_addr().unwrap())).collect();
        World { folder, addresses }
    }

    fn options(&self, name: &str, peers: &[String], has_scheduler: bool) -> HostOptions {
        HostOptions {
            listen: self.addresses[name],
            tls: tls(self.folder.path(), name),
            peers: peers.iter().map(|peer| (peer.clone(), self.addresses[&**peer])).collect(),
            scheduler: has_scheduler.then(|| ("scheduler".to_owned(), self.addresses["scheduler"])),
            congestion: Congestion::DeliveryRate,
        }
    }

    fn open(&self, name: &str, seed: u64) -> SiteHost {
        let overlay = Overlay::from_yaml(LINE).unwrap();
        let (job, options) = (&overlay.jobs()[0], Options::new(Scheme::Optimized));
        let setup = Setup::new(&overlay, job, name, &options, AuxiliaryUse::default()).unwrap();
        let setup = setup.with_training([("seed", seed)]).unwrap();
        let peers: Vec<_> = setup.my_neighbors().iter().map(|&site| setup.name(site)).collect();
        SiteHost::open(&overlay, Arc::new(setup), self.options(name, &peers, true)).unwrap()
    }

    /// A scheduler in a thread of its own, which ends with the process.
    fn schedule(&self, document: &str) {
        let overlay = Arc::new(Overlay::from_yaml(document).unwrap());
        let (job, rates) = (overlay.jobs()[0].clone(), overlay.rates_at(0.0));
        let scheduler = Scheduler::knowing(overlay.clone(), job, Options::new(Scheme::Optimized), rates);
        let options = self.options("scheduler", &NAMES.map(str::to_owned), false);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                SchedulerHost::open(&overlay, scheduler, "scheduler", options)
                    .unwrap()
                    .run(|_| {})
                    .await
                    .unwrap();
            });
        });
    }
}

fn tls(folder: &Path, name: &str) -> MutualTls {
    let file = |end: &str| folder.join(format!("{name}.{end}"));
    let files = IdentityFiles { certificate: file("pem"), key: file("key") };
    MutualTls::load(&folder.join("ca.pem"), &files, PROTOCOL).unwrap()
}

/// Trains for some rounds. Returns the versions of their plans, and the counters.
fn train(mut host: SiteHost, rounds: u32) -> JoinHandle<Result<(Vec<u64>, Ending), HostError>> {
    std::thread::spawn(move || {
        let (mut versions, mut next) = (Vec::new(), host.start()?);
        while let Next::Round { round, .. } = next
            && round <= rounds
        {
            let reduced = host.all_reduce(vec![round as f32; VALUES], &Bytes::new)?;
            assert_eq!(reduced.sum, Some(vec![3.0 * round as f32; VALUES]));
            versions.push(reduced.version);
            next = reduced.next;
        }
        Ok((versions, host.finish(Bytes::new())?))
    })
}

/// The scheduler knows a link that the sites do not have: its plans once stalled every site.
#[test]
fn rounds_continue_with_a_scheduler_of_a_newer_document() {
    for (document, follows) in [(LINE.to_owned(), true), (newer(), false)] {
        let world = World::new();
        world.schedule(&document);
        let sites = NAMES.map(|name| train(world.open(name, 1), 30));
        for site in sites {
            let (versions, _) = site.join().unwrap().unwrap();
            assert_eq!(versions.len(), 30);
            assert_eq!(versions.iter().any(|version| *version > 0), follows, "{versions:?}");
        }
    }
}

fn newer() -> String {
    LINE.replace("links: [", "links: [{ends: [n1, n3], rate: 1 Gbps}, ")
}

/// The site without a link to the differing one ends, too.
#[test]
fn a_site_with_another_seed_is_named_at_all_sites_before_the_first_round() {
    let world = World::new();
    let sites = [("n1", 1), ("n2", 1), ("n3", 9)].map(|(name, seed)| train(world.open(name, seed), 30));
    let said = sites.map(|site| site.join().unwrap().map(|_| ()).unwrap_err().to_string());
    assert_eq!(said[1], "n3 has seed 9, this site has seed 1; give all sites the same");
    assert_eq!(said[2], "n2 has seed 1, this site has seed 9; give all sites the same");
    // Reported by n2.
    let expected = "n3 has seed 9, n2 has seed 1; give all sites the same; the job has ended at all sites";
    assert_eq!(said[0], expected);
}
