//! Handling of gradients and partials by a parameter server.

use inart_wire::{AbortReason, ChunkSeq, Contributors, Exponent, Flags, Frame, HeaderRepr, Kind, Rank};

use super::ServerShard;
use super::chunk::{Chunk, Contribution, Verdict};
use super::stream::Opening;
use crate::Instant;
use crate::completion_rule::CompletionRule;
use crate::exact_sum::EXACT_VALUES;
use crate::scale::largest_addend;
use crate::timer::Timer;

impl<P: CompletionRule> ServerShard<P> {
    /// Processes a gradient or partial in an open plan version, from its sender or the worker that completed
    /// it.
    pub(super) fn handle_contribution(
        &mut self,
        now: Instant,
        frame: &Frame<&[u8]>,
        header: &HeaderRepr,
        sender: Rank,
    ) {
        let Some(route) = self.plan_versions.route(header.plan_version) else { return };
        let contributors = route.at_home(&header.contributors);
        let of = contributors.iter().flat_map(|block| block.bitmap_indices());
        self.plan_versions.note_heard(
            header.plan_version,
            of.filter_map(|bitmap_index| self.bitmap_indices.rank(bitmap_index)),
        );
        self.take_in(now, Contribution { frame, header, sender, contributors: &contributors });
    }

    fn take_in(&mut self, now: Instant, contribution: Contribution<'_>) {
        let Contribution { header, sender, contributors, .. } = contribution;
        let sequence = header.sequence;
        let cohort = self.bitmap_indices.cohort(sender);
        if self.streams[cohort].chunk(sequence).is_none() && !self.open(now, cohort, header, sender) {
            self.counters.out_of_window += 1;
            return;
        }
        let stream = &mut self.streams[cohort];
        stream.note_sent(sequence, contributors);
        let chunk = stream.chunk_mut(sequence).expect("it existed, or has been opened");
        if !chunk.is_like(header) {
            self.counters.other_shapes += 1;
            self.lengths.differ(now, sender, sequence);
            return self.settle_differences(now);
        }
        if chunk.is_complete() {
            self.counters.repeats += 1;
            if chunk.ask(contributors) {
                self.send_result_again(cohort, sequence, contributors);
            }
            return;
        }
        match chunk.judge(header, contributors) {
            Verdict::Add => self.add(now, cohort, contribution),
            Verdict::Repeat => self.counters.repeats += 1,
            Verdict::Overlap => {
                self.counters.overlaps += 1;
                self.request_missing_of(cohort, sequence, contributors);
            }
            Verdict::Overflow => {
                self.counters.overflows += 1;
                self.request_missing_of(cohort, sequence, contributors);
            }
        }
    }

    /// Returns whether values have the form that the job sums, for any magnitude. Maxima are not negative,
    /// and a placeholder is zero. Floats may have any magnitude, and no switch sums them.
    fn may_be_added(frame: &Frame<&[u8]>, header: &HeaderRepr) -> bool {
        if header.exponent == Exponent::MAXIMA {
            return frame.values().all(|value| value >= 0);
        }
        if header.exponent == Exponent::FLOATS {
            return header.kind == Kind::Gradient && usize::from(header.length) <= EXACT_VALUES;
        }
        let is_placeholder = header.exponent == Exponent::from(0) && header.length == 1;
        !is_placeholder || header.flags.contains(Flags::LAST) || frame.values().next() == Some(0)
    }

    /// Returns the largest sum that a frame's contributors may have, so that no sum of all workers exceeds 32
    /// bits.
    fn largest_sum(&self, header: &HeaderRepr) -> i32 {
        let each = largest_addend(self.assignment.workers.len()).unsigned_abs();
        each.saturating_mul(header.contributors.count()).min(i32::MAX as u32) as i32
    }

    /// Records that these workers have sent something new. It may have been in a slot for as long as chunks
    /// take, but not longer: retransmissions by a switch are not new.
    fn note_heard(&mut self, now: Instant, contributors: &[Contributors]) {
        for bitmap_index in contributors.iter().flat_map(|block| block.bitmap_indices()) {
            if let Some(rank) = self.bitmap_indices.rank(bitmap_index) {
                self.last_heard[rank.index()] = Some(now);
            }
        }
    }

    /// Opens a chunk for its first frame, if a worker may send it now.
    fn open(&mut self, now: Instant, cohort: usize, header: &HeaderRepr, sender: Rank) -> bool {
        let peer_timeout = now + self.listen();
        let (bitmap_indices, oldest) = (&self.bitmap_indices, &self.oldest);
        let has = |bitmap_index, chunk| {
            let reported = bitmap_indices.rank(bitmap_index).and_then(|rank| oldest[rank.index()]);
            reported.is_some_and(|oldest| oldest > chunk)
        };
        let stream = &mut self.streams[cohort];
        match stream.opening(header.sequence, has) {
            Opening::No => false,
            Opening::Behind(chunk) => {
                stream.behind.get_or_insert((now, chunk));
                self.timers.set_at_latest(Timer::PeerTimeout, peer_timeout);
                false
            }
            Opening::Yes => {
                let values = self.assignment.values_per_frame.get();
                let reduction = self.completion_rule.reduction(values, header.exponent);
                let members = &self.bitmap_indices.members()[cohort];
                stream.open(Chunk::open(now, header, sender, reduction, members));
                self.timers.set_at_latest(Timer::PeerTimeout, peer_timeout);
                true
            }
        }
    }

    /// Adds a frame to its chunk, which is open and lacks all of the frame's contributors, unless its values
    /// are invalid.
    fn add(&mut self, now: Instant, cohort: usize, contribution: Contribution<'_>) {
        let Contribution { frame, header, contributors, .. } = contribution;
        let most = self.largest_sum(header);
        let chunk = self.streams[cohort].chunk_mut(header.sequence);
        let chunk = chunk.expect("frames are added to open chunks");
        if !(Self::may_be_added(frame, header) && chunk.add(&contribution, most)) {
            return self.reject(cohort, contribution);
        }
        self.note_heard(now, contributors);
        match header.kind {
            Kind::Partial => {
                self.counters.partials += 1;
                self.counters.summed_in_network += u64::from(header.contributors.count());
            }
            _ => self.counters.gradients += 1,
        }
        self.counters.marked += u64::from(header.flags.contains(Flags::CONGESTION));
        let stream = &self.streams[cohort];
        let progress = stream.progress(cohort, header.sequence);
        let chunk = stream.chunk(header.sequence).zip(progress);
        if let Some(gathered) = chunk.and_then(|(chunk, progress)| chunk.gathered(progress)) {
            self.completion_rule.gather(&gathered);
        }
        self.complete_from(cohort, header.sequence);
    }

    /// Refuses a frame with invalid values. Either a partial's sum saturated on the way, or a worker's values
    /// are wrong: the requested gradients show which.
    fn reject(&mut self, cohort: usize, contribution: Contribution<'_>) {
        let Contribution { header, sender, contributors, .. } = contribution;
        match header.kind {
            Kind::Partial => {
                self.counters.overflows += 1;
                self.request_missing_of(cohort, header.sequence, contributors);
            }
            _ => {
                self.counters.other_numbers += 1;
                self.abort(AbortReason::OtherNumbers, sender);
            }
        }
    }

    /// Completes a chunk, and those that it releases.
    pub(super) fn complete_from(&mut self, cohort: usize, sequence: ChunkSeq) {
        let mut next = Some((cohort, sequence));
        while let Some((cohort, sequence)) = next {
            next = self.complete(cohort, sequence);
        }
    }

    /// Completes a chunk if the rule says that it is complete. Returns the chunk that this releases.
    fn complete(&mut self, cohort: usize, sequence: ChunkSeq) -> Option<(usize, ChunkSeq)> {
        let stream = self.streams.get_mut(cohort)?;
        let progress = stream.progress(cohort, sequence)?;
        let chunk = stream.chunk_mut(sequence).filter(|chunk| !chunk.is_complete())?;
        if !self.completion_rule.is_complete(&progress) {
            return None;
        }
        chunk.complete(&mut self.completion_rule, &progress);
        chunk.next = self.assignment.plan_version;
        stream.completed(sequence);
        self.counters.chunks += 1;
        self.send_result(cohort, sequence);
        self.completion_rule.releases(&progress)
    }

    /// Asks those of `contributors` that are not in to send the chunk by bypass.
    fn request_missing_of(&mut self, cohort: usize, sequence: ChunkSeq, contributors: &[Contributors]) {
        let chunk = self.streams[cohort].chunk(sequence);
        let missing = chunk.map(|chunk| chunk.missing_among(contributors)).unwrap_or_default();
        self.request(sequence, missing);
    }
}
