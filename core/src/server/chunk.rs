//! One chunk's sum at the server.

use alloc::vec::Vec;

use inart_wire::{ChunkSeq, Contributors, Exponent, Flags, Frame, Group, HeaderRepr, Kind, WorkerId};

use crate::Instant;

use super::seats::Seats;
use super::sum::Sum;

/// A chunk that is being summed, or was and is kept to answer repeats.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub sequence: ChunkSeq,
    /// When its first frame came.
    pub opened: Instant,
    pub length: u16,
    pub last: bool,
    /// What the values are scaled by; the result's once complete.
    pub exponent: Exponent,
    /// Flags congestion and vanished if any contribution had them: the result passes them on.
    pub marks: Flags,
    /// Seat of the worker whose frame completed the sum.
    pub completed_by: Option<WorkerId>,
    /// Who is not in the sum: one bitmap per group.
    missing: Vec<u64>,
    /// Who sent a repeat since the result was last sent, as in a switch's slot: one bitmap per group, or empty if nobody.
    asked: Vec<u64>,
    sum: Sum,
}

/// What is to become of a contribution to an incomplete chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nobody in it was there: add it.
    Add,
    /// Everybody in it was there: nothing changes.
    Repeat,
    /// Some were there: refuse it, ask the others to send by bypass.
    Overlap,
    /// Its sum saturated on the way: discard it, ask those who are missing to send by bypass.
    Overflow,
    /// Its sender's values need this higher exponent: start anew with it, ask everybody else.
    Raise,
    /// Its sender has not heard that the chunk was started anew: ask it.
    Behind,
    /// Nobody agreed on or asked for its exponent: refuse it.
    Exponent,
}

/// Whether a worker says with this frame that its values do not fit the agreed exponent.
fn is_clipped(header: &HeaderRepr) -> bool {
    header.kind == Kind::Gradient && header.flags.contains(Flags::OVERFLOW)
}

impl Chunk {
    /// A chunk that nobody is in yet, as its first frame describes it. If that frame does not fit the agreed exponent,
    /// which it does not tell, the chunk starts at the lowest, to be raised by it.
    pub(super) fn open(now: Instant, header: &HeaderRepr, sum: Sum, seats: &Seats) -> Self {
        Self {
            sequence: header.sequence,
            opened: now,
            length: header.length,
            last: header.flags.contains(Flags::LAST),
            exponent: if is_clipped(header) { Exponent::MIN } else { header.exponent },
            marks: Flags::NONE,
            completed_by: None,
            missing: seats.taken().to_vec(),
            asked: Vec::new(),
            sum,
        }
    }

    pub(super) fn judge(&self, header: &HeaderRepr) -> Verdict {
        if header.exponent < self.exponent {
            return Verdict::Behind;
        }
        if header.exponent > self.exponent {
            return if is_clipped(header) { Verdict::Raise } else { Verdict::Exponent };
        }
        let here = self.here(header.contributors);
        if here == header.contributors {
            Verdict::Repeat
        } else if header.kind == Kind::Partial && header.flags.contains(Flags::OVERFLOW) {
            Verdict::Overflow
        } else if here.is_empty() {
            Verdict::Add
        } else {
            Verdict::Overlap
        }
    }

    /// Those of `contributors` that are in the sum.
    fn here(&self, contributors: Contributors) -> Contributors {
        let bitmap = contributors.bitmap & !self.missing[contributors.group.index()];
        Contributors { bitmap, ..contributors }
    }

    /// Those of `contributors` that are not in the sum.
    pub(super) fn missing_of(&self, contributors: Contributors) -> Contributors {
        let bitmap = contributors.bitmap & self.missing[contributors.group.index()];
        Contributors { bitmap, ..contributors }
    }

    /// The seats of everybody who is not in the sum, ascending.
    pub(super) fn missing(&self) -> impl Iterator<Item = WorkerId> {
        (0..=u8::MAX)
            .map(Group)
            .zip(&self.missing)
            .flat_map(|(group, &bitmap)| Contributors { bitmap, group }.ranks())
    }

    /// Forgets what was added and goes on with a higher exponent. Marks stay: what had vanished does so again.
    pub(super) fn raise(&mut self, exponent: Exponent, seats: &Seats) {
        self.exponent = exponent;
        self.missing.copy_from_slice(seats.taken());
        self.sum.clear();
    }

    /// Adds a frame nobody of whom was there; whoever completes the sum ends it: the sums become the result.
    pub(super) fn add(&mut self, header: &HeaderRepr, frame: &Frame<&[u8]>) {
        self.missing[header.contributors.group.index()] &= !header.contributors.bitmap;
        for mark in [Flags::CONGESTION, Flags::VANISHED] {
            self.marks = self.marks.with_if(mark, header.flags.contains(mark));
        }
        self.sum.add(frame);
        if self.missing.iter().all(|&bitmap| bitmap == 0) {
            self.exponent = self.sum.complete(self.exponent);
            self.completed_by = Some(header.worker);
            if header.flags.contains(Flags::RESEND) {
                self.note_repeat(header.contributors);
            }
        }
    }

    /// Takes in a repeat for the complete chunk; whether it is to be answered with the result: once per wave of repeats, to
    /// the first and to whoever asks again.
    pub(super) fn ask(&mut self, contributors: Contributors) -> bool {
        let asked = self.asked.get(contributors.group.index()).copied().unwrap_or(0);
        let answer = self.asked.is_empty() || asked & contributors.bitmap != 0;
        if answer {
            self.asked.clear();
        }
        self.note_repeat(contributors);
        answer
    }

    fn note_repeat(&mut self, contributors: Contributors) {
        self.asked.resize(self.missing.len(), 0);
        self.asked[contributors.group.index()] |= contributors.bitmap;
    }

    /// The result's meaningful values, once complete.
    pub(super) fn result(&self) -> &[i32] {
        &self.sum.result()[..usize::from(self.length)]
    }
}
