//! One multicast: every chunk once to all receivers, then missing chunks on request.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::Rank;

use super::options::{Copies, SenderOptions};
use super::receiver_state::{ReceiverPhase, ReceiverState};
use super::task::{Outcome, Task, Transmission};
use crate::counters::SenderCounters;
use crate::pacer::Pacer;
use crate::ranges::Ranges;
use crate::receivers::Receivers;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Multicast {
    round: u32,
    chunks: u32,
    began: Duration,
    /// Time at which the last chunk left for the first time.
    passed: Option<Duration>,
    /// Next chunk that was never sent. Unused with copies by the sender: every receiver then has all chunks
    /// pending from the start.
    next: u32,
    states: BTreeMap<Rank, ReceiverState>,
    /// Receivers without an outcome.
    waited: Receivers,
    /// Receiver that had the last turn.
    turn: Option<Rank>,
    /// Pacer where switches make the copies; where the sender does, each receiver has a time of its own.
    pacer: Option<Pacer>,
    /// Time of a chunk to one receiver at the task's rate, where the sender makes the copies.
    copy: Duration,
}

impl Multicast {
    pub fn new(me: Rank, task: &Task, options: &SenderOptions, now: Duration) -> Self {
        let (next, pacer) = match options.copies {
            Copies::Switch { frame_bytes } => (0, Some(Pacer::new(frame_bytes, task.rate_bps, now))),
            Copies::Sender { .. } => (task.chunks, None),
        };
        let pending = Ranges::of(0..if pacer.is_some() { 0 } else { task.chunks });
        let copy = options.time_of_copy(task.rate_bps);
        let places = first_after(me, &task.receivers);
        // Their first chunks are spread over a chunk's time, so that the last ones are, too.
        let count = places.len().max(1) as u32;
        let state = |(place, rank): (u32, Rank)| {
            let due = now.saturating_add(copy.saturating_mul(place) / count);
            (rank, ReceiverState::new(pending.clone(), due, now))
        };
        Multicast {
            round: task.round,
            chunks: task.chunks,
            began: now,
            passed: None,
            next,
            states: (0..).zip(places).map(state).collect(),
            waited: task.receivers.clone(),
            turn: Some(me),
            pacer,
            copy,
        }
    }

    pub fn round(&self) -> u32 {
        self.round
    }

    pub fn waited(&self) -> &Receivers {
        &self.waited
    }

    pub fn has(&self, rank: Rank) -> bool {
        self.states.contains_key(&rank)
    }

    pub fn is_waited(&self, rank: Rank) -> bool {
        self.waited.contains(rank)
    }

    pub fn is_complete(&self, rank: Rank) -> bool {
        self.states.get(&rank).is_some_and(|state| state.phase == ReceiverPhase::Complete)
    }

    /// Returns whether every chunk was sent once.
    fn is_passed(&self) -> bool {
        self.next >= self.chunks
    }

    pub fn chunks_left(&self) -> u32 {
        let most = self.awaited_states().map(|(_, state)| state.pending.len()).max();
        (self.chunks - self.next.min(self.chunks)).max(most.unwrap_or(0))
    }

    pub fn set_rate(&mut self, rate_bps: f64, options: &SenderOptions, now: Duration) {
        if let (Some(pacer), Copies::Switch { frame_bytes }) = (&mut self.pacer, options.copies) {
            pacer.set_rate(frame_bytes, rate_bps, now);
        }
        self.copy = options.time_of_copy(rate_bps);
        for state in self.states.values_mut() {
            state.due = state.due.min(now.saturating_add(self.copy));
        }
    }

    /// Returns the next chunk. All chunks leave once before any is retransmitted: so losses of others do not
    /// delay a receiver without losses.
    pub fn next(
        &mut self,
        options: &SenderOptions,
        counters: &mut SenderCounters,
        now: Duration,
    ) -> Option<Transmission> {
        if self.pacer.as_ref().is_some_and(|pacer| pacer.due() > now) {
            return None;
        }
        let (chunk, to, is_repair) = match self.is_passed() {
            false => (self.next, self.waited.clone(), false),
            true => self.next_in_turn(options, now)?,
        };
        if !is_repair && self.pacer.is_some() {
            self.next += 1;
            self.passed = self.is_passed().then_some(now);
        }
        // The rate is the update's, however many frames carry the chunk.
        if let Some(pacer) = &mut self.pacer {
            pacer.take(1, now);
        }
        match is_repair {
            true => counters.repairs += 1,
            false => counters.chunks += 1,
        }
        if self.is_passed() {
            let served = |state: &&mut ReceiverState| state.is_served();
            for rank in to.iter() {
                if let Some(state) = self.states.get_mut(&rank).filter(served) {
                    // Before this it had no reason to send a message.
                    state.last_heard = state.last_heard.max(now);
                    state.expect(options.poll, now);
                }
            }
        }
        Some(Transmission { round: self.round, chunk, to, is_repair })
    }

    /// Returns the next pending chunk of the receivers in turn. A chunk that several have requested leaves
    /// once for all of them, if a switch makes the copies.
    fn next_in_turn(&mut self, options: &SenderOptions, now: Duration) -> Option<(u32, Receivers, bool)> {
        let ready = |state: &ReceiverState| {
            let may = state.under_way < options.window() && state.may_at() <= now;
            state.phase == ReceiverPhase::Waited && may && !state.pending.is_empty()
        };
        let after = |rank: &Rank| self.turn.is_none_or(|turn| *rank > turn);
        let ranks = || self.states.iter().filter(|(_, state)| ready(state)).map(|(&rank, _)| rank);
        let turn = ranks().find(after).or_else(|| ranks().next())?;
        let chunk = self.states[&turn].pending.first()?;
        self.turn = Some(turn);
        if self.pacer.is_none() {
            let state = self.states.get_mut(&turn)?;
            state.pending.remove(chunk);
            state.under_way += 1;
            state.take_turn(self.copy, options.window(), now);
            return Some((chunk, Receivers::one(turn), false));
        }
        let mut to = Receivers::default();
        for (&rank, state) in &mut self.states {
            if state.phase == ReceiverPhase::Waited && state.pending.remove(chunk) {
                to.insert(rank);
            }
        }
        Some((chunk, to, true))
    }

    /// Takes a receiver's report of completion, even if the receiver is not awaited any more.
    pub fn complete(&mut self, rank: Rank, now: Duration) {
        if let Some(state) = self.states.get_mut(&rank) {
            state.observe(now);
            state.phase = ReceiverPhase::Complete;
            state.completed.get_or_insert(now);
            state.pending = Ranges::default();
            self.waited.remove(rank);
        }
    }

    /// Takes a receiver's request for chunks. Returns whether all of them exist.
    pub fn lacks(&mut self, rank: Rank, chunks: &Ranges, now: Duration) -> bool {
        let fit = chunks.iter().all(|run| run.end <= self.chunks);
        if let Some(state) = self.states.get_mut(&rank).filter(|_| fit) {
            state.observe(now);
            // Chunks that were never sent will leave without a request.
            let sent = |run: std::ops::Range<u32>| run.start..run.end.min(self.next);
            chunks.iter().map(sent).for_each(|run| {
                state.pending.insert(run);
            });
        }
        fit
    }

    pub fn withdraw(&mut self, rank: Rank) -> bool {
        self.end_for(rank, ReceiverPhase::Withdrawn)
    }

    pub fn give_up(&mut self, rank: Rank) -> bool {
        self.end_for(rank, ReceiverPhase::GivenUp)
    }

    fn end_for(&mut self, rank: Rank, phase: ReceiverPhase) -> bool {
        let waited = self.waited.remove(rank);
        if let Some(state) = self.states.get_mut(&rank).filter(|_| waited) {
            state.phase = phase;
            state.pending = Ranges::default();
        }
        waited
    }

    pub fn delivered(&mut self, to: Rank, options: &SenderOptions, now: Duration) {
        if let Some(state) = self.states.get_mut(&to) {
            state.under_way = state.under_way.saturating_sub(1);
            state.observe(now);
            state.expect(options.poll, now);
        }
    }

    pub fn failed(&mut self, to: Rank, chunk: u32, options: &SenderOptions, now: Duration) {
        if let Some(state) = self.states.get_mut(&to) {
            state.under_way = state.under_way.saturating_sub(1);
            state.not_before = now.saturating_add(options.poll);
            if state.phase == ReceiverPhase::Waited && chunk < self.chunks {
                state.pending.insert(chunk..chunk + 1);
            }
        }
    }

    fn awaited_states(&self) -> impl Iterator<Item = (Rank, &ReceiverState)> {
        self.states
            .iter()
            .filter(|(_, state)| state.phase == ReceiverPhase::Waited)
            .map(|(&rank, at)| (rank, at))
    }

    /// Returns when a receiver times out. The time does not run while every chunk leaves for the first time,
    /// nor while the receiver waits for requested chunks.
    fn patience_ends(&self, state: &ReceiverState, options: &SenderOptions) -> Option<Duration> {
        let silent = state.last_heard.saturating_add(options.patience);
        let owes = match options.copies {
            Copies::Switch { .. } => self.is_passed() && state.is_served(),
            Copies::Sender { .. } => true,
        };
        let limit = options.limit.map(|limit| self.began.saturating_add(limit));
        Some(silent).filter(|_| owes).into_iter().chain(limit).min()
    }

    /// Returns the receivers that time out now.
    pub fn too_late(&self, options: &SenderOptions, now: Duration) -> Vec<Rank> {
        let late = |state: &ReceiverState| self.patience_ends(state, options).is_some_and(|end| end <= now);
        self.awaited_states().filter(|(_, state)| late(state)).map(|(rank, _)| rank).collect()
    }

    /// Returns the receivers to poll now.
    pub fn due_polls(&mut self, options: &SenderOptions, now: Duration) -> Vec<Rank> {
        let passed = self.is_passed();
        let mut due = Vec::new();
        for (&rank, state) in &mut self.states {
            let owes = passed && state.phase == ReceiverPhase::Waited && state.is_served();
            if owes && state.poll_at <= now {
                state.polls += 1;
                state.expect(options.poll, now);
                due.push(rank);
            }
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.take(due.len(), now);
        }
        due
    }

    pub fn wake_at(&self, options: &SenderOptions) -> Option<Duration> {
        let passed = self.is_passed();
        let has_chunk = !passed || self.awaited_states().any(|(_, state)| !state.pending.is_empty());
        let chunk = self.pacer.as_ref().filter(|_| has_chunk).map(Pacer::due);
        let of = |state: &ReceiverState| {
            let poll = Some(state.poll_at).filter(|_| passed && state.is_served());
            let blocked = self.pacer.is_none() && !state.pending.is_empty();
            let has_room = state.under_way < options.window();
            let again = Some(state.may_at()).filter(|_| blocked && has_room);
            [poll, self.patience_ends(state, options), again].into_iter().flatten().min()
        };
        self.awaited_states().filter_map(|(_, state)| of(state)).chain(chunk).min()
    }

    pub fn outcome(self, now: Duration) -> Outcome {
        let of = |phase| {
            let ranks = self.states.iter().filter(|(_, state)| state.phase == phase);
            ranks.map(|(&rank, _)| rank).collect()
        };
        let time = |at: Duration| at.saturating_sub(self.began);
        Outcome {
            round: self.round,
            complete: of(ReceiverPhase::Complete),
            withdrawn: of(ReceiverPhase::Withdrawn),
            given_up: of(ReceiverPhase::GivenUp),
            passed: self.passed.unwrap_or(now).saturating_sub(self.began),
            took: now.saturating_sub(self.began),
            times: self.states.iter().filter_map(|(&rank, at)| Some((rank, time(at.completed?)))).collect(),
        }
    }
}

/// Returns the receivers, starting after a peer: so peers start with different ones.
fn first_after(me: Rank, receivers: &Receivers) -> Vec<Rank> {
    let (after, before): (Vec<Rank>, Vec<Rank>) = receivers.iter().partition(|&rank| rank > me);
    after.into_iter().chain(before).collect()
}
