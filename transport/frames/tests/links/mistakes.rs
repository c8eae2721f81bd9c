//! Mistakes of a side, each of which breaks a rule of docs/protocol/ps.md ("Push and pull by frames"). They
//! are made in its sent and received frames, so the links are the real ones.

use std::collections::BTreeSet;

use inart_frames::FrameLink;

use super::world::pair;

const PART: u32 = 32;
const TAKEN: u32 = 33;
const HELLO: u32 = 34;

/// A mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// Frames of other pairs of numbers are taken for those of this connection.
    AnyPair,
    /// A side that starts again has the number that it had.
    SameIncarnation,
    /// A hello that names a number that is over is answered with the numbers that there are.
    OwnNumbers,
    /// One part more than has arrived is acknowledged.
    OneMore,
    /// No part is acknowledged.
    NothingTaken,
    /// Parts are sent once.
    Once,
    /// A duplicated part is taken for another one.
    Twice,
}

/// Frames that a side has sent and received.
#[derive(Debug, Clone, Default)]
pub struct Wire {
    /// Parts, by the numbers of the connection and their own.
    sent_before: BTreeSet<(u32, u32, u32)>,
    received_before: BTreeSet<(u32, u32, u32)>,
}

impl Wire {
    /// Returns a frame that leaves, if it does.
    pub fn filter_sent(
        &mut self,
        mut words: Vec<u32>,
        link: &FrameLink,
        mistake: Mistake,
    ) -> Option<Vec<u32>> {
        let (_, other) = pair(link);
        match (mistake, words[0]) {
            (Mistake::OwnNumbers, HELLO) if words[2] == 0 && other != 0 => {
                (words[2], words[3]) = (other, 1);
            }
            (Mistake::OneMore, TAKEN) => words[3] += 1,
            (Mistake::NothingTaken, TAKEN) => return None,
            (Mistake::Once, PART) if !self.sent_before.insert((words[1], words[2], words[3])) => return None,
            _ => {}
        }
        Some(words)
    }

    /// Filters a frame that arrives.
    pub fn filter_received(
        &mut self,
        mut words: Vec<u32>,
        link: &FrameLink,
        mistake: Mistake,
    ) -> Option<Vec<u32>> {
        let (own, other) = pair(link);
        match (mistake, words[0]) {
            (Mistake::AnyPair, PART | TAKEN) => (words[1], words[2]) = (other, own),
            (Mistake::Twice, PART) if !self.received_before.insert((words[1], words[2], words[3])) => {
                words[3] += 500
            }
            _ => {}
        }
        Some(words)
    }
}
