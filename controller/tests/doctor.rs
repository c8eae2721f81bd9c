//! Conclusions of the doctor about silent hosts, swapped cables and links without traffic: only with
//! evidence.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeMap;

use inart_controller::doctor::{Arrived, Hosts, JobFinding, SwitchState, SwitchView, examine};
use inart_controller::{PortMap, Push, Records};
use inart_p4::Reason;
use inart_planner_aggregation::{Options, plan, schemes};
use inart_protocol_aggregation::{
    FlowStatus, PendingChunk, ServerCounters, ServerStatus, WorkerCounters, WorkerStatus,
};
use inart_targets::{Counts, PortTraffic, SwitchCounters, Traffic};
use inart_topologies::switched::Topology;
use inart_wire::{ChunkSeq, JobId, Rank};
use support::{controller, fig1, job, now};

/// Fig. 1 with its plan installed and all hosts running; the first chunk of server s1 waits.
struct Lab {
    topology: Topology,
    ports: PortMap,
    push: Push,
    switches: BTreeMap<String, SwitchView>,
    hosts: Hosts,
}

fn worker(push: &Push, rank: usize, name: &str) -> WorkerStatus {
    let sequence = ChunkSeq::from(0);
    let oldest = Some(PendingChunk { chunk: 0, sequence, sent_seconds: 0.1, sends: 9 });
    let flows = push.plan.shards.iter().enumerate().map(|(shard, of)| FlowStatus {
        shard: u16::try_from(shard).unwrap().into(),
        server: of.server.clone(),
        chunks: 100,
        in_flight: 1,
        oldest,
        rate_bps: 1e9,
        planned_rate_bps: 1e9,
        rtt_seconds: None,
        least_rtt_seconds: None,
        server_heard_seconds: None,
    });
    WorkerStatus {
        job: 1.into(),
        job_name: push.plan.job.clone(),
        plan_version: push.plan_version,
        rank: Rank::try_from(rank).unwrap(),
        name: name.to_owned(),
        round: Some(0),
        in_round: true,
        shards: flows.collect(),
        busy_seconds: 1.0,
        frame_bytes: 1068,
        counters: WorkerCounters::default(),
        failure: None,
    }
}

impl Lab {
    fn new() -> Self {
        let topology = fig1();
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
        let mut controller = controller(&topology, Records::default());
        let report = now(controller.install(&[job(1, &plan)])).unwrap();
        let push = controller.records().jobs[&JobId::from(1)].live().unwrap().clone();
        let ports = PortMap::new(&topology).unwrap();
        let switches = report.desired.into_iter().map(|(name, tables)| {
            let counters = |packets: i64| {
                let counts = Counts { packets, bytes: 1068 * packets };
                let steer = tables.steer.iter().map(|(key, action)| (*key, (*action, counts)));
                let drops = vec![Counts::default(); 64];
                SwitchCounters { steer: steer.collect(), drops, ..SwitchCounters::default() }
            };
            let arrived =
                ports.ports(&name).map(|(port, _)| (port, Arrived { ours: 9, ..Arrived::default() }));
            (name.clone(), SwitchView { before: counters(0), after: counters(9), arrived: arrived.collect() })
        });
        let switches = switches.collect();
        let names = ["w1", "w2", "w3", "w4", "w5", "w6"];
        let workers = names.iter().enumerate().map(|(rank, name)| (0.0, worker(&push, rank, name))).collect();
        let servers = push.plan.shards.iter().enumerate().map(|(shard, of)| {
            let status = ServerStatus {
                job: 1.into(),
                job_name: push.plan.job.clone(),
                plan_version: push.plan_version,
                shard: u16::try_from(shard).unwrap().into(),
                server: of.server.clone(),
                completed: 0,
                frame_bytes: 1068,
                counters: ServerCounters::default(),
                in_flight: 0,
                oldest: None,
                heard_seconds: Vec::new(),
                failure: None,
            };
            (0.0, status)
        });
        let hosts = Hosts { workers, servers: servers.collect(), all_asked: true, ..Hosts::default() };
        Lab { topology, ports, push, switches, hosts }
    }

    /// Clears the hits of `steer` entries for frames from a host.
    fn no_hits_from(&mut self, host: &str) {
        let at = self.ports.attachment(host).unwrap().to_owned();
        let port = self.ports.port(&at, host).unwrap();
        let view = self.switches.get_mut(&at).unwrap();
        let of_host = view.after.steer.iter_mut().filter(|(key, _)| key.ingress == port);
        of_host.for_each(|(_, (_, counts))| *counts = Counts::default());
    }

    /// Sets the frames that arrived on the port of a host.
    fn arrived_from(&mut self, host: &str, ours: i64, others: i64) {
        let at = self.ports.attachment(host).unwrap().to_owned();
        let port = self.ports.port(&at, host).unwrap();
        self.switches
            .get_mut(&at)
            .unwrap()
            .arrived
            .insert(port, Arrived { ours, others, others_bytes: 1500 * others });
    }

    fn dropped(&mut self, switch: &str, reason: Reason, frames: i64) {
        let view = self.switches.get_mut(switch).unwrap();
        view.after.drops[reason.index()].packets = frames;
    }

    fn forget(&mut self, host: &str) {
        self.hosts.workers.retain(|(_, status)| status.name != host);
    }

    fn examine(&self) -> JobFinding {
        let switches = self
            .switches
            .iter()
            .map(|(name, view)| (name.clone(), SwitchState::Ours(Box::new(view.clone()))));
        examine(&self.topology, &self.ports, 1.into(), &self.push, &switches.collect(), &self.hosts).unwrap()
    }

    /// Returns the text, and checks that only `blamed` hosts are blamed.
    fn report(&self, blamed: &[&str]) -> String {
        let found = self.examine();
        let missing = found.waiting.iter().flat_map(|waiting| &waiting.missing);
        let mut names: Vec<&str> = missing.map(|missing| &missing.worker[..]).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, blamed, "{found}");
        found.to_string()
    }
}

#[test]
fn swapped_cables_are_named_by_their_ports() {
    let mut lab = Lab::new();
    let port = |host: &str| lab.ports.port("v1", host).unwrap().get();
    let (one, two) = (port("w1"), port("w2"));
    // Frames arrive on both ports, and no entry there is for them.
    ["w1", "w2"].iter().for_each(|host| lab.no_hits_from(host));
    // Before the server has answered, workers send control frames only.
    lab.dropped("v1", Reason::UnauthorizedSender, 56);
    let said = lab.report(&["w1", "w2"]);
    for (planned, found) in [(one, two), (two, one)] {
        assert!(said.contains(&format!("arrives on port {planned} of v1, where w")), "{said}");
        assert!(said.contains(&format!("arrive on port {found} and are dropped (56 just now)")), "{said}");
    }
    assert!(!said.contains("down"), "{said}");
    // Then they send gradients, too.
    lab.dropped("v1", Reason::NoRoute, 4);
    assert!(lab.report(&["w1", "w2"]).contains("are dropped (60 just now)"));
}

#[test]
fn a_worker_that_never_started_is_not_reported_as_sending() {
    let mut lab = Lab::new();
    lab.no_hits_from("w3");
    lab.arrived_from("w3", 0, 0);
    lab.forget("w3");
    let said = lab.report(&["w3"]);
    assert!(said.contains("it has no status, and none of its frames arrives at v1"), "{said}");
    assert!(!said.contains("leave w3") && !said.contains("down"), "{said}");
    assert_eq!(lab.examine().unknown, ["rank 2 (w3)"]);

    // The program runs, and has not started the training.
    lab.hosts.beginning.insert("w3".to_owned());
    assert!(lab.report(&["w3"]).contains("its process runs but has not started"));
    assert!(lab.examine().unknown.is_empty());
}

/// One rank of a program without the hook: no chunk waits, and none ever will.
#[test]
fn a_rank_that_has_not_joined_is_named_while_no_chunk_waits() {
    let mut lab = Lab::new();
    for name in ["w1", "w3", "w4", "w5", "w6"] {
        lab.forget(name);
        lab.hosts.beginning.insert(name.to_owned());
    }
    lab.forget("w2");
    let found = lab.examine();
    assert_eq!(found.unknown, ["rank 1 (w2)"]);
    assert!(found.to_string().contains("no status of rank 1 (w2)"), "{found}");
    // A doctor that asked some hosts only cannot conclude about the others.
    lab.hosts.all_asked = false;
    assert!(lab.examine().unknown.is_empty());
}

#[test]
fn a_link_is_down_only_with_evidence() {
    let mut lab = Lab::new();
    lab.no_hits_from("w1");
    lab.arrived_from("w1", 0, 0);
    let nothing = lab.report(&["w1"]);
    assert!(nothing.contains("nothing shows whether the link w1-v1 is up"), "{nothing}");
    assert!(nothing.contains("has room for frames of 1068 bytes"), "{nothing}");

    lab.arrived_from("w1", 0, 12);
    let others = lab.report(&["w1"]);
    assert!(others.contains("the link w1-v1 is up, since 12 other frames arrived over it"), "{others}");
    assert!(others.contains("MTU at both ends") && others.contains("1068 bytes"), "{others}");

    lab.arrived_from("w1", 0, 0);
    lab.hosts.carriers.insert("w1".to_owned(), true);
    assert!(lab.report(&["w1"]).contains("the interface of w1 has a carrier, so the link is up"));
    lab.hosts.carriers.insert("w1".to_owned(), false);
    assert!(lab.report(&["w1"]).contains("has no carrier, so the link w1-v1 is down"));
}

/// Workers without an answering server send short frames, too.
#[test]
fn a_small_mtu_is_concluded_only_from_short_frames_that_arrive_without_others() {
    let mut lab = Lab::new();
    lab.no_hits_from("w1");
    let port = lab.ports.port("v1", "w1").unwrap();
    let small =
        format!("the MTU (port {} of v1), or of equipment between, is below 1054; raise it", port.get());
    lab.hosts.mtus.insert("w1".to_owned(), 1500);
    let mut arrived = |ours, others, others_bytes| {
        let view = lab.switches.get_mut("v1").unwrap();
        view.arrived.insert(port, Arrived { ours, others, others_bytes });
        lab.report(&["w1"])
    };
    let said = arrived(0, 2, 120);
    assert!(said.contains(&small) && said.contains("2 short frames (of 60 bytes on average)"), "{said}");
    assert!(said.contains("that of w1 is 1500"), "{said}");
    // One of them may have full length; INART frames arrive; nothing arrives.
    for (ours, others, bytes) in [(0, 10, 9 * 60 + 1068), (1, 2, 120), (0, 0, 0)] {
        let said = arrived(ours, others, bytes);
        assert!(!said.contains("is below") && said.contains("that of v1 is not known here"), "{said}");
    }
    lab.hosts.mtus.insert("w1".to_owned(), 600);
    let said = lab.report(&["w1"]);
    assert!(
        said.contains("the MTU of w1 is 600, and frames of 1068 bytes need 1054; set it there"),
        "{said}"
    );
}

/// Counters are older than the status of the hosts: the short frame is from before the worker's first one.
#[test]
fn hosts_that_have_just_started_lead_to_no_conclusion() {
    let mut lab = Lab::new();
    lab.no_hits_from("w1");
    lab.arrived_from("w1", 0, 1);
    lab.hosts.mtus = [("w1".to_owned(), 1500)].into();
    let short = Arrived { ours: 0, others: 1, others_bytes: 90 };
    let port = lab.ports.port("v1", "w1").unwrap();
    lab.switches.get_mut("v1").unwrap().arrived.insert(port, short);
    let said = lab.report(&["w1"]);
    assert!(said.contains("1 short frame (of 90 bytes) arrived over the link w1-v1"), "{said}");
    let started = |host: &str| (JobId::from(1), host.to_owned());
    lab.hosts.started = [started("w1")].into();
    let name = lab.push.plan.job.clone();
    let ask_again = |who: &str| {
        format!("job {name} round 0: {who} started to answer while the doctor watched; run it again")
    };
    assert_eq!(lab.report(&[]), ask_again("rank 0 (w1)"));
    // The status of a server's shard is as old.
    let server = lab.push.plan.shards[0].server.clone();
    lab.hosts.started = [started("w1"), started(&server)].into();
    assert_eq!(lab.report(&[]), ask_again(&format!("rank 0 (w1), server {server}")));
    // Other causes are still reported.
    lab.no_hits_from("w2");
    let said = lab.report(&["w2"]);
    assert!(said.contains("rank 0 (w1), server") && said.contains("of rank 1 (w2): "), "{said}");
}

/// A server of round-robin groups, or of a site: frames arrive, and the answer waits for other hosts.
#[test]
fn a_server_that_holds_back_a_sum_names_the_missing_worker() {
    let mut lab = Lab::new();
    lab.hosts.holding.insert((1.into(), 0), "waits for w5 (job b: it has not joined)".to_owned());
    let held = "shard 0 (s1): it holds back the complete sum: it waits for w5 (job b: it has not joined)";
    let heard = |lab: &mut Lab, seconds| {
        lab.hosts.servers[0].1.heard_seconds =
            vec![Some(0.2), Some(0.2), seconds, Some(0.2), Some(0.2), Some(0.2)];
        lab.examine().to_string()
    };
    let said = heard(&mut lab, Some(0.2));
    assert!(said.contains(held), "{said}");
    // The server does not receive all frames of its workers.
    for seconds in [None, Some(30.0)] {
        let said = heard(&mut lab, seconds);
        assert!(!said.contains("holds back"), "{said}");
    }
}

#[test]
fn arrivals_are_frames_between_two_reads() {
    let port = PortMap::new(&fig1()).unwrap().port("v1", "w1").unwrap();
    let traffic = |ours: i64, others: i64| {
        let counts = |packets| Counts { packets, bytes: 60 * packets };
        let of_port =
            PortTraffic { ours_in: counts(ours), others_in: counts(others), ..PortTraffic::default() };
        Traffic { ports: [(port, of_port)].into(), outcomes: Vec::new() }
    };
    let came = Arrived::between(&traffic(3, 10), &traffic(8, 11));
    assert_eq!(came, [(port, Arrived { ours: 5, others: 1, others_bytes: 60 })].into());
    assert!(Arrived::between(&Traffic::default(), &traffic(8, 11)).is_empty(), "it counts only since then");
}
