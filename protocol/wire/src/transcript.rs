//! Summary of the tensors that a worker has started.

use core::fmt;

/// Transcript hashes of a worker's tensors: for some of the tensors, a hash of the descriptions of all
/// tensors up to it.
///
/// Two workers started the same tensors up to a tensor if the marks of that tensor are equal. A transcript
/// has the marks of the last twelve tensors, and for the powers 4² to 4⁹ the mark of the last tensor whose
/// number is a multiple. So the transcripts of two workers share a mark of some tensor, even when one of them
/// is far ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transcript {
    /// Number of tensors started, which is the number of the last one; modulo 2³². With 0, no mark counts.
    pub started: u32,
    /// Hash for each of [`numbers`](Self::numbers).
    pub marks: [u32; Self::MARKS],
}

impl Transcript {
    /// Number of the last tensors that each have a mark.
    pub const LAST: usize = 12;
    /// Number of powers of 4.
    pub const POWERS: usize = 8;
    /// Number of marks.
    pub const MARKS: usize = Self::LAST + Self::POWERS;

    /// Returns the tensor number, counted from 1, of each mark; 0 if no tensor has that number.
    pub fn numbers(started: u32) -> [u32; Self::MARKS] {
        core::array::from_fn(|place| match place {
            0..Self::LAST => started.saturating_sub(place as u32),
            _ => {
                let bits = 2 * (place + 2 - Self::LAST);
                started >> bits << bits
            }
        })
    }

    /// Returns the marks, each with the number of its tensor.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        Self::numbers(self.started).into_iter().zip(self.marks).filter(|(number, _)| *number > 0)
    }

    /// Returns the mark of the tensor of that number.
    pub fn mark(&self, number: u32) -> Option<u32> {
        self.numbered().find_map(|(other, mark)| (other == number).then_some(mark))
    }

    /// The transcript as a message has it: the first two words, and those behind the incarnation's arguments.
    pub(crate) fn words(&self) -> ([u32; 2], [u32; Self::MARKS - 1]) {
        ([self.started, self.marks[0]], core::array::from_fn(|at| self.marks[at + 1]))
    }

    /// Reads the words. Missing ones, as in a version without transcripts, make an empty transcript.
    pub(crate) fn of_words([started, first]: [u32; 2], mut more: impl Iterator<Item = u32>) -> Self {
        let mut marks = [first; Self::MARKS];
        for mark in &mut marks[1..] {
            let Some(word) = more.next() else { return Self::default() };
            *mark = word;
        }
        Self { started, marks }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tensors started, transcript {:08x}", self.started, self.marks[0])
    }
}
