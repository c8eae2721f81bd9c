//! The chunks of one cohort.

use alloc::vec::Vec;

use inart_wire::{BitmapIndex, ChunkSeq, Contributors};

use super::bitmap_indices::bitmap_indices_of;
use super::chunk::Chunk;
use super::order::SendOrder;
use crate::Instant;
use crate::completion_rule::{Progress, Reduction};

/// Whether a chunk may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// Permission.
    Yes,
    /// Refusal, since no worker may send it now.
    No,
    /// Refusal, since a worker has not sent this earlier chunk, and may lack the result that would have to be
    /// dropped.
    Behind(ChunkSeq),
}

/// The chunks of one cohort, in the order of their sequence.
///
/// The last four chunks at each window position, which are a window apart, are stored. A worker that sends
/// one knows that the previous one has ended, and has the result of the one before. So all workers that have
/// sent the second have the result of the fourth, which may be dropped then; some worker may lack the result
/// of the third.
#[derive(Clone, Debug)]
pub(super) struct Stream<R> {
    window: u32,
    /// Home bitmap indices: one bitmap per group.
    pub members: Vec<u64>,
    /// Ring over four times the window.
    chunks: Vec<Option<Chunk<R>>>,
    /// The first sequence of all.
    first: ChunkSeq,
    /// The oldest chunk without a result.
    pub oldest: ChunkSeq,
    pub order: SendOrder,
    /// The two chunks whose results were sent last, the last one first.
    last_results: [Option<ChunkSeq>; 2],
    /// Chunk that some worker must send before the stream can continue, and since when.
    pub behind: Option<(Instant, ChunkSeq)>,
}

impl<R: Reduction> Stream<R> {
    pub(super) fn new(first: ChunkSeq, window: u32, members: Vec<u64>) -> Self {
        Self {
            window,
            members,
            chunks: alloc::vec![None; 4 * window as usize],
            first,
            oldest: first,
            order: SendOrder::new(first, window),
            last_results: [None; 2],
            behind: None,
        }
    }

    pub(super) fn chunk(&self, sequence: ChunkSeq) -> Option<&Chunk<R>> {
        self.chunks[sequence.position(4 * self.window)].as_ref().filter(|chunk| chunk.sequence == sequence)
    }

    pub(super) fn chunk_mut(&mut self, sequence: ChunkSeq) -> Option<&mut Chunk<R>> {
        self.chunks[sequence.position(4 * self.window)].as_mut().filter(|chunk| chunk.sequence == sequence)
    }

    /// The state of a chunk that is known.
    pub(super) fn progress(&self, cohort: usize, sequence: ChunkSeq) -> Option<Progress> {
        let members: u32 = self.members.iter().map(|bitmap| bitmap.count_ones()).sum();
        Some(self.chunk(sequence)?.progress(cohort, members as usize))
    }

    pub(super) fn is_complete(&self, sequence: ChunkSeq) -> bool {
        self.chunk(sequence).is_some_and(Chunk::is_complete)
    }

    /// Returns whether a worker may send that unknown chunk now: if the previous one at its window position
    /// has its result, or it is the first there. `has` returns whether the worker with a bitmap index is
    /// known to have a chunk's result from other frames than its contributions.
    pub(super) fn opening(&self, sequence: ChunkSeq, has: impl Fn(BitmapIndex, ChunkSeq) -> bool) -> Opening {
        let before = |windows: u32| sequence.advance((windows * self.window).wrapping_neg());
        let older = self.chunks[sequence.position(4 * self.window)]
            .as_ref()
            .is_none_or(|chunk| chunk.sequence < sequence);
        let first = sequence.since(self.first) < self.window;
        if !(older && (first || self.is_complete(before(1)))) {
            return Opening::No;
        }
        match self.chunk(before(2)) {
            Some(chunk) if !chunk.unheard().all(|bitmap_index| has(bitmap_index, before(4))) => {
                Opening::Behind(chunk.sequence)
            }
            _ => Opening::Yes,
        }
    }

    /// Notes that these workers have sent a chunk, and thus all earlier ones at its window position.
    pub(super) fn note_sent(&mut self, sequence: ChunkSeq, contributors: &[Contributors]) {
        for windows in 0..3u32 {
            if let Some(chunk) = self.chunk_mut(sequence.advance((windows * self.window).wrapping_neg())) {
                chunk.note_sent(contributors);
            }
        }
    }

    /// Opens a chunk that [may be](Self::opening).
    pub(super) fn open(&mut self, chunk: Chunk<R>) {
        let position = chunk.sequence.position(4 * self.window);
        self.chunks[position] = Some(chunk);
        self.behind = None;
    }

    /// Handles that a chunk is complete.
    pub(super) fn completed(&mut self, sequence: ChunkSeq) {
        self.order.complete(sequence);
        while self.has_ended(self.oldest) {
            self.oldest = self.oldest.advance(1);
        }
    }

    /// Handles that a chunk's result is sent, maybe in two plan versions. Returns the chunk whose result was
    /// sent before it.
    pub(super) fn sends_result(&mut self, sequence: ChunkSeq) -> Option<ChunkSeq> {
        let [last, before] = self.last_results;
        if last == Some(sequence) {
            return before;
        }
        self.last_results = [Some(sequence), last];
        last
    }

    /// Returns whether that chunk has its result, even if it is not stored any more.
    fn has_ended(&self, sequence: ChunkSeq) -> bool {
        let later = |ahead: u32| {
            let chunk = &self.chunks[sequence.advance(ahead).position(4 * self.window)];
            chunk.as_ref().is_some_and(|chunk| chunk.sequence > sequence)
        };
        self.is_complete(sequence) || (0..4).any(|windows| later(windows * self.window))
    }

    /// The chunks that some member is in and that are not complete, in any order.
    pub(super) fn open_chunks(&self) -> impl Iterator<Item = &Chunk<R>> {
        self.chunks.iter().flatten().filter(|chunk| !chunk.is_complete())
    }

    /// Returns the bitmap indices that the server waits for, and since when: missing contributors of open
    /// chunks, and workers that hold up the stream.
    pub(super) fn waited_for(&self) -> impl Iterator<Item = (Instant, BitmapIndex)> {
        let missing = self
            .open_chunks()
            .flat_map(|chunk| chunk.missing().map(|bitmap_index| (chunk.opened, bitmap_index)));
        let behind = self.behind.and_then(|(since, sequence)| Some((since, self.chunk(sequence)?)));
        missing.chain(
            behind
                .into_iter()
                .flat_map(|(since, chunk)| chunk.unheard().map(move |bitmap_index| (since, bitmap_index))),
        )
    }

    /// The bitmap indices of the members, ascending.
    pub(super) fn bitmap_indices(&self) -> impl Iterator<Item = BitmapIndex> {
        bitmap_indices_of(&self.members)
    }
}
