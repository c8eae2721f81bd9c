//! The running network: namespaces, switches with their P4Runtime servers, the relay, and the controller.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use inart_controller::{Controller, JobPlan, P4Runtime, PortMap, Program, Records};
use inart_core::Assignment;
use inart_p4::{Outcome, Reason};
use inart_p4runtime::{DeviceId, Target};
use inart_planner::Topology;
use tokio::runtime::Runtime;

use crate::error::Error;
use crate::layout::blueprint;
use crate::namespace::Namespace;
use crate::options::Options;
use crate::relay::Relay;
use crate::scratch::Scratch;
use crate::switches::SwitchProcess;
use crate::wiring::{NodeIndex, Wiring};

/// A network on which plans can be installed and hosts started. Gone, processes and all, when dropped.
pub struct Network {
    controller: Controller<P4Runtime>,
    runtime: Runtime,
    relay: Option<Relay>,
    /// They run as long as these live.
    _switches: Vec<SwitchProcess>,
    wiring: Wiring,
    scratch: Scratch,
}

/// What switches and links counted since the network was started.
#[derive(Clone, Debug, Default)]
pub struct NetworkCounters {
    /// Frames that became part of a sum.
    pub aggregated: u64,
    /// Frames dropped by switches, in the order of [`Reason::ALL`].
    pub drops: Vec<u64>,
    /// Frames dropped on links.
    pub link_drops: u64,
}

impl Network {
    /// Builds a network at `scale` times its rates, starts its switches and connects to them. No program is loaded yet.
    /// `topology` has the jobs that shall run.
    pub fn start(topology: &Topology, options: &Options, scale: f64) -> Result<Self, Error> {
        let scratch = Scratch::new().map_err(Error::system("create a directory in memory"))?;
        let ports = PortMap::new(topology)?;
        let blueprint = blueprint(&topology.scaled(scale), &ports);
        let lossy = !options.drop.is_zero();
        let wiring = Wiring::build(&blueprint, lossy)?;
        let relay = wiring
            .relay()
            .map(|namespace| Relay::start(namespace, blueprint.links.len(), options.drop, options.seed));
        let relay = relay.transpose().map_err(Error::system("start the relay between the links"))?;

        let mut switches = Vec::new();
        for (device, name) in (1..).zip(ports.switches()) {
            let place = wiring.namespace(index_of(topology, name));
            let count = ports.ports(name).count();
            switches.push(match &options.switch {
                None => SwitchProcess::embedded(&options.program, name, device, place, count)?,
                Some(program) => SwitchProcess::other(program, name, device, place, count, &scratch)?,
            });
        }
        let artifact = inart_p4::artifact(options.values);
        let program = Arc::new(Program::new(artifact.values, &artifact.json, &artifact.p4info)?);
        let limits = program.limits;
        let runtime = Runtime::new().map_err(Error::system("start the controller's threads"))?;
        let mut drivers = BTreeMap::new();
        for (device, switch) in (1..).zip(&mut switches) {
            let target = Target::new(switch.address()?, DeviceId(device));
            let name = switch.name().to_owned();
            let driver = runtime.block_on(P4Runtime::connect(target, Arc::clone(&program)));
            let cause = |cause| Error::Switch { switch: name.clone(), cause: Box::new(cause) };
            drivers.insert(name.clone(), driver.map_err(cause)?);
        }
        let controller =
            Controller::new(topology.clone(), options.values, limits, drivers, Records::default())
                .map_err(|cause| Error::Install { scheme: "any".into(), cause: Box::new(cause) })?;
        Ok(Self { controller, runtime, relay, _switches: switches, wiring, scratch })
    }

    /// Installs the plans of a scheme, all under new epochs, and returns what to tell the hosts of each.
    pub fn install(&mut self, scheme: &str, plans: &[JobPlan]) -> Result<Vec<Assignment>, Error> {
        let report = self.runtime.block_on(self.controller.install(plans));
        Ok(report
            .map_err(|cause| Error::Install { scheme: scheme.to_owned(), cause: Box::new(cause) })?
            .assignments)
    }

    /// The network with the jobs that run, and the capacities that each may use.
    pub fn topology(&self) -> &Topology {
        self.controller.topology()
    }

    /// The namespace of a host.
    pub fn host(&self, name: &str) -> &Namespace {
        self.wiring.namespace(index_of(self.topology(), name))
    }

    /// A file in a directory that goes when the network goes.
    pub fn scratch_path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// Reads the counters of all switches and of the relay.
    pub fn counters(&mut self) -> Result<NetworkCounters, Error> {
        let Self { controller, runtime, relay, .. } = self;
        let mut sum = NetworkCounters { drops: vec![0; Reason::ALL.len()], ..Default::default() };
        for (switch, driver) in controller.switches() {
            let cause = |cause: inart_p4runtime::ClientError| Error::Switch {
                switch: switch.clone(),
                cause: Box::new(cause.into()),
            };
            let client = driver.client();
            let read = |counter| runtime.block_on(client.read_counter(counter)).map_err(cause);
            let (outcomes, drops) = (read("outcomes")?, read("drops")?);
            let cell = |cells: &[inart_p4runtime::Counts], index: usize| {
                cells.get(index).map_or(0, |counts| counts.packets.max(0) as u64)
            };
            for outcome in [Outcome::Stored, Outcome::Added, Outcome::Completed] {
                sum.aggregated += cell(&outcomes, outcome.index());
            }
            for (total, reason) in sum.drops.iter_mut().zip(Reason::ALL) {
                *total += cell(&drops, reason.index());
            }
        }
        sum.link_drops = relay.as_ref().map_or(0, |relay| relay.counters().dropped);
        Ok(sum)
    }
}

impl NetworkCounters {
    /// Frames dropped by switches since `earlier`, by reason; reasons that did not occur are left out.
    pub fn drops_since(&self, earlier: &Self) -> BTreeMap<String, u64> {
        let counts = Reason::ALL.iter().zip(self.drops.iter().zip(&earlier.drops));
        counts
            .filter(|(_, (now, then))| now > then)
            .map(|(why, (now, then))| (why.to_string(), now - then))
            .collect()
    }
}

fn index_of(topology: &Topology, name: &str) -> NodeIndex {
    NodeIndex(topology.node_named(name).expect("names come from the topology").index())
}
