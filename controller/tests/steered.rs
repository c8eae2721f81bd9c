//! The daemon watches its network and migrates running jobs to other plans: on switches in memory whose
//! counters a thread advances, with hosts as threads that watch it over its API.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_controller::daemon::{Config, Steer};
use inart_controller::{PortMap, Records};
use inart_controller_api::{Following, HostReport, Reporting};
use inart_p4::Outcome;
use inart_planner_aggregation::{Options, Plan, PlanError, Problem, Promises, Scheme, plan, schemes};
use inart_steering::{Decision, ReplanThresholds};
use inart_targets::memory::InMemory;
use inart_targets::{Counts, Failpoint};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_wire::{JobId, ValuesPerFrame};
use support::daemon::{Daemon, INCARNATION, config};
use support::{LIMITS, job};
use tempfile::TempDir;

/// Two leaves and two spines: two paths between the workers and the server.
fn ways() -> Topology {
    let text = "{name: ways, nodes: [{name: l1, kind: switch, aggregation_capacity: 8 Gbps}, {name: l2, kind: switch, aggregation_capacity: 8 Gbps},
        {name: p1, kind: switch}, {name: p2, kind: switch}, {name: s, kind: server, ingress_capacity: 4 Gbps},
        {name: w1, kind: worker}, {name: w2, kind: worker}],
        links: [{ends: [w1, l1], rate: 4 Gbps}, {ends: [w2, l1], rate: 4 Gbps}, {ends: [s, l2], rate: 4 Gbps},
        {ends: [l1, p1], rate: 4 Gbps}, {ends: [l1, p2], rate: 4 Gbps}, {ends: [p1, l2], rate: 4 Gbps},
        {ends: [p2, l2], rate: 4 Gbps}]}";
    Topology::from_yaml(text).unwrap()
}

/// Returns the spine that a plan uses.
fn spine(plan: &Plan) -> &'static str {
    let paths = plan.flows.iter().map(|flow| &flow.path).chain(plan.trunks.iter().map(|trunk| &trunk.path));
    let used: BTreeSet<&str> = paths.flatten().map(|name| &**name).collect();
    ["p1", "p2"].into_iter().find(|spine| used.contains(spine)).unwrap()
}

/// Faults of the counters. Otherwise switches count ten frames of 1000 bytes per read in each direction of
/// every link.
#[derive(Default)]
struct CounterFaults {
    /// Links without arriving frames, by their ends.
    down: BTreeSet<(String, String)>,
    /// Additional background frames per read, by the switch and the neighbor that it sends them to.
    others: Vec<(String, String, i64)>,
    /// Switches whose occupied slots do not match arriving frames.
    misfits: BTreeSet<String>,
}

/// Daemon, its switches and their counters.
struct Session {
    daemon: Daemon,
    target: InMemory,
    faults: Arc<Mutex<CounterFaults>>,
    folder: TempDir,
    topology: Topology,
}

impl std::ops::Deref for Session {
    type Target = Daemon;

    fn deref(&self) -> &Daemon {
        &self.daemon
    }
}

impl Session {
    async fn start(thresholds: ReplanThresholds) -> Self {
        Self::on(ways(), thresholds).await
    }

    async fn on(topology: Topology, thresholds: ReplanThresholds) -> Self {
        Self::with(topology, thresholds, schemes::OPTIMIZED).await
    }

    async fn with(topology: Topology, thresholds: ReplanThresholds, scheme: &'static dyn Scheme) -> Self {
        let first = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
        let (target, folder) = (InMemory::new(ValuesPerFrame::N64, LIMITS), TempDir::new().unwrap());
        let every = Duration::from_millis(50);
        let config = Config {
            check_every: Duration::from_millis(50),
            change_within: Duration::from_secs(5),
            steer: Some(Steer { thresholds, every, plan_within: Duration::from_secs(1), scheme }),
            ..config(&target, folder.path(), topology.clone(), vec![job(1, &first)])
        };
        let faults = Arc::new(Mutex::new(CounterFaults::default()));
        let (counted, seen) = (target.clone(), Arc::downgrade(&faults));
        let (net, ports) = (topology.clone(), PortMap::new(&topology).unwrap());
        // Ends once the session is dropped, with its counter faults.
        std::thread::spawn(move || {
            while let Some(faults) = seen.upgrade() {
                count(&counted, (&net, &ports), &faults.lock().unwrap());
                drop(faults);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let daemon = Daemon::start(config, folder.path()).await;
        Session { daemon, target, faults, folder, topology }
    }

    fn faults(&self, change: impl FnOnce(&mut CounterFaults)) {
        change(&mut self.faults.lock().unwrap());
    }

    /// Waits for a decision that satisfies `wish`.
    async fn decision(&self, wish: impl Fn(&Decision) -> bool) -> Decision {
        for _ in 0..3000 {
            let all = self.api.list_decisions().await.unwrap();
            let all = all.iter().map(|decision| serde_json::from_str::<Decision>(&decision.json).unwrap());
            if let Some(found) = all.into_iter().find(&wish) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("timed out: {:?}", self.api.list_decisions().await);
    }

    /// Returns the active plan, from the records.
    fn active_plan(&self) -> Plan {
        let records = Records::open(self.folder.path(), self.topology.name()).unwrap();
        records.jobs.values().next().unwrap().live().unwrap().plan.clone()
    }

    async fn hosts(&self, roles: &[&str]) -> Vec<Following> {
        self.daemon.hosts("", roles).await
    }
}

/// Counts the frames of one read at all switches.
fn count(target: &InMemory, (topology, ports): (&Topology, &PortMap), faults: &CounterFaults) {
    let is_gone = |name: &str| {
        let switch = ports.is_switch(name).then(|| target.switch(name));
        switch.is_some_and(|switch| matches!(switch.failpoint, Failpoint::Gone(at) if switch.updates > at))
    };
    let add = |counts: &mut Counts, frames: i64| {
        counts.packets += frames;
        counts.bytes += 1000 * frames;
    };
    let ends = topology.links().iter().map(|link| link.ends.map(|end| topology.node(end).name.clone()));
    for (from, to) in ends.flat_map(|[a, b]| [(a.clone(), b.clone()), (b, a)]) {
        let others = faults.others.iter().filter(|(a, b, _)| (a, b) == (&from, &to)).map(|(.., n)| n).sum();
        let pair = [(from.clone(), to.clone()), (to.clone(), from.clone())];
        let comes = !pair.iter().any(|ends| faults.down.contains(ends));
        if let Some(port) = ports.port(&from, &to) {
            target.change(&from, |switch| {
                let port = switch.traffic.ports.entry(port).or_default();
                add(&mut port.ours_out, 10);
                add(&mut port.others_out, others);
            });
        }
        if let Some(port) = ports.port(&to, &from).filter(|_| comes && !is_gone(&from)) {
            target.change(&to, |switch| {
                let port = switch.traffic.ports.entry(port).or_default();
                add(&mut port.ours_in, 10);
                add(&mut port.others_in, others);
            });
        }
    }
    for switch in &faults.misfits {
        target.change(switch, |switch| {
            switch.traffic.outcomes.resize(Outcome::ALL.len(), Counts::default());
            add(&mut switch.traffic.outcomes[Outcome::Stale.index()], 20);
        });
    }
}

const ALL: [&str; 3] = ["worker-0", "worker-1", "server-0"];

fn is_done(decision: &Decision) -> bool {
    decision.outcome == Some(inart_steering::Outcome::Done)
}

#[tokio::test]
async fn a_failed_link_is_avoided_and_congestion_is_too() {
    let session = Session::start(ReplanThresholds::default()).await;
    let _hosts = session.hosts(&ALL).await;
    let before = session.active_plan();
    let used = spine(&before);
    session.faults(|faults| {
        let _ = faults.down.insert(("l1".to_owned(), used.to_owned()));
    });
    let change = session.decision(is_done).await;
    assert!(change.to_string().contains(&format!("link l1-{used} failed")), "{change}");
    let after = session.active_plan();
    assert_ne!(spine(&after), used);
    assert_eq!(after.shards, before.shards);
    let status = session.api.status().await.unwrap();
    assert_eq!(status.network.unwrap().failed, [format!("link l1-{used}")]);
    assert_eq!(status.changes.len(), 1);
    // Recovered; then background traffic takes the other path: 4375 frames of 1000 bytes per 10 ms are 3.5
    // Gbit/s.
    session.faults(|faults| faults.down.clear());
    session.until(|status| status.network.as_ref().unwrap().failed.is_empty()).await;
    let busy = spine(&session.active_plan());
    session.faults(|faults| faults.others.push(("l1".to_owned(), busy.to_owned(), 4375)));
    let change = session.decision(|decision| is_done(decision) && decision.number > change.number).await;
    assert!(change.to_string().contains(&format!("link l1->{busy}")), "{change}");
    assert!(change.gain.unwrap() > 1.1, "{change}");
    assert_ne!(spine(&session.active_plan()), busy);
    let status = session.api.status().await.unwrap();
    let background = status.network.unwrap().background;
    assert!(
        background.iter().any(|of| of.resource == format!("link l1->{busy}") && of.bps > 1e9),
        "{background:?}"
    );
}

#[tokio::test]
async fn a_failed_switch_is_avoided_and_gets_its_tables_when_it_recovers() {
    let session = Session::start(ReplanThresholds::default()).await;
    let _hosts = session.hosts(&ALL).await;
    let used = spine(&session.active_plan());
    session.target.change(used, |switch| switch.failpoint = Failpoint::Gone(0));
    let change = session.decision(is_done).await;
    assert!(change.to_string().contains(&format!("switch {used} failed")), "{change}");
    assert_ne!(spine(&session.active_plan()), used);
    // The switch still holds the tables of the previous plan version, as no other does.
    let plan_versions = |name: &str| session.target.switch(name).tables.plan_versions(JobId::from(1)).len();
    let held: Vec<usize> = ["l1", "l2", "p1", "p2"].map(plan_versions).to_vec();
    assert!(held.iter().sum::<usize>() > 0, "{held:?}");
    session.target.change(used, |switch| switch.failpoint = Failpoint::Never);
    for _ in 0..2000 {
        if plan_versions(used) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(plan_versions(used), 0, "its entries are removed, since the active plan does not use it");
}

#[tokio::test]
async fn a_switch_that_fails_during_a_change_undoes_it_and_gets_the_next_when_it_recovers() {
    let retry_after = Duration::from_millis(100);
    let session = Session::start(ReplanThresholds {
        retry_after,
        hold_down: retry_after,
        ..ReplanThresholds::default()
    })
    .await;
    let _hosts = session.hosts(&ALL).await;
    let before = session.active_plan();
    let used = spine(&before);
    let other = if used == "p1" { "p2" } else { "p1" };
    // The switch accepts the first update of the next write, and no more.
    session.target.change(other, |switch| switch.failpoint = Failpoint::Gone(switch.updates + 1));
    session.faults(|faults| faults.others.push(("l1".to_owned(), used.to_owned(), 4375)));
    let undone = session.decision(|decision| decision.outcome.is_some()).await;
    let line = undone.to_string();
    assert!(line.contains("change failed") && line.contains(&format!("switch {other}")), "{line}");
    assert_eq!(session.active_plan(), before, "training continues under the previous plan");
    session.target.change(other, |switch| switch.failpoint = Failpoint::Never);
    let change = session.decision(is_done).await;
    assert!(change.number > undone.number, "{change}");
    assert_eq!(spine(&session.active_plan()), other);
}

/// A fat-tree of 45 switches with as many hosts as a test can run.
#[tokio::test]
async fn a_failed_link_of_a_large_network_is_avoided() {
    let equipment = Equipment {
        servers: 4,
        workers: 10,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 100_000_000,
        seed: 1,
    };
    let session = Session::on(fat_tree(6, &equipment).unwrap(), ReplanThresholds::default()).await;
    let roles =
        (0..10).map(|rank| format!("worker-{rank}")).chain((0..4).map(|shard| format!("server-{shard}")));
    let mut hosts = Vec::new();
    for role in roles {
        hosts.extend(session.hosts(&[&role]).await);
    }
    let before = session.active_plan();
    let is_switch = |name: &str| {
        session
            .topology
            .node_named(name)
            .is_some_and(|id| session.topology.node(id).kind == inart_topologies::switched::NodeKind::Switch)
    };
    let paths =
        before.flows.iter().map(|flow| &flow.path).chain(before.trunks.iter().map(|trunk| &trunk.path));
    let mut hops = paths.flat_map(|path| path.windows(2));
    let hop = hops.find(|hop| hop.iter().all(|name| is_switch(name))).unwrap();
    let (a, b) = (hop[0].clone(), hop[1].clone());
    session.faults(|faults| {
        let _ = faults.down.insert((a.clone(), b.clone()));
    });
    let change = session.decision(is_done).await;
    eprintln!("{change}");
    let after = session.active_plan();
    assert_eq!(after.shards, before.shards);
    let paths = after.flows.iter().map(|flow| &flow.path).chain(after.trunks.iter().map(|trunk| &trunk.path));
    let crosses = |hop: &[String]| hop == [a.clone(), b.clone()] || hop == [b.clone(), a.clone()];
    assert!(!paths.flat_map(|path| path.windows(2)).any(crosses), "{a}-{b}");
}

#[tokio::test]
async fn a_switch_without_aggregation_only_forwards() {
    let session = Session::start(ReplanThresholds::default()).await;
    let _hosts = session.hosts(&ALL).await;
    let sums = |plan: &Plan| plan.trunks.iter().any(|trunk| trunk.aggregator == "l1");
    assert!(sums(&session.active_plan()));
    session.faults(|faults| {
        let _ = faults.misfits.insert("l1".to_owned());
    });
    let change = session.decision(is_done).await;
    assert!(change.to_string().contains("aggregation of switch l1 failed"), "{change}");
    assert!(!sums(&session.active_plan()));
}

/// The links of two hosts are silent for the same time; the process of one host has ended.
#[tokio::test]
async fn the_link_of_a_server_that_ended_has_not_failed() {
    let session = Session::start(ReplanThresholds::default()).await;
    let mut hosts = session.hosts(&ALL).await;
    drop(hosts.pop());
    session.faults(|faults| {
        faults.down.insert(("s".to_owned(), "l2".to_owned()));
        faults.down.insert(("w2".to_owned(), "l1".to_owned()));
    });
    let status = session.until(|status| !status.network.as_ref().unwrap().failed.is_empty()).await;
    assert_eq!(status.network.unwrap().failed, ["link w2-l1"]);
}

#[tokio::test]
async fn without_a_path_the_decision_names_the_job_and_the_failure() {
    let session = Session::start(ReplanThresholds::default()).await;
    let _hosts = session.hosts(&ALL).await;
    session.faults(|faults| {
        faults.down.insert(("l1".to_owned(), "p1".to_owned()));
        faults.down.insert(("p2".to_owned(), "l2".to_owned()));
    });
    let lost = session.decision(|decision| decision.to_string().contains("no plan")).await;
    let line = lost.to_string();
    assert!(line.contains("job ways") && line.contains("w1") && line.contains("failed"), "{line}");
}

/// Hosts of a new view connect one after the other: without a wait, the decision would fail.
#[tokio::test]
async fn the_change_waits_for_a_host_that_connects_a_little_later() {
    let session = Session::start(ReplanThresholds::default()).await;
    let _hosts = session.hosts(&["worker-0", "server-0"]).await;
    let used = spine(&session.active_plan());
    session.faults(|faults| {
        let _ = faults.down.insert(("l1".to_owned(), used.to_owned()));
    });
    // The change is decided on by then, unless the machine is busy; then the host is in time anyway.
    let late = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        session.hosts(&["worker-1"]).await
    };
    let ends = session.decision(|decision| decision.outcome.is_some());
    let (ended, _late) = futures::join!(ends, late);
    assert!(is_done(&ended), "{ended}");
}

#[tokio::test]
async fn a_host_without_an_acknowledgement_is_named_and_nothing_changes() {
    let session = Session::start(ReplanThresholds::default()).await;
    let _hosts = session.hosts(&["worker-0", "server-0"]).await;
    let before = session.active_plan();
    let used = spine(&before);
    session.faults(|faults| {
        let _ = faults.down.insert(("l1".to_owned(), used.to_owned()));
    });
    let decision = session.decision(|decision| decision.outcome.is_some()).await;
    let line = decision.to_string();
    assert!(
        line.ends_with("change failed: job ways: worker-1 has not acknowledged its instruction"),
        "{line}"
    );
    assert_eq!(session.active_plan(), before);
    assert!(session.api.status().await.unwrap().changes.is_empty());
}

#[tokio::test]
async fn a_dry_run_only_reports_decisions_and_commands_are_answered() {
    let session = Session::start(ReplanThresholds { dry_run: true, ..ReplanThresholds::default() }).await;
    let refused = session.api.replan(false).await.unwrap_err().to_string();
    assert!(refused.contains("no host watches this controller"), "{refused}");
    let _hosts = session.hosts(&ALL).await;
    let before = session.active_plan();
    let asked = loop {
        match session.api.replan(false).await {
            Ok(asked) => break asked,
            // The hosts are about to connect.
            Err(error) => assert!(error.to_string().contains("no host watches this controller"), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(
        asked.line.contains("requested") && asked.line.contains("the active plan is the best"),
        "{asked:?}"
    );
    let shares = session.api.replan(true).await.unwrap().line;
    assert!(
        shares.contains("routes only: its shares stay while it runs, since it is not elastic"),
        "{shares}"
    );
    let used = spine(&before);
    session.faults(|faults| {
        let _ = faults.down.insert(("l1".to_owned(), used.to_owned()));
    });
    let decision = session.decision(|decision| decision.to_string().contains("failed")).await;
    assert!(decision.to_string().ends_with("not changed: dry run: would change"), "{decision}");
    assert_eq!(session.active_plan(), before);
}

#[tokio::test]
async fn a_straggler_is_named() {
    let session = Session::start(ReplanThresholds::default()).await;
    let mut reporting: Vec<Reporting> = Vec::new();
    let mut hosts = Vec::new();
    for (role, started) in [("worker-0", 5), ("worker-1", 4), ("server-0", 0)] {
        hosts.extend(session.hosts(&[role]).await);
        if started > 0 {
            let report = HostReport {
                started,
                ended: 4,
                rate_bps: 1e9,
                planned_rate_bps: 1e9,
                ..HostReport::default()
            };
            let report =
                session.source("").report(JobId::from(1), role, INCARNATION(), move || Some(report)).unwrap();
            reporting.extend(report);
        }
    }
    let status =
        session.until(|status| status.network.as_ref().is_some_and(|seen| !seen.stragglers.is_empty())).await;
    let stragglers = status.network.unwrap().stragglers;
    assert_eq!(stragglers.len(), 1, "{stragglers:?}");
    assert_eq!(stragglers[0].host, "worker-1 of job ways");
    assert!(stragglers[0].why.starts_with("its program has not started tensor 4,"), "{stragglers:?}");
}

/// Plans as the default scheme does, but slowly.
struct Slow(AtomicUsize);

impl Scheme for Slow {
    fn name(&self) -> &'static str {
        schemes::OPTIMIZED.name()
    }

    fn summary(&self) -> &'static str {
        schemes::OPTIMIZED.summary()
    }

    fn promises(&self) -> Promises {
        schemes::OPTIMIZED.promises()
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(300));
        schemes::OPTIMIZED.plan(problem)
    }
}

/// No plans are made for clients that disconnect while others are answered.
#[tokio::test]
async fn no_plans_are_made_for_disconnected_clients() {
    const DISCONNECTED: usize = 40;
    static SLOW: Slow = Slow(AtomicUsize::new(0));
    let session =
        Session::with(ways(), ReplanThresholds { dry_run: true, ..ReplanThresholds::default() }, &SLOW).await;
    let _hosts = session.hosts(&ALL).await;
    while session.api.replan(false).await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let each = SLOW.0.swap(0, Ordering::Relaxed);
    let asking = |_| {
        let api = session.api.clone();
        tokio::spawn(async move { api.replan(false).await })
    };
    let gone: Vec<_> = (0..DISCONNECTED).map(asking).collect();
    // The requests have arrived: the first one is being answered.
    while SLOW.0.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    gone.iter().for_each(tokio::task::JoinHandle::abort);
    session.api.replan(false).await.unwrap();
    let plans = SLOW.0.load(Ordering::Relaxed);
    assert!(plans < DISCONNECTED / 2 * each, "{plans} plans, {each} for each client");
}

#[tokio::test]
async fn the_number_of_waiting_clients_is_limited() {
    static SLOW: Slow = Slow(AtomicUsize::new(0));
    let session =
        Session::with(ways(), ReplanThresholds { dry_run: true, ..ReplanThresholds::default() }, &SLOW).await;
    let _hosts = session.hosts(&ALL).await;
    while session.api.replan(false).await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let api = session.api.clone();
        asking.spawn(async move { api.replan(false).await });
    }
    let refused = loop {
        let answered = asking.join_next().await.expect("some are refused").unwrap();
        if let Err(error) = answered {
            break error.to_string();
        }
    };
    assert!(
        refused.contains("64 requests for a decision are waiting") && refused.contains("try again later"),
        "{refused}"
    );
}
