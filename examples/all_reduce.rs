//! An all-reduce in one process: three workers and two parameter servers, each on a thread of its own.
//!
//!     cargo run --example all_reduce
//!
//! Between machines the same calls are made with `Worker::new(assignment, rank, "eth0")`, and `inart
//! controller` has the assignment.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::thread;

use inart_host_agent::{InProcess, InProcessPort, Options, Server, Worker};
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_wire::{MacAddr, ValuesPerFrame};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const WORKERS: u8 = 3;
const SERVERS: u8 = 2;
const VALUES: usize = 100_000;

fn main() -> Result<()> {
    let right: Vec<f32> =
        (0..VALUES).map(|index| (0..WORKERS).map(|rank| gradient(rank, index)).sum()).collect();
    for (rank, sum) in run()?.into_iter().enumerate() {
        assert_eq!(sum, right, "worker {rank} has another sum");
        println!("worker {rank}: {VALUES} sums, all exact: {:?} ...", &sum[..5]);
    }
    Ok(())
}

/// Returns a value of a worker's gradient.
fn gradient(rank: u8, index: usize) -> f32 {
    f32::from(rank + 1) * (index % 1000) as f32
}

/// Runs the servers and the workers. The sum, as each worker got it.
///
/// # Errors
/// A host that fails, with its reason.
pub fn run() -> Result<Vec<Vec<f32>>> {
    let network = InProcess::new();
    let mut servers = Vec::new();
    for shard in 0..SERVERS {
        let port = network.port(mac(WORKERS + shard));
        let mut server =
            Server::with_transport(assignment(), u16::from(shard).into(), port, Options::default())?;
        servers.push((server.stopper(), thread::spawn(move || server.run())));
    }
    let mut workers = Vec::new();
    for rank in 0..WORKERS {
        let port = network.port(mac(rank));
        workers.push(thread::spawn(move || work(rank, port)));
    }
    let sums = workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker panicked")?).collect();
    for (stopper, server) in servers {
        stopper.stop();
        server.join().map_err(|_| "a server panicked")??;
    }
    sums
}

/// Runs a worker's program.
fn work(rank: u8, port: InProcessPort) -> Result<Vec<f32>> {
    let mut worker =
        Worker::with_options(assignment(), u16::from(rank).try_into()?, port, Options::default())?;
    let mut values: Vec<f32> = (0..VALUES).map(|index| gradient(rank, index)).collect();
    worker.all_reduce(&mut values)?;
    Ok(values)
}

/// Returns the assignment of all hosts of the job. A controller creates it from a plan; here the servers
/// share the gradient evenly.
fn assignment() -> Assignment {
    let worker = |rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) };
    let shard = |shard| ShardAssignment {
        server: format!("s{shard}"),
        mac: mac(WORKERS + shard),
        share: 1.0 / f64::from(SERVERS),
        rate_bps: 1e9,
        bitmap_indices: Vec::new(),
    };
    Assignment {
        job: 1.into(),
        name: "example".into(),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N256,
        window_chunks: 64,
        exact_sums: false,
        workers: (0..WORKERS).map(worker).collect(),
        shards: (0..SERVERS).map(shard).collect(),
    }
}

/// Address of a host: workers first.
fn mac(host: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host])
}
