//! Frames that a worker sends.

use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, ControlMessage, Exponent, Flags, FrameRepr, HeaderRepr, Incarnation,
    Kind, ShardId,
};

use super::WorkerFlow;
use super::tensors::Content;
use crate::Instant;
use crate::completion_rule::ContributionRule;

impl<P: ContributionRule> WorkerFlow<P> {
    /// Writes the next chunk to be sent now, if any.
    pub(super) fn transmit_gradient(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        // The shards take turns, so that none waits while the machine is slower than the rates.
        let count = self.flows.len();
        let mut turns = (1..=count).map(|ahead| (self.last_sent + ahead) % count);
        let tensors = &self.tensors;
        let (shard, send) = turns.find_map(|shard| {
            let has_values = |frame| tensors.has_values(shard, frame);
            Some((shard, self.flows[shard].poll(now, has_values)?))
        })?;
        self.last_sent = shard;
        self.counters.retransmissions += u64::from(send.resend);
        let sequence = self.flows[shard].sequence(send.chunk);
        let (place, content) = self.tensors.find(shard, send.chunk)?;
        let (numeric, numbers) = (self.tensors.numeric(place), &mut self.numbers);
        let (exponent, last, bypass) = match content {
            Content::Chunk(chunk, last) => (numeric.write(chunk, numbers), last, numeric.bypasses(chunk)),
            Content::Nothing => {
                numbers.clear();
                numbers.push(0);
                (Exponent::from(0), false, false)
            }
        };
        let bypass = bypass || send.bypass;
        let marks = Flags::NONE.with_if(Flags::LAST, last).with_if(Flags::BYPASS, bypass);
        self.counters.bypasses += u64::from(bypass);
        let plan_version = self.assignment_if(send.behind).plan_version;
        let bitmap_index = self.bitmap_index_in(plan_version, shard).unwrap_or(self.rank.bitmap_index());
        let header = HeaderRepr {
            plan_version,
            worker: bitmap_index,
            contributors: Contributors::one(bitmap_index),
            exponent,
            length: self.numbers.len() as u16,
            ..self.header(shard, Kind::Gradient, marks.with_if(Flags::RESEND, send.resend), sequence)
        };
        Some(self.emit(shard, header, &self.numbers, buffer))
    }

    /// Returns its bitmap index in the frames of that shard.
    fn bitmap_index(&self, shard: usize) -> BitmapIndex {
        self.bitmap_index_in(self.assignment_of(shard).plan_version, shard)
            .unwrap_or(self.rank.bitmap_index())
    }

    fn header(&self, shard: usize, kind: Kind, flags: Flags, sequence: ChunkSeq) -> HeaderRepr {
        HeaderRepr {
            kind,
            flags,
            plan_version: self.assignment_of(shard).plan_version,
            job: self.assignment.job,
            shard: ShardId::try_from(shard).expect("a valid assignment has numbers for its shards"),
            worker: self.bitmap_index(shard),
            sequence,
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: 0,
            incarnation: self.flows[shard].run(),
        }
    }

    /// Writes a message to the server of that shard, in that run.
    pub(super) fn emit_message(
        &self,
        (shard, incarnation): (usize, Incarnation),
        message: ControlMessage,
        about: ChunkSeq,
        buffer: &mut [u8],
    ) -> usize {
        let words = message.words(self.incarnation);
        let header = self.header(shard, Kind::Control, Flags::NONE, about);
        self.emit(shard, HeaderRepr { length: words.len() as u16, incarnation, ..header }, &words, buffer)
    }

    fn emit(&self, shard: usize, header: HeaderRepr, values: &[i32], buffer: &mut [u8]) -> usize {
        let frame = FrameRepr {
            destination: self.assignment.shards[shard].mac,
            source: self.assignment.workers[self.rank.index()].mac,
            values_per_frame: self.assignment.values_per_frame,
            header,
        };
        frame.emit(values, buffer).expect("the caller's buffer has room for one frame")
    }
}
