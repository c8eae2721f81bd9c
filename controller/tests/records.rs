//! Records that several processes use at the same time: no change is lost, and no role is granted twice.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::path::Path;

use futures::future::BoxFuture;
use inart_controller::{Claim, Controller, InstallError, PeersPush, RECORDS_FORMAT, Records, RecordsError};
use inart_planner_aggregation::{Options, Scheme, plan, schemes};
use inart_tables::{SwitchTables, Update};
use inart_targets::{Memory, Precedence, Running, Session, SwitchCounters, SwitchError};
use inart_topologies::switched::Topology;
use inart_wire::{Incarnation, JobId, PlanVersion, ValuesPerFrame};
use support::{LIMITS, controller, fig1, job, now};

const JOB: fn() -> JobId = || JobId::from(1);
const FIRST: fn() -> PlanVersion = || PlanVersion::from(1);

fn incarnation(number: u32) -> Incarnation {
    Incarnation::from(number)
}

fn planned(scheme: &dyn Scheme) -> inart_controller::JobPlan {
    let topology = fig1();
    job(1, &plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap())
}

/// Returns a controller that has installed a plan, with records in `folder`.
fn installed(folder: &Path) -> Controller<Memory> {
    let mut controller = controller(&fig1(), Records::open(folder, "fig1").unwrap());
    now(controller.install(&[planned(schemes::ATP)])).unwrap();
    controller
}

#[test]
fn one_of_many_concurrent_claims_is_granted_per_role() {
    let folder = tempfile::tempdir().unwrap();
    installed(folder.path());
    let roles = || (0..12).map(|rank| format!("worker-{rank}"));
    let threads: Vec<_> = (0..6)
        .map(|number| {
            let mut records = Records::open(folder.path(), "fig1").unwrap();
            std::thread::spawn(move || {
                let mut granted = |role: &String| {
                    records.claim(JOB(), FIRST(), role.clone(), incarnation(number + 1)).unwrap()
                        == Claim::Granted
                };
                roles().filter(&mut granted).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut granted: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    granted.sort();
    let mut all: Vec<_> = roles().collect();
    all.sort();
    assert_eq!(granted, all, "each once");
    let kept = Records::open(folder.path(), "fig1").unwrap();
    assert!(kept.jobs[&JOB()].claimed.roles().eq(&all));
}

/// The plan version changes while another process continues with earlier records.
#[test]
fn a_claim_counts_under_the_active_plan_version_in_every_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = installed(folder.path());
    let mut old = first.records().clone();
    assert_eq!(old.claim(JOB(), FIRST(), "worker-0".into(), incarnation(1)).unwrap(), Claim::Granted);
    now(first.install(&[planned(schemes::OPTIMIZED)])).unwrap();
    let second = PlanVersion::from(2);
    assert_eq!(
        old.claim(JOB(), FIRST(), "worker-1".into(), incarnation(1)).unwrap(),
        Claim::NotActive(Some(second))
    );
    assert_eq!(old.claim(JOB(), second, "worker-0".into(), incarnation(1)).unwrap(), Claim::Granted);
    assert_eq!(
        old.claim(JobId::from(7), FIRST(), "worker-0".into(), incarnation(1)).unwrap(),
        Claim::NotActive(None)
    );
    // Another installation of the same plan keeps the claims of its plan version.
    assert_eq!(now(first.install(&[planned(schemes::OPTIMIZED)])).unwrap().updates(), 0);
    assert_eq!(old.claim(JOB(), second, "worker-0".into(), incarnation(2)).unwrap(), Claim::Refused);
}

/// The answer was lost on its way, or with the controller.
#[test]
fn a_repeated_claim_is_granted_to_the_same_host_only() {
    let folder = tempfile::tempdir().unwrap();
    installed(folder.path());
    let open = || Records::open(folder.path(), "fig1").unwrap();
    let claim = |number| open().claim(JOB(), FIRST(), "worker-0".into(), incarnation(number)).unwrap();
    assert_eq!([7, 7, 8, 7, 0].map(claim), {
        use Claim::{Granted, Refused};
        [Granted, Granted, Refused, Granted, Refused]
    });
    // A host without an incarnation cannot be distinguished from others.
    let nameless = || open().claim(JOB(), FIRST(), "worker-1".into(), incarnation(0)).unwrap();
    assert_eq!([nameless(), nameless()], [Claim::Granted, Claim::Refused]);
}

#[test]
fn no_two_networks_share_their_records() {
    let folder = tempfile::tempdir().unwrap();
    let mut names =
        vec!["a/b", "a_b", "a\\b", "a%2Fb", "a%2fb", "a%", "a", "", "..", "../a", "a\0b", "ä/b", "%%"];
    for name in &names {
        let mut controller = controller(&fig1(), Records::open(folder.path(), name).unwrap());
        assert!(controller.records().jobs.is_empty(), "{name}");
        now(controller.install(&[planned(schemes::ATP)])).unwrap();
    }
    names.sort_unstable();
    assert_eq!(Records::networks(folder.path()), names);
    // Other files are not networks.
    for other in ["a%zz.json", "a%2.json", "a%2f.json", "a%41.json", "a%é.json", "notes.txt"] {
        std::fs::write(folder.path().join(other), "").unwrap();
    }
    assert_eq!(Records::networks(folder.path()), names);
}

/// Switch to which another controller writes between the read and the write.
struct Interfered {
    inner: Memory,
    other: Option<Box<dyn FnOnce() + Send>>,
}

impl Session for Interfered {
    fn precedence(&self) -> Option<Precedence> {
        self.inner.precedence()
    }
    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        self.inner.running()
    }
    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        self.inner.load_program()
    }
    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        let Interfered { inner, other } = self;
        Box::pin(async {
            let tables = inner.read().await;
            // In another thread, as futures cannot be run to their end within each other.
            other.take().into_iter().for_each(|other| std::thread::spawn(other).join().unwrap());
            tables
        })
    }
    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        self.inner.write(updates)
    }
    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        self.inner.counters()
    }
    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        self.inner.lost()
    }
}

#[test]
fn an_overtaken_installation_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = installed(folder.path());
    let path = folder.path().to_owned();
    let switches = first.switches().clone().into_iter().map(|(name, inner)| {
        let (path, inner_copy) = (path.clone(), inner.clone());
        let other = (name == "v1").then(|| {
            Box::new(move || {
                let switches = ["v1", "v2"].map(|name| (name.to_owned(), inner_copy.clone())).into();
                let records = Records::open(&path, "fig1").unwrap();
                let mut other =
                    Controller::new(fig1(), ValuesPerFrame::N64, LIMITS, switches, records).unwrap();
                now(other.install(&[planned(schemes::LBMM)])).unwrap();
            }) as Box<dyn FnOnce() + Send>
        });
        (name, Interfered { inner, other })
    });
    let records = Records::open(folder.path(), "fig1").unwrap();
    let mut slow = Controller::new(fig1(), ValuesPerFrame::N64, LIMITS, switches.collect(), records).unwrap();
    let error = now(slow.install(&[planned(schemes::OPTIMIZED)])).unwrap_err();
    assert!(matches!(error, InstallError::Records(RecordsError::Raced { .. })), "{error}");
    for (name, switch) in slow.switches() {
        assert_eq!(switch.inner.tables, first.switches()[name].tables, "{name}");
    }
    let live = Records::open(folder.path(), "fig1").unwrap();
    assert_eq!(live.jobs[&JOB()].live().unwrap().plan.scheme, "lbmm");
}

/// Older versions recorded no topology for all jobs, and only the roles of claims.
#[test]
fn records_of_older_versions_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = installed(folder.path());
    let file = folder.path().join("fig1.json");
    let mut old: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    old.as_object_mut().unwrap().retain(|key, _| key != "format" && key != "topology");
    old["jobs"]["1"]["claimed"] = serde_json::json!(["server-0", "worker-0"]);
    std::fs::write(&file, old.to_string()).unwrap();
    let read = Records::open(folder.path(), "fig1").unwrap();
    assert_eq!(read.newest_topology(), Some(fig1().to_yaml().as_str()), "there is only one");
    assert_eq!(now(first.install(&[planned(schemes::ATP)])).unwrap().updates(), 0);
    assert!(first.records().jobs[&JOB()].claimed.roles().eq(["server-0", "worker-0"]));
    let mut records = first.records().clone();
    assert_eq!(records.claim(JOB(), FIRST(), "worker-0".into(), incarnation(1)).unwrap(), Claim::Refused);
    assert_eq!(records.claim(JOB(), FIRST(), "worker-1".into(), incarnation(1)).unwrap(), Claim::Granted);
    assert_eq!(Records::open(folder.path(), "fig1").unwrap(), records);
}

#[test]
fn records_carry_their_format_and_those_of_newer_versions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = installed(folder.path());
    let file = folder.path().join("fig1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&format!("{{\"format\":{},\"switches\":", RECORDS_FORMAT.newest)), "{text}");
    for newer in ["{\"format\":3,", "{\"more\":[1],\"jobs\":7,\"format\":3,"] {
        std::fs::write(&file, text.replacen("{\"format\":2,", newer, 1)).unwrap();
        let named = format!(
            "records {}: format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or move \
             the file away to start without records",
            file.display()
        );
        assert_eq!(Records::open(folder.path(), "fig1").unwrap_err().to_string(), named);
        assert_eq!(first.records().clone().refresh().unwrap_err().to_string(), named);
        let before = std::fs::read_to_string(&file).unwrap();
        assert!(now(first.install(&[planned(schemes::LBMM)])).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "a newer file is not overwritten");
    }
}

/// Format 1 has no number, and documents of networks have old keys.
#[test]
fn documents_in_records_of_format_1_have_old_keys() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = installed(folder.path());
    let mut records = first.records().clone();
    let mesh = "{name: m, nodes: [{name: v1, kind: switch}, {name: p1, kind: peer}, {name: p2, kind: peer}], links: \
                [{ends: [p1, v1], rate: 1 Gbps}, \
                {ends: [p2, v1], rate: 1 Gbps}], jobs: [{name: copied, receivers: \
                1, update: {overrides: {p1: 8 B, p2: 16 B}}}]}";
    let push = PeersPush { mesh: mesh.into(), values: ValuesPerFrame::N256, removed: Default::default() };
    records.succeed_with_peers(0, fig1().to_yaml(), Vec::new(), Some(push)).unwrap();
    let file = folder.path().join("fig1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let old = text
        .replacen("\"format\":2,", "", 1)
        .replace("aggregation_capacity", "aggregation")
        .replace("ingress_capacity", "ingress")
        .replace("update: {overrides: {p1: 8 B, p2: 16 B}}", "updates: {p1: 8 B, p2: 16 B}");
    assert!(old.contains("updates: {") && old.contains("aggregation: ") && old.len() < text.len());
    std::fs::write(&file, &old).unwrap();
    let read = Records::open(folder.path(), "fig1").unwrap();
    let is_fig1 = |document: &str| Topology::from_yaml(document).unwrap().to_yaml() == fig1().to_yaml();
    assert!(is_fig1(read.newest_topology().unwrap()) && is_fig1(&read.jobs[&JOB()].live().unwrap().topology));
    assert_eq!(read.peers.live().unwrap().peers().unwrap().mesh.jobs()[0].update_bytes, [8.0, 16.0]);
    // The plan is installed already: the next push changes nothing on switches.
    let mut alone: serde_json::Value = serde_json::from_str(&old).unwrap();
    alone.as_object_mut().unwrap().remove("peers").unwrap();
    std::fs::write(&file, alone.to_string()).unwrap();
    assert_eq!(now(first.install(&[planned(schemes::ATP)])).unwrap().updates(), 0);
    first.records().clone().claim(JOB(), FIRST(), "worker-0".into(), incarnation(1)).unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("{\"format\":2,"));
}

/// What a process wrote when the machine stopped does not matter, and changes that cannot be written are
/// not made.
#[test]
fn a_change_that_is_not_written_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = installed(folder.path());
    let before = first.records().clone();
    let (mut records, half) = (before.clone(), folder.path().join("fig1.new"));
    std::fs::create_dir(&half).unwrap();
    let error = records.claim(JOB(), FIRST(), "worker-0".into(), incarnation(1)).unwrap_err().to_string();
    assert!(error.contains("fig1.json: cannot be written") && error.contains("another folder"), "{error}");
    let error = now(first.install(&[planned(schemes::LBMM)])).unwrap_err();
    assert!(matches!(error, InstallError::Records(RecordsError::File { .. })), "{error}");
    let error = now(first.remove(&[JOB()].into())).unwrap_err();
    assert!(matches!(error, InstallError::Undone { .. }), "{error}");
    assert_eq!((&records, first.records()), (&before, &before));
    assert_eq!(Records::open(folder.path(), "fig1").unwrap(), before);
    std::fs::remove_dir(&half).unwrap();
    std::fs::write(&half, "{").unwrap();
    assert_eq!(records.claim(JOB(), FIRST(), "worker-0".into(), incarnation(1)).unwrap(), Claim::Granted);
    assert_eq!(Records::networks(folder.path()), ["fig1"]);
}
