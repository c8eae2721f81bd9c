//! An all-reduce within one process: three workers and two parameter servers, each in a thread of its own.
//!
//! `cargo run -p inart-host-agent --example in_process`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::thread;

use inart_core::{Assignment, ShardAssignment, WorkerAddress};
use inart_host_agent::{InProcess, Options, Server, Worker};
use inart_wire::{MacAddr, ValuesPerPacket};

const WORKERS: u8 = 3;
const SERVERS: u8 = 2;

/// Address of a host: workers first.
fn mac(host: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host])
}

/// What every host of the job knows. A controller writes it from a plan; here the servers share the gradient
/// evenly.
fn assignment() -> Assignment {
    let worker = |rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) };
    let shard = |shard| ShardAssignment {
        server: format!("s{shard}"),
        mac: mac(WORKERS + shard),
        share: 1.0 / f64::from(SERVERS),
        rate_bps: 1e9,
        seats: Vec::new(),
    };
    Assignment {
        job: 1.into(),
        name: "example".into(),
        epoch: 1.into(),
        values_per_packet: ValuesPerPacket::N256,
        window_chunks: 64,
        exact_sums: false,
        workers: (0..WORKERS).map(worker).collect(),
        shards: (0..SERVERS).map(shard).collect(),
    }
}

/// A worker's program: one all-reduce, then two tensors at the same time. The sums.
fn work(network: &InProcess, rank: u8) -> Result<[Vec<f32>; 3], inart_host_agent::Error> {
    let port = network.port(mac(rank));
    let id = u16::from(rank).try_into().expect("there are few workers");
    let mut worker = Worker::with_options(assignment(), id, port, Options::default())?;

    let mut gradient = vec![f32::from(rank) + 1.0; 100_000];
    worker.all_reduce(&mut gradient)?;

    let first = worker.start(vec![0.5; 5_000])?;
    let second = worker.start(vec![f32::from(rank); 70_000])?;
    // The program computes while they are summed.
    let (first, _) = worker.wait(first)?;
    let (second, _) = worker.wait(second)?;
    Ok([gradient, first, second])
}

/// Runs the job.
pub fn main() -> Result<(), Box<dyn Error>> {
    let network = InProcess::new();
    let mut servers = Vec::new();
    for shard in 0..SERVERS {
        let port = network.port(mac(WORKERS + shard));
        let mut server =
            Server::with_transport(assignment(), u16::from(shard).into(), port, Options::default())?;
        servers.push((server.stopper(), thread::spawn(move || server.run())));
    }
    let workers: Vec<_> = (0..WORKERS)
        .map(|rank| {
            let network = network.clone();
            thread::spawn(move || work(&network, rank))
        })
        .collect();
    for (rank, worker) in workers.into_iter().enumerate() {
        let sums = worker.join().map_err(|_| "a worker panicked")??;
        let [gradient, first, second] = sums.map(|sum| (sum.len(), sum[0]));
        println!("worker {rank}: {gradient:?} {first:?} {second:?}");
        assert_eq!([gradient, first, second], [(100_000, 6.0), (5_000, 1.5), (70_000, 3.0)]);
    }
    for (stopper, server) in servers {
        stopper.stop();
        server.join().map_err(|_| "a server panicked")??;
    }
    Ok(())
}
