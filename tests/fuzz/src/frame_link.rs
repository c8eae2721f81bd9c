//! Frames between hosts: any words, in any order, between those of two real sides. Nothing panics, and once
//! no more invalid frames arrive the two sides have a connection.

use std::time::Duration;

use bytes::Bytes;
use inart_frames::{FrameLink, LinkEvent, LinkSetup};

const STEP: Duration = Duration::from_millis(20);
const SILENCE: Duration = Duration::from_secs(2);

fn side(incarnation: u32) -> FrameLink {
    FrameLink::new(LinkSetup {
        incarnation,
        values_per_frame: 32,
        frame_bytes: 172,
        rate_bps: Some(1e8),
        silence: SILENCE,
    })
}

/// Both sides, and whether each has a connection.
struct Pair {
    sides: [FrameLink; 2],
    is_up: [bool; 2],
    now: Duration,
}

impl Pair {
    /// A side's frames that are due reach the other one.
    fn exchange(&mut self, from: usize) {
        for _ in 0..100 {
            let Some(words) = self.sides[from].next_frame(self.now) else { return };
            assert!(words.len() <= 32, "a frame of {} values", words.len());
            self.sides[1 - from].frame(&words, self.now);
        }
    }

    fn settle(&mut self) {
        for (side, is_up) in self.sides.iter_mut().zip(&mut self.is_up) {
            side.tick(self.now);
            while let Some(event) = side.next_event() {
                match event {
                    LinkEvent::Up => *is_up = true,
                    LinkEvent::Down => *is_up = false,
                    LinkEvent::Received(_) | LinkEvent::Acknowledged { .. } => {}
                }
            }
        }
    }
}

/// Runs the target: the operation and its side, in a byte; a length in another; and as many bytes, of a frame
/// or of a packet.
pub fn run(mut data: &[u8]) {
    let mut pair = Pair { sides: [side(7), side(9)], is_up: [false; 2], now: Duration::ZERO };
    let mut id = 0;
    while let [what, length, rest @ ..] = data {
        let (bytes, others) = rest.split_at(usize::from(*length).min(rest.len()));
        data = others;
        let at = usize::from(what & 1);
        pair.now += STEP * u32::from(what >> 5);
        match what >> 1 & 3 {
            0 => {
                let words: Vec<u32> =
                    bytes.as_chunks::<4>().0.iter().map(|four| u32::from_be_bytes(*four)).collect();
                pair.sides[at].frame(&words, pair.now);
            }
            1 => {
                id += 1;
                pair.sides[at].send(id, Bytes::copy_from_slice(bytes), i32::from(what >> 3 & 3));
            }
            _ => pair.exchange(at),
        }
        pair.settle();
    }
    // As long as each may take to find that its state of the other is outdated.
    let end = pair.now + 4 * SILENCE;
    while pair.now < end {
        pair.now += STEP;
        for from in [0, 1] {
            pair.exchange(from);
            pair.settle();
        }
    }
    assert_eq!(pair.is_up, [true; 2], "two sides that receive each other's frames have no connection");
}
