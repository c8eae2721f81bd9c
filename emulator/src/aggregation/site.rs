//! Locations of a network's hosts and switches: in namespaces and processes made here, or in an external
//! testbed.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use inart_controller::PortMap;
use inart_topologies::faults::{Flow, Schedule, Step, Victim};
use inart_topologies::switched::{NodeId, Topology};

use crate::aggregation::external::{ExternalSwitch, ExternalTestbed};
use crate::aggregation::layout::blueprint;
use crate::aggregation::options::Options;
use crate::error::Error;
use crate::machine::namespace::Namespace;
use crate::machine::relay::{Relay, RelayCounters};
use crate::machine::scratch::Scratch;
use crate::machine::switches::{SwitchProcess, SwitchSpec};
use crate::machine::traffic::{End, Traffic};
use crate::machine::wiring::{NodeIndex, Wiring};

/// The interface that a host's processes use, in a network built here.
const HOST_INTERFACE: &str = "eth0";

/// Location of a host's process.
#[derive(Clone, Copy, Debug)]
pub struct HostEndpoint<'a> {
    /// Network namespace.
    pub namespace: &'a Namespace,
    /// Interface in the namespace.
    pub interface: &'a str,
}

impl HostEndpoint<'_> {
    /// Returns the IPv4 address of the interface.
    ///
    /// # Errors
    /// An interface without an address, or an error of the system.
    pub fn ipv4(&self) -> io::Result<Ipv4Addr> {
        self.namespace.run(|| {
            let mut addresses = nix::ifaddrs::getifaddrs()?.filter(|of| of.interface_name == self.interface);
            addresses
                .find_map(|of| Some(of.address?.as_sockaddr_in()?.ip()))
                .ok_or_else(|| io::Error::other(format!("{} has no IPv4 address", self.interface)))
        })
    }
}

/// Address of a switch.
#[derive(Clone, Debug)]
pub(crate) struct SwitchEndpoint {
    pub name: String,
    pub address: String,
    pub device: u64,
}

/// The hosts and switches of a network.
pub(crate) enum Site {
    /// Built here; removed when this is dropped.
    Built(Box<Built>),
    /// An external testbed: hosts' namespaces and interfaces, and switches, by name.
    External { hosts: BTreeMap<String, (Namespace, String)>, switches: BTreeMap<String, ExternalSwitch> },
}

/// A site built here.
pub(crate) struct Built {
    topology: Topology,
    relay: Option<Relay>,
    /// They run as long as these live.
    switches: Vec<SwitchProcess>,
    traffic: Traffic,
    ports: PortMap,
    wiring: Wiring,
}

impl Built {
    /// Takes a host's interface `down` or `up`; it keeps its address, its rate and its queue.
    fn set_interface(&self, host: NodeId, state: &str) -> Result<(), Error> {
        let place = self.wiring.namespace(NodeIndex(host.index()));
        let set = place.batch("ip", &format!("link set {HOST_INTERFACE} {state}\n"));
        let name = &self.topology.node(host).name;
        set.map_err(Error::system(format!("take the interface of {name} {state}")))
    }

    /// The process of a switch.
    fn switch(&mut self, node: NodeId) -> Option<&mut SwitchProcess> {
        let name = &self.topology.node(node).name;
        self.switches.iter_mut().find(|switch| switch.name() == name)
    }

    /// Starts the process of a switch again.
    fn restart(&mut self, node: NodeId) -> Result<(), Error> {
        let (name, place) = (&self.topology.node(node).name, self.wiring.namespace(NodeIndex(node.index())));
        let named = self.switches.iter_mut().find(|switch| switch.name() == name);
        named.map_or(Ok(()), |switch| switch.restart(place))
    }
}

impl Site {
    /// Builds a network at `scale` times its rates and starts its switches, empty.
    pub fn build(
        topology: &Topology,
        options: &Options,
        scale: f64,
        schedule: &Schedule,
        scratch: &Scratch,
    ) -> Result<Self, Error> {
        let ports = PortMap::new(topology)?;
        let target = options.target;
        ports.check_ports(target.ports())?;
        let blueprint = blueprint(&topology.scaled(scale), &ports, options.faults.queue);
        let wiring = Wiring::build(&blueprint, schedule.touches_links())?;
        let faults = schedule.links.as_flattened();
        let relay = wiring.relay().map(|namespace| Relay::start(namespace, faults, options.seed));
        let relay = relay.transpose().map_err(Error::system("start the relay between the links"))?;

        let switches = (1..).zip(ports.switches()).map(|(device, name)| {
            let socket = || scratch.path(&format!("switch-{device}.sock"));
            let spec = SwitchSpec {
                target,
                program: options.switch.as_ref().unwrap_or(&options.program).clone(),
                name: name.to_owned(),
                device,
                ports: ports.ports(name).filter_map(|(port, _)| target.port_number(port)).collect(),
                socket: options.switch.is_some().then(socket),
            };
            SwitchProcess::start(spec, wiring.namespace(index_of(topology, name)))
        });
        let switches = switches.collect::<Result<_, _>>()?;
        Ok(Self::Built(Box::new(Built {
            topology: topology.clone(),
            relay,
            switches,
            traffic: Traffic::new(&schedule.flows, scale),
            ports,
            wiring,
        })))
    }

    /// Attaches to an external testbed whose names are the topology's.
    pub fn external(testbed: &ExternalTestbed) -> Result<Self, Error> {
        let hosts = testbed.hosts.iter().map(|(name, host)| {
            let namespace = Namespace::open(&host.namespace).map_err(Error::system(format!(
                "open the namespace {} of {name}",
                host.namespace.display()
            )))?;
            let seen = namespace.run(|| Ok(Path::new("/sys/class/net").exists()));
            seen.map_err(Error::system(format!("enter the namespace of {name}")))?;
            Ok((name.clone(), (namespace, host.interface.clone())))
        });
        let hosts = hosts.collect::<Result<_, Error>>()?;
        Ok(Self::External { hosts, switches: testbed.switches.clone() })
    }

    /// Returns the switches, sorted by name. Waits for switches that are still starting.
    pub fn switches(&mut self) -> Result<Vec<SwitchEndpoint>, Error> {
        match self {
            Self::Built(built) => built
                .switches
                .iter_mut()
                .map(|switch| {
                    let address = switch.address()?;
                    Ok(SwitchEndpoint { name: switch.name().to_owned(), address, device: switch.device() })
                })
                .collect(),
            Self::External { switches, .. } => {
                let place = |(name, switch): (&String, &ExternalSwitch)| SwitchEndpoint {
                    name: name.clone(),
                    address: switch.address.clone(),
                    device: switch.device_id,
                };
                Ok(switches.iter().map(place).collect())
            }
        }
    }

    /// Returns the location of a host of the topology.
    pub fn host(&self, name: &str) -> HostEndpoint<'_> {
        match self {
            Self::Built(built) => HostEndpoint {
                namespace: built.wiring.namespace(index_of(&built.topology, name)),
                interface: HOST_INTERFACE,
            },
            Self::External { hosts, .. } => {
                let (namespace, interface) = &hosts[name];
                HostEndpoint { namespace, interface }
            }
        }
    }

    /// Executes a step on switches and links built here.
    pub fn act(&mut self, step: Step) -> Result<(), Error> {
        let Self::Built(built) = self else { return Ok(()) };
        match step {
            Step::Kill(Victim::Switch(node)) => {
                built.switch(node).into_iter().for_each(SwitchProcess::kill);
                Ok(())
            }
            Step::Start(Victim::Switch(node)) => built.restart(node),
            Step::InterfaceDown(host) => built.set_interface(host, "down"),
            Step::InterfaceUp(host) => built.set_interface(host, "up"),
            Step::LinkDown(link) | Step::LinkUp(link) => {
                if let Some(relay) = &built.relay {
                    relay.set_down(link.index(), matches!(step, Step::LinkDown(_)));
                }
                Ok(())
            }
            // The supervisor and the network see to processes of hosts and to the controller; this site reads
            // no frames.
            Step::Kill(Victim::Host(_) | Victim::Controller)
            | Step::Start(Victim::Host(_) | Victim::Controller)
            | Step::Pause(_)
            | Step::Resume(_)
            | Step::Stale(..)
            | Step::Forge(..)
            | Step::Slow(..)
            | Step::Fast(_)
            | Step::Disconnect(_) => Ok(()),
        }
    }

    /// Starts and stops the background traffic that is due at this time after the start of the run; returns
    /// the started and stopped flows as text.
    pub fn tend_traffic(&mut self, elapsed: Duration) -> Result<Vec<String>, Error> {
        let Self::Built(built) = self else { return Ok(Vec::new()) };
        let Built { topology, traffic, ports, wiring, .. } = &mut **built;
        let end = |node: NodeId| {
            let namespace = wiring.namespace(NodeIndex(node.index()));
            let place = HostEndpoint { namespace, interface: HOST_INTERFACE };
            let mac = ports.mac(&topology.node(node).name).expect("hosts have addresses");
            Ok::<_, io::Error>(End { namespace, interface: HOST_INTERFACE, mac, ip: place.ipv4()? })
        };
        let changed = traffic.tend(elapsed, |flow| Ok([end(flow.from)?, end(flow.to)?]));
        let changed = changed.map_err(|(flow, cause)| {
            Error::system(format!("send background traffic ({})", flow.describe(topology)))(cause)
        })?;
        let text = |(flow, begins): (Flow, bool)| {
            let what = if begins { "begins" } else { "ends" };
            format!("background {}: {what}", flow.describe(topology))
        };
        Ok(changed.into_iter().map(text).collect())
    }

    /// Stops all background traffic; the next run begins from scratch. Returns the first flow that has not
    /// run, if any, as text.
    pub fn stop_traffic(&mut self) -> Option<String> {
        let Self::Built(built) = self else { return None };
        let never = built.traffic.never_run().map(|flow| flow.describe(&built.topology));
        built.traffic.reset();
        never
    }

    /// Returns the counters of injected frame faults; zeros without a relay.
    pub fn link_counters(&self) -> RelayCounters {
        match self {
            Self::Built(built) => built.relay.as_ref().map(Relay::counters).unwrap_or_default(),
            Self::External { .. } => RelayCounters::default(),
        }
    }
}

fn index_of(topology: &Topology, name: &str) -> NodeIndex {
    NodeIndex(topology.node_named(name).expect("names come from the topology").index())
}
