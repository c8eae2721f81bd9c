//! The switches that make the copies: processes of the embedded switch with our program, and the entries of
//! the job's updates, written through P4Runtime, or BFRuntime, and read back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use inart_controller::{Controller, InstallError, PortMap, PortsError, Records};
use inart_p4::Reason;
use inart_tables::PortNo;
use inart_targets::{
    Access, Endpoint, Precedence, Program, Running, SwitchCounters, SwitchError, Target, open_all,
};
use inart_topologies::peers::Mesh;
use inart_wire::ValuesPerFrame;
use serde::Serialize;
use tokio::runtime::Runtime;

use super::wired::{Neighbor, Wired, WiredSwitch};
use crate::error::Error;
use crate::machine::namespace::Namespace;
use crate::machine::switches::{SwitchProcess, SwitchSpec};

const DEVICE: u64 = 1;

/// Counters of a switch that copies updates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SwitchReport {
    /// Name of the switch.
    pub switch: String,
    /// Copies that the switch dropped, because no receiver was behind the port.
    pub unwanted: u64,
    /// Those copies that were dropped at ports to other switches, and so crossed no link between switches.
    pub pruned_at_trunks: u64,
    /// Frames that it dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
}

/// Running switches, ready for the job's updates.
pub struct PeersSwitches {
    /// In the order of the network's switches.
    processes: Vec<SwitchProcess>,
    target: &'static dyn Target,
    program: Arc<dyn Program>,
    runtime: Runtime,
}

impl std::fmt::Debug for PeersSwitches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.processes.iter().map(SwitchProcess::name).collect();
        f.debug_struct("PeersSwitches").field("names", &names).finish_non_exhaustive()
    }
}

impl PeersSwitches {
    /// Starts each in the namespace that has its ports, and writes the entries of all. `command`: the `inart`
    /// program.
    ///
    /// # Errors
    /// A switch that does not start, or does not hold what was written.
    pub fn start<'n>(
        mesh: &Mesh,
        wired: &Wired,
        (target, values): (&'static dyn Target, ValuesPerFrame),
        command: &Path,
        place: &dyn Fn(usize) -> &'n Namespace,
    ) -> Result<Self, Error> {
        let ports = PortMap::of_mesh(mesh)?;
        ports.check_ports(target.ports())?;
        let program = target.multicast_program(values)?;
        let runtime = Runtime::new().map_err(Error::system("start threads"))?;
        let start = |(at, switch): (usize, &WiredSwitch)| {
            let numbers = switch.ports.iter().filter_map(|port| target.port_number(port.number));
            let spec = SwitchSpec {
                target,
                program: command.to_owned(),
                name: switch.name.clone(),
                device: DEVICE,
                ports: numbers.collect(),
                socket: None,
            };
            SwitchProcess::start(spec, place(at))
        };
        let processes = wired.switches.iter().enumerate().map(start).collect::<Result<_, _>>()?;
        let mut this = Self { processes, target, program, runtime };
        let places = this.places()?;
        let push = async {
            let access = Access::Write(Precedence(1));
            let (program, topology) = (&*this.program, mesh.as_topology().map_err(PortsError::from)?);
            let sessions = open_all(program, places, access).await?;
            let limits = program.limits();
            let mut controller =
                Controller::new(topology, program.values(), limits, sessions, Records::default())?;
            controller.give_peers(mesh.clone())?;
            controller.install(&[]).await
        };
        let done = this.runtime.block_on(push);
        done.map_err(|error: InstallError| Error::Controller { why: error.to_string() })?;
        Ok(this)
    }

    fn places(&mut self) -> Result<BTreeMap<String, Endpoint>, Error> {
        let place = |process: &mut SwitchProcess| {
            let address = process.address()?;
            Ok((process.name().to_owned(), Endpoint::local(address, DEVICE)))
        };
        self.processes.iter_mut().map(place).collect()
    }

    /// Returns the counters so far, in the order of the network's switches.
    ///
    /// # Errors
    /// A switch that does not answer.
    pub fn counted(&mut self, wired: &Wired) -> Result<Vec<SwitchReport>, Error> {
        let places = self.places()?;
        let mut reports = Vec::with_capacity(wired.switches.len());
        for switch in &wired.switches {
            let Some(place) = places.get(&switch.name).cloned() else { continue };
            let read = async {
                let mut session = self.program.open(place, Access::Read).await?;
                match session.running().await? {
                    Running::Ours => session.counters().await.map(Some),
                    Running::Nothing | Running::Other => Ok(None),
                }
            };
            let refused =
                |cause: SwitchError| Error::Switch { switch: switch.name.clone(), cause: Box::new(cause) };
            let counters = self.runtime.block_on(read).map_err(refused)?.ok_or_else(|| Error::Failed {
                who: format!("switch {}", switch.name),
                why: "it does not run our program any more".to_owned(),
            })?;
            reports.push(report(switch, self.target, &counters));
        }
        Ok(reports)
    }
}

fn report(switch: &WiredSwitch, target: &dyn Target, counters: &SwitchCounters) -> SwitchReport {
    let at = |port: PortNo| {
        let number = target.port_number(port);
        number.map_or(0, |number| counters.unwanted(number).packets.max(0) as u64)
    };
    let trunks = switch.ports.iter().filter(|port| matches!(port.neighbor, Neighbor::Switch));
    let dropped = |&reason: &Reason| (reason.to_string(), counters.drops(reason).packets.max(0) as u64);
    SwitchReport {
        switch: switch.name.clone(),
        unwanted: switch.ports.iter().map(|port| at(port.number)).sum(),
        pruned_at_trunks: trunks.map(|port| at(port.number)).sum(),
        dropped: Reason::ALL.iter().map(dropped).filter(|(_, count)| *count > 0).collect(),
    }
}
