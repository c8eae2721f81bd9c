//! Controller over BFRuntime: installations, a rollback, a switch that restarts, another controller. The
//! tables in memory are the model. The program is the built-in one for Tofino.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_bfruntime::DeviceId;
use inart_controller::{Controller, JobPlan, Records};
use inart_planner_aggregation::{Options, Scheme, plan, schemes};
use inart_switch::Switch;
use inart_switch::bfrt::Server;
use inart_targets::tofino::TOFINO;
use inart_targets::{Access, Endpoint, Memory, Precedence, Program, Running, Session, SwitchError, Target};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, ValuesPerFrame};
use support::pushes::walks;
use support::{fig1, job, now};

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;

fn compiled() -> Arc<dyn Program> {
    TOFINO.program(VALUES, None).unwrap()
}

async fn embedded() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = Server::new(DeviceId(0), Arc::new(Mutex::new(Switch::new(1))));
    tokio::spawn(server.serve(listener, std::future::pending()));
    address
}

async fn open(address: &str, access: Access) -> Result<Box<dyn Session>, SwitchError> {
    let place = Endpoint { timeout: Duration::from_secs(20), ..Endpoint::local(address, 0) };
    compiled().open(place, access).await
}

async fn controller(
    topology: &Topology,
    addresses: &BTreeMap<&str, String>,
    records: Records,
) -> Controller<Box<dyn Session>> {
    let mut switches = BTreeMap::new();
    for (name, address) in addresses {
        let session = open(address, Access::Write(Precedence(1))).await.unwrap();
        switches.insert((*name).to_owned(), session);
    }
    Controller::new(topology.clone(), VALUES, compiled().limits(), switches, records).unwrap()
}

fn planned(topology: &Topology, scheme: &dyn Scheme) -> JobPlan {
    job(1, &plan(topology, &topology.jobs()[0], &Options::new(scheme)).unwrap())
}

async fn same_tables(real: &mut Controller<Box<dyn Session>>, model: &mut Controller<Memory>) {
    for (name, switch) in real.switches() {
        assert_eq!(switch.read().await.unwrap(), model.switches()[name].tables, "{name}");
    }
}

#[tokio::test]
async fn pushes_and_a_rollback_leave_what_the_model_holds() {
    let topology = fig1();
    let addresses = BTreeMap::from([("v1", embedded().await), ("v2", embedded().await)]);
    let mut real = controller(&topology, &addresses, Records::default()).await;
    let limits = compiled().limits();
    let model = support::switches(&topology, limits);
    let mut model = Controller::new(topology.clone(), VALUES, limits, model, Records::default()).unwrap();
    for scheme in [schemes::ATP, schemes::LBMM, schemes::OPTIMIZED] {
        let push = planned(&topology, scheme);
        let preview = real.preview(std::slice::from_ref(&push)).await.unwrap();
        let report = real.install(std::slice::from_ref(&push)).await.unwrap();
        assert_eq!(report.updates(), preview.updates());
        assert_eq!(now(model.install(std::slice::from_ref(&push))).unwrap().updates(), report.updates());
        assert!(report.updates() > 0);
        same_tables(&mut real, &mut model).await;
        assert_eq!(real.install(&[push]).await.unwrap().updates(), 0, "a second push changes nothing");
    }
    real.rollback(JobId::from(1)).await.unwrap();
    now(model.rollback(JobId::from(1))).unwrap();
    same_tables(&mut real, &mut model).await;

    // Another controller: refused while this one is connected.
    let other = open(&addresses["v1"], Access::Write(Precedence(2))).await;
    assert!(matches!(other.err(), Some(SwitchError::Superseded(_))));
    let records = real.records().clone();
    drop(real);
    let mut next = controller(&topology, &addresses, records).await;
    same_tables(&mut next, &mut model).await;
    assert_eq!(next.install(&[planned(&topology, schemes::LBMM)]).await.unwrap().updates(), 0);

    // A restarted switch is empty; the same installation restores what runs.
    let records = next.records().clone();
    drop(next);
    let addresses = BTreeMap::from([("v1", embedded().await), ("v2", addresses["v2"].clone())]);
    let mut next = controller(&topology, &addresses, records).await;
    let report = next.install(&[planned(&topology, schemes::LBMM)]).await.unwrap();
    assert_eq!(report.switches["v1"].running, Running::Nothing);
    assert!(!report.switches["v1"].updates.is_empty() && report.switches["v2"].updates.is_empty());
    // Its previous plan version has ended, and its groups have other numbers: the destinations of frames
    // count.
    let mut network = inart_controller::Network::new();
    for (name, switch) in next.switches() {
        network.insert(name.clone(), switch.read().await.unwrap());
    }
    let plan_version = report.assignments[0].plan_version.get();
    walks(&topology, &network, &planned(&topology, schemes::LBMM), plan_version).unwrap();
}
