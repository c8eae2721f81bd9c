//! In which order workers send chunks.

use alloc::collections::VecDeque;

use inart_wire::ChunkSeq;

/// The incomplete chunks, in the order in which all workers send them first: as many as the window holds, then, whenever one ends,
/// the next of its slot. Nothing overtakes on the way, so where a later chunk is complete and an earlier is not, whoever is
/// missing in the earlier has sent it, and it was lost. (Workers begin a round in the order of its chunks, whatever the round
/// before ended with, so there they may merely be late.)
#[derive(Clone, Debug)]
pub(super) struct SendOrder {
    window: u32,
    /// Those that no later one has overtaken.
    expected: VecDeque<ChunkSeq>,
    /// Those that lack what was lost; told about in turns.
    overtaken: VecDeque<ChunkSeq>,
}

impl SendOrder {
    /// The order from `first` on.
    pub(super) fn new(first: ChunkSeq, window: u32) -> Self {
        let expected = (0..window).map(|ahead| first.advance(ahead)).collect();
        Self { window, expected, overtaken: VecDeque::new() }
    }

    /// That chunk is complete.
    pub(super) fn complete(&mut self, chunk: ChunkSeq) {
        if let Some(place) = self.expected.iter().position(|expected| *expected == chunk) {
            self.overtaken.extend(self.expected.drain(..place));
            self.expected.pop_front();
        } else {
            self.overtaken.retain(|overtaken| *overtaken != chunk);
        }
        self.expected.push_back(chunk.advance(self.window));
    }

    /// The next of the chunks that lack what was lost.
    pub(super) fn next_overtaken(&mut self) -> Option<ChunkSeq> {
        self.overtaken.rotate_left(self.overtaken.len().min(1));
        self.overtaken.back().copied()
    }
}
