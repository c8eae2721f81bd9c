//! Frames that a parameter server sends.

use alloc::vec::Vec;

use inart_wire::{
    AbortReason, BitmapIndex, ChunkSeq, Contributors, ControlMessage, Exponent, Feedback, Flags, FrameRepr,
    HeaderRepr, Incarnation, Kind, MacAddr, PlanVersion, Rank,
};

use super::{Outgoing, ServerShard};
use crate::completion_rule::{CompletionRule, Receivers};

impl<P: CompletionRule> ServerShard<P> {
    /// Writes the next frame.
    pub(super) fn emit_next(&mut self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            let sent = match self.outbox.pop_front()? {
                Outgoing::Result { cohort, sequence, again, plan_version, to } => {
                    self.emit_result((cohort, sequence), again, (plan_version, to), buffer)
                }
                Outgoing::Message { message, sequence, plan_version, to, host } => {
                    Some(self.emit_message(message, (plan_version, to, host), sequence, buffer))
                }
                Outgoing::Refusal { to, header, rank, host } => {
                    Some(self.emit_refusal(to, &header, (rank, host), buffer))
                }
            };
            if sent.is_some() {
                return sent;
            }
        }
    }

    /// Sends a new result to all its receivers.
    pub(super) fn send_result(&mut self, cohort: usize, sequence: ChunkSeq) {
        match self.completion_rule.receivers() {
            Receivers::Job => self.send_to_all(cohort, sequence, false),
            Receivers::Cohort => {
                let to = self.streams[cohort]
                    .bitmap_indices()
                    .map(|bitmap_index| self.rank(bitmap_index))
                    .collect();
                self.send_to_each(cohort, sequence, false, to);
            }
        }
    }

    /// Retransmits a result to these requesters, given by their home bitmap indices.
    pub(super) fn send_result_again(&mut self, cohort: usize, sequence: ChunkSeq, asked_by: &[Contributors]) {
        match self.completion_rule.receivers() {
            Receivers::Job => self.send_to_all(cohort, sequence, true),
            Receivers::Cohort => {
                let asked_by = asked_by.iter().flat_map(|block| block.bitmap_indices());
                let to = asked_by.map(|bitmap_index| self.rank(bitmap_index)).collect();
                self.send_to_each(cohort, sequence, true, to);
            }
        }
    }

    fn send_to_all(&mut self, cohort: usize, sequence: ChunkSeq, again: bool) {
        let result = |plan_version| Outgoing::Result { cohort, sequence, again, plan_version, to: None };
        let first = self.streams[cohort].chunk(sequence).map(|chunk| chunk.plan_version);
        self.outbox.extend(self.plan_versions.of_result(first, again).map(result));
    }

    fn send_to_each(&mut self, cohort: usize, sequence: ChunkSeq, again: bool, to: Vec<Rank>) {
        for to in to {
            let plan_version = self.plan_versions.known_to(to);
            self.outbox.push_back(Outgoing::Result { cohort, sequence, again, plan_version, to: Some(to) });
        }
    }

    fn emit_result(
        &mut self,
        (cohort, sequence): (usize, ChunkSeq),
        again: bool,
        (plan_version, to): (PlanVersion, Option<Rank>),
        buffer: &mut [u8],
    ) -> Option<usize> {
        let header = self.header();
        // To all by the entries of an open plan version; one alone is reached in any.
        let route = match to {
            None => self.plan_versions.route(plan_version)?,
            Some(_) => self.plan_versions.route_or_current(plan_version),
        };
        let bitmap_index = |rank: Rank| route.bitmap_indices.of(rank.index());
        let stream = &mut self.streams[cohort];
        let overtaken = stream.order.next_overtaken();
        // A chunk that is not stored any more is not needed by any worker.
        stream.chunk(sequence).filter(|chunk| chunk.is_complete())?;
        let ended = stream.sends_result(sequence);
        let lacking = overtaken.and_then(|overtaken| {
            let missing = stream.chunk(overtaken)?.missing();
            Some((
                overtaken,
                missing.filter_map(|home| self.bitmap_indices.rank(home)).map(bitmap_index).collect(),
            ))
        });
        let feedback = Feedback { ended, lacking };
        let chunk = stream.chunk(sequence)?;
        let header = HeaderRepr {
            kind: Kind::Result,
            flags: chunk.marks.with_if(Flags::LAST, chunk.last).with_if(Flags::RESEND, again).with_if(
                Flags::OTHER_PLAN_VERSION,
                chunk.next != route.plan_version && self.plan_versions.is_open(chunk.next),
            ),
            plan_version: route.plan_version,
            worker: bitmap_index(to.unwrap_or(chunk.completed_by)),
            sequence,
            contributors: Contributors { bitmap: feedback.bits(sequence), ..Contributors::default() },
            exponent: chunk.exponent,
            length: chunk.length,
            ..header
        };
        let destination = to.map_or(MacAddr::results_of(self.assignment.job), |rank| self.mac_of(rank));
        let sent = self.emit(destination, header, self.streams[cohort].chunk(sequence)?.result(), buffer);
        match again {
            true => self.counters.resends_sent += 1,
            false => self.counters.results_sent += 1,
        }
        Some(sent)
    }

    /// A message about a chunk to one incarnation of a worker.
    fn emit_message(
        &mut self,
        message: ControlMessage,
        (plan_version, to, host): (PlanVersion, Rank, Incarnation),
        sequence: ChunkSeq,
        buffer: &mut [u8],
    ) -> usize {
        self.counters.requests_sent += u64::from(message == ControlMessage::RequestBypass);
        let words = message.words(host);
        let route = self.plan_versions.route_or_current(plan_version);
        let (plan_version, worker) = (route.plan_version, route.bitmap_indices.of(to.index()));
        let length = words.len() as u16;
        let header = HeaderRepr { plan_version, worker, sequence, length, ..self.header() };
        self.emit(self.mac_of(to), header, &words, buffer)
    }

    /// The answer to a message from an address that is not that worker's.
    fn emit_refusal(
        &self,
        to: MacAddr,
        asked: &HeaderRepr,
        (rank, host): (Rank, Incarnation),
        buffer: &mut [u8],
    ) -> usize {
        let reason = AbortReason::OtherAddress(self.mac_of(rank));
        let words = ControlMessage::Abort { reason, culprit: rank }.words(host);
        let header = HeaderRepr {
            plan_version: asked.plan_version,
            worker: asked.worker,
            sequence: asked.sequence,
            length: words.len() as u16,
            ..self.header()
        };
        self.emit(to, header, &words, buffer)
    }

    pub(super) fn mac_of(&self, rank: Rank) -> MacAddr {
        self.assignment.workers[rank.index()].mac
    }

    fn header(&self) -> HeaderRepr {
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            plan_version: self.assignment.plan_version,
            job: self.assignment.job,
            shard: self.shard,
            worker: BitmapIndex::MAX,
            sequence: ChunkSeq::default(),
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: 0,
            incarnation: self.incarnation,
        }
    }

    fn emit(&self, destination: MacAddr, header: HeaderRepr, values: &[i32], buffer: &mut [u8]) -> usize {
        let source = self.assignment.shards[self.shard.index()].mac;
        let values_per_frame = self.assignment.values_per_frame;
        FrameRepr { destination, source, values_per_frame, header }
            .emit(values, buffer)
            .expect("the caller's buffer has room for one frame")
    }
}
