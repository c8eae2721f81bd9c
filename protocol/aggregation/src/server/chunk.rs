//! One chunk at the server.

use alloc::vec::Vec;

use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, HeaderRepr, Kind, PlanVersion, Rank,
};

use super::bitmap_indices::bitmap_indices_of;
use crate::Instant;
use crate::completion_rule::{CompletionRule, Gathered, Progress, Reduction};

/// A gradient or partial.
#[derive(Clone, Copy)]
pub(super) struct Contribution<'a> {
    pub frame: &'a Frame<&'a [u8]>,
    pub header: &'a HeaderRepr,
    /// Sender, or the worker whose frame completed it.
    pub sender: Rank,
    /// Contributors, by home bitmap index.
    pub contributors: &'a [Contributors],
}

/// A chunk that workers contribute to, or did and that is kept to answer repeats. Bitmap indices are home
/// bitmap indices, in one entry per group.
#[derive(Clone, Debug)]
pub(super) struct Chunk<R> {
    pub sequence: ChunkSeq,
    /// The plan version of its first frame.
    pub plan_version: PlanVersion,
    /// Plan version in which workers that follow send the chunk after it at its window position.
    pub next: PlanVersion,
    /// Arrival of its first frame.
    pub opened: Instant,
    pub length: u16,
    pub last: bool,
    /// Number format of the values; that of the result once complete.
    pub exponent: Exponent,
    /// Number format of the frames.
    sent_by: Exponent,
    /// Flag congestion if any contribution had it: the result passes it on.
    pub marks: Flags,
    /// Worker of the last accepted frame.
    pub completed_by: Rank,
    /// Members of the cohort that have not contributed: one bitmap per group.
    missing: Vec<u64>,
    /// Members that have not sent the chunk at all, not even too late.
    unheard: Vec<u64>,
    /// Senders of repeats since the result was last sent, as in a switch's slot: one bitmap per group, or
    /// empty if none.
    asked: Vec<u64>,
    content: Content<R>,
}

#[derive(Clone, Debug)]
enum Content<R> {
    Open(R),
    /// Values of the result's frame.
    Complete(Vec<i32>),
}

/// Handling of a contribution to an incomplete chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Addition, since no contributor is a repeat.
    Add,
    /// No change, since all contributors are repeats.
    Repeat,
    /// Refusal, since some contributors are repeats; the others are asked to send by bypass.
    Overlap,
    /// Refusal, since the sum saturated on the way; missing contributors are asked to send by bypass.
    Overflow,
}

impl<R: Reduction> Chunk<R> {
    /// Creates a chunk without contributions, as its first frame describes it.
    pub(super) fn open(
        now: Instant,
        header: &HeaderRepr,
        sender: Rank,
        reduction: R,
        members: &[u64],
    ) -> Self {
        Self {
            sequence: header.sequence,
            plan_version: header.plan_version,
            next: header.plan_version,
            opened: now,
            length: header.length,
            last: header.flags.contains(Flags::LAST),
            exponent: header.exponent,
            sent_by: header.exponent,
            marks: Flags::NONE,
            completed_by: sender,
            missing: members.to_vec(),
            unheard: members.to_vec(),
            asked: Vec::new(),
            content: Content::Open(reduction),
        }
    }

    /// Returns whether a frame has an equal length, number format and position in its tensor.
    pub(super) fn is_like(&self, header: &HeaderRepr) -> bool {
        let last = header.flags.contains(Flags::LAST);
        (self.length, self.last, self.sent_by) == (header.length, last, header.exponent)
    }

    /// Returns how to handle a frame of those contributors.
    pub(super) fn judge(&self, header: &HeaderRepr, contributors: &[Contributors]) -> Verdict {
        let missing = contributors.iter().map(|block| self.missing_of(*block).count()).sum::<u32>();
        if missing == 0 {
            Verdict::Repeat
        } else if header.kind == Kind::Partial && header.flags.contains(Flags::OVERFLOW) {
            Verdict::Overflow
        } else if missing == header.contributors.count() {
            Verdict::Add
        } else {
            Verdict::Overlap
        }
    }

    /// Returns the members of `contributors` that have not contributed.
    fn missing_of(&self, contributors: Contributors) -> Contributors {
        let bitmap = contributors.bitmap & self.missing[contributors.group.index()];
        Contributors { bitmap, ..contributors }
    }

    /// The bitmap indices of those of `contributors` that are not in.
    pub(super) fn missing_among(&self, contributors: &[Contributors]) -> Vec<BitmapIndex> {
        contributors.iter().flat_map(|block| self.missing_of(*block).bitmap_indices()).collect()
    }

    /// Returns the bitmap indices of all members that have not contributed, ascending.
    pub(super) fn missing(&self) -> impl Iterator<Item = BitmapIndex> {
        bitmap_indices_of(&self.missing)
    }

    /// Returns the bitmap indices of all members that have not sent the chunk, ascending.
    pub(super) fn unheard(&self) -> impl Iterator<Item = BitmapIndex> {
        bitmap_indices_of(&self.unheard)
    }

    /// Notes that these contributors have sent the chunk.
    pub(super) fn note_sent(&mut self, contributors: &[Contributors]) {
        for block in contributors {
            self.unheard[block.group.index()] &= !block.bitmap;
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        matches!(self.content, Content::Complete(_))
    }

    /// Returns the progress of the chunk, in a cohort of `members` members.
    pub(super) fn progress(&self, cohort: usize, members: usize) -> Progress {
        let missing: u32 = self.missing.iter().map(|bitmap| bitmap.count_ones()).sum();
        let (sequence, present) = (self.sequence, members - missing as usize);
        Progress { cohort, sequence, exponent: self.sent_by, present, members }
    }

    /// Returns the contributions; `None` once it is complete.
    pub(super) fn gathered(&self, progress: Progress) -> Option<Gathered<'_, R>> {
        let Content::Open(reduction) = &self.content else { return None };
        Some(Gathered { progress, reduction, length: self.length, last: self.last })
    }

    /// Adds a frame of new contributors. Returns false, and changes nothing, if its values are summed and one
    /// is not from `-most` to `most`.
    pub(super) fn add(&mut self, contribution: &Contribution<'_>, most: i32) -> bool {
        let Contribution { frame, header, sender, contributors } = *contribution;
        if let Content::Open(reduction) = &mut self.content
            && !reduction.add(frame, most)
        {
            return false;
        }
        for block in contributors {
            self.missing[block.group.index()] &= !block.bitmap;
        }
        let congestion = header.flags.contains(Flags::CONGESTION);
        self.marks = self.marks.with_if(Flags::CONGESTION, congestion);
        self.completed_by = sender;
        // If the chunk is complete now, workers that repeated it receive the result that all receive.
        self.asked.clear();
        if header.flags.contains(Flags::RESEND) {
            self.note_repeat(contributors);
        }
        true
    }

    /// Combines the contributions into the result.
    pub(super) fn complete<P: CompletionRule<Reduction = R>>(
        &mut self,
        completion_rule: &mut P,
        progress: &Progress,
    ) {
        self.content = match core::mem::replace(&mut self.content, Content::Complete(Vec::new())) {
            Content::Open(reduction) => {
                let (result, exponent) = completion_rule.complete(progress, reduction, self.exponent);
                self.exponent = exponent;
                Content::Complete(result)
            }
            complete @ Content::Complete(_) => complete,
        };
    }

    /// Records a repeat for the complete chunk. Returns whether to answer it with the result: once per burst
    /// of repeats, to the first sender and to senders that repeat again.
    pub(super) fn ask(&mut self, contributors: &[Contributors]) -> bool {
        let has_asked = |block: &Contributors| {
            self.asked.get(block.group.index()).is_some_and(|asked| asked & block.bitmap != 0)
        };
        let answer = self.asked.is_empty() || contributors.iter().any(has_asked);
        if answer {
            self.asked.clear();
        }
        self.note_repeat(contributors);
        answer
    }

    fn note_repeat(&mut self, contributors: &[Contributors]) {
        self.asked.resize(self.missing.len(), 0);
        for block in contributors {
            self.asked[block.group.index()] |= block.bitmap;
        }
    }

    /// Returns the used values of the result; none before it is complete.
    pub(super) fn result(&self) -> &[i32] {
        match &self.content {
            Content::Complete(values) => &values[..usize::from(self.length)],
            Content::Open(_) => &[],
        }
    }
}
