//! Real P4Runtime servers: the tables in memory are the model, and every step must leave the switches with
//! the same tables.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::{peers_beside, support};

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use inart_controller::{Controller, InstallError, JobPlan, Records};
use inart_p4::{Outcome, Reason};
use inart_planner_aggregation::{Options, Scheme, plan, schemes};
use inart_targets::{Access, Endpoint, Memory, Precedence, Program, Running, Session, SwitchError};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, ValuesPerFrame};
use support::embedded::{embedded, place, program};
use support::{fig1, job, now};

/// `simple_switch_grpc` without interfaces; stopped when dropped.
struct Bmv2 {
    process: Child,
    address: String,
}

impl Drop for Bmv2 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const BMV2: &str = "simple_switch_grpc";

/// Starts bmv2; prints a line and returns `None` if bmv2 is not on the PATH.
fn bmv2() -> Option<Bmv2> {
    if Command::new(BMV2).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        eprintln!("skipped: {BMV2} is not on the PATH");
        return None;
    }
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (address, frames) = (free().to_string(), free().to_string());
    // A bmv2 with a Thrift server ends if its port is in use, 9090 by default.
    let thrift = free().port().to_string();
    let process = Command::new(BMV2)
        .args(["--no-p4", "--device-id", "1", "--log-level", "off", "--thrift-port", &thrift, "--"])
        .args(["--grpc-server-addr", &address, "--dp-grpc-server-addr", &frames])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Some(Bmv2 { process, address })
}

/// Connects once the server listens.
async fn connect(
    address: &str,
    precedence: u128,
    program: &dyn Program,
) -> Result<Box<dyn Session>, SwitchError> {
    let mut attempts = 0;
    loop {
        let place = Endpoint { timeout: Duration::from_secs(2), ..place(address) };
        match program.open(place, Access::Write(Precedence(precedence))).await {
            Err(SwitchError::Unreachable(_)) if attempts < 200 => attempts += 1,
            result => return result,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn controller(
    topology: &Topology,
    addresses: &BTreeMap<&str, String>,
    values: ValuesPerFrame,
    election: u128,
    records: Records,
) -> Controller<Box<dyn Session>> {
    let program = program(values);
    let mut switches = BTreeMap::new();
    for (name, address) in addresses {
        switches.insert((*name).to_owned(), connect(address, election, &*program).await.unwrap());
    }
    Controller::new(topology.clone(), values, program.limits(), switches, records).unwrap()
}

fn planned(topology: &Topology, scheme: &dyn Scheme) -> JobPlan {
    job(1, &plan(topology, &topology.jobs()[0], &Options::new(scheme)).unwrap())
}

/// Runs the steps of a user.
async fn story(addresses: BTreeMap<&str, String>) {
    let topology = fig1();
    let values = ValuesPerFrame::N64;
    let mut real = controller(&topology, &addresses, values, 1, Records::default()).await;
    let mut model = support::controller(&topology, Records::default());
    let [a, b] = [schemes::OPTIMIZED, schemes::ATP].map(|scheme| planned(&topology, scheme));
    let two = JobPlan { job: JobId::from(2), ..a.clone() };
    let steps = [vec![a.clone()], vec![a.clone()], vec![b.clone()], vec![a.clone(), two], vec![b.clone()]];
    for (index, step) in steps.iter().enumerate() {
        let preview = real.preview(step).await.unwrap();
        let report = real.install(step).await.unwrap();
        assert_eq!(report, preview);
        assert_eq!(report, now(model.install(step)).unwrap(), "step {index}");
        assert_eq!(report.updates() == 0, index == 1);
        same_tables(&mut real, &mut model).await;
    }
    let report = real.rollback(JobId::from(1)).await.unwrap();
    assert_eq!(report, now(model.rollback(JobId::from(1))).unwrap());
    same_tables(&mut real, &mut model).await;

    for counters in real.counters().await.unwrap().into_values() {
        assert_eq!((counters.summed(), counters.offered(JobId::from(1))), (0, 0));
        assert_eq!(
            counters.drops(Reason::NoRoute).packets + counters.outcome(Outcome::SlotClaimed).packets,
            0
        );
        assert!(!counters.steer.is_empty());
    }

    // Another controller is primary now: nothing is written.
    let records = real.records().clone();
    let mut other = controller(&topology, &addresses, ValuesPerFrame::N32, 2, records.clone()).await;
    let error = real.install(&[b]).await.unwrap_err();
    assert!(error.to_string().contains("primary"), "{error}");
    let program = program(values);
    let error = connect(&addresses["v1"], 1, &*program).await.err().unwrap();
    // The precedence is in use.
    assert!(matches!(error, SwitchError::Refused(_)), "{error}");

    // Another program is replaced only if that is allowed, which removes its tables.
    let error = other.install(std::slice::from_ref(&a)).await.unwrap_err();
    assert!(matches!(error, InstallError::OtherProgram { .. }), "{error}");
    other.replace_program(true);
    let report = other.install(std::slice::from_ref(&a)).await.unwrap();
    assert!(report.switches.values().all(|change| change.running == Running::Other && change.unchanged == 0));
    assert_eq!(other.install(std::slice::from_ref(&a)).await.unwrap().updates(), 0);
}

/// Runs a job with a server and a job of peers on the same switches, step by step.
async fn story_of_both(addresses: BTreeMap<&str, String>) {
    let (topology, planned) = (peers_beside::topology(), peers_beside::planned());
    let mut real = controller(&topology, &addresses, ValuesPerFrame::N64, 1, Records::default()).await;
    let mut model = support::controller(&topology, Records::default());
    let small = || peers_beside::mesh(&["p1", "p2"], "lstm");
    for (mesh, jobs) in [
        (None, vec![planned.clone()]),
        (Some(peers_beside::three()), Vec::new()),
        (None, vec![planned.clone()]),
        (Some(small()), Vec::new()),
    ] {
        if let Some(mesh) = mesh {
            real.give_peers(mesh.clone()).unwrap();
            model.give_peers(mesh).unwrap();
        }
        let report = real.install(&jobs).await.unwrap();
        assert_eq!(report, now(model.install(&jobs)).unwrap());
        same_tables(&mut real, &mut model).await;
    }
    let copied = JobId::from(peers_beside::COPIED);
    assert_eq!(real.rollback(copied).await.unwrap(), now(model.rollback(copied)).unwrap());
    same_tables(&mut real, &mut model).await;
    for counters in real.counters().await.unwrap().into_values() {
        assert!(counters.updates.keys().all(|key| key.job == copied) && !counters.updates.is_empty());
    }
    for job in [JobId::from(1), copied] {
        assert!(real.remove(&[job].into()).await.unwrap().updates() > 0);
        now(model.remove(&[job].into())).unwrap();
        same_tables(&mut real, &mut model).await;
    }
}

async fn same_tables(real: &mut Controller<Box<dyn Session>>, model: &mut Controller<Memory>) {
    for (name, switch) in real.switches() {
        assert_eq!(switch.read().await.unwrap(), model.switches()[name].tables, "{name}");
    }
}

#[tokio::test]
async fn the_embedded_switch_holds_what_the_model_holds() {
    story([("v1", embedded().await.address), ("v2", embedded().await.address)].into()).await;
}

#[tokio::test]
async fn bmv2_holds_what_the_model_holds() {
    let (Some(v1), Some(v2)) = (bmv2(), bmv2()) else { return };
    story([("v1", v1.address.clone()), ("v2", v2.address.clone())].into()).await;
}

#[tokio::test]
async fn the_embedded_switch_holds_jobs_of_both_kinds_as_the_model_does() {
    story_of_both([("s", embedded().await.address), ("t", embedded().await.address)].into()).await;
}

#[tokio::test]
async fn bmv2_holds_jobs_of_both_kinds_as_the_model_does() {
    let (Some(s), Some(t)) = (bmv2(), bmv2()) else { return };
    story_of_both([("s", s.address.clone()), ("t", t.address.clone())].into()).await;
}

/// A switch that fails between two installations: the second one fails in one line, and the other switch
/// keeps its tables.
#[tokio::test]
async fn a_dead_switch_fails_the_push_and_harms_nothing() {
    let (Some(v1), Some(v2)) = (bmv2(), bmv2()) else { return };
    let topology = fig1();
    let addresses = [("v1", v1.address.clone()), ("v2", v2.address.clone())].into();
    let mut real = controller(&topology, &addresses, ValuesPerFrame::N32, 1, Records::default()).await;
    real.install(&[planned(&topology, schemes::ATP)]).await.unwrap();
    let before = real.switches().get_mut("v1").unwrap().read().await.unwrap();
    drop(v2);
    let error = real.install(&[planned(&topology, schemes::OPTIMIZED)]).await.unwrap_err().to_string();
    assert!(error.starts_with("switch v2: ") && !error.contains('\n'), "{error}");
    assert_eq!(real.switches().get_mut("v1").unwrap().read().await.unwrap(), before);
}
