//! What a server and a worker are told about their connections and their job.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use inart_cluster::{Cluster, Job as ClusterJob};
use inart_order_host::{HostOptions, Job, PROTOCOL};
use inart_quic::Congestion;
use inart_tls::{IdentityFiles, MutualTls};

use super::network;

/// Of a link's rate so much is there for packets: of the 1494 bytes of a full frame 1418 are a packet's, and
/// acknowledgements of what comes in share the link with what goes out.
const PACE_SHARE: f64 = 0.92;

/// Flags about connections.
#[derive(clap::Args)]
pub struct Connections {
    /// The network document (YAML or JSON); its job says how long participants compute.
    pub topology: PathBuf,
    /// The job [default: the only one that says how long it computes].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Its own name in the network; a DNS name of its certificate.
    #[arg(long)]
    pub name: String,
    /// Where to listen, by UDP.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// The certificate of the authority that all of them trust (PEM).
    #[arg(long, value_name = "FILE")]
    tls_ca: PathBuf,
    /// Its own certificate (PEM).
    #[arg(long, value_name = "FILE")]
    tls_cert: PathBuf,
    /// The key of --tls-cert (PEM).
    #[arg(long, value_name = "FILE")]
    tls_key: PathBuf,
    /// How connections follow the network: bbr, which shares a port evenly and goes on at the link's rate
    /// when packets are lost, or cubic.
    #[arg(long, default_value = "bbr", value_parser = ["cubic", "bbr"])]
    congestion: String,
    /// Send at no more than what the worker's link, as the network has it, carries beside headers and
    /// acknowledgements (92 % of its rate).
    #[arg(long)]
    pace: bool,
    /// Decides the data, the first weights and times to compute; the same at all processes.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Connections {
    /// The network and its job, with one server of that name.
    pub fn read(&self, server: &str) -> anyhow::Result<(ClusterJob, Job)> {
        let cluster = network::read(&self.topology)?;
        let job = network::job(&cluster, self.job.as_deref())?.clone();
        let own = of_processes(&cluster, &job, server)?;
        Ok((job, own))
    }

    /// The rate at which to send over a link of that rate; none for no limit.
    pub fn rate_bps(&self, link_bps: f64) -> Option<f64> {
        self.pace.then_some(PACE_SHARE * link_bps)
    }

    /// How to reach these.
    pub fn options(&self, flag: &str, peers: &[(String, SocketAddr)]) -> anyhow::Result<HostOptions> {
        let mut all = BTreeMap::new();
        for (name, address) in peers {
            ensure!(
                all.insert(name.clone(), *address).is_none(),
                "{flag} {name} is there twice; give it once"
            );
        }
        let identity = IdentityFiles { certificate: self.tls_cert.clone(), key: self.tls_key.clone() };
        Ok(HostOptions {
            listen: self.listen,
            peers: all,
            tls: MutualTls::load(&self.tls_ca, &identity, PROTOCOL).context("TLS")?,
            congestion: if self.congestion == "bbr" { Congestion::Bbr } else { Congestion::Cubic },
        })
    }
}

/// A job as its processes know it.
pub fn of_processes(cluster: &Cluster, job: &ClusterJob, server: &str) -> anyhow::Result<Job> {
    let values = job.bits / 32.0;
    ensure!(
        values.fract() == 0.0 && values >= 1.0,
        "job {} of network {}: a model of {} bytes is no whole number of float32; give a multiple of 4 B",
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
