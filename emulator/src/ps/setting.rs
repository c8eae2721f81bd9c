//! Settings of an emulation at a parameter server.

use std::collections::BTreeSet;
use std::path::PathBuf;

use inart_protocol_ps::{BatchRule, SyncModel};
use inart_ps_agent::Precision;
use inart_topologies::ps::{Job, Nic, Participant, Time};
use inart_training::{Client, Config, ConfigError, Local};

use super::faults::ProcessFaults;
use crate::machine::fault::DropRate;
use crate::machine::scale::Scaling;

/// Synchronization model.
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// Synchronization of workers.
    Workers(SyncModel),
    /// Synchronization of clients in groups.
    Groups {
        /// M.
        groups: usize,
        /// C.
        fraction: f64,
        /// r.
        relaxation: f64,
    },
}

impl Order {
    /// Returns the number of groups, if any.
    pub fn groups(&self) -> Option<usize> {
        match self {
            Order::Workers(_) => None,
            Order::Groups { groups, .. } => Some(*groups),
        }
    }
}

/// Training of clients.
#[derive(Debug, Clone)]
pub struct Clients {
    /// Data and steps.
    pub local: Local,
    /// Numbers of those that push the opposite of what they have learnt.
    pub opposite: BTreeSet<usize>,
}

/// A scheme of the comparison: its name, its synchronization model, and the arguments of a server's process.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// Name of the scheme.
    pub name: String,
    /// Synchronization model, of workers or of clients.
    pub order: Order,
    /// The server's flags.
    pub flags: Vec<String>,
}

/// Transport between processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// By QUIC, as across routed networks.
    Quic,
    /// By raw frames inside one network.
    Frames,
}

/// Settings of an emulation at a parameter server.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The network's name.
    pub network: String,
    /// The server's name.
    pub server: String,
    /// The job, at the rates and times that are emulated, with the model's own size.
    pub job: Job,
    /// By how much it is smaller than the document's.
    pub scale: Scaling,
    /// The orders, one after the other.
    pub schemes: Vec<Scheme>,
    /// Training of clients, in a job of clients.
    pub clients: Option<Clients>,
    /// Rule for batch sizes.
    pub tuning: Option<BatchRule>,
    /// Format of values on the wire.
    pub precision: Precision,
    /// Iterations of every worker, or rounds of every group.
    pub iterations: u32,
    /// The step along the gradient, of all workers together.
    pub step: f64,
    /// Decides data, weights and times to compute.
    pub seed: u64,
    /// The program of the processes.
    pub program: PathBuf,
    /// Transport between processes.
    pub transport: Transport,
    /// By QUIC, how connections follow the network.
    pub congestion: String,
    /// The part of the frames that each worker's link loses, in either direction.
    pub drop: DropRate,
    /// Time that the server waits for a worker before it times it out, in seconds; unlimited by default.
    pub patience_s: Option<f64>,
    /// Processes that are killed and started again.
    pub faults: ProcessFaults,
}

impl Setting {
    /// The model's values.
    pub fn values(&self) -> usize {
        (self.job.bits / 32.0).round() as usize
    }

    /// The client of a number.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn client(&self, clients: &Clients, rank: usize) -> Result<Client, ConfigError> {
        let participants = &self.job.participants;
        let batch = participants.get(rank).map_or(1, |client| client.batch as usize);
        Client::new(Config { seed: self.seed, rank, workers: participants.len(), batch }, clients.local)
    }

    /// The network as a document for its processes.
    pub fn document(&self) -> String {
        inart_topologies::ps::star(&self.network, &self.server, &self.job, 4 * self.values() as u64).to_yaml()
    }
}

/// A job with a model of another size, at other rates: what transfers and computing take of their time keeps
/// its proportion. `factor`: of all rates. Returns what times are multiplied by, too.
pub fn scaled(job: &Job, bits: f64, batch: Option<u32>, factor: f64) -> (Job, f64) {
    let time = bits / job.bits / factor;
    let nic = |nic: &Nic| Nic { out_bps: nic.out_bps * factor, in_bps: nic.in_bps * factor };
    let participant = |worker: &Participant| {
        // Of a batch of other images, a part of it takes the same part of the time.
        let images = batch.map_or(1.0, |batch| f64::from(batch) / f64::from(worker.batch));
        Participant {
            nic: nic(&worker.nic),
            delay_s: worker.delay_s * time,
            compute: Time { mean_s: worker.compute.mean_s * time, cv: worker.compute.cv },
            batch: batch.unwrap_or(worker.batch),
            speed: worker.speed / time * images,
            ..worker.clone()
        }
    };
    let job = Job {
        name: job.name.clone(),
        kind: job.kind,
        participants: job.participants.iter().map(participant).collect(),
        server: nic(&job.server),
        bits,
        pause: Time { mean_s: job.pause.mean_s * time, cv: job.pause.cv },
    };
    (job, time)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use inart_simulator_ps::{WorkerOptions, run_workers};
    use inart_topologies::ps::Cluster;

    use super::*;

    const NETWORK: &str = "{name: n, nodes: [{name: v, kind: switch}, {name: s1, kind: server}, \
        {name: w1, kind: worker}, {name: w2, kind: worker}], links: [{ends: [v, s1], rate: 8 Gbps}, \
        {ends: [v, w1], rate: 2 Gbps}, {ends: [v, w2], rate: 2 Gbps, delay: 5 ms}], \
        jobs: [{name: j, servers: [s1], gradient: 100 MB, batch: 128, \
        compute: {default: {mean: 2 s}, overrides: {w2: {mean: 1 s}}}}]}";

    fn setting() -> (Cluster, Setting, f64) {
        let cluster = Cluster::from_yaml(NETWORK).unwrap();
        let (job, time) = scaled(&cluster.jobs[0], 3.2e6, Some(8), 0.01);
        let setting = Setting {
            network: "n".into(),
            server: "s1".into(),
            job,
            scale: Scaling { rates: 0.01, times: time },
            schemes: Vec::new(),
            clients: None,
            tuning: None,
            precision: Precision::Single,
            iterations: 3,
            step: 0.5,
            seed: 1,
            program: PathBuf::new(),
            transport: Transport::Quic,
            congestion: String::new(),
            drop: DropRate::default(),
            patience_s: None,
            faults: ProcessFaults::default(),
        };
        (cluster, setting, time)
    }

    #[test]
    fn a_scaled_job_takes_as_long_in_proportion() {
        let (cluster, setting, time) = setting();
        assert!((time - 0.4).abs() < 1e-12);
        for sync_model in [SyncModel::bsp(), SyncModel::asp()] {
            let run = |job: &Job| run_workers(job, &WorkerOptions::new(sync_model, 9)).unwrap().iteration_s;
            let (whole, small) = (run(&cluster.jobs[0]), run(&setting.job));
            assert!((small / whole - time).abs() < 1e-6, "{whole} {small}");
        }
        // Twice the batch takes twice the time to compute.
        let worker = &setting.job.participants[0];
        assert!((8.0 / worker.speed - worker.compute.mean_s).abs() < 1e-9);
    }

    #[test]
    fn processes_read_the_same_job() {
        let (_, setting, _) = setting();
        let read = Cluster::from_yaml(&setting.document()).unwrap();
        assert_eq!((read.name.as_str(), read.jobs.len()), ("n", 1));
        assert_eq!(read.jobs[0], setting.job);
    }
}
