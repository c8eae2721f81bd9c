//! A job of peers and a job with a server on the same switches: one intent, and one set of records.
//! Embedded switches show the effect of the tables.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use inart_controller::api::proto::Status;
use inart_controller::daemon::Config;
use inart_controller::doctor::{PeersFinding, SwitchState, SwitchView, examine_peers};
use inart_controller::{Controller, InstallError, JobPlan, Names, Peers, PeersError, PortMap, Records};
use inart_planner_aggregation::{Options, plan, schemes};
use inart_tables::{Limits, SwitchTables};
use inart_targets::memory::InMemory;
use inart_targets::{Counts, Failpoint, Memory, Precedence, SwitchCounters};
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;
use inart_wire::{
    ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, Group, HeaderRepr, Kind, MacAddr, Rank,
    ShardId, ValuesPerFrame,
};

use crate::multicast::Net;
use crate::support::daemon::{self, Daemon};
use crate::support::{LIMITS, job, now};

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;
/// Number of the first job of peers.
pub const COPIED: u16 = 0x8000;

/// Two switches; w2 is a worker and a peer.
const NETWORK: &str = "
name: shared
nodes:
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: q1, kind: server}
  - {name: p1, kind: worker}
  - {name: p2, kind: worker}
  - {name: s, kind: switch, aggregation_capacity: 10 Gbps}
  - {name: t, kind: switch}
links:
  - {ends: [w1, s], rate: 1 Gbps}
  - {ends: [w2, s], rate: 1 Gbps}
  - {ends: [q1, s], rate: 1 Gbps}
  - {ends: [s, t], rate: 1 Gbps}
  - {ends: [p1, s], rate: 1 Gbps}
  - {ends: [p2, t], rate: 1 Gbps}
jobs:
  - {name: digits, workers: [w1, w2], servers: [q1], gradient: 1 MB}
";

/// Returns a network of these peers with jobs of all of them; p2 is at the far switch, the others at s.
fn mesh_of(peers: &[&str], jobs: &[&str], far: &str) -> Mesh {
    let nodes: String = peers.iter().map(|peer| format!(", {{name: {peer}, kind: peer}}")).collect();
    let home = |peer: &str| if peer == "p2" { far.to_owned() } else { "s".to_owned() };
    let link = |peer: &&str| format!("  - {{ends: [{peer}, {}], rate: 1 Gbps}}\n", home(peer));
    let links: String = peers.iter().map(link).collect();
    let jobs: String =
        jobs.iter().map(|job| format!("  - {{name: {job}, receivers: 1, update: 1 MB}}\n")).collect();
    Mesh::from_yaml(&format!(
        "name: m\nnodes: [{{name: s, kind: switch}}, {{name: {far}, kind: switch}}{nodes}]\nlinks:\n{links}  \
         - {{ends: [{far}, s], rate: 10 Gbps}}\njobs:\n{jobs}"
    ))
    .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a network of these peers with one job; p2 is at t.
pub fn mesh(peers: &[&str], name: &str) -> Mesh {
    mesh_of(peers, &[name], "t")
}

pub fn three() -> Mesh {
    mesh(&["p1", "p2", "w2"], "lstm")
}

pub fn topology() -> Topology {
    Topology::from_yaml(NETWORK).unwrap()
}

pub fn planned() -> JobPlan {
    let topology = topology();
    job(1, &plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap())
}

fn on(limits: Limits, records: Records) -> Controller<Memory> {
    let switches = crate::support::switches(&topology(), limits);
    Controller::new(topology(), VALUES, limits, switches, records).unwrap()
}

/// Returns a controller with both jobs, the one with a server first.
fn both() -> Controller<Memory> {
    let mut controller = on(LIMITS, Records::default());
    now(controller.install(&[planned()])).unwrap();
    controller.give_peers(three()).unwrap();
    now(controller.install(&[])).unwrap();
    controller
}

fn tables(controller: &mut Controller<Memory>) -> inart_controller::Network {
    controller.switches().iter().map(|(name, switch)| (name.clone(), switch.tables.clone())).collect()
}

fn net(controller: &mut Controller<Memory>) -> Net {
    Net::holding(PortMap::new(&topology()).unwrap(), &tables(controller))
}

fn frame(
    kind: Kind,
    (job, plan_version): (u16, u16),
    from: usize,
    to: Contributors,
    values: &[i32],
) -> Vec<u8> {
    let repr = FrameRepr {
        destination: MacAddr([2, 0, 0, 0, 0, 9]),
        source: MacAddr([2, 0, 0, 0, 0, 1]),
        values_per_frame: VALUES,
        header: HeaderRepr {
            kind,
            flags: Flags::NONE,
            plan_version: plan_version.into(),
            job: job.into(),
            shard: ShardId::from(0),
            worker: Rank::try_from(from).unwrap().bitmap_index(),
            sequence: ChunkSeq::from(0),
            contributors: to,
            exponent: Exponent::from(0),
            length: values.len() as u16,
            incarnation: 99.into(),
        },
    };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(values, &mut bytes).unwrap();
    bytes
}

/// Returns whether gradients of both workers arrive at the server as their sum.
fn sums(net: &mut Net, plan_version: u16) -> bool {
    let mut send = |rank: usize, values: &[i32]| {
        let own = Contributors { bitmap: 1 << rank, group: Group(0) };
        net.send(["w1", "w2"][rank], frame(Kind::Gradient, (1, plan_version), rank, own, values))
    };
    let (first, second) = (send(0, &[1, -2, 30]), send(1, &[10, 20, 300]));
    let [(host, sum)] = &second[..] else { return false };
    let sum = Frame::new_checked(&sum[..]).unwrap();
    first.is_empty()
        && (host.as_str(), sum.kind(), sum.contributors().bitmap) == ("q1", Kind::Partial, 0b11)
        && sum.values().take(3).eq([11, 18, 330])
}

/// Returns the receivers of the update of p1 (rank 0), for these ranks.
fn copies(net: &mut Net, bitmap: u64) -> BTreeSet<String> {
    let to = Contributors { bitmap, group: Group(0) };
    let arrived = net.send("p1", frame(Kind::Update, (COPIED, 1), 0, to, &[7]));
    arrived.into_iter().map(|(host, _)| host).collect()
}

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the destinations of frames to a peer's address, which messages to the peer use.
fn reaches(net: &mut Net, place: u8) -> BTreeSet<String> {
    let mut message = vec![2, 0x49, 0x4e, 0x50, 0, place];
    message.extend([2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    message.resize(64, 0);
    net.send("w1", message).into_iter().map(|(host, _)| host).collect()
}

#[test]
fn one_switch_sums_for_a_job_and_copies_for_another() {
    let mut controller = both();
    let mut net = net(&mut controller);
    assert!(sums(&mut net, 1));
    assert_eq!(copies(&mut net, 0b110), names(&["p2", "w2"]));
    assert_eq!(copies(&mut net, 0b010), names(&["p2"]));
    assert_eq!((reaches(&mut net, 1), reaches(&mut net, 2)), (names(&["p2"]), names(&["w2"])));
    let held = now(controller.held()).unwrap();
    let places: Vec<_> = held.iter().map(|job| (job.kind.to_string(), job.switches.clone())).collect();
    let both = [&["s"][..], &["s", "t"]].map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let [sums, copied]: [BTreeSet<String>; 2] = both;
    assert_eq!(places, [("aggregation".to_owned(), sums), ("peers".to_owned(), copied)]);
    let held: Vec<_> = held.iter().map(|job| (job.to_string(), job.in_topology, job.has_left())).collect();
    assert_eq!(held, [("1 (digits)".to_owned(), true, false), ("32768 (lstm)".to_owned(), true, false)]);
}

/// The doctor distinguishes jobs of peers with and without arriving frames.
#[test]
fn the_doctor_reports_whether_frames_of_peers_arrive() {
    let mut controller = both();
    let mut view = |name: &str, packets: i64| {
        let counts = Counts { packets, bytes: 100 * packets };
        let rows = tables(&mut controller).remove(name).unwrap().updates;
        let updates = rows.keys().map(|key| (*key, counts)).collect();
        let after = SwitchCounters { updates, ..SwitchCounters::default() };
        SwitchState::Ours(Box::new(SwitchView { after, ..SwitchView::default() }))
    };
    let still = [("s".to_owned(), view("s", 0)), ("t".to_owned(), view("t", 0))].into();
    let moving = [("s".to_owned(), view("s", 0)), ("t".to_owned(), view("t", 3))].into();
    let silent = [("s".to_owned(), SwitchState::Silent("gone".into()))].into();
    let says = |switches| {
        let found = examine_peers(&Peers::new(three()), &switches);
        found.iter().map(PeersFinding::to_string).collect::<Vec<_>>()
    };
    let still_words = "none of its frames arrived at s, t meanwhile: its peers compute, wait, or do not run";
    assert_eq!(says(still), [format!("job lstm (peers): {still_words}")]);
    assert_eq!(says(moving), ["job lstm (peers): making progress"]);
    assert_eq!(says(silent), ["job lstm (peers): no switch that answered holds its entries"]);
}

/// The switches end with the same entries in either order; and a repetition changes nothing.
#[test]
fn the_order_of_installations_does_not_matter() {
    let mut controller = on(LIMITS, Records::default());
    controller.give_peers(three()).unwrap();
    now(controller.install(&[])).unwrap();
    let report = now(controller.install(&[planned()])).unwrap();
    assert_eq!(report.peers, [(COPIED.into(), "lstm".to_owned())].into());
    assert_eq!(report.updates_of(COPIED.into()), 0, "the job of peers keeps its entries");
    assert!((1..=report.updates()).contains(&report.updates_of(1.into())));
    let mut net = net(&mut controller);
    assert!(sums(&mut net, 1));
    assert_eq!(copies(&mut net, 0b110), names(&["p2", "w2"]));
    assert_eq!(reaches(&mut net, 1), names(&["p2"]));
    assert_eq!(now(controller.preview(&[planned()])).unwrap().updates(), 0);
    controller.give_peers(three()).unwrap();
    assert_eq!(now(controller.install(&[])).unwrap().updates(), 0);
    assert!(controller.records().peers.before_last().is_none(), "the same push is not another one");
}

#[test]
fn either_job_is_removed_without_the_other() {
    let mut controller = both();
    let report = now(controller.remove(&[1.into()].into())).unwrap();
    assert!(report.updates() > 0);
    let mut left = net(&mut controller);
    assert!(!sums(&mut left, 1));
    assert_eq!(copies(&mut left, 0b110), names(&["p2", "w2"]));
    assert_eq!(reaches(&mut left, 1), names(&["p2"]));

    let mut controller = both();
    now(controller.remove(&[COPIED.into()].into())).unwrap();
    let mut left = net(&mut controller);
    assert!(sums(&mut left, 1));
    assert_eq!(copies(&mut left, 0b110), names(&[]));
    let mut alone = on(LIMITS, Records::default());
    now(alone.install(&[planned()])).unwrap();
    assert_eq!(tables(&mut controller), tables(&mut alone), "as if there had been no peers");
    assert!(controller.records().peers.is_empty());
    assert_eq!(now(controller.install(&[planned()])).unwrap().updates(), 0, "it is not installed again");
}

#[test]
fn a_rollback_of_peers_restores_the_previous_network() {
    let mut controller = both();
    let before = tables(&mut controller);
    controller.give_peers(mesh(&["p1", "p2"], "lstm")).unwrap();
    now(controller.install(&[])).unwrap();
    assert_eq!(copies(&mut net(&mut controller), 0b110), names(&["p2"]), "w2 is not a peer any more");
    now(controller.rollback(COPIED.into())).unwrap();
    assert_eq!(copies(&mut net(&mut controller), 0b110), names(&["p2", "w2"]));
    assert_eq!(tables(&mut controller), before);
    let error = now(controller.rollback(COPIED.into())).unwrap_err();
    assert!(matches!(error, InstallError::NoEarlierPush { .. }), "{error}");
    assert!(error.to_string().starts_with("job lstm:"), "{error}");
    // The other job has its own history.
    let error = now(controller.rollback(1.into())).unwrap_err();
    assert!(matches!(error, InstallError::NoEarlierPush { .. }), "{error}");
}

/// A failed installation leaves everything as it was, whichever update fails.
#[test]
fn a_push_of_peers_that_fails_changes_nothing() {
    let mut clean = on(LIMITS, Records::default());
    now(clean.install(&[planned()])).unwrap();
    let (before, recorded) = (tables(&mut clean), clean.records().clone());
    clean.give_peers(three()).unwrap();
    let report = now(clean.preview(&[])).unwrap();
    for (name, change) in &report.switches {
        assert!(change.updates.len() > 5, "{name}");
        for at in 0..change.updates.len() {
            let mut controller = on(LIMITS, Records::default());
            now(controller.install(&[planned()])).unwrap();
            let switch = controller.switches().get_mut(name).unwrap();
            switch.failpoint = Failpoint::Refuse(switch.updates + at);
            controller.give_peers(three()).unwrap();
            let error = now(controller.install(&[])).unwrap_err();
            assert!(matches!(error, InstallError::Undone { .. }), "{error}");
            assert_eq!(
                (tables(&mut controller), controller.records()),
                (before.clone(), &recorded),
                "{name} {at}"
            );
        }
    }
}

/// The switches show what is installed: without records, an installation keeps the peers' routes.
#[test]
fn a_push_without_records_leaves_the_job_of_peers() {
    let mut controller = both();
    let switches = controller.switches().clone();
    let mut newer = Controller::new(topology(), VALUES, LIMITS, switches, Records::default()).unwrap();
    now(newer.install(&[planned()])).unwrap();
    let mut net = net(&mut newer);
    assert!(sums(&mut net, 1));
    assert_eq!(copies(&mut net, 0b110), names(&["p2", "w2"]));
    assert_eq!(reaches(&mut net, 1), names(&["p2"]));
}

#[test]
fn networks_of_peers_that_do_not_fit_are_refused_by_name() {
    let refused = |mesh: Mesh| on(LIMITS, Records::default()).give_peers(mesh).unwrap_err().to_string();
    assert_eq!(
        refused(mesh(&["p1", "p9"], "lstm")),
        "network of peers m: topology shared has no host p9 at switch s; add a worker of that name with a link to s"
    );
    assert_eq!(
        refused(mesh_of(&["p1", "p2"], &["lstm"], "u")),
        "network of peers m: topology shared has no switch u; give the switches the topology's names"
    );
    let mut controller = both();
    let mut refused = |mesh: Mesh| {
        controller.give_peers(mesh).unwrap();
        let error = now(controller.install(&[])).unwrap_err();
        assert!(matches!(error, InstallError::Peers(PeersError::JobMissing { .. })), "{error}");
        error.to_string()
    };
    let fix = "remove it, if it is done, with";
    assert_eq!(
        refused(mesh(&["p1", "p2"], "other")),
        format!(
            "network of peers m has no job lstm at position 1, where the switches hold it: write the job there, or {fix} \
             `inart remove lstm TOPOLOGY`"
        )
    );
    controller.give_peers(mesh_of(&["p1", "p2", "w2"], &["lstm", "second"], "t")).unwrap();
    now(controller.install(&[])).unwrap();
    let mut refused = |mesh: Mesh| {
        controller.give_peers(mesh).unwrap();
        now(controller.install(&[])).unwrap_err().to_string()
    };
    assert!(refused(three()).contains("has no job second at position 2"));
    // The same job at another position has another number.
    assert!(refused(mesh(&["p1", "p2", "w2"], "second")).contains("has no job lstm at position 1"));
}

/// A name identifies one job, since commands use names.
#[test]
fn jobs_of_both_kinds_with_one_name_are_refused() {
    let mut controller = on(LIMITS, Records::default());
    let error = controller.give_peers(mesh(&["p1", "p2"], "digits")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "network of peers m: topology shared has a job digits, too; rename one of the two"
    );
    assert_eq!(
        now(controller.install(&[planned()])).unwrap().peers,
        Default::default(),
        "the refused network is not kept"
    );
}

/// A topology without a peer of a job refuses installations with the peer's name, and the job can still be
/// removed.
#[test]
fn a_job_of_peers_is_removed_from_a_topology_without_its_hosts() {
    let mut controller = both();
    let less = NETWORK
        .replace("  - {name: p2, kind: worker}\n", "")
        .replace("  - {ends: [p2, t], rate: 1 Gbps}\n", "");
    let less = Topology::from_yaml(&less).unwrap();
    let (switches, records) = (controller.switches().clone(), controller.records().clone());
    let mut today = Controller::new(less, VALUES, LIMITS, switches, records).unwrap();
    let error = now(today.install(&[planned()])).unwrap_err().to_string();
    assert!(error.contains("has no host p2 at switch t"), "{error}");
    assert_eq!(tables(&mut today), tables(&mut controller));
    now(today.remove(&[COPIED.into()].into())).unwrap();
    assert!(tables(&mut today).values().all(|tables| tables.updates.is_empty()));
    now(today.install(&[planned()])).unwrap();
}

/// The switches of a network of peers alone are those of its own document.
#[test]
fn a_rollback_to_other_switches_is_refused_by_their_names() {
    let one = |peers: &[&str], switches: &str, links: &str| {
        let nodes: String = peers.iter().map(|peer| format!(", {{name: {peer}, kind: peer}}")).collect();
        Mesh::from_yaml(&format!(
            "{{name: m, nodes: [{switches}{nodes}], links: [{links}], jobs: [{{name: lstm, receivers: 1, update: 8 B}}]}}"
        ))
        .unwrap()
    };
    let small = one(
        &["p1", "w2"],
        "{name: s, kind: switch}",
        "{ends: [p1, s], rate: 1 Gbps}, {ends: [w2, s], rate: 1 Gbps}",
    );
    let alone = |mesh: &Mesh, records| {
        let topology = mesh.as_topology().unwrap();
        let switches = crate::support::switches(&topology, LIMITS);
        Controller::new(topology, VALUES, LIMITS, switches, records).unwrap()
    };
    let mut first = alone(&small, Records::default());
    first.give_peers(small.clone()).unwrap();
    now(first.install(&[])).unwrap();
    let mut second = alone(&three(), first.records().clone());
    second.give_peers(three()).unwrap();
    now(second.install(&[])).unwrap();
    let before = tables(&mut second);
    let error = now(second.rollback(COPIED.into())).unwrap_err().to_string();
    assert_eq!(
        error,
        "network of peers m has the switches s, and not s, t; give the document of today's switches"
    );
    assert_eq!(tables(&mut second), before);
}

/// A network of peers alone does not have the hosts of other jobs.
#[test]
fn a_network_of_peers_alone_is_refused_where_switches_sum() {
    let mut controller = on(LIMITS, Records::default());
    now(controller.install(&[planned()])).unwrap();
    let switches = controller.switches().clone();
    let alone = three().as_topology().unwrap();
    let mut alone = Controller::new(alone, VALUES, LIMITS, switches.clone(), Records::default()).unwrap();
    alone.give_peers(three()).unwrap();
    let error = now(alone.install(&[])).unwrap_err().to_string();
    assert_eq!(
        error,
        "switch s sums gradients for 1 job, and shared entries follow from their topology: apply the network of \
         peers on it, `inart apply PEERS TOPOLOGY`"
    );
    assert_eq!(tables(&mut alone), tables(&mut controller));
}

/// On switches with one program for sums and another one for copies.
#[test]
fn where_sums_and_copies_are_two_programs_both_at_once_are_refused_by_name() {
    let sums = Limits { updates: 0, receivers: 0, ..LIMITS };
    let copies = Limits { steer: 0, results: 0, slots: 0, ..LIMITS };
    let named = "job digits is summed and job lstm copied, and on these switches that takes two programs";
    let mut summing = on(sums, Records::default());
    now(summing.install(&[planned()])).unwrap();
    let before = tables(&mut summing);
    let records = summing.records().clone();
    let mut copying = on(copies, records);
    copying.give_peers(three()).unwrap();
    copying.replace_program(true);
    let error = now(copying.install(&[])).unwrap_err();
    assert!(error.to_string().starts_with(named), "{error}");
    assert!(tables(&mut copying).values().all(SwitchTables::is_empty));
    summing.give_peers(three()).unwrap();
    let error = now(summing.install(&[])).unwrap_err();
    assert!(error.to_string().starts_with(named), "{error}");
    assert_eq!(tables(&mut summing), before);
    // The other way round.
    let mut copying = on(copies, Records::default());
    copying.give_peers(three()).unwrap();
    now(copying.install(&[])).unwrap();
    let mut summing = on(sums, copying.records().clone());
    let error = now(summing.install(&[planned()])).unwrap_err();
    assert!(error.to_string().starts_with(named), "{error}");
    assert!(error.to_string().contains("`inart remove lstm TOPOLOGY`"), "{error}");
}

#[test]
fn updates_are_described_by_the_names_of_peers() {
    let mut controller = on(LIMITS, Records::default());
    controller.give_peers(three()).unwrap();
    let report = now(controller.preview(&[])).unwrap();
    let lines: Vec<_> = report.switches["s"]
        .updates
        .iter()
        .map(|update| controller.names(&[]).describe("s", update))
        .collect();
    for line in [
        "+ updates lstm plan version 1: of p1 for block 0, from p1 (port 5): copy to group 2",
        "+ receivers lstm plan version 1: p2 behind t (port 4)",
        "+ mac p2: send to t (port 4)",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line}: {lines:#?}");
    }
    let plain = Names::new(controller.topology(), controller.ports(), &[]);
    let unknown = report.switches["s"].updates.iter().map(|update| plain.describe("s", update));
    assert!(
        unknown.filter(|line| line.contains("updates job 32768 plan version 1: of peer 0 for")).count() > 0
    );
}

/// The daemon keeps both jobs: lost entries of a switch are rewritten, and the next daemon gets the network
/// of peers from the records.
#[tokio::test]
async fn the_daemon_keeps_a_job_of_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    let target = InMemory::new(ValuesPerFrame::N64, LIMITS);
    let config = |peers, precedence| Config {
        peers,
        precedence: Precedence(precedence),
        ..daemon::config(&target, folder.path(), topology(), vec![planned()])
    };
    let mut model = on(LIMITS, Records::default());
    model.give_peers(three()).unwrap();
    now(model.install(&[planned()])).unwrap();
    let wanted = tables(&mut model);
    let in_order = |status: &Status| {
        let is_so = |(name, tables): (&String, &SwitchTables)| target.switch(name).tables == *tables;
        status.installed && wanted.iter().all(is_so)
    };
    let forget = || target.change("s", |switch| switch.tables = SwitchTables::default());
    for (peers, precedence) in [(Some(three()), 1), (None, 2)] {
        let daemon = Daemon::start(config(peers, precedence), folder.path()).await;
        let status = daemon.until(in_order).await;
        // As in the two documents above: q1 is at s, and so are p1 and w2, while p2 is at t.
        let listed =
            status.jobs.iter().map(|job| (&*job.name, &*job.kind, job.job, job.plan_version, job.peers));
        let listed: Vec<_> = listed.collect();
        assert_eq!(listed, [("digits", "aggregation", 1, 1, 0), ("lstm", "peers", 32768, 1, 3)]);
        let switches: Vec<_> = status.jobs.iter().map(|job| job.switches.join(" ")).collect();
        assert_eq!(switches, ["s", "s t"]);
        let refused = daemon.api.delete_job("lstm", false).await.unwrap_err().to_string();
        assert!(refused.contains("job lstm is a job of peers"), "{refused}");
        let same_name =
            NETWORK.to_owned() + "  - {name: lstm, workers: [w1, w2], servers: [q1], gradient: 1 MB}\n";
        let number = daemon.api.create_job(same_name, "lstm", None).await.unwrap();
        let ended = daemon.end_of(number).await;
        assert!(ended.problem.contains("topology shared has a job lstm, too"), "{ended:?}");
        forget();
        daemon.until(in_order).await;
        daemon.kill();
    }
}

/// Daemon of a network of peers alone.
#[tokio::test]
async fn the_daemon_keeps_a_network_of_peers_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = InMemory::new(ValuesPerFrame::N64, LIMITS);
    let alone = three().as_topology().unwrap();
    let config = Config { peers: Some(three()), ..daemon::config(&target, folder.path(), alone, Vec::new()) };
    let daemon = Daemon::start(config, folder.path()).await;
    let copies = |_: &Status| ["s", "t"].iter().all(|name| !target.switch(name).tables.updates.is_empty());
    daemon.until(copies).await;
    target.change("t", |switch| switch.tables = SwitchTables::default());
    daemon.until(copies).await;
    daemon.kill();
}
