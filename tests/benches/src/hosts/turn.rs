//! One turn: a host works for some time, and its processor time is read.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use inart_host_agent::{BatchedPort, Options, PortKind, Server, Worker};
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_wire::{MacAddr, Rank, ShardId};

use crate::gate::{Gate, Gated};
use crate::generator::Generator;
use crate::{Arguments, network};

/// Peer timeout of all hosts.
const PEER_TIMEOUT: Duration = Duration::from_secs(10);

/// Role of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Worker,
    Server,
}

impl Role {
    pub const ALL: [Self; 2] = [Self::Worker, Self::Server];

    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Server => "server",
        }
    }
}

/// Result of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Frames of gradients that were sent or summed.
    pub frames: u64,
    /// Processor time of the host's threads.
    pub processor_seconds: f64,
}

impl Outcome {
    pub fn frames_per_second(&self) -> f64 {
        self.frames as f64 / self.processor_seconds
    }
}

/// Takes a turn.
pub fn take(role: Role, port: PortKind, arguments: &Arguments) -> Result<Outcome> {
    let outcome = match role {
        Role::Worker => work(port, arguments),
        Role::Server => serve(port, arguments),
    };
    outcome.with_context(|| format!("{} on {}", role.name(), port.name()))
}

/// Returns a job with a rate that is no limit.
pub fn assignment(workers: u16, arguments: &Arguments) -> Assignment {
    let worker = |rank: u16| WorkerAddress { name: format!("w{rank}"), mac: mac(rank as u8) };
    Assignment {
        job: 1.into(),
        name: "hosts".into(),
        plan_version: 1.into(),
        values_per_frame: arguments.values,
        window_chunks: arguments.window,
        exact_sums: false,
        workers: (0..workers).map(worker).collect(),
        shards: vec![ShardAssignment {
            server: "s".into(),
            mac: mac(0xfe),
            share: 1.0,
            rate_bps: 100e9,
            bitmap_indices: vec![],
        }],
    }
}

pub fn mac(host: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host])
}

pub fn options() -> Options {
    Options { peer_timeout: PEER_TIMEOUT, ..Options::default() }
}

/// Measures a worker that sums a tensor repeatedly; the time of the server behind the cable does not count.
fn work(port: PortKind, arguments: &Arguments) -> Result<Outcome> {
    let assignment = assignment(1, arguments);
    let peer = BatchedPort::open(network::PEER)?;
    let mut server = Server::with_transport(assignment.clone(), ShardId::from(0), peer, options())?;
    let stopper = server.stopper();
    let (named, name) = mpsc::channel();
    thread::scope(|scope| {
        let served = scope.spawn(move || {
            named.send(network::this_thread()).ok();
            server.run()
        });
        let measured = (|| {
            let peer = name.recv()?;
            let transport = port.open(network::HOST)?;
            let worker = Worker::with_options(assignment, Rank::try_from(0u16)?, transport, options())?;
            sum_for(worker, peer, arguments)
        })();
        stopper.stop();
        match served.join() {
            Ok(served) => served?,
            Err(_) => bail!("the server panicked"),
        }
        measured
    })
}

fn sum_for(mut worker: Worker, peer: nix::unistd::Pid, arguments: &Arguments) -> Result<Outcome> {
    // Multiples of 2^-8 below 2^7 in size are sent exactly, so the sum of one is itself, in every repeat.
    let value = |index: usize| ((index.wrapping_mul(0x9e37_79b9) >> 7) & 0xffff) as f32 / 256.0 - 128.0;
    let right: Vec<f32> = (0..arguments.bytes / 4).map(value).collect();
    let mut tensor = right.clone();
    worker.all_reduce(&mut tensor)?;
    let before = network::processor_seconds_without(peer)?;
    let start = Instant::now();
    let mut rounds = 0;
    while start.elapsed().as_secs_f64() < arguments.seconds {
        worker.all_reduce(&mut tensor)?;
        rounds += 1;
    }
    let processor_seconds = network::processor_seconds_without(peer)? - before;
    let same = tensor.iter().zip(&right).all(|(one, other)| one.to_bits() == other.to_bits());
    ensure!(same, "a sum is wrong");
    let frames = rounds * right.len().div_ceil(arguments.values.get()) as u64;
    Ok(Outcome { frames, processor_seconds })
}

/// Measures a server that sums the generator's frames; the generator's time does not count.
fn serve(port: PortKind, arguments: &Arguments) -> Result<Outcome> {
    let assignment = assignment(arguments.workers, arguments);
    let gate = Arc::new(Gate::default());
    let transport = Gated { transport: port.open(network::HOST)?, gate: Arc::clone(&gate) };
    let mut server = Server::with_transport(assignment.clone(), ShardId::from(0), transport, options())?;
    let stopper = server.stopper();
    thread::scope(|scope| {
        let served = scope.spawn(move || server.run());
        let measured = (|| {
            let mut generator = Generator::new(&assignment, &gate)?;
            let this = network::this_thread();
            // The first window of chunks has buffers made for it.
            generator.run(Duration::from_millis(50))?;
            let before = network::processor_seconds_without(this)?;
            let frames = generator.run(Duration::from_secs_f64(arguments.seconds))?;
            let processor_seconds = network::processor_seconds_without(this)? - before;
            Ok(Outcome { frames, processor_seconds })
        })();
        gate.set(true);
        stopper.stop();
        match served.join() {
            Ok(served) => served?,
            Err(_) => bail!("the server panicked"),
        }
        measured
    })
}
