//! What a server and a worker are told about their connections and their job.

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
use crate::line::Asked;

/// Of a link's rate so much is there for packets: of the 1494 bytes of a full frame 1418 are a packet's, and
/// acknowledgements of what comes in share the link with what goes out.
const PACE_SHARE: f64 = 0.92;
/// Of a link's rate so much is there for frames of 256 values: of 1092 bytes on the wire 1068 are the
/// frame's, a frame of 172 bytes acknowledges 16 that come in, and something is left for repairs.
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

/// Who is where, as it was given: by QUIC HOST:PORT, by frames a MAC.
#[derive(Debug, Clone)]
pub struct Place {
    /// Who.
    pub name: String,
    address: String,
}

impl std::str::FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write NAME=HOST:PORT, or with --interface NAME=MAC";
        let (name, address) = text.split_once('=').ok_or(form)?;
        Ok(Place { name: name.to_owned(), address: address.to_owned() })
    }
}

impl Connections {
    /// The network and its job, with one server of that name.
    pub fn read(&self, network: &Switched, server: &str, asked: &Asked) -> anyhow::Result<(ClusterJob, Job)> {
        let cluster = network.training().with_context(|| asked.path.display().to_string())?;
        let job = training_job(&cluster, self.job.as_deref())?.clone();
        let own = of_processes(&cluster, &job, server)?;
        Ok((job, own))
    }

    /// The rate at which to send over a link of that rate; none for no limit.
    pub fn rate_bps(&self, link_bps: f64) -> Option<f64> {
        let share = if self.interface.is_some() { FRAMES_SHARE } else { PACE_SHARE };
        self.pace.then_some(share * link_bps)
    }

    /// How to reach these.
    pub fn options(
        &self,
        flag: &str,
        places: &[Place],
        (job, topology): (&Job, &Topology),
    ) -> anyhow::Result<HostOptions> {
        match &self.interface {
            Some(interface) => {
                self.refuse_quic(interface)?;
                Ok(HostOptions::Frames(FrameOptions {
                    interface: interface.clone(),
                    peers: each(flag, places, |place| place.mac(flag))?,
                    job: number(job, topology)?,
                    values: self.frame_values,
                }))
            }
            None => Ok(HostOptions::Quic(Box::new(self.quic(flag, places)?))),
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

    fn quic(&self, flag: &str, places: &[Place]) -> anyhow::Result<QuicOptions> {
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
            peers: each(flag, places, |place| place.socket(flag))?,
            tls: MutualTls::load(&ca, &identity, PROTOCOL).context("TLS")?,
            congestion: match self.congestion.as_deref() {
                Some("cubic") => Congestion::Cubic,
                _ => Congestion::Bbr,
            },
        })
    }
}

/// The job's number in frames: its place in the document, as that of all jobs.
fn number(job: &Job, topology: &Topology) -> anyhow::Result<JobId> {
    job_number(topology, &job.name).with_context(|| {
        format!("network {}: job {} has no number; it has too many jobs", topology.name(), job.name)
    })
}

impl Place {
    fn socket(&self, flag: &str) -> anyhow::Result<SocketAddr> {
        let place = place(&format!("{}={}", self.name, self.address));
        place.map(|(_, address)| address).map_err(|error| anyhow!("{flag} {}: {error}", self.name))
    }

    fn mac(&self, flag: &str) -> anyhow::Result<MacAddr> {
        let Place { name, address } = self;
        let mac = address.parse();
        mac.map_err(|_| {
            anyhow!("{flag} {name}={address}: with --interface give a MAC address, like 02:00:00:00:00:01")
        })
    }
}

/// All by name, each once.
fn each<T>(
    flag: &str,
    places: &[Place],
    address: impl Fn(&Place) -> anyhow::Result<T>,
) -> anyhow::Result<BTreeMap<String, T>> {
    let mut all = BTreeMap::new();
    for place in places {
        let name = &place.name;
        ensure!(
            all.insert(name.clone(), address(place)?).is_none(),
            "{flag} {name} was given twice; give it once"
        );
    }
    Ok(all)
}

/// A job as its processes know it.
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
