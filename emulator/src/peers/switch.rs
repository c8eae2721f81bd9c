//! The switch that makes the copies: a process of the embedded switch with our program, and the entries of
//! the job's updates, written through P4Runtime and read back.

use std::path::Path;
use std::sync::Arc;

use inart_controller::multicast::{PeerGroup, network};
use inart_controller::{PortMap, push_peers};
use inart_p4::Reason;
use inart_peers::Mesh;
use inart_targets::{Access, DEFAULT, Place, Precedence, Program, Running, SwitchError, open_all};
use inart_wire::{Epoch, JobId, ValuesPerPacket};
use tokio::runtime::Runtime;

use crate::error::Error;
use crate::namespace::Namespace;
use crate::switches::{SwitchProcess, SwitchSpec};

/// Values per frame: the most that fit an ordinary MTU.
pub const VALUES: ValuesPerPacket = ValuesPerPacket::N256;
/// What `inart peer` has in its frames: its network has one job.
const JOB: u16 = 0;
const EPOCH: u16 = 1;
const DEVICE: u64 = 1;

/// A running switch, ready for the job's updates.
pub struct PeersSwitch {
    process: SwitchProcess,
    program: Arc<dyn Program>,
    runtime: Runtime,
}

impl std::fmt::Debug for PeersSwitch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PeersSwitch").field("name", &self.process.name()).finish_non_exhaustive()
    }
}

/// Refuses what one process cannot be.
fn only_switch(ports: &PortMap) -> Result<String, Error> {
    let switches: Vec<&str> = ports.switches().collect();
    match switches[..] {
        [one] => Ok(one.to_owned()),
        _ => Err(Error::Option {
            option: "multicast",
            problem: format!(
                "the network has switches {}, and an emulation copies updates at one; link all peers to one \
                 switch, or give --multicast hosts",
                switches.join(", ")
            ),
        }),
    }
}

impl PeersSwitch {
    /// Starts it in the namespace that has its ports, `p1`, `p2`, … by the peers' ranks, and writes its
    /// entries. `command`: the `inart` program.
    ///
    /// # Errors
    /// Several switches; one that does not start, or does not hold what was written.
    pub fn start(mesh: &Mesh, command: &Path, place: &Namespace) -> Result<Self, Error> {
        let ports = PortMap::of_mesh(mesh)?;
        let name = only_switch(&ports)?;
        ports.check_ports(DEFAULT.ports())?;
        let job = &mesh.jobs()[usize::from(JOB)];
        let peers: Vec<&str> = (0..job.peers.len()).map(|rank| mesh.name_of(job, rank)).collect();
        let number = |peer: &&str| ports.port(&name, peer).and_then(|port| DEFAULT.port_number(port));
        let spec = SwitchSpec {
            target: DEFAULT,
            program: command.to_owned(),
            name: name.clone(),
            device: DEVICE,
            ports: peers.iter().filter_map(number).collect(),
            socket: None,
        };
        let group = PeerGroup { job: JobId::from(JOB), epoch: Epoch::from(EPOCH), peers: &peers };
        let refused = |problem: String| Error::Option { option: "multicast", problem };
        let tables = network(&ports, &[group]).map_err(|error| refused(error.to_string()))?;
        let program = DEFAULT.program(VALUES, None)?;
        let runtime = Runtime::new().map_err(Error::system("start threads"))?;
        let mut this = Self { process: SwitchProcess::start(spec, place)?, program, runtime };
        let address = this.process.address()?;
        let push = async {
            let access = Access::Write(Precedence(1));
            let places = [(name.clone(), Place::local(address, DEVICE))].into();
            push_peers(&mut open_all(&*this.program, places, access).await?, &tables, false).await
        };
        let done = this.runtime.block_on(push);
        done.map_err(|error| Error::Controller { why: error.to_string() })?;
        Ok(this)
    }

    fn refused(&self, cause: SwitchError) -> Error {
        Error::Switch { switch: self.process.name().to_owned(), cause: Box::new(cause) }
    }

    /// Frames that it has dropped so far, by reason.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn drops(&mut self) -> Result<Vec<(Reason, u64)>, Error> {
        let place = Place::local(self.process.address()?, DEVICE);
        let read = async {
            let mut session = self.program.open(place, Access::Read).await?;
            match session.running().await? {
                Running::Ours => session.counters().await.map(Some),
                Running::Nothing | Running::Other => Ok(None),
            }
        };
        let counters = self.runtime.block_on(read).map_err(|cause| self.refused(cause))?;
        let Some(counters) = counters else {
            let who = format!("switch {}", self.process.name());
            return Err(Error::Failed { who, why: "it does not run our program any more".to_owned() });
        };
        let count = |&reason: &Reason| (reason, counters.drops(reason).packets.max(0) as u64);
        Ok(Reason::ALL.iter().map(count).filter(|(_, count)| *count > 0).collect())
    }
}
