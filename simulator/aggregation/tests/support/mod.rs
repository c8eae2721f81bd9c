//! Networks for the tests.
#![allow(dead_code, clippy::unwrap_used, reason = "tests; each uses a part")]

use std::sync::{Arc, OnceLock};

use inart_planner_aggregation::{Options, Scheme, plan_all};
use inart_simulator_aggregation::{Dataplane, InstalledNetwork, SwitchKind};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, leaf_spine};
use inart_wire::ValuesPerFrame;

/// The program for frames of 32 values.
pub fn dataplane() -> &'static Arc<Dataplane> {
    static DATAPLANE: OnceLock<Arc<Dataplane>> = OnceLock::new();
    DATAPLANE.get_or_init(|| Arc::new(Dataplane::new(SwitchKind::V1model, ValuesPerFrame::N32).unwrap()))
}

/// The InArt paper's Fig. 1.
pub fn fig1() -> Topology {
    Topology::from_yaml(include_str!("../../../../topologies/fig1.yaml")).unwrap()
}

/// All jobs of a topology under a scheme.
pub fn network(topology: &Topology, scheme: &dyn Scheme, window: u32) -> InstalledNetwork {
    let plans = plan_all(topology, &Options::new(scheme)).unwrap();
    InstalledNetwork::install(topology, dataplane(), &plans, window).unwrap()
}

/// Two racks at 100 Mbit/s with a delay of 10 us per link.
pub fn racks(workers: usize) -> Topology {
    let equipment = Equipment {
        servers: 1,
        workers,
        rate_bps: 100e6,
        aggregation_bps: 1e9,
        ingress_bps: 100e6,
        delay_seconds: 10e-6,
        gradient_bytes: 1000,
        seed: 1,
    };
    leaf_spine(2, 1, workers, &equipment).unwrap()
}
