//! The slot rules once more, in Rust, against any sequence of frames.

use inart_p4::Outcome;
use inart_wire::ValuesPerFrame;
use proptest::prelude::*;

use super::case::{Case, Step, case, consumed, leaves};
use super::frame::{BYPASS, CONGESTION, Inart, LAST, MAXIMA, OVERFLOW, RESEND};

/// A used slot.
struct Slot {
    /// Plan version and incarnation: job, shard and group are the same in all frames here.
    tag: (u16, u32),
    /// Exponent, length, flag last.
    shape: (i8, u16, u8),
    sequence: u32,
    seen: u64,
    /// Workers that repeated since the complete partial last left.
    asked: u64,
    flags: u8,
    values: Vec<i32>,
}

/// The four slots of shard 0 in [`super::network`].
#[derive(Default)]
struct Slots([Option<Slot>; 4]);

pub const EXPECTED: u64 = 0b111;
pub const STICKY: u8 = OVERFLOW | CONGESTION;

impl Slots {
    /// Handles the gradient or partial. Returns the outcome, and the frame that leaves, if any.
    fn step(&mut self, frame: &Inart) -> (Outcome, Option<Inart>) {
        if frame.flags & BYPASS != 0 {
            return (Outcome::Bypassed, Some(frame.clone()));
        }
        let tag = (frame.plan_version, frame.incarnation);
        let shape = (frame.exponent, frame.length, frame.flags & LAST);
        let entry = &mut self.0[(frame.sequence & 3) as usize];
        let age = |slot: &Slot| frame.sequence.wrapping_sub(slot.sequence) as i32;
        let outcome = match entry {
            Some(slot) if slot.tag == tag && age(slot) <= 0 => {
                if age(slot) < 0 {
                    return (Outcome::Stale, Some(frame.clone()));
                }
                if slot.shape != shape {
                    return (Outcome::FormatMismatch, Some(frame.clone()));
                }
                if slot.seen & frame.contributors != 0 {
                    return match frame.contributors & !slot.seen {
                        0 if slot.seen == EXPECTED
                            && (slot.asked == 0 || slot.asked & frame.contributors != 0) =>
                        {
                            slot.asked = frame.contributors;
                            (Outcome::Repeated, Some(partial(frame, slot)))
                        }
                        0 if slot.seen == EXPECTED => {
                            slot.asked |= frame.contributors;
                            (Outcome::DuplicateIgnored, None)
                        }
                        0 => (Outcome::DuplicateIgnored, None),
                        _ => (Outcome::PartialOverlap, Some(frame.clone())),
                    };
                }
                for (sum, &value) in slot.values.iter_mut().zip(&frame.values) {
                    if frame.exponent == MAXIMA {
                        *sum = (*sum as u32).max(value as u32) as i32;
                        continue;
                    }
                    if sum.checked_add(value).is_none() {
                        slot.flags |= OVERFLOW;
                    }
                    *sum = sum.saturating_add(value);
                }
                slot.seen |= frame.contributors;
                slot.flags |= frame.flags & STICKY;
                Outcome::Added
            }
            _ => {
                *entry = Some(Slot {
                    tag,
                    shape,
                    sequence: frame.sequence,
                    seen: frame.contributors,
                    asked: 0,
                    flags: frame.flags & STICKY,
                    values: frame.values.clone(),
                });
                Outcome::SlotClaimed
            }
        };
        match entry {
            Some(slot) if slot.seen == EXPECTED => {
                slot.asked = if frame.flags & RESEND != 0 { frame.contributors } else { 0 };
                (Outcome::Completed, Some(partial(frame, slot)))
            }
            _ => (outcome, None),
        }
    }
}

fn partial(frame: &Inart, slot: &Slot) -> Inart {
    Inart {
        kind: 2,
        contributors: slot.seen,
        flags: frame.flags | slot.flags,
        values: slot.values.clone(),
        ..frame.clone()
    }
}

/// Returns a frame of one of the three workers, most often one that fits the others.
pub fn frame(n: ValuesPerFrame) -> impl Strategy<Value = Inart> {
    let sequence = prop_oneof![6 => 0u32..6, 1 => 6u32..12, 1 => 0xffff_fffau32..];
    let flags = prop_oneof![
        8 => Just(0),
        2 => Just(RESEND),
        1 => Just(BYPASS | RESEND),
        2 => Just(LAST),
        1 => Just(OVERFLOW),
        1 => Just(CONGESTION)
    ];
    let exponent = prop_oneof![12 => Just(-20i8), 6 => Just(MAXIMA), 1 => any::<i8>()];
    let plan_version = prop_oneof![15 => Just(1u16), 1 => Just(2)];
    let incarnation = prop_oneof![15 => Just(0x0a0b_0c0du32), 1 => Just(0x0a0b_0c0e), 1 => Just(0)];
    let length = prop_oneof![15 => Just(n.get() as u16), 1 => 1..=n.get() as u16];
    let edge = prop_oneof![Just(i32::MIN), Just(i32::MAX), -1..=1i32];
    let values = prop_oneof![
        4 => prop::collection::vec(-0x2000_0000..0x2000_0000i32, n.get()),
        1 => prop::collection::vec(prop_oneof![20 => -9..9i32, 1 => edge], n.get()),
        1 => prop::collection::vec(any::<i32>(), n.get())
    ];
    let tag = (plan_version, incarnation);
    let shape = (exponent, length);
    (0u16..3, sequence, flags, tag, shape, values).prop_map(
        move |(worker, sequence, flags, (plan_version, incarnation), (exponent, length), values)| Inart {
            flags,
            exponent,
            length,
            plan_version,
            incarnation,
            values,
            ..Inart::gradient(n, 0, worker, sequence)
        },
    )
}

/// Generates sequences of frames, with the expected output of each.
pub fn cases(n: ValuesPerFrame) -> impl Strategy<Value = Case> {
    prop::collection::vec(frame(n), 1..120).prop_map(|frames| {
        let mut slots = Slots::default();
        case(
            "any sequence of frames",
            frames.iter().map(|frame| -> Step {
                let port = frame.worker + 1;
                match slots.step(frame) {
                    (outcome, Some(out)) => leaves(port, frame, outcome, 5, &out),
                    (outcome, None) => consumed(port, frame, outcome),
                }
            }),
        )
    })
}
