//! Messages between workers and a parameter server.

use inart_wire::{
    AbortReason, Awaited, BitmapIndex, ChunkSeq, ControlMessage, HeaderRepr, Incarnation, MacAddr,
    PlanVersion, Rank,
};

use super::{Outgoing, ServerShard};
use crate::Instant;
use crate::completion_rule::CompletionRule;
use crate::timer::{Timer, TimerTable};

impl<P: CompletionRule> ServerShard<P> {
    /// Processes the message of the worker of that rank; `host` is its incarnation.
    pub(super) fn handle_message(
        &mut self,
        now: Instant,
        rank: Rank,
        header: &HeaderRepr,
        message: ControlMessage,
        host: Incarnation,
    ) {
        self.counters.keepalives += u64::from(matches!(message, ControlMessage::KeepAlive { .. }));
        if header.incarnation == Incarnation::UNKNOWN {
            // The answer contains the run.
            return self.answer(header, rank, host, None);
        }
        if header.incarnation != self.incarnation {
            // It may be a late message of an earlier run. If its sender still runs, this ends the job there.
            self.counters.other_runs += 1;
            let reason = AbortReason::ServerRestarted(self.shard);
            let message = ControlMessage::Abort { reason, culprit: rank };
            return self.message_to(message, header.sequence, header.plan_version, (rank, host));
        }
        if *self.hosts[rank.index()].get_or_insert(host) != host {
            return self.meet_another_incarnation(header, rank, message, host);
        }
        self.last_heard[rank.index()] = Some(now);
        self.plan_versions.note_heard(header.plan_version, [rank].into_iter());
        match message {
            _ if self.abort.is_some() => self.answer(header, rank, host, None),
            ControlMessage::Abort { reason, culprit } => self.abort(reason, culprit),
            ControlMessage::KeepAlive { oldest, tensor_len, transcript } => {
                self.oldest[rank.index()] = Some(oldest);
                self.lengths.report(now, rank, oldest, tensor_len);
                self.transcripts.receive(now, rank, transcript);
                self.settle_differences(now);
                if self.abort.is_none() {
                    self.answer(header, rank, host, self.awaited_by(rank, oldest));
                    self.answer_first_of(header.plan_version, rank, oldest);
                }
            }
            _ => self.counters.foreign += 1,
        }
    }

    /// Refuses a message that an address sent in the name of the worker of that rank, unless it is the
    /// worker's own address. Returns whether it was refused.
    pub(super) fn refuse(
        &mut self,
        rank: Rank,
        host: Incarnation,
        header: &HeaderRepr,
        source: MacAddr,
    ) -> bool {
        if source == self.mac_of(rank) {
            return false;
        }
        self.counters.foreign += 1;
        // One answer for each message, and none to a group address.
        if !source.is_multicast() {
            self.outbox.push_back(Outgoing::Refusal { to: source, header: *header, rank, host });
        }
        true
    }

    /// A message of a worker in this run, to which another incarnation of it is bound.
    fn meet_another_incarnation(
        &mut self,
        header: &HeaderRepr,
        rank: Rank,
        message: ControlMessage,
        host: Incarnation,
    ) {
        match message {
            // It has ended, and no other host waits for it.
            ControlMessage::Abort { reason, culprit } => {
                let message = ControlMessage::Abort { reason, culprit };
                self.message_to(message, header.sequence, header.plan_version, (rank, host));
            }
            _ => {
                if self.abort.is_none() {
                    self.abort(AbortReason::WorkerRestarted, rank);
                }
                self.answer(header, rank, host, None);
            }
        }
    }

    /// Answers a message of a worker, in a plan version that it knows, with the data that it needs to
    /// continue, or with the reason why the job is over.
    fn answer(&mut self, header: &HeaderRepr, rank: Rank, host: Incarnation, awaited: Option<Awaited>) {
        let answer = match self.abort {
            Some((reason, culprit)) => ControlMessage::Abort { reason, culprit },
            None => {
                let bound = self.hosts[rank.index()] == Some(host);
                ControlMessage::KeepAliveAnswer { bound, awaited }
            }
        };
        let speaks_in_old = header.plan_version != self.assignment.plan_version;
        let plan_version =
            self.plan_versions.of_answer(rank, header.plan_version, speaks_in_old && self.is_idle());
        self.message_to(answer, header.sequence, plan_version, (rank, host));
    }

    /// Returns the workers that keep the worker of that rank waiting for the result of its `oldest` chunk:
    /// those that have not joined, else those that have not started the chunk's tensor.
    fn awaited_by(&self, rank: Rank, oldest: ChunkSeq) -> Option<Awaited> {
        let cohort = self.bitmap_indices.cohort(rank);
        let peers =
            || self.bitmap_indices.all_ranks().filter(|peer| self.bitmap_indices.cohort(*peer) == cohort);
        let of = |ranks: &mut dyn Iterator<Item = Rank>, has_joined| {
            let first = ranks.next()?;
            let count = u16::try_from(ranks.count() + 1).unwrap_or(u16::MAX);
            Some(Awaited { first, count, has_joined })
        };
        let has_joined = |peer: &Rank| self.hosts[peer.index()].is_some();
        of(&mut peers().filter(|peer| !has_joined(peer)), false).or_else(|| {
            self.lengths.reported(rank)?;
            let is_lagging = |peer: &Rank| {
                let at = self.oldest[peer.index()];
                self.lengths.reported(*peer).is_none() && at.is_some_and(|at| at <= oldest)
            };
            of(&mut peers().filter(is_lagging), true)
        })
    }

    /// Reports to a worker that contributes that the job is over.
    pub(super) fn answer_with_abort(&mut self, sequence: ChunkSeq, sender: Rank) {
        if let Some((reason, culprit)) = self.abort {
            self.message(ControlMessage::Abort { reason, culprit }, sequence, sender);
        }
    }

    /// A message to the worker of that rank, if one is bound, in a plan version that it knows.
    pub(super) fn message(&mut self, message: ControlMessage, sequence: ChunkSeq, to: Rank) {
        if let Some(host) = self.hosts[to.index()] {
            self.message_to(message, sequence, self.plan_versions.known_to(to), (to, host));
        }
    }

    /// A message to that incarnation of the worker of that rank.
    fn message_to(
        &mut self,
        message: ControlMessage,
        sequence: ChunkSeq,
        plan_version: PlanVersion,
        (to, host): (Rank, Incarnation),
    ) {
        self.outbox.push_back(Outgoing::Message { message, sequence, plan_version, to, host });
    }

    /// Asks those workers, by their home bitmap indices, to send the chunk by bypass.
    pub(super) fn request(&mut self, sequence: ChunkSeq, workers: impl IntoIterator<Item = BitmapIndex>) {
        for worker in workers {
            self.message(ControlMessage::RequestBypass, sequence, self.rank(worker));
        }
    }

    /// Aborts the job over tensors of different lengths, or over different tensors, when all workers have
    /// sent theirs or have had the time to.
    pub(super) fn settle_differences(&mut self, now: Instant) {
        let lengths = (self.lengths.differ_since(), self.lengths.are_known(), self.lengths.verdict());
        let transcripts =
            (self.transcripts.differ_since(), self.transcripts.are_known(), self.transcripts.verdict());
        for (since, are_known, verdict) in [lengths, transcripts] {
            let Some(until) = since.map(|since| since + self.peer_timeout) else { continue };
            match verdict {
                Some((reason, culprit)) if are_known || until <= now => return self.abort(reason, culprit),
                _ => self.timers.set_at_latest(Timer::PeerTimeout, until),
            }
        }
    }

    /// Aborts the job because of the worker of that rank, and notifies every worker; the first reason counts.
    pub(super) fn abort(&mut self, reason: AbortReason, culprit: Rank) {
        self.abort = Some((reason, culprit));
        self.timers = TimerTable::default();
        self.outbox.clear();
        for rank in self.bitmap_indices.all_ranks() {
            let oldest = self.streams[self.bitmap_indices.cohort(rank)].oldest;
            self.message(ControlMessage::Abort { reason, culprit }, oldest, rank);
        }
    }
}
