//! Groups in turn on frames that are lost, duplicated and late.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use std::sync::Arc;
use std::time::Duration;

use inart_host_agent::{InProcessPort, PortError, Transport, Wake};
use support::check_training;

/// Loses every seventh sent frame, duplicates every fifth, and delays every eleventh behind three others.
struct Faulty {
    port: InProcessPort,
    sent: u32,
    /// Duplicates and late frames, with the number of frames to wait for.
    later: Vec<(u32, Vec<u8>)>,
}

fn faulty(port: InProcessPort) -> Box<dyn Transport> {
    Box::new(Faulty { port, sent: 0, later: Vec::new() })
}

impl Transport for Faulty {
    fn name(&self) -> &str {
        self.port.name()
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.port.prepare(frame_bytes)
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        let Self { port, sent, later } = self;
        port.transmit(&mut |room| {
            loop {
                if let Some(at) = later.iter().position(|(due, _)| due <= sent) {
                    let (_, frame) = later.remove(at);
                    room[..frame.len()].copy_from_slice(&frame);
                    return Some(frame.len());
                }
                let bytes = fill(room)?;
                *sent += 1;
                match *sent {
                    sent if sent % 7 == 0 => {}
                    sent if sent % 11 == 0 => later.push((sent + 3, room[..bytes].to_vec())),
                    sent if sent % 5 == 0 => {
                        later.push((sent, room[..bytes].to_vec()));
                        return Some(bytes);
                    }
                    _ => return Some(bytes),
                }
            }
        })
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        self.port.receive(take)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        self.port.wait(timeout)
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.port.waker()
    }
}

#[test]
fn turns_continue_under_frame_faults() {
    check_training(faulty, &[2, 1], 1, 4);
    check_training(faulty, &[1, 2, 1], 2, 3);
}
