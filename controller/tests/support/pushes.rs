//! Installations on switches in memory, which may fail.

use inart_controller::{Controller, InstallReport, JobPlan, Network, PortMap};
use inart_planner_aggregation::{Options, Plan, Scheme, plan};
use inart_targets::{Failpoint, Memory};
use inart_topologies::switched::Topology;
use inart_wire::PlanVersion;

use super::fig1;
use super::walker::{Walker, check_mac, check_own_slots};

pub fn planned(scheme: &dyn Scheme) -> Plan {
    let topology = fig1();
    plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap()
}

pub fn network(controller: &mut Controller<Memory>) -> Network {
    controller.switches().iter().map(|(name, switch)| (name.clone(), switch.tables.clone())).collect()
}

pub fn walks(topology: &Topology, tables: &Network, plan: &JobPlan, plan_version: u16) -> Result<(), String> {
    let ports = PortMap::new(topology).unwrap();
    Walker::new(topology, tables, &ports, &plan.plan, plan.job, PlanVersion::from(plan_version)).check()?;
    check_mac(tables, &ports)?;
    check_own_slots(tables)
}

pub fn plan_versions(report: &InstallReport) -> Vec<u16> {
    report.assignments.iter().map(|assignment| assignment.plan_version.get()).collect()
}

/// Adds the failpoint to every switch, counted from now.
pub fn arm(controller: &mut Controller<Memory>, at: impl Fn(&str, usize) -> Failpoint) {
    for (name, switch) in controller.switches() {
        switch.failpoint = at(name, switch.updates);
    }
}

pub fn disarm(controller: &mut Controller<Memory>) {
    arm(controller, |_, _| Failpoint::Never);
}
