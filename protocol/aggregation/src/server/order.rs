//! Order in which workers send chunks.

use alloc::collections::VecDeque;

use inart_wire::ChunkSeq;

/// Incomplete chunks, in the order in which all workers send them first: a window of chunks, then, whenever
/// one completes, the next at its window position. Frames are not reordered on a path. So if a later chunk is
/// complete and an earlier one is not, the workers missing in the earlier chunk have sent it, and it was
/// lost. (Workers start a round in the order of its chunks, in whichever order the previous round ended, so
/// there they may merely be late.)
#[derive(Clone, Debug)]
pub(super) struct SendOrder {
    window: u32,
    /// Chunks that no later one has overtaken.
    expected: VecDeque<ChunkSeq>,
    /// Chunks with lost contributions; reported in turns.
    overtaken: VecDeque<ChunkSeq>,
}

impl SendOrder {
    /// The order from `first` on.
    pub(super) fn new(first: ChunkSeq, window: u32) -> Self {
        let expected = (0..window).map(|ahead| first.advance(ahead)).collect();
        Self { window, expected, overtaken: VecDeque::new() }
    }

    /// Handles that a chunk is complete.
    pub(super) fn complete(&mut self, chunk: ChunkSeq) {
        if let Some(place) = self.expected.iter().position(|expected| *expected == chunk) {
            self.overtaken.extend(self.expected.drain(..place));
            self.expected.pop_front();
        } else {
            self.overtaken.retain(|overtaken| *overtaken != chunk);
        }
        self.expected.push_back(chunk.advance(self.window));
    }

    /// Returns the next chunk with lost contributions.
    pub(super) fn next_overtaken(&mut self) -> Option<ChunkSeq> {
        self.overtaken.rotate_left(self.overtaken.len().min(1));
        self.overtaken.back().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overtaken_chunks_are_reported_in_turns_until_complete() {
        let mut order = SendOrder::new(0.into(), 4);
        let reported = |order: &mut SendOrder| order.next_overtaken().map(ChunkSeq::get);
        order.complete(0.into());
        assert_eq!(reported(&mut order), None);
        // 4 follows 3, since 0 ended first.
        order.complete(4.into());
        assert_eq!(
            [reported(&mut order), reported(&mut order), reported(&mut order)],
            [Some(1), Some(2), Some(3)]
        );
        order.complete(2.into());
        assert_eq!(
            [reported(&mut order), reported(&mut order), reported(&mut order)],
            [Some(1), Some(3), Some(1)]
        );
        order.complete(1.into());
        order.complete(3.into());
        assert_eq!(reported(&mut order), None);
        // The order now: 8, 6, 5, 7.
        order.complete(5.into());
        assert_eq!([reported(&mut order), reported(&mut order)], [Some(8), Some(6)]);
    }
}
