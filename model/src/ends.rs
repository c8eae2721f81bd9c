//! Does the round end if nothing is lost from now on?

use std::collections::VecDeque;

use crate::frame::{Frame, Node, Peer};
use crate::mutant::Mutant;
use crate::server::Outgoing;
use crate::state::State;
use crate::system::System;

/// How long a run goes on without having come to an end: far more than any network of this model needs.
const MOST_TIMEOUTS: usize = 100;

/// Timeouts after which a worker sets flag bypass, and patience ends.
const TIMEOUTS_IN_VAIN: u32 = 10;

/// What comes next when timeouts change nothing any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Chunks are sent again.
    Repeat,
    /// They are sent with flag bypass.
    Bypass,
    /// Patience has come to its end.
    Patience,
}

impl System {
    /// Whether every live worker comes to its results, or to an error that names who is gone, when all that is under way is
    /// lost, nothing is from then on, and timeouts come.
    pub(crate) fn ends(&self, state: &State) -> bool {
        let mut state = State { network: Vec::new(), ..state.clone() };
        let (mut stage, mut in_vain) = (Stage::Repeat, 0);
        for _ in 0..MOST_TIMEOUTS {
            if self.waiting_workers(&state).next().is_none() {
                let right = |failed: Option<Peer>| failed.is_none() || failed == state.gone;
                return state.workers.iter().all(|worker| right(worker.failed));
            }
            let before = state.clone();
            for rank in 0..self.config.workers {
                self.time_out(&mut state, rank, stage != Stage::Repeat);
            }
            in_vain = if state.workers == before.workers { in_vain + 1 } else { 0 };
            if state != before && in_vain < TIMEOUTS_IN_VAIN {
                continue;
            }
            in_vain = 0;
            stage = match stage {
                Stage::Repeat => Stage::Bypass,
                Stage::Bypass => Stage::Patience,
                Stage::Patience => return false,
            };
            if stage == Stage::Patience {
                self.lose_patience(&mut state);
            }
        }
        false
    }

    /// The live workers that have neither all results nor an error.
    pub(crate) fn waiting_workers(&self, state: &State) -> impl Iterator<Item = u8> {
        let waits = |rank: u8| {
            let worker = &state.workers[usize::from(rank)];
            state.is_live(Peer::Worker(rank)) && worker.failed.is_none() && !worker.is_done(&self.config)
        };
        (0..self.config.workers).filter(move |rank| waits(*rank))
    }

    /// Lets a worker send its oldest outstanding chunk again.
    fn time_out(&self, state: &mut State, rank: u8, bypass: bool) {
        let worker = state.workers[usize::from(rank)];
        if let Some(sequence) = worker.outstanding(&self.config, self.mutant, state.server.ended).next()
            && state.is_live(Peer::Worker(rank))
        {
            self.carry(state, vec![self.gradient(&worker, rank, sequence, true, bypass)]);
        }
    }

    fn lose_patience(&self, state: &mut State) {
        match state.gone {
            Some(culprit @ Peer::Worker(rank)) if self.notices(state, rank) => {
                let told = state.server.give_up(culprit);
                self.carry(state, told);
            }
            Some(Peer::Server) => {
                for rank in self.waiting_workers(&state.clone()) {
                    state.workers[usize::from(rank)].failed = Some(Peer::Server);
                }
            }
            _ => {}
        }
    }

    /// Whether the server's patience with a worker that is gone comes to an end.
    pub(crate) fn notices(&self, state: &State, gone: u8) -> bool {
        state.server.waits_for(gone) && self.mutant != Some(Mutant::NoPatience)
    }

    /// Lets frames arrive, and all that is sent because of them, in order.
    fn carry(&self, state: &mut State, frames: Outgoing) {
        let mut frames: VecDeque<(Node, Frame)> = frames.into();
        while let Some((to, frame)) = frames.pop_front() {
            for node in self.nodes(to) {
                let arrival = self.arrival(state, node, &frame);
                arrival.apply(state);
                frames.extend(arrival.outgoing);
            }
        }
    }
}
