//! The slot rules of docs/protocol/tofino.md in Rust, against any sequence of frames.

use inart_p4::Outcome;
use inart_wire::ValuesPerFrame;
use proptest::prelude::*;

use super::case::{Case, Step, case, consumed, leaves};
use super::frame::{BYPASS, Inart, LAST, MAXIMA, OVERFLOW, RESEND};
use super::mark;
use super::model::{EXPECTED, STICKY, frame};

/// Contents of a slot; zeros at first.
#[derive(Clone, Default)]
struct Slot {
    mark: u32,
    sequence: u32,
    /// Plan version and incarnation: job, shard and group are the same in all frames here.
    tag: (u16, u32),
    /// Exponent, length, flag last.
    shape: (i8, u16, u8),
    seen: u64,
    flags: u8,
    values: Vec<i32>,
    /// A bit per bitmap index, which each repeat of the bitmap index turns.
    asked: u64,
    /// Turned by each answer.
    parity: bool,
}

/// The four slots of shard 0 in [`super::network`]. Each of its entries has one member, so all frames have
/// all members of their entry.
#[derive(Default)]
struct Slots([Slot; 4]);

fn is_limit(value: i32) -> bool {
    matches!(value, i32::MIN | i32::MAX)
}

impl Slots {
    /// Handles the gradient. Returns the outcome, and the frame that leaves, if any.
    fn step(&mut self, frame: &Inart) -> (Outcome, Option<Inart>) {
        // Rule 1.
        if frame.flags & BYPASS != 0 {
            return (Outcome::Bypassed, Some(frame.clone()));
        }
        let slot = &mut self.0[(frame.sequence & 3) as usize];
        let (mark, tag) = (mark::of(frame), (frame.plan_version, frame.incarnation));
        let shape = (frame.exponent, frame.length, frame.flags & LAST);
        // Rule 2.
        let outcome = if mark != slot.mark || frame.sequence.wrapping_sub(slot.sequence) as i32 > 0 {
            let (asked, parity) = (slot.asked, slot.parity);
            let (seen, flags) = (frame.contributors, frame.flags & STICKY);
            let (sequence, values) = (frame.sequence, frame.values.clone());
            *slot = Slot { mark, sequence, tag, shape, seen, flags, values, asked, parity };
            Outcome::SlotClaimed
        // Rule 3.
        } else if frame.sequence != slot.sequence {
            return (Outcome::Stale, Some(frame.clone()));
        } else if (shape, tag) != (slot.shape, slot.tag) {
            return (Outcome::FormatMismatch, Some(frame.clone()));
        } else {
            slot.join(frame)
        };
        // Rule 5.
        match (slot.seen == EXPECTED, outcome) {
            (false, outcome) => (outcome, None),
            (true, Outcome::DuplicateIgnored) if slot.answers(frame) => {
                (Outcome::Repeated, Some(slot.partial(frame)))
            }
            (true, Outcome::DuplicateIgnored) => (Outcome::DuplicateIgnored, None),
            (true, _) => {
                slot.parity = frame.flags & RESEND != 0;
                slot.asked = if slot.parity { frame.contributors } else { 0 };
                (Outcome::Completed, Some(slot.partial(frame)))
            }
        }
    }
}

impl Slot {
    /// Rule 4.
    fn join(&mut self, frame: &Inart) -> Outcome {
        let before = self.seen;
        self.seen |= frame.contributors;
        self.flags |= frame.flags & STICKY;
        if before & frame.contributors != 0 {
            return Outcome::DuplicateIgnored;
        }
        if frame.exponent == MAXIMA {
            self.values
                .iter_mut()
                .zip(&frame.values)
                .for_each(|(most, &value)| *most = (*most as u32).max(value as u32) as i32);
            return Outcome::Added;
        }
        for (sum, &value) in self.values.iter_mut().zip(&frame.values).filter(|(sum, _)| !is_limit(**sum)) {
            *sum = sum.saturating_add(value);
        }
        Outcome::Added
    }

    /// Returns whether a repeat of a complete slot is answered: the parity rule.
    fn answers(&mut self, frame: &Inart) -> bool {
        let was = self.asked & frame.contributors != 0;
        self.asked ^= frame.contributors;
        let answered = was == self.parity;
        self.parity ^= answered;
        answered
    }

    fn partial(&self, frame: &Inart) -> Inart {
        let limit = if self.values.iter().any(|value| is_limit(*value)) { OVERFLOW } else { 0 };
        Inart {
            kind: 2,
            contributors: self.seen,
            flags: frame.flags | self.flags | limit,
            values: self.values.clone(),
            ..frame.clone()
        }
    }
}

/// Generates sequences of frames, with the expected output of each.
pub fn cases(n: ValuesPerFrame) -> impl Strategy<Value = Case> {
    prop::collection::vec(frame(n), 1..120).prop_map(|frames| {
        let mut slots = Slots::default();
        let steps = frames.iter().map(|frame| -> Step {
            let port = frame.worker + 1;
            match slots.step(frame) {
                (outcome, Some(out)) => leaves(port, frame, outcome, 5, &out),
                (outcome, None) => consumed(port, frame, outcome),
            }
        });
        case("any sequence of frames on Tofino", steps)
    })
}
