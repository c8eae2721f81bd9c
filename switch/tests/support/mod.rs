//! The INART program with frames and entries for it, shared by tests and benchmarks.
#![allow(dead_code)]

use std::sync::Arc;

use inart_switch::control::Port;
use inart_switch::{Program, Sink, Switch};
use inart_tables::{PortNo, SlotRange, Steer, SteerAction, SteerKey, Table};
use inart_wire::{BitmapIndex, Contributors};

/// Output frames, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sent(pub Vec<(u32, Vec<u8>)>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0, frame.to_vec()));
    }
}

/// A gradient frame.
pub struct Gradient<'v> {
    pub worker: u16,
    pub sequence: u32,
    pub values: &'v [i32],
}

impl Gradient<'_> {
    pub fn bytes(&self) -> Vec<u8> {
        let mut frame = vec![0x02, 0, 0, 0, 1, 0, 0x02, 0, 0, 0, 0, self.worker as u8, 0x88, 0xb5];
        frame.extend([0x31, 0, 0, 1, 0, 1, 0, 0]);
        frame.extend(self.worker.to_be_bytes());
        frame.extend(self.sequence.to_be_bytes());
        frame.extend((1u64 << self.worker).to_be_bytes());
        frame.extend([0, 0]);
        frame.extend((self.values.len() as u16).to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(self.values.iter().flat_map(|value| value.to_be_bytes()));
        frame
    }
}

/// Returns the values of an INART frame.
pub fn values(frame: &[u8]) -> Vec<i32> {
    frame[44..].chunks_exact(4).map(|word| i32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Returns the port of a worker.
pub fn port_of(worker: u16) -> Port {
    Port(1 + u32::from(worker))
}

/// Returns a switch that adds the frames of `workers` workers, each on [`port_of`] it, and sends sums out of
/// port 100. Any worker may be among a frame's contributors.
pub fn aggregating_switch(program: Arc<Program>, workers: u16) -> Switch {
    switch_of(program, workers, |_, everybody| everybody)
}

/// As [`aggregating_switch`]; only the worker itself may be among its frame's contributors, as at its first
/// hop.
pub fn first_hop_switch(program: Arc<Program>, workers: u16) -> Switch {
    switch_of(program, workers, |worker, _| Contributors::one(worker))
}

fn switch_of(
    program: Arc<Program>,
    workers: u16,
    members: impl Fn(BitmapIndex, Contributors) -> Contributors,
) -> Switch {
    let mut switch = Switch::new(1);
    switch.load(program).expect("the program loads");
    let bitmap = ((1u128 << workers) - 1) as u64;
    let port = |port: Port| PortNo::try_from(u64::from(port.0)).expect("ports count from 1");
    for worker in 0..workers {
        let key = SteerKey {
            plan_version: 1.into(),
            job: 1.into(),
            shard: 0.into(),
            worker: BitmapIndex::try_from(worker).expect("a low rank"),
            ingress: port(port_of(worker)),
        };
        let everybody = Contributors { bitmap, ..Contributors::one(key.worker) };
        let slots = SlotRange { base: 0, len: 16 };
        let action = SteerAction::Add {
            port: port(Port(100)),
            slots,
            members: members(key.worker, everybody),
            expected: everybody,
        };
        let row = Steer::row(&key, &action);
        let (table, action) = (row.table.full_name, row.action.full_name);
        switch.put_numbers(table, row.key.as_deref(), action, &row.params).expect("the entry fits");
    }
    switch
}
