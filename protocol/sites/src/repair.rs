//! Repair of missing chunks: requests and answers (docs/protocol/sites.md, S9).

use std::collections::BTreeMap;

use crate::policy::{ChunkNo, SiteNo};
use crate::site::{Last, Site};
use crate::summand::Summand;
use crate::transfer::{Ask, ChunkTransfer, Direction, Output};

impl<S: Summand> Site<S> {
    /// Requests the missing chunks of this round. Must be called when a site or a link has recovered, or when
    /// no chunk has arrived for a while. A child is asked for its sum; after all children's sums have
    /// arrived, the parent is asked for the complete sum. `attempt` counts from 0: each further attempt also
    /// asks one of `others`, in turn.
    pub fn ask(&mut self, attempt: usize, others: &[SiteNo]) {
        let Some(round) = self.round else { return };
        let mut asked: BTreeMap<SiteNo, Vec<ChunkNo>> = BTreeMap::new();
        for (chunk, held) in (0..).map(ChunkNo).zip(&self.chunks) {
            if held.complete.is_some() {
                continue;
            }
            let tree = usize::from(self.policy.chunk_trees[chunk.0 as usize].0);
            let children = self.children[tree][0].iter().filter(|child| !held.from.contains(child));
            let parent = held.pushed.as_ref().and(self.policy.trees[tree].down[self.me.index()]);
            let turn = attempt.checked_sub(1).and_then(|turn| turn.checked_rem(others.len()));
            let other = turn.map(|turn| &others[turn]);
            let mut all: Vec<SiteNo> = children.copied().chain(parent).chain(other.copied()).collect();
            all.sort_unstable();
            all.dedup();
            all.into_iter().for_each(|site| asked.entry(site).or_default().push(chunk));
        }
        for (to, chunks) in asked {
            if let Some((next, route)) = self.outbox.way_to(to, &self.policy) {
                self.outbox.emit(Output::Ask { next, ask: Ask { round, from: self.me, to, route, chunks } });
            }
        }
    }

    /// Answers a request, or forwards it.
    pub fn asked(&mut self, mut ask: Ask) {
        if ask.to != self.me {
            if !ask.route.is_empty() {
                let next = ask.route.remove(0);
                self.outbox.emit(Output::Ask { next, ask });
            }
            return;
        }
        let is_member = self.policy.sites.contains(&ask.from);
        let is_last = self.last.as_ref().is_some_and(|last| last.round == ask.round);
        if is_member && is_last {
            let Some(last) = self.last.take() else { return };
            ask.chunks.iter().for_each(|&chunk| self.answer_last(&last, ask.from, chunk));
            self.last = Some(last);
        } else if is_member && self.round == Some(ask.round) {
            ask.chunks.iter().for_each(|&chunk| self.answer(ask.from, chunk));
        } else {
            self.counters.unanswerable += 1;
        }
    }

    fn answer(&mut self, to: SiteNo, chunk: ChunkNo) {
        let Some(held) = self.chunks.get(chunk.0 as usize) else {
            self.counters.strange += 1;
            return;
        };
        let tree = usize::from(self.policy.chunk_trees[chunk.0 as usize].0);
        if let Some(sum) = held.complete.clone() {
            let next = if self.is_agreeing(chunk) { self.offers.decided() } else { None };
            self.counters.answered += 1;
            self.give(chunk, Direction::Answer, to, sum, next.into_iter().collect());
        } else if let Some(sum) = held.pushed.clone()
            && self.policy.trees[tree].up[self.me.index()] == Some(to)
        {
            self.counters.answered += 1;
            self.give(chunk, Direction::Push, to, sum, Vec::new());
        }
    }

    fn answer_last(&mut self, last: &Last<S>, to: SiteNo, chunk: ChunkNo) {
        let Some(sum) = last.sums.get(chunk.0 as usize) else {
            self.counters.strange += 1;
            return;
        };
        let is_agreeing = chunk.0 as usize + 1 == last.sums.len();
        let next = if is_agreeing { last.next } else { None };
        let transfer = ChunkTransfer {
            round: last.round,
            version: last.version,
            chunk,
            direction: Direction::Answer,
            from: self.me,
            to,
            path: 0,
            route: Vec::new(),
            policies: next.into_iter().collect(),
            data: sum.clone(),
        };
        self.counters.answered += 1;
        self.outbox.give(transfer, &self.policy);
    }
}
