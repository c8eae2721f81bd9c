//! Network of peers on the switches: alone, or on a network whose jobs have servers.

use std::collections::BTreeSet;

use inart_topologies::peers::{FIRST_JOB, Mesh, PeerJob};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};

use crate::kind::JobKind;
use crate::multicast::MulticastError;
use crate::ports::{PortMap, PortsError, peers_of};
use inart_topologies::units::counted;

/// Returns the plan version of peers' frames. Their entries follow from the network, and no plan changes
/// them while peers run.
pub(crate) fn plan_version() -> PlanVersion {
    PlanVersion::from(1)
}

/// Returns whether a number is that of a job of peers.
pub fn is_of_peers(job: JobId) -> bool {
    JobKind::of(job) == JobKind::Peers
}

/// Why a network of peers cannot be installed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PeersError {
    /// Network that is too large to number.
    #[error(transparent)]
    Ports(#[from] PortsError),
    /// Switch that the topology does not have.
    #[error(
        "network of peers {network}: topology {topology} has no switch {switch}; give the switches the topology's names"
    )]
    NoSwitch {
        /// Name of the network of peers.
        network: String,
        /// Name of the switch.
        switch: String,
        /// Name of the topology.
        topology: String,
    },
    /// Link between switches that the topology does not have.
    #[error(
        "network of peers {network}: topology {topology} has no link {}-{}; link the same switches in both", ends[0], ends[1]
    )]
    NoLink {
        /// Name of the network of peers.
        network: String,
        /// Ends of the link.
        ends: [String; 2],
        /// Name of the topology.
        topology: String,
    },
    /// Peer that is not a host of the topology, or at another switch.
    #[error(
        "network of peers {network}: topology {topology} has no host {peer} at switch {switch}; add a worker of that name \
         with a link to {switch}"
    )]
    NoHost {
        /// Name of the network of peers.
        network: String,
        /// Name of the peer.
        peer: String,
        /// Switch of the peer.
        switch: String,
        /// Name of the topology.
        topology: String,
    },
    /// Job of peers with the name of a job of the topology.
    #[error("network of peers {network}: topology {topology} has a job {job}, too; rename one of the two")]
    SameName {
        /// Name of the network of peers.
        network: String,
        /// Name of the job.
        job: String,
        /// Name of the topology.
        topology: String,
    },
    /// Network of peers on other switches than the controller's.
    #[error(
        "network of peers {network} has the switches {own}, and not {switches}; give the document of today's switches"
    )]
    OtherSwitches {
        /// Name of the network of peers.
        network: String,
        /// Switches of the network.
        own: String,
        /// Switches of the controller.
        switches: String,
    },
    /// More jobs than numbers.
    #[error("network of peers {network}: job {job} is not among its first {FIRST_JOB}; split the network")]
    NoNumber {
        /// Name of the network of peers.
        network: String,
        /// Name of the job.
        job: String,
    },
    /// Updates that cannot be copied.
    #[error(transparent)]
    Multicast(#[from] MulticastError),
    /// Job of the active network of peers that the next one lacks, or has at another position.
    #[error(
        "network of peers {network} has no job {job} at position {place}, where the switches hold it: write the job there, or \
         remove it, if it is done, with `inart remove {job} TOPOLOGY`"
    )]
    JobMissing {
        /// Name of the network to install.
        network: String,
        /// Name of the job.
        job: String,
        /// Position among the active jobs, from 1.
        place: u32,
    },
    /// Switch that sums for jobs outside of the document.
    #[error(
        "switch {switch} sums gradients for {}, and shared entries follow from their topology: apply the \
         network of peers on it, `inart apply PEERS TOPOLOGY`",
        counted(*jobs, "job")
    )]
    OtherJobs {
        /// Name of the switch.
        switch: String,
        /// Number of jobs with entries there.
        jobs: usize,
    },
    /// Sums and copies on switches that need a program for each.
    #[error(
        "job {summed} is summed and job {copied} copied, and on these switches that takes two programs, of which a switch \
         runs one: use other switches for one of them, or remove the one that is done, with \
         `inart remove {summed} TOPOLOGY` or `inart remove {copied} TOPOLOGY`"
    )]
    OneProgram {
        /// Job with servers.
        summed: String,
        /// Job of peers.
        copied: String,
    },
}

/// Network of peers, and its jobs that were removed since the installation.
#[derive(Debug, Clone)]
pub struct Peers {
    /// Network.
    pub mesh: Mesh,
    /// Removed jobs.
    pub removed: BTreeSet<JobId>,
}

impl Peers {
    /// Creates a network with all its jobs.
    pub fn new(mesh: Mesh) -> Self {
        Self { mesh, removed: BTreeSet::new() }
    }

    /// Returns the installed jobs, by number.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &PeerJob)> {
        let jobs = self.mesh.jobs().iter().enumerate();
        let numbered = jobs.filter_map(|(place, job)| Some((self.mesh.job_number(place)?.into(), job)));
        numbered.filter(|(number, _)| !self.removed.contains(number))
    }

    /// Returns the names of a job's peers, by rank.
    pub(crate) fn names(&self, job: &PeerJob) -> Vec<&str> {
        (0..job.peers.len()).map(|rank| self.mesh.name_of(job, rank)).collect()
    }

    /// Refuses a network with more jobs than there are numbers.
    pub(crate) fn check(&self) -> Result<(), PeersError> {
        let jobs = self.mesh.jobs();
        match jobs.get(usize::from(FIRST_JOB)) {
            None => Ok(()),
            Some(job) => {
                Err(PeersError::NoNumber { network: self.mesh.name().to_owned(), job: job.name.clone() })
            }
        }
    }
}

/// Returns the ports of a network of peers alone, on switches with these ports.
///
/// # Errors
/// Other switches.
pub(crate) fn alone(switches: &PortMap, mesh: &Mesh) -> Result<PortMap, PeersError> {
    let ports = PortMap::of_mesh(mesh)?;
    let names = |ports: &PortMap| ports.switches().collect::<Vec<_>>().join(", ");
    if names(&ports) != names(switches) {
        let (own, switches) = (names(&ports), names(switches));
        return Err(PeersError::OtherSwitches { network: mesh.name().to_owned(), own, switches });
    }
    Ok(ports)
}

/// Gives hosts of a topology their addresses as peers.
///
/// # Errors
/// A network of peers that is not part of the topology, or has a job of the same name.
pub(crate) fn join(ports: &mut PortMap, topology: &Topology, mesh: &Mesh) -> Result<(), PeersError> {
    if let Some(job) = mesh.jobs().iter().find(|job| topology.job_named(&job.name).is_some()) {
        let (network, topology) = (mesh.name().to_owned(), topology.name().to_owned());
        return Err(PeersError::SameName { network, job: job.name.clone(), topology });
    }
    let (network, topology) = (mesh.name(), topology.name().to_owned());
    for switch in mesh.switches() {
        if !ports.is_switch(switch) {
            let (network, switch) = (network.to_owned(), switch.clone());
            return Err(PeersError::NoSwitch { network, switch, topology });
        }
    }
    for trunk in mesh.trunks() {
        let ends = trunk.ends.map(|end| mesh.switches()[end].clone());
        if ports.port(&ends[0], &ends[1]).is_none() {
            return Err(PeersError::NoLink { network: network.to_owned(), ends, topology });
        }
    }
    for (peer, (name, address)) in mesh.peers().iter().zip(peers_of(mesh)?) {
        let switch = &mesh.switches()[peer.switch];
        if ports.attachment(name) != Some(switch) {
            let (network, peer, switch) = (network.to_owned(), name.to_owned(), switch.clone());
            return Err(PeersError::NoHost { network, peer, switch, topology });
        }
        ports.add_peer(name, address);
    }
    Ok(())
}
