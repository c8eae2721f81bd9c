//! Shared parts of the tests: networks, random plans, and a walker that follows table entries like frames.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part")]

pub mod daemon;
pub mod embedded;
pub mod plans;
pub mod pushes;
pub mod walker;

use std::collections::BTreeMap;

use inart_controller::{Controller, JobPlan, PortMap, Records};
use inart_planner_aggregation::Plan;
use inart_tables::Limits;
use inart_targets::Memory;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, ValuesPerFrame};

/// Sizes as in the real program.
pub const LIMITS: Limits = Limits {
    slots: 4096,
    ports: 510,
    steer: 65536,
    results: 4096,
    updates: 65536,
    receivers: 16384,
    mac: 4096,
    switch_ports: 512,
};

pub const FIG1: &str = include_str!("../../../topologies/fig1.yaml");

pub fn fig1() -> Topology {
    Topology::from_yaml(FIG1).unwrap()
}

/// Returns a job plan with a window of 64.
pub fn job(number: u16, plan: &Plan) -> JobPlan {
    JobPlan {
        job: JobId::from(number),
        plan: plan.clone(),
        window_chunks: 64,
        rate_scale: 1.0,
        new_plan_version: false,
    }
}

/// Returns a controller of switches in memory.
pub fn controller(topology: &Topology, records: Records) -> Controller<Memory> {
    let switches = switches(topology, LIMITS);
    Controller::new(topology.clone(), ValuesPerFrame::N64, LIMITS, switches, records).unwrap()
}

pub fn switches(topology: &Topology, limits: Limits) -> BTreeMap<String, Memory> {
    let ports = PortMap::new(topology).unwrap();
    ports.switches().map(|name| (name.to_owned(), Memory::new(limits))).collect()
}

/// Runs a future whose driver never waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    futures::executor::block_on(future)
}
