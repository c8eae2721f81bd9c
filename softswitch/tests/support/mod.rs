//! The INART program with frames and entries for it, shared by tests and benchmarks.
#![allow(dead_code)]

use std::sync::Arc;

use inart_softswitch::control::{ActionCall, Entry, EntryAction, Match, Port};
use inart_softswitch::{Program, Sink, Switch};

/// Frames that came out, in order.
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
        frame.extend([0x21, 0, 0, 1, 0, 1, 0, 0]);
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

/// The values of an INART frame.
pub fn values(frame: &[u8]) -> Vec<i32> {
    frame[44..].chunks_exact(4).map(|word| i32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// A switch that adds the frames of so many workers (worker w on port w) and sends sums out of port 100.
pub fn aggregating_switch(program: Arc<Program>, workers: u16) -> Switch {
    let mut switch = Switch::new(1);
    switch.load(program).expect("the program loads");
    let expected = ((1u128 << workers) - 1) as u64;
    for worker in 0..workers {
        let exact = |value: u16| Match::Exact(value.to_be_bytes().to_vec());
        let params = [
            100u64.to_be_bytes(),
            0u64.to_be_bytes(),
            15u64.to_be_bytes(),
            expected.to_be_bytes(),
            expected.to_be_bytes(),
        ];
        let call = ActionCall {
            action: "InArtIngress.add".into(),
            params: params.iter().map(|value| value.to_vec()).collect(),
        };
        let key = vec![exact(1), exact(1), exact(0), exact(worker), exact(worker)];
        switch
            .insert_entry("InArtIngress.steer", Entry::new(key, 0, EntryAction::Call(call)))
            .expect("the entry fits");
    }
    switch
}
