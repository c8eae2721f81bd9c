//! `core`'s state machines, as the model's server and workers.

use std::time::Duration;

use inart_core::{Instant, Machine, ServerShard, WorkerFlow};
use inart_model::Node;

use crate::codec::{Codec, SERVER, Seen, host, rank};

/// Nobody gives up.
const PATIENCE: Duration = Duration::from_secs(1 << 30);
/// Longer than any timeout.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A server or worker with its clock.
pub struct Host<M> {
    pub machine: M,
    now: Instant,
}

pub fn server(codec: &Codec) -> Host<ServerShard> {
    let machine = ServerShard::new(codec.assignment.clone(), 0.into(), SERVER, PATIENCE).unwrap();
    Host { machine, now: Instant::START }
}

pub fn worker(codec: &Codec, number: u8) -> Host<WorkerFlow> {
    let mut machine =
        WorkerFlow::new(codec.assignment.clone(), rank(number), host(number), PATIENCE).unwrap();
    machine.start_round(Instant::START, &codec.gradient(number)).unwrap();
    Host { machine, now: Instant::START }
}

impl<M: Machine> Host<M> {
    /// A frame comes in.
    pub fn receive(&mut self, frame: &[u8]) {
        self.machine.handle_frame(self.now, frame);
    }

    /// All that it sends now.
    pub fn send(&mut self, codec: &Codec) -> Vec<(Node, Seen)> {
        let mut buffer = [0; 2048];
        let mut sent = Vec::new();
        while let Some(length) = self.machine.poll_transmit(self.now, &mut buffer) {
            sent.push(codec.read(&buffer[..length]));
            sent.pop_if(|(_, seen)| *seen == Seen::Sign);
            assert!(sent.len() < 1000, "it sends without end");
            // The pacer lets the next frame go a moment later.
            self.now = self.now + Duration::from_micros(1);
        }
        sent
    }

    /// Time goes by until it has sent again what it can, at the pacer's pace.
    pub fn wait(&mut self, codec: &Codec) -> Vec<(Node, Seen)> {
        self.now = self.now + TIMEOUT;
        self.send(codec)
    }
}
