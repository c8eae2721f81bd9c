//! What a parameter server sends.

use inart_wire::{
    ChunkSeq, Contributors, ControlMessage, Exponent, Feedback, Flags, FrameRepr, HeaderRepr, Incarnation,
    Kind, MacAddr, Seat,
};

use super::{Outgoing, ServerShard};
use crate::policy::{Policy, Receivers};

impl<P: Policy> ServerShard<P> {
    /// Writes the next frame.
    pub(super) fn emit_next(&mut self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            let sent = match self.outbox.pop_front()? {
                Outgoing::Result { cohort, sequence, again, to } => {
                    self.emit_result(cohort, sequence, again, to, buffer)
                }
                Outgoing::Message { message, sequence, exponent, to, host } => {
                    Some(self.emit_message(message, (to, host), (sequence, exponent), buffer))
                }
            };
            if sent.is_some() {
                return sent;
            }
        }
    }

    /// Sends a result that is there for the first time to all who get it.
    pub(super) fn send_result(&mut self, cohort: usize, sequence: ChunkSeq) {
        let result = |to| Outgoing::Result { cohort, sequence, again: false, to };
        match self.policy.receivers() {
            Receivers::Job => self.outbox.push_back(result(None)),
            Receivers::Cohort => self.outbox.extend(self.streams[cohort].seats().map(Some).map(result)),
        }
    }

    /// Retransmits a result, since those have asked.
    pub(super) fn send_result_again(&mut self, cohort: usize, sequence: ChunkSeq, asked_by: Contributors) {
        let result = |to| Outgoing::Result { cohort, sequence, again: true, to };
        match self.policy.receivers() {
            Receivers::Job => self.outbox.push_back(result(None)),
            Receivers::Cohort => self.outbox.extend(asked_by.seats().map(Some).map(result)),
        }
    }

    fn emit_result(
        &mut self,
        cohort: usize,
        sequence: ChunkSeq,
        again: bool,
        to: Option<Seat>,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let header = self.header();
        let stream = &mut self.streams[cohort];
        let overtaken = stream.order.next_overtaken();
        let feedback = Feedback {
            ended: stream.last_result.filter(|last| *last != sequence),
            lacking: overtaken
                .and_then(|overtaken| Some((overtaken, stream.chunk(overtaken)?.missing().collect()))),
        };
        // Nobody needs it any more if it is gone.
        let chunk = stream.chunk(sequence).filter(|chunk| chunk.is_complete())?;
        let header = HeaderRepr {
            kind: Kind::Result,
            flags: chunk.marks.with_if(Flags::LAST, chunk.last).with_if(Flags::RESEND, again),
            worker: to.unwrap_or(chunk.completed_by),
            sequence,
            contributors: Contributors { bitmap: feedback.bits(sequence), ..Contributors::default() },
            exponent: chunk.exponent,
            length: chunk.length,
            ..header
        };
        let destination = to.map_or(MacAddr::results_of(self.assignment.job), |seat| self.mac_of(seat));
        let chunk = self.streams[cohort].chunk(sequence)?;
        let sent = self.emit(destination, header, chunk.result(), buffer);
        self.streams[cohort].last_result = Some(sequence);
        match again {
            true => self.counters.resends_sent += 1,
            false => self.counters.results_sent += 1,
        }
        Some(sent)
    }

    /// A message about a chunk to one incarnation of the worker on a seat.
    fn emit_message(
        &mut self,
        message: ControlMessage,
        (to, host): (Seat, Incarnation),
        (sequence, exponent): (ChunkSeq, Exponent),
        buffer: &mut [u8],
    ) -> usize {
        self.counters.requests_sent += u64::from(message == ControlMessage::RequestBypass);
        let words = message.words(host);
        let header =
            HeaderRepr { worker: to, sequence, exponent, length: words.len() as u16, ..self.header() };
        self.emit(self.mac_of(to), header, &words, buffer)
    }

    fn mac_of(&self, seat: Seat) -> MacAddr {
        self.assignment.workers[self.rank(seat).index()].mac
    }

    fn header(&self) -> HeaderRepr {
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            epoch: self.assignment.epoch,
            job: self.assignment.job,
            shard: self.shard,
            worker: Seat::MAX,
            sequence: ChunkSeq::default(),
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: 0,
            incarnation: self.incarnation,
        }
    }

    fn emit(&self, destination: MacAddr, header: HeaderRepr, values: &[i32], buffer: &mut [u8]) -> usize {
        let source = self.assignment.shards[self.shard.index()].mac;
        let values_per_packet = self.assignment.values_per_packet;
        FrameRepr { destination, source, values_per_packet, header }
            .emit(values, buffer)
            .expect("the caller's buffer has room for one frame")
    }
}
