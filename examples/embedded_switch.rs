//! The embedded switch as a library: gradients of three workers arrive on ports 1 to 3, their sum leaves by
//! port 4.
//!
//!     cargo run --example embedded_switch
//!
//! No interface and no controller is needed: the program is p4c's output, and the entries are those that a
//! controller writes.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use inart_switch::{Port, Program, Sink, Switch};
use inart_tables::{PortNo, SlotRange, Steer, SteerAction, SteerKey, Table};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, HeaderRepr, Incarnation, JobId,
    Kind, MacAddr, PlanVersion, ShardId, ValuesPerFrame,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const PLAN_VERSION: u16 = 1;
const JOB: u16 = 1;
const SHARD: u16 = 0;
const WORKERS: u16 = 3;
const TO_SERVER: u16 = 4;
const VALUES: ValuesPerFrame = ValuesPerFrame::N32;

fn main() -> Result<()> {
    for sent in run()? {
        let frame = Frame::new_checked(&sent.frame)?;
        println!("port {}: {}", sent.port, FrameRepr::parse(&frame)?);
        let sum: Vec<i32> = frame.values().collect();
        let right: Vec<i32> =
            (0..VALUES.get()).map(|index| (0..WORKERS).map(|worker| gradient(worker, index)).sum()).collect();
        assert_eq!(sum, right, "the switch adds otherwise");
        println!("{} sums, equal bit for bit: {:?} ...", sum.len(), &sum[..5]);
    }
    Ok(())
}

/// Returns a value of a worker's gradient.
fn gradient(worker: u16, index: usize) -> i32 {
    (i32::from(worker) + 1) * 1_000_000 - 7919 * index as i32
}

/// A frame that left the switch.
pub struct Sent {
    /// By which port.
    pub port: Port,
    /// From the Ethernet header on.
    pub frame: Vec<u8>,
}

/// Links: receive the frames that the switch sends.
#[derive(Default)]
struct Links(Vec<Sent>);

impl Sink for Links {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push(Sent { port, frame: frame.to_vec() });
    }
}

/// Prepares a switch, and gives it a frame of each worker. Returns the frames that it sent.
///
/// # Errors
/// Returns an error for a program that cannot be loaded, or an entry that the switch rejects.
pub fn run() -> Result<Vec<Sent>> {
    // Any bmv2 JSON of a v1model program will do; this is ours.
    let artifact = inart_p4::artifact(VALUES);
    let mut switch = Switch::new(0);
    switch.load(Program::compile(&artifact.json)?)?;
    for worker in 0..WORKERS {
        install(&mut switch, worker)?;
    }
    let mut links = Links::default();
    for worker in 0..WORKERS {
        let now_us = u64::from(worker);
        switch.process(port_of(worker), &frame_of(worker)?, now_us, &mut links);
        println!("worker {worker} sent a frame, {} left the switch", links.0.len());
    }
    Ok(links.0)
}

/// Returns the entry for a worker's frames: add them into a slot; when all workers are in, send the sum to
/// the server.
fn install(switch: &mut Switch, worker: u16) -> Result<()> {
    let everybody = Contributors { bitmap: (1 << WORKERS) - 1, ..Contributors::default() };
    let key = SteerKey {
        plan_version: PLAN_VERSION.into(),
        job: JOB.into(),
        shard: SHARD.into(),
        worker: worker.try_into()?,
        ingress: port(port_of(worker))?,
    };
    let action = SteerAction::Add {
        port: port(Port(TO_SERVER.into()))?,
        slots: SlotRange { base: 0, len: 16 },
        members: everybody,
        expected: everybody,
    };
    let row = Steer::row(&key, &action);
    println!("{row}");
    Ok(switch.put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params)?)
}

/// Returns the frame that a worker sends.
fn frame_of(worker: u16) -> Result<Vec<u8>> {
    let values: Vec<i32> = (0..VALUES.get()).map(|index| gradient(worker, index)).collect();
    let bitmap_index = BitmapIndex::try_from(worker)?;
    let header = HeaderRepr {
        kind: Kind::Gradient,
        flags: Flags::NONE,
        plan_version: PlanVersion::from(PLAN_VERSION),
        job: JobId::from(JOB),
        shard: ShardId::from(SHARD),
        worker: bitmap_index,
        sequence: ChunkSeq::from(0),
        contributors: Contributors::one(bitmap_index),
        exponent: Exponent::from(0),
        length: values.len() as u16,
        incarnation: Incarnation::from(0),
    };
    let frame = FrameRepr {
        destination: MacAddr([2, 0, 0, 0, 0, 9]),
        source: MacAddr([2, 0, 0, 0, 0, worker as u8]),
        values_per_frame: VALUES,
        header,
    };
    let mut bytes = vec![0; frame.buffer_len()];
    frame.emit(&values, &mut bytes)?;
    Ok(bytes)
}

/// Returns the port that a worker is behind.
fn port_of(worker: u16) -> Port {
    Port(u32::from(worker) + 1)
}

/// Returns the port as entries have it.
fn port(port: Port) -> Result<PortNo> {
    PortNo::try_from(u64::from(port.0)).map_err(|number| format!("no port {number}").into())
}
