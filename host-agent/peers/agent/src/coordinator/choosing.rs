//! Chooses receivers and rates, and sends them to peers.

use std::time::Duration;

use inart_planner_peers::{Multicast, Pairs, Problem, Session, Setting, Sharing, Task, Waits, rates};
use inart_protocol_peers::Receivers;
use inart_topologies::peers::Ports;
use inart_wire::Rank;

use super::known::{PeerPhase, Sending};
use super::{Coordinator, CoordinatorOutput};
use crate::message::{Body, Choice};
use crate::select::Selector;
use crate::setup::Sync;

/// A rate is sent only if it differs by more than this part.
const SAME: f64 = 0.05;

/// Peers that take part, numbered from 0.
struct Present {
    /// Their ranks, ascending.
    ranks: Vec<usize>,
    ports: Ports,
    bits: Vec<f64>,
    waited: Waits,
    required: Pairs,
    receivers: usize,
}

impl<S: Selector> Coordinator<S> {
    fn present(&self) -> Present {
        let ranks: Vec<usize> = (0..self.peers.len()).filter(|&at| self.gate.has(at)).collect();
        let of = |all: &[f64]| ranks.iter().map(|&at| all[at]).collect();
        let all = self.estimates.ports();
        let mut waited = Waits::none(ranks.len());
        for (from, &from_rank) in ranks.iter().enumerate() {
            for (to, &to_rank) in ranks.iter().enumerate() {
                waited.set(from, to, self.waits.of(from_rank, to_rank));
            }
        }
        Present {
            ports: Ports { up_bps: of(&all.up_bps), down_bps: of(&all.down_bps) },
            bits: of(&self.setup.update_bits),
            required: waited.forced(self.setup.force_after),
            waited,
            receivers: self.setup.receivers.min(ranks.len().saturating_sub(1)),
            ranks,
        }
    }

    /// Chooses for the next round of all peers, once all have ended the previous one (bulk synchronous).
    pub(super) fn choose_if_due(&mut self, now: Duration) {
        let round = u32::try_from(self.gate.least()).unwrap_or(u32::MAX).saturating_add(1);
        let is_due = self.term.is_some() && !self.is_superseded && self.setup.sync == Sync::Bsp;
        if !is_due || round <= self.chosen_round {
            return;
        }
        self.learn_from_copies();
        let present = self.present();
        if present.receivers == 0 {
            return;
        }
        self.chosen_round = round;
        let problem = Problem {
            ports: present.ports.clone(),
            bits: present.bits.clone(),
            receivers: present.receivers,
            required: present.required.clone(),
            waited: present.waited.clone(),
            multicast: self.setup.multicast,
        };
        let chosen = match self.selector.round(&problem, &present.ranks) {
            Ok(chosen) => chosen,
            Err(why) => return self.selection_failed(why),
        };
        // All multicasts end when the fullest port is done: no port carries more than its rate, counting the
        // extra frames for ranks in several blocks.
        let up_s = |from: usize| {
            let to: Vec<usize> = chosen.receivers(from).map(|to| present.ranks[to]).collect();
            self.copies(&to) as f64 * present.bits[from] / present.ports.up_bps[from]
        };
        let seconds = (0..present.ranks.len()).map(up_s).fold(problem.seconds(&chosen), f64::max);
        for (from, &rank) in present.ranks.iter().enumerate() {
            let to = chosen.receivers(from).map(|to| present.ranks[to]).collect();
            self.hand_out(rank, round, to, present.bits[from] / seconds, now);
        }
    }

    fn selection_failed(&mut self, why: String) {
        self.counters.failed += 1;
        self.outputs.push_back(CoordinatorOutput::NotChosen { why });
    }

    /// Returns how many times the sender's port carries a chunk to these ranks.
    fn copies(&self, to: &[usize]) -> usize {
        match self.setup.multicast {
            Multicast::Hosts => to.len(),
            Multicast::Switch => {
                let ranks = to.iter().filter_map(|&to| Rank::try_from(to).ok());
                ranks.collect::<Receivers>().blocks().len()
            }
        }
    }

    /// Returns max-min fair rates of concurrent multicasts.
    fn shares(&self, ports: &Ports, multicasts: impl Iterator<Item = (usize, Vec<usize>)>) -> Vec<f64> {
        let sessions: Vec<Session> = multicasts
            .map(|(from, to)| {
                let copies = self.copies(&to).max(1);
                Session { from, copies, to, pace_bps: f64::INFINITY }
            })
            .collect();
        rates(Sharing::Fair, ports, &sessions)
    }

    pub(super) fn hand_out(&mut self, from: usize, round: u32, to: Vec<usize>, rate_bps: f64, now: Duration) {
        let Ok(rank) = Rank::try_from(from) else { return };
        self.counters.choices += 1;
        self.serial += 1;
        let receivers = to.iter().map(|&to| to as u32).collect();
        let choice = Choice { term: self.term, serial: self.serial, round, receivers, rate_bps };
        self.send(rank, Body::Choice(choice));
        self.peers[from].choice = Some((round, to.clone(), rate_bps));
        if self.setup.sync != Sync::Bsp {
            let left_bits = match &self.peers[from].phase {
                PeerPhase::Sending(sending) if sending.round == round => sending.left_bits(now),
                _ => self.setup.update_bits[from],
            };
            self.peers[from].phase = PeerPhase::Sending(Sending { round, to, left_bits, at: now, rate_bps });
        }
    }

    /// Chooses for a peer that is ready, and updates the choices of all that send (stale synchronous).
    pub(super) fn choose_for(&mut self, ready: usize, now: Duration) {
        let is_mine = self.term.is_some() && !self.is_superseded && self.gate.has(ready);
        if self.setup.sync == Sync::Bsp || !is_mine {
            return;
        }
        let present = self.present();
        if present.receivers == 0 {
            return;
        }
        let number = |rank: &usize| present.ranks.binary_search(rank).ok();
        let straggler_s = self.straggler_s(&present, now);
        let (mut tasks, mut of_ready) = (Vec::new(), None);
        for (from, &rank) in present.ranks.iter().enumerate() {
            let wait_s = if self.gate.would_wait(rank) { straggler_s } else { 0.0 };
            let (to, left_bits) = match &self.peers[rank].phase {
                PeerPhase::Sending(sending) => {
                    (sending.to.iter().filter_map(number).collect(), sending.left_bits(now))
                }
                PeerPhase::Ready { .. } if rank == ready => {
                    of_ready = Some(tasks.len());
                    ((0..present.ranks.len()).filter(|&to| to != from).collect(), present.bits[from])
                }
                _ => continue,
            };
            tasks.push(Task { from, to, left_bits, wait_s });
        }
        let Some(of_ready) = of_ready else { return };
        let setting = Setting {
            ports: &present.ports,
            bits: &present.bits,
            receivers: present.receivers,
            multicast: self.setup.multicast,
            required: &present.required,
            waited: &present.waited,
        };
        match self.selector.ready(&setting, &tasks, of_ready, &present.ranks) {
            Ok(chosen) => {
                let of = |(task, to): (&Task, Vec<usize>)| {
                    (present.ranks[task.from], to.into_iter().map(|to| present.ranks[to]).collect())
                };
                let chosen: Vec<(usize, Vec<usize>)> = tasks.iter().zip(chosen).map(of).collect();
                self.share_out(&chosen, now);
            }
            Err(why) => self.selection_failed(why),
        }
    }

    /// Returns the longest time, in seconds, that one of the slowest peers still computes, or sends at the
    /// rate of its own port.
    fn straggler_s(&self, present: &Present, now: Duration) -> f64 {
        let left = |rank: usize| match &self.peers[rank].phase {
            PeerPhase::Computing { since } => {
                let mean = self.peers[rank].compute_s.unwrap_or(0.0);
                (mean - now.saturating_sub(*since).as_secs_f64()).max(0.0)
            }
            PeerPhase::Ready { .. } => 0.0,
            PeerPhase::Sending(sending) => {
                let port =
                    present.ranks.binary_search(&rank).map_or(f64::INFINITY, |at| present.ports.up_bps[at]);
                sending.left_bits(now) / port
            }
        };
        self.gate.last().map(left).fold(0.0, f64::max)
    }

    /// Sends new receivers, by rank, and the changed rates of active multicasts.
    pub(super) fn share_out(&mut self, chosen: &[(usize, Vec<usize>)], now: Duration) {
        if self.term.is_none() || self.is_superseded {
            return;
        }
        let running = |rank: usize| match &self.peers[rank].phase {
            PeerPhase::Sending(sending) => Some((sending.round, sending.to.clone(), Some(sending.rate_bps))),
            PeerPhase::Ready { round } => Some((*round, Vec::new(), None)),
            PeerPhase::Computing { .. } => None,
        };
        let mut all = Vec::new();
        for rank in 0..self.peers.len() {
            let Some((round, before, rate)) = running(rank).filter(|_| self.gate.has(rank)) else { continue };
            let now_to = chosen.iter().find(|(from, _)| *from == rank).map(|(_, to)| to.clone());
            let is_new = now_to.as_ref().is_some_and(|to| *to != before) || rate.is_none();
            let to = now_to.unwrap_or(before);
            if !to.is_empty() {
                all.push((rank, round, to, rate, is_new));
            }
        }
        let ports = self.estimates.ports().clone();
        let shares = self.shares(&ports, all.iter().map(|(rank, _, to, ..)| (*rank, to.clone())));
        for ((rank, round, to, before, is_new), rate_bps) in all.into_iter().zip(shares) {
            let is_same = before.is_some_and(|before| (rate_bps - before).abs() <= SAME * before);
            if is_new || !is_same {
                self.hand_out(rank, round, to, rate_bps, now);
            }
        }
    }
}
