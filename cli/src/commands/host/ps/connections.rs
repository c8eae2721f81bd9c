//! Flags of the connections and the job of a parameter server and its workers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail, ensure};
use inart_controller::job_number;
use inart_ps_host::{FrameOptions, HostOptions, Job, PROTOCOL, QuicOptions};
use inart_quic::Congestion;
use inart_tls::{IdentityFiles, MutualTls};
use inart_topologies::Switched;
use inart_topologies::ps::{Cluster, Job as ClusterJob};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, MacAddr, ValuesPerFrame};

use crate::commands::host::connections::place;
use crate::commands::network::training_job;
use crate::line::Invocation;

/// Part of a link's rate for QUIC packets. A full frame of 1494 bytes carries a packet of 1418 bytes, and
/// acknowledgements of received packets share the link with sent packets.
const PACE_SHARE: f64 = 0.92;
/// Part of a link's rate for frames of 256 values. A frame has 1068 of its 1092 bytes on the wire, a frame of
/// 172 bytes acknowledges 16 received ones, and a rest is left for retransmissions.
const FRAMES_SHARE: f64 = 0.95;

/// Flags about connections.
#[derive(clap::Args)]
pub struct Connections {
    /// Job to run [default: the only job with `compute`].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Name of the process, as in the network and in its certificate (DNS name).
    #[arg(long)]
    pub name: String,
    /// Use Ethernet frames on this interface in place of QUIC; addresses are then NAME=MAC.
    ///
    /// For processes in one network. Needs root. Frames are neither authenticated nor encrypted.
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// With --interface: values per frame, for InArt switches on the path.
    ///
    /// [default: as many as the MTU carries; short frames for short messages].
    #[arg(long, value_name = "N")]
    frame_values: Option<ValuesPerFrame>,
    /// UDP address to listen on; needed without --interface, like the certificates.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Certificate of the authority that all processes trust (PEM).
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Certificate of this process (PEM).
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert (PEM).
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Congestion control of QUIC: bbr (fair, keeps its rate despite losses) or cubic.
    ///
    /// [default: bbr].
    #[arg(long, value_parser = ["cubic", "bbr"])]
    congestion: Option<String>,
    /// Limit the send rate to 92 % (frames: 95 %) of the worker's link in the document.
    ///
    /// The rest is for headers and acknowledgements.
    #[arg(long)]
    pace: bool,
    /// Random seed of data, first weights and compute times, the same at all processes.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Address of a process, as it was given: HOST:PORT for QUIC, a MAC for frames.
#[derive(Debug, Clone)]
pub struct ProcessAddress {
    /// Name of the process.
    pub name: String,
    address: String,
}

impl std::str::FromStr for ProcessAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write NAME=HOST:PORT, or with --interface NAME=MAC";
        let (name, address) = text.split_once('=').ok_or(form)?;
        Ok(ProcessAddress { name: name.to_owned(), address: address.to_owned() })
    }
}

impl Connections {
    /// Reads the network and its job, with the one server that has this name.
    pub fn read(
        &self,
        network: &Switched,
        server: &str,
        invocation: &Invocation,
    ) -> anyhow::Result<(ClusterJob, Job)> {
        let cluster = network.training().with_context(|| invocation.path.display().to_string())?;
        let job = training_job(&cluster, self.job.as_deref())?.clone();
        let own = of_processes(&cluster, &job, server)?;
        Ok((job, own))
    }

    /// Returns the sending rate for a link of this rate; `None` for no limit.
    pub fn rate_bps(&self, link_bps: f64) -> Option<f64> {
        let share = if self.interface.is_some() { FRAMES_SHARE } else { PACE_SHARE };
        self.pace.then_some(share * link_bps)
    }

    /// Returns the connection options for these addresses.
    pub fn options(
        &self,
        flag: &str,
        addresses: &[ProcessAddress],
        (job, topology): (&Job, &Topology),
    ) -> anyhow::Result<HostOptions> {
        match &self.interface {
            Some(interface) => {
                self.refuse_quic(interface)?;
                Ok(HostOptions::Frames(FrameOptions {
                    interface: interface.clone(),
                    peers: each(flag, addresses, |process| process.mac(flag))?,
                    job: number(job, topology)?,
                    values: self.frame_values,
                }))
            }
            None => Ok(HostOptions::Quic(Box::new(self.quic(flag, addresses)?))),
        }
    }

    fn refuse_quic(&self, interface: &str) -> anyhow::Result<()> {
        let given = [
            (self.listen.is_some(), "listen"),
            (self.tls_ca.is_some(), "tls-ca"),
            (self.tls_cert.is_some(), "tls-cert"),
            (self.tls_key.is_some(), "tls-key"),
            (self.congestion.is_some(), "congestion"),
        ];
        match given.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, flag)) => bail!(
                "--{flag}: it is for QUIC, and with --interface {interface} frames are sent; leave out one of \
                 them"
            ),
            None => Ok(()),
        }
    }

    fn quic(&self, flag: &str, addresses: &[ProcessAddress]) -> anyhow::Result<QuicOptions> {
        if let Some(values) = self.frame_values {
            bail!(
                "--frame-values {values}: it is for frames; name the interface, --interface, or leave it out"
            );
        }
        let lacks =
            |flag: &str| anyhow!("--{flag} is missing: QUIC needs it; or use frames with --interface");
        let file = |flag: &str, path: &Option<PathBuf>| path.clone().ok_or_else(|| lacks(flag));
        let listen = self.listen.ok_or_else(|| lacks("listen"))?;
        let ca = file("tls-ca", &self.tls_ca)?;
        let identity = IdentityFiles {
            certificate: file("tls-cert", &self.tls_cert)?,
            key: file("tls-key", &self.tls_key)?,
        };
        Ok(QuicOptions {
            listen,
            peers: each(flag, addresses, |process| process.socket(flag))?,
            tls: MutualTls::load(&ca, &identity, PROTOCOL).context("TLS")?,
            congestion: match self.congestion.as_deref() {
                Some("cubic") => Congestion::Cubic,
                _ => Congestion::Bbr,
            },
        })
    }
}

/// Returns the job's number in frames: its index among all jobs of the document.
fn number(job: &Job, topology: &Topology) -> anyhow::Result<JobId> {
    job_number(topology, &job.name).with_context(|| {
        format!("network {}: job {} has no number; it has too many jobs", topology.name(), job.name)
    })
}

impl ProcessAddress {
    fn socket(&self, flag: &str) -> anyhow::Result<SocketAddr> {
        let place = place(&format!("{}={}", self.name, self.address));
        place.map(|(_, address)| address).map_err(|error| anyhow!("{flag} {}: {error}", self.name))
    }

    fn mac(&self, flag: &str) -> anyhow::Result<MacAddr> {
        let ProcessAddress { name, address } = self;
        let mac = address.parse();
        mac.map_err(|_| {
            anyhow!("{flag} {name}={address}: with --interface give a MAC address, like 02:00:00:00:00:01")
        })
    }
}

/// Returns the addresses by name, and refuses a name that was given twice.
fn each<T>(
    flag: &str,
    addresses: &[ProcessAddress],
    address: impl Fn(&ProcessAddress) -> anyhow::Result<T>,
) -> anyhow::Result<BTreeMap<String, T>> {
    let mut all = BTreeMap::new();
    for process in addresses {
        let name = &process.name;
        ensure!(
            all.insert(name.clone(), address(process)?).is_none(),
            "{flag} {name} was given twice; give it once"
        );
    }
    Ok(all)
}

/// Returns a job as its processes know it.
pub fn of_processes(cluster: &Cluster, job: &ClusterJob, server: &str) -> anyhow::Result<Job> {
    let values = job.bits / 32.0;
    ensure!(
        values.fract() == 0.0 && values >= 1.0,
        "job {} of network {}: a model of {} bytes is not a whole number of float32; give a multiple of 4 B",
        job.name,
        cluster.name,
        job.bits / 8.0
    );
    let workers: Vec<_> = job.participants.iter().map(|worker| worker.name.clone()).collect();
    ensure!(
        !workers.iter().any(|worker| worker == server),
        "{server} is a worker of job {}; name its server",
        job.name
    );
    Ok(Job { name: job.name.clone(), server: server.to_owned(), workers, values: values as usize })
}
