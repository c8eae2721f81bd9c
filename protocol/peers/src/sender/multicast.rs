//! One multicast: every chunk once to everybody, then what is missing to those who ask.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::Rank;

use super::options::{Copies, SenderOptions};
use super::standing::{Fate, Standing};
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
    /// When the last chunk left for the first time.
    passed: Option<Duration>,
    /// The next chunk that nobody was sent yet. With copies by the sender there is none: every receiver has
    /// all chunks pending from the beginning.
    next: u32,
    standings: BTreeMap<Rank, Standing>,
    /// Those whose fate is open.
    waited: Receivers,
    /// Whose turn it was last.
    turn: Option<Rank>,
    /// Where switches make the copies; where the sender does, each receiver has a time of its own.
    pacer: Option<Pacer>,
    /// How long a chunk to one receiver takes at the task's rate, where the sender makes the copies.
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
        let standing = |(place, rank): (u32, Rank)| {
            let due = now.saturating_add(copy.saturating_mul(place) / count);
            (rank, Standing::new(pending.clone(), due, now))
        };
        Multicast {
            round: task.round,
            chunks: task.chunks,
            began: now,
            passed: None,
            next,
            standings: (0..).zip(places).map(standing).collect(),
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
        self.standings.contains_key(&rank)
    }

    pub fn is_waited(&self, rank: Rank) -> bool {
        self.waited.contains(rank)
    }

    pub fn is_complete(&self, rank: Rank) -> bool {
        self.standings.get(&rank).is_some_and(|standing| standing.fate == Fate::Complete)
    }

    /// Whether every chunk was sent once.
    fn is_passed(&self) -> bool {
        self.next >= self.chunks
    }

    pub fn chunks_left(&self) -> u32 {
        let most = self.waited_standings().map(|(_, standing)| standing.pending.len()).max();
        (self.chunks - self.next.min(self.chunks)).max(most.unwrap_or(0))
    }

    pub fn set_rate(&mut self, rate_bps: f64, options: &SenderOptions, now: Duration) {
        if let (Some(pacer), Copies::Switch { frame_bytes }) = (&mut self.pacer, options.copies) {
            pacer.set_rate(frame_bytes, rate_bps, now);
        }
        self.copy = options.time_of_copy(rate_bps);
        for standing in self.standings.values_mut() {
            standing.due = standing.due.min(now.saturating_add(self.copy));
        }
    }

    /// The next chunk. All of them once, before any is sent again: so whoever lacks nothing has the update as
    /// soon as if nobody did.
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
        // However many frames carry it: the rate is the update's.
        if let Some(pacer) = &mut self.pacer {
            pacer.take(1, now);
        }
        match is_repair {
            true => counters.repairs += 1,
            false => counters.chunks += 1,
        }
        if self.is_passed() {
            let served = |standing: &&mut Standing| standing.is_served();
            for rank in to.iter() {
                if let Some(standing) = self.standings.get_mut(&rank).filter(served) {
                    // It had nothing to say before.
                    standing.heard = standing.heard.max(now);
                    standing.expect(options.poll, now);
                }
            }
        }
        Some(Transmission { round: self.round, chunk, to, is_repair })
    }

    /// Receivers that lack something take turns. A chunk that several have asked for leaves once for all of
    /// them, if a switch makes the copies.
    fn next_in_turn(&mut self, options: &SenderOptions, now: Duration) -> Option<(u32, Receivers, bool)> {
        let ready = |standing: &Standing| {
            let may = standing.under_way < options.window() && standing.may_at() <= now;
            standing.fate == Fate::Waited && may && !standing.pending.is_empty()
        };
        let after = |rank: &Rank| self.turn.is_none_or(|turn| *rank > turn);
        let ranks = || self.standings.iter().filter(|(_, standing)| ready(standing)).map(|(&rank, _)| rank);
        let turn = ranks().find(after).or_else(|| ranks().next())?;
        let chunk = self.standings[&turn].pending.first()?;
        self.turn = Some(turn);
        if self.pacer.is_none() {
            let standing = self.standings.get_mut(&turn)?;
            standing.pending.remove(chunk);
            standing.under_way += 1;
            standing.take_turn(self.copy, options.window(), now);
            return Some((chunk, Receivers::one(turn), false));
        }
        let mut to = Receivers::default();
        for (&rank, standing) in &mut self.standings {
            if standing.fate == Fate::Waited && standing.pending.remove(chunk) {
                to.insert(rank);
            }
        }
        Some((chunk, to, true))
    }

    /// It has the update. That counts even if it was not waited for any more.
    pub fn complete(&mut self, rank: Rank, now: Duration) {
        if let Some(standing) = self.standings.get_mut(&rank) {
            standing.hear(now);
            standing.fate = Fate::Complete;
            standing.completed.get_or_insert(now);
            standing.pending = Ranges::default();
            self.waited.remove(rank);
        }
    }

    /// It asks for chunks; whether all of them exist.
    pub fn lacks(&mut self, rank: Rank, chunks: &Ranges, now: Duration) -> bool {
        let fit = chunks.iter().all(|run| run.end <= self.chunks);
        if let Some(standing) = self.standings.get_mut(&rank).filter(|_| fit) {
            standing.hear(now);
            // What was not sent at all comes without being asked for.
            let sent = |run: std::ops::Range<u32>| run.start..run.end.min(self.next);
            chunks.iter().map(sent).for_each(|run| {
                standing.pending.insert(run);
            });
        }
        fit
    }

    pub fn withdraw(&mut self, rank: Rank) -> bool {
        self.end_for(rank, Fate::Withdrawn)
    }

    pub fn give_up(&mut self, rank: Rank) -> bool {
        self.end_for(rank, Fate::GivenUp)
    }

    fn end_for(&mut self, rank: Rank, fate: Fate) -> bool {
        let waited = self.waited.remove(rank);
        if let Some(standing) = self.standings.get_mut(&rank).filter(|_| waited) {
            standing.fate = fate;
            standing.pending = Ranges::default();
        }
        waited
    }

    pub fn delivered(&mut self, to: Rank, options: &SenderOptions, now: Duration) {
        if let Some(standing) = self.standings.get_mut(&to) {
            standing.under_way = standing.under_way.saturating_sub(1);
            standing.hear(now);
            standing.expect(options.poll, now);
        }
    }

    pub fn failed(&mut self, to: Rank, chunk: u32, options: &SenderOptions, now: Duration) {
        if let Some(standing) = self.standings.get_mut(&to) {
            standing.under_way = standing.under_way.saturating_sub(1);
            standing.not_before = now.saturating_add(options.poll);
            if standing.fate == Fate::Waited && chunk < self.chunks {
                standing.pending.insert(chunk..chunk + 1);
            }
        }
    }

    fn waited_standings(&self) -> impl Iterator<Item = (Rank, &Standing)> {
        self.standings
            .iter()
            .filter(|(_, standing)| standing.fate == Fate::Waited)
            .map(|(&rank, at)| (rank, at))
    }

    /// When a receiver is given up unless it is heard of. While every chunk leaves for the first time nobody
    /// has to say anything, and who is being sent what it lacks waits for the sender.
    fn patience_ends(&self, standing: &Standing, options: &SenderOptions) -> Option<Duration> {
        let silent = standing.heard.saturating_add(options.patience);
        let owes = match options.copies {
            Copies::Switch { .. } => self.is_passed() && standing.is_served(),
            Copies::Sender { .. } => true,
        };
        let limit = options.limit.map(|limit| self.began.saturating_add(limit));
        Some(silent).filter(|_| owes).into_iter().chain(limit).min()
    }

    /// Who is to be given up now.
    pub fn too_late(&self, options: &SenderOptions, now: Duration) -> Vec<Rank> {
        let late = |standing: &Standing| self.patience_ends(standing, options).is_some_and(|end| end <= now);
        self.waited_standings().filter(|(_, standing)| late(standing)).map(|(rank, _)| rank).collect()
    }

    /// Who is to be asked now.
    pub fn due_polls(&mut self, options: &SenderOptions, now: Duration) -> Vec<Rank> {
        let passed = self.is_passed();
        let mut due = Vec::new();
        for (&rank, standing) in &mut self.standings {
            let owes = passed && standing.fate == Fate::Waited && standing.is_served();
            if owes && standing.poll_at <= now {
                standing.polls += 1;
                standing.expect(options.poll, now);
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
        let has_chunk = !passed || self.waited_standings().any(|(_, standing)| !standing.pending.is_empty());
        let chunk = self.pacer.as_ref().filter(|_| has_chunk).map(Pacer::due);
        let of = |standing: &Standing| {
            let poll = Some(standing.poll_at).filter(|_| passed && standing.is_served());
            let blocked = self.pacer.is_none() && !standing.pending.is_empty();
            let has_room = standing.under_way < options.window();
            let again = Some(standing.may_at()).filter(|_| blocked && has_room);
            [poll, self.patience_ends(standing, options), again].into_iter().flatten().min()
        };
        self.waited_standings().filter_map(|(_, standing)| of(standing)).chain(chunk).min()
    }

    pub fn outcome(self, now: Duration) -> Outcome {
        let of = |fate| {
            let ranks = self.standings.iter().filter(|(_, standing)| standing.fate == fate);
            ranks.map(|(&rank, _)| rank).collect()
        };
        let time = |at: Duration| at.saturating_sub(self.began);
        Outcome {
            round: self.round,
            complete: of(Fate::Complete),
            withdrawn: of(Fate::Withdrawn),
            given_up: of(Fate::GivenUp),
            passed: self.passed.unwrap_or(now).saturating_sub(self.began),
            took: now.saturating_sub(self.began),
            times: self
                .standings
                .iter()
                .filter_map(|(&rank, at)| Some((rank, time(at.completed?))))
                .collect(),
        }
    }
}

/// Receivers, those after a peer first: so that not all peers begin with the same ones.
fn first_after(me: Rank, receivers: &Receivers) -> Vec<Rank> {
    let (after, before): (Vec<Rank>, Vec<Rank>) = receivers.iter().partition(|&rank| rank > me);
    after.into_iter().chain(before).collect()
}
