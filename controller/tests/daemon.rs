//! Daemon with embedded switches in this process: they are killed and return empty, entries vanish, and
//! other controllers take over.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeMap;
use std::future::pending;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use inart_controller::Records;
use inart_controller::api::{self, Listener, proto};
use inart_controller::daemon::{self, Config, DaemonError, ReconcileError, Reconciled, State, reconcile};
use inart_planner_aggregation::{Options, plan, schemes};
use inart_tables::SwitchTables;
use inart_targets::{Access, Memory, Precedence, Running};
use inart_tls::Security;
use inart_wire::{Incarnation, PlanVersion, ValuesPerFrame};
use support::embedded::{KillableServer, place, program};
use support::{LIMITS, fig1, job};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;

/// Returns an incarnation of a host.
fn incarnation(number: u32) -> Incarnation {
    Incarnation::from(number)
}

fn config(addresses: &BTreeMap<String, String>, precedence: u128, records: Records) -> Config {
    let topology = fig1();
    let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    Config {
        peers: None,
        topology,
        jobs: vec![job(1, &plan)],
        program: program(VALUES),
        switches: addresses.iter().map(|(name, address)| (name.clone(), place(address))).collect(),
        precedence: Precedence(precedence),
        records,
        replace_program: false,
        switches_within: Duration::from_secs(60),
        check_every: Duration::from_millis(50),
        change_within: Duration::from_secs(30),
        timing: Default::default(),
        steer: None,
        remove_departed: false,
        chance: daemon::by_chance(),
    }
}

/// Running daemon and a client of its API.
struct Session {
    daemon: JoinHandle<DaemonError>,
    api: api::Client,
}

impl Session {
    async fn start(config: Config) -> Self {
        let addresses = config.switches.iter().map(|(name, place)| (name.as_str(), place.address.as_str()));
        let state = Arc::new(State::new("fig1", addresses));
        let listener = Listener::bind("127.0.0.1:0", false).await.unwrap();
        let address = listener.address().unwrap();
        tokio::spawn(api::serve(listener, None, state.clone(), pending()));
        let daemon = tokio::task::spawn_local(async move { daemon::run(config, state).await.unwrap_err() });
        Session { daemon, api: api::Client::connect(&address, &Security::Local).await.unwrap() }
    }

    /// Waits until the status satisfies `wish`.
    async fn until(&self, wish: impl Fn(&proto::Status) -> bool) -> proto::Status {
        for _ in 0..3000 {
            let status = self.api.status().await.unwrap();
            if wish(&status) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("timed out: {:?}", self.api.status().await);
    }
}

/// Returns the state of switch v1.
fn v1(status: &proto::Status) -> &proto::SwitchStatus {
    status.switches.iter().find(|switch| switch.name == "v1").unwrap()
}

fn two_switches() -> (BTreeMap<String, String>, [KillableServer; 2]) {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let addresses = ["v1", "v2"].into_iter().zip(&listeners);
    let addresses = addresses.map(|(name, listener)| (name.to_owned(), address(listener))).collect();
    (addresses, listeners.map(KillableServer::start))
}

/// Listens on the address of a switch that has ended, as soon as it is free.
fn again(address: &str) -> TcpListener {
    for _ in 0..1000 {
        if let Ok(listener) = TcpListener::bind(address) {
            return listener;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{address} stays taken");
}

async fn tables(address: &str) -> SwitchTables {
    let program = program(VALUES);
    let mut reader = program.open(place(address), Access::Read).await.unwrap();
    assert_eq!(reader.running().await.unwrap(), Running::Ours);
    reader.read().await.unwrap()
}

#[tokio::test(flavor = "local")]
async fn a_switch_that_returns_empty_is_repaired() {
    let (addresses, [v1_process, _v2]) = two_switches();
    let running = Session::start(config(&addresses, 7, Records::default())).await;
    running.until(|status| status.installed).await;
    let before = tables(&addresses["v1"]).await;
    assert!(!before.steer.is_empty());

    drop(v1_process);
    let status = running.until(|status| !v1(status).connected).await;
    assert!(!v1(&status).problem.is_empty() && status.installed, "{status:?}");
    let _back = KillableServer::start(again(&addresses["v1"]));
    let status = running.until(|status| v1(status).connected).await;
    assert_eq!((v1(&status).sessions_lost, v1(&status).pipelines_set), (1, 1));
    assert_eq!(tables(&addresses["v1"]).await, before);
}

#[tokio::test(flavor = "local")]
async fn another_controller_takes_over_and_finds_nothing_to_change() {
    let (addresses, _switches) = two_switches();
    let folder = tempfile::TempDir::new().unwrap();
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let first = Session::start(config(&addresses, 7, records())).await;
    first.until(|status| status.installed).await;
    let before = tables(&addresses["v2"]).await;
    let assignment = first.api.assignment("").await.unwrap();
    first
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(1))
        .await
        .unwrap();

    // Even by a clock that went back: the precedence exceeds all that the switches have seen.
    let second = Session::start(config(&addresses, 3, records())).await;
    let status = second.until(|status| status.installed).await;
    assert!(matches!(first.daemon.await.unwrap(), DaemonError::Superseded { .. }));
    assert_eq!(v1(&status).updates_repaired, 0);
    assert_eq!(tables(&addresses["v2"]).await, before);
    assert_eq!(second.api.assignment("digits").await.unwrap(), assignment);
    let again = second
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(2))
        .await
        .unwrap_err()
        .to_string();
    assert!(again.contains("worker-0 has run under plan version 1 before"), "{again}");
    second
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-1", incarnation(1))
        .await
        .unwrap();
    // The answer was lost with the first controller.
    second
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(1))
        .await
        .unwrap();
    assert!(
        second
            .api
            .register_host(assignment.job, PlanVersion::from(9), "worker-2", incarnation(1))
            .await
            .is_err()
    );
    let unknown = second.api.assignment("vgg").await.unwrap_err().to_string();
    assert!(unknown.contains("no job \"vgg\"; name one of digits"), "{unknown}");
}

/// A controller reads the records, then takes time to plan and connect; meanwhile hosts register at the
/// controller that still runs.
#[tokio::test(flavor = "local")]
async fn claims_made_while_a_successor_starts_are_kept() {
    let (addresses, _switches) = two_switches();
    let folder = tempfile::TempDir::new().unwrap();
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let first = Session::start(config(&addresses, 7, records())).await;
    first.until(|status| status.installed).await;
    let assignment = first.api.assignment("").await.unwrap();
    let read_early = records();
    first
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(1))
        .await
        .unwrap();

    let second = Session::start(config(&addresses, 8, read_early)).await;
    second.until(|status| status.installed).await;
    assert_eq!(second.api.assignment("").await.unwrap(), assignment);
    let again = second
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(2))
        .await
        .unwrap_err()
        .to_string();
    assert!(again.contains("worker-0 has run under plan version 1 before"), "{again}");
}

/// A controller that lost its switches may continue to answer for a while: it grants nothing, and hosts ask
/// another one.
#[tokio::test(flavor = "local")]
async fn a_controller_that_lost_its_switches_grants_nothing() {
    let (addresses, _switches) = two_switches();
    let folder = tempfile::TempDir::new().unwrap();
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let first = Session::start(config(&addresses, 7, records())).await;
    first.until(|status| status.installed).await;
    let assignment = first.api.assignment("").await.unwrap();
    let second = Session::start(config(&addresses, 8, records())).await;
    second.until(|status| status.installed).await;
    assert!(matches!(first.daemon.await.unwrap(), DaemonError::Superseded { .. }));

    for error in [
        first
            .api
            .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(1))
            .await
            .unwrap_err(),
        first.api.assignment("").await.unwrap_err(),
    ] {
        assert!(matches!(error, api::ClientError::NotYet { .. }), "{error}");
        assert!(error.to_string().contains("another controller took over"), "{error}");
    }
    second
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(1))
        .await
        .unwrap();
}

/// Without records, earlier hosts are unknown: hosts get a new plan version, next to the one that others
/// may use.
#[tokio::test(flavor = "local")]
async fn a_controller_without_records_uses_a_plan_version_of_its_own() {
    let (addresses, _switches) = two_switches();
    let first = Session::start(config(&addresses, 7, Records::default())).await;
    first.until(|status| status.installed).await;
    let assignment = first.api.assignment("").await.unwrap();
    first
        .api
        .register_host(assignment.job, assignment.plan_version, "worker-0", incarnation(1))
        .await
        .unwrap();
    let second = Session::start(config(&addresses, 8, Records::default())).await;
    second.until(|status| status.installed).await;
    let other = second.api.assignment("").await.unwrap();
    assert_eq!((assignment.plan_version.get(), other.plan_version.get()), (1, 2));
    second.api.register_host(other.job, other.plan_version, "worker-0", incarnation(1)).await.unwrap();
    let held = tables(&addresses["v1"]).await.plan_versions(assignment.job);
    assert_eq!(held, [assignment.plan_version, other.plan_version].into());
}

#[tokio::test(flavor = "local")]
async fn a_claim_before_the_plans_are_installed_is_repeated() {
    let (mut addresses, _switches) = two_switches();
    let missing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    addresses.insert("v1".into(), missing);
    let running = Session::start(config(&addresses, 7, Records::default())).await;
    let error = running.api.register_host(1.into(), 1.into(), "worker-0", incarnation(1)).await.unwrap_err();
    assert!(matches!(error, api::ClientError::NotYet { .. }), "{error}");
}

/// A job that left the topology stays until its removal is allowed, and is then removed unless its hosts
/// run.
#[tokio::test(flavor = "local")]
async fn jobs_that_left_the_topology_are_removed_when_allowed() {
    let (addresses, _switches) = two_switches();
    let folder = tempfile::TempDir::new().unwrap();
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let jobs = "jobs:\n  - {name: letters, workers: [w1, w2], servers: [s1], gradient: 200 KB}\n";
    let two =
        inart_topologies::switched::Topology::from_yaml(&support::FIG1.replace("jobs:\n", jobs)).unwrap();
    let plans = two.jobs().iter().zip(1..);
    let plans =
        plans.map(|(found, number)| job(number, &plan(&two, found, &Options::new(schemes::ATP)).unwrap()));
    let both = Config { jobs: plans.collect(), topology: two.clone(), ..config(&addresses, 7, records()) };
    let first = Session::start(both).await;
    first.until(|status| status.installed).await;

    // Now the topology has digits alone, as job 1; job 2 is in no list.
    let second = Session::start(config(&addresses, 8, records())).await;
    second.until(|status| status.installed).await;
    assert_eq!(tables(&addresses["v1"]).await.jobs(), [1.into(), 2.into()].into());
    let removing = Config { remove_departed: true, ..config(&addresses, 9, records()) };
    let third = Session::start(removing).await;
    third.until(|status| status.installed).await;
    let left = tables(&addresses["v1"]).await;
    assert_eq!(left.jobs(), [1.into()].into());
    // The reconcilers want the current tables.
    let repaired = third.until(|status| v1(status).reconciled_ms_ago.is_some()).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(tables(&addresses["v1"]).await, left);
    assert_eq!(v1(&repaired).updates_repaired, 0);
}

#[tokio::test(flavor = "local")]
async fn the_daemon_waits_for_a_switch_that_is_not_started() {
    let (mut addresses, _switches) = two_switches();
    let missing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    addresses.insert("v1".into(), missing.clone());
    let running = Session::start(config(&addresses, 7, Records::default())).await;
    let is_missing = |status: &proto::Status| {
        status.switches.iter().all(|switch| switch.problem.is_empty() != (switch.name == "v1"))
            && v1(status).problem.contains("no P4Runtime server answers")
    };
    running.until(is_missing).await;
    let error = running.api.assignment("").await.unwrap_err();
    assert!(matches!(error, api::ClientError::NotYet { .. }), "{error}");
    assert!(error.to_string().contains("switch v1 is unreachable"), "{error}");
    let _missing = KillableServer::start(again(&missing));
    running.until(|status| status.installed).await;
}

/// A controller is restarted while a switch has failed for good: the others are still managed.
#[tokio::test(flavor = "local")]
async fn a_missing_switch_does_not_prevent_a_start() {
    let (addresses, [v1_process, v2_process]) = two_switches();
    let folder = tempfile::TempDir::new().unwrap();
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let first = Session::start(config(&addresses, 7, records())).await;
    first.until(|status| status.installed).await;
    let whole = [tables(&addresses["v1"]).await, tables(&addresses["v2"]).await];
    let given = first.api.assignment("").await.unwrap();
    first.daemon.abort();
    drop((v1_process, v2_process));

    let v1_process = KillableServer::start(again(&addresses["v1"]));
    let config = config(&addresses, 8, records());
    let second = Session::start(Config { switches_within: Duration::from_millis(50), ..config }).await;
    let status = second.until(|status| status.installed).await;
    let [v1_state, v2_state] = &status.switches[..] else { panic!("{status:?}") };
    assert!(v1_state.connected && !v2_state.connected, "{status:?}");
    assert!(v2_state.problem.contains("no P4Runtime server answers"), "{status:?}");
    assert_eq!(tables(&addresses["v1"]).await, whole[0]);
    assert_eq!(second.api.assignment("").await.unwrap(), given);
    second.api.register_host(given.job, given.plan_version, "worker-0", incarnation(1)).await.unwrap();

    // The reachable switch is repaired meanwhile,
    drop(v1_process);
    second.until(|status| !v1(status).connected).await;
    let _v1_process = KillableServer::start(again(&addresses["v1"]));
    second.until(|status| v1(status).connected).await;
    assert_eq!(tables(&addresses["v1"]).await, whole[0]);
    // and the other one once it returns.
    let _v2_process = KillableServer::start(again(&addresses["v2"]));
    second.until(|status| status.switches.iter().all(|switch| switch.connected)).await;
    assert_eq!(tables(&addresses["v2"]).await, whole[1]);
}

/// The controller that lost a switch does not take the next one that returns; the other controller does.
#[tokio::test(flavor = "local")]
async fn of_two_controllers_that_start_while_a_switch_is_missing_the_later_one_stays() {
    let (mut addresses, [v1_process, _]) = two_switches();
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    addresses.insert("v2".into(), away.clone());
    let short = |precedence| Config {
        switches_within: Duration::from_millis(50),
        ..config(&addresses, precedence, Records::default())
    };
    let first = Session::start(short(7)).await;
    first.until(|status| status.installed).await;
    let second = Session::start(short(9)).await;
    second.until(|status| status.installed).await;
    let _back = KillableServer::start(again(&away));
    second.until(|status| status.switches.iter().all(|switch| switch.connected)).await;
    let ended = first.daemon.await.unwrap();
    assert!(matches!(&ended, DaemonError::Superseded { switch, .. } if switch == "v1"), "{ended}");
    for address in addresses.values() {
        let seen = program(VALUES).greatest(place(address)).await.unwrap();
        assert_eq!(seen, Some(Precedence(9)), "of the second controller, which raised it nowhere");
    }
    drop(v1_process);
    assert!(!second.daemon.is_finished());
}

/// Copies bytes in one direction while `runs` is true.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut runs: watch::Receiver<bool>) {
    let mut data = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut data).await {
        if runs.wait_for(|runs| *runs).await.is_err() || to.write_all(&data[..length]).await.is_err() {
            return;
        }
    }
}

/// Returns the address of a proxy to a switch that forwards while `runs` is true; else it behaves like a
/// stopped process.
async fn stoppable(to: String, runs: watch::Receiver<bool>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = tokio::net::TcpStream::connect(&to).await.unwrap().into_split();
            let near = near.into_split();
            tokio::spawn(carry(near.0, far.1, runs.clone()));
            tokio::spawn(carry(far.0, near.1, runs.clone()));
        }
    });
    address
}

/// The session stays open, and calls time out after half a minute only.
#[tokio::test(flavor = "local")]
async fn a_switch_whose_process_is_stopped_is_reported_long_before_its_calls_fail() {
    let (mut addresses, _switches) = two_switches();
    let (runs, follows) = watch::channel(true);
    let way = stoppable(addresses["v1"].clone(), follows).await;
    addresses.insert("v1".to_owned(), way);
    let running = Session::start(config(&addresses, 7, Records::default())).await;
    running.until(|status| status.installed).await;
    runs.send(false).unwrap();
    let status = running.until(|status| !v1(status).problem.is_empty()).await;
    assert_eq!(v1(&status).problem, "it has not answered for 5s; is its process stopped?");
    runs.send(true).unwrap();
    running.until(|status| v1(status).problem.is_empty()).await;
}

#[tokio::test]
async fn vanished_entries_are_rewritten_and_foreign_ones_are_kept() {
    let (desired, mut switch) = installed();
    assert_eq!(
        reconcile(&mut switch, &desired, false).await.unwrap(),
        Reconciled { loaded: false, updates: 0 }
    );
    let key = *switch.tables.steer.keys().next().unwrap();
    switch.tables.steer.remove(&key);
    switch.tables.mac.clear();
    let done = reconcile(&mut switch, &desired, false).await.unwrap();
    assert_eq!((done.loaded, done.updates > 1), (false, true));
    assert_eq!(switch.tables, desired);

    let mut empty = Memory::new(LIMITS);
    assert!(reconcile(&mut empty, &desired, false).await.unwrap().loaded);
    assert_eq!(empty.tables, desired);
    switch.running = Running::Other;
    assert!(matches!(reconcile(&mut switch, &desired, false).await, Err(ReconcileError::OtherProgram)));
    assert!(reconcile(&mut switch, &desired, true).await.unwrap().loaded);
}

/// Returns what Fig. 1's v1 holds after an installation, and a switch that holds it.
fn installed() -> (SwitchTables, Memory) {
    let topology = fig1();
    let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    let mut controller = support::controller(&topology, Records::default());
    let report = support::now(controller.install(&[job(1, &plan)])).unwrap();
    (report.desired["v1"].clone(), controller.switches()["v1"].clone())
}

#[tokio::test]
async fn the_api_listens_on_the_loopback_unless_allowed() {
    let refused = Listener::bind("0.0.0.0:0", false).await.unwrap_err().to_string();
    assert!(refused.contains("allow plain connections"), "{refused}");
    Listener::bind("0.0.0.0:0", true).await.unwrap();
    let wrong = Listener::bind("localhost", false).await.unwrap_err().to_string();
    assert!(wrong.contains("write HOST:PORT"), "{wrong}");
    let folder = tempfile::TempDir::new().unwrap();
    let unix = format!("unix:{}/api.sock", folder.path().display());
    // A killed controller's socket does not block another one; a running controller's does.
    drop(Listener::bind(&unix, false).await.unwrap());
    let _live = Listener::bind(&unix, false).await.unwrap();
    assert!(Listener::bind(&unix, false).await.is_err());
    // Other files are never removed.
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "precious").unwrap();
    let error = Listener::bind(&format!("unix:{}", file.display()), false).await.unwrap_err().to_string();
    assert!(error.contains("there is a file and no socket"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}
