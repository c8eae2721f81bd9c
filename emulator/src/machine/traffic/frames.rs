//! Ethernet frames of no protocol.

use inart_ethernet::{PacketSocket, Queue};
use inart_wire::MacAddr;

/// IEEE local experimental 2: INART's frames have the other one.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb6];

/// Sends frames from host to host.
pub struct Sender {
    socket: PacketSocket,
    queue: Queue,
    frame: Vec<u8>,
}

impl Sender {
    /// Sends frames of `frame_bytes` through a socket, from the first address to the second.
    pub fn new(socket: PacketSocket, [from, to]: [MacAddr; 2], frame_bytes: u16) -> Self {
        let mut frame = [&to.0[..], &from.0[..], &ETHER_TYPE[..]].concat();
        frame.resize(usize::from(frame_bytes), 0);
        Self { socket, queue: Queue::default(), frame }
    }

    /// Sends as many frames as fit into a budget of bytes; the bytes of those.
    pub fn send(&mut self, budget: f64) -> f64 {
        let mut sent = 0.0;
        while sent + self.frame.len() as f64 <= budget {
            self.queue.push(&self.frame);
            sent += self.frame.len() as f64;
        }
        self.queue.flush(&self.socket);
        sent
    }
}
