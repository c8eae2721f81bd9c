//! A network of peers on the switches: alone, or on a network whose jobs have servers.

use std::collections::BTreeSet;

use inart_topologies::peers::{FIRST_JOB, Mesh, PeerJob};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};

use crate::kind::JobKind;
use crate::multicast::MulticastError;
use crate::ports::{PortMap, PortsError, peers_of};
use inart_topologies::units::counted;

/// Returns the plan version that peers have in their frames. Their entries follow from the network, and no
/// plan changes them while peers run.
pub(crate) fn plan_version() -> PlanVersion {
    PlanVersion::from(1)
}

/// Whether the number is that of a job of peers.
pub fn is_of_peers(job: JobId) -> bool {
    JobKind::of(job) == JobKind::Peers
}

/// Why a network of peers cannot be installed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PeersError {
    /// Too large to number.
    #[error(transparent)]
    Ports(#[from] PortsError),
    /// A switch that the topology does not have.
    #[error(
        "network of peers {network}: topology {topology} has no switch {switch}; give the switches the topology's names"
    )]
    NoSwitch {
        /// The network of peers.
        network: String,
        /// The switch.
        switch: String,
        /// The topology.
        topology: String,
    },
    /// A link between switches that the topology does not have.
    #[error(
        "network of peers {network}: topology {topology} has no link {}-{}; link the same switches in both", ends[0], ends[1]
    )]
    NoLink {
        /// The network of peers.
        network: String,
        /// The switches.
        ends: [String; 2],
        /// The topology.
        topology: String,
    },
    /// A peer that is no host of the topology, or at another switch.
    #[error(
        "network of peers {network}: topology {topology} has no host {peer} at switch {switch}; add a worker of that name \
         with a link to {switch}"
    )]
    NoHost {
        /// The network of peers.
        network: String,
        /// The peer.
        peer: String,
        /// Its switch.
        switch: String,
        /// The topology.
        topology: String,
    },
    /// A job of peers with the name of a job of the topology.
    #[error("network of peers {network}: topology {topology} has a job {job}, too; rename one of the two")]
    SameName {
        /// The network of peers.
        network: String,
        /// The name.
        job: String,
        /// The topology.
        topology: String,
    },
    /// A network of peers on other switches than those of the controller.
    #[error(
        "network of peers {network} has the switches {own}, and not {switches}; give the document of today's switches"
    )]
    OtherSwitches {
        /// The network of peers.
        network: String,
        /// Its switches.
        own: String,
        /// The controller's switches.
        switches: String,
    },
    /// More jobs than there are numbers.
    #[error("network of peers {network}: job {job} is not among its first {FIRST_JOB}; split the network")]
    NoNumber {
        /// The network of peers.
        network: String,
        /// The job.
        job: String,
    },
    /// Updates of a job cannot be copied.
    #[error(transparent)]
    Multicast(#[from] MulticastError),
    /// A job of the network of peers in force that the next one lacks, or has at another place.
    #[error(
        "network of peers {network} has no job {job} at place {place}, where the switches hold it: write the job there, or \
         remove it, if it is done, with `inart remove {job} TOPOLOGY`"
    )]
    Left {
        /// The network of peers that is to be installed.
        network: String,
        /// The job.
        job: String,
        /// Its place among the jobs in force, from 1.
        place: u32,
    },
    /// A switch sums for jobs that the document does not know.
    #[error(
        "switch {switch} sums gradients for {}, and what all jobs share follows from their topology: push the \
         network of peers on it, `inart apply PEERS TOPOLOGY`",
        counted(*jobs, "job")
    )]
    OtherJobs {
        /// The switch.
        switch: String,
        /// How many jobs it has entries of.
        jobs: usize,
    },
    /// Sums and copies are programs of their own.
    #[error(
        "job {summed} is summed and job {copied} copied, and on these switches that takes two programs, of which a switch \
         runs one: use other switches for one of them, or remove the one that is done, with \
         `inart remove {summed} TOPOLOGY` or `inart remove {copied} TOPOLOGY`"
    )]
    OneProgram {
        /// A job with servers.
        summed: String,
        /// A job of peers.
        copied: String,
    },
}

/// A network of peers, and which of its jobs were removed since it was pushed.
#[derive(Debug, Clone)]
pub struct Peers {
    /// The network.
    pub mesh: Mesh,
    /// Jobs that are not installed.
    pub removed: BTreeSet<JobId>,
}

impl Peers {
    /// A network with all its jobs.
    pub fn new(mesh: Mesh) -> Self {
        Self { mesh, removed: BTreeSet::new() }
    }

    /// The jobs that are installed, by their numbers.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &PeerJob)> {
        let jobs = self.mesh.jobs().iter().enumerate();
        let numbered = jobs.filter_map(|(place, job)| Some((self.mesh.job_number(place)?.into(), job)));
        numbered.filter(|(number, _)| !self.removed.contains(number))
    }

    /// The names of a job's peers, by rank.
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

/// Returns the ports of a network of peers alone, whose switches have these ports.
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

/// Gives hosts of a topology the addresses that they have as peers.
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
