//! Does the round end if nothing is lost from now on?

use std::collections::VecDeque;

use crate::frame::{Frame, Peer};
use crate::mutant::Mutant;
use crate::node::Node;
use crate::run::MigrationPhase;
use crate::server::Outgoing;
use crate::state::State;
use crate::system::System;

/// Limit of timeouts in a run that does not end: far more than any network of this model needs.
const MOST_TIMEOUTS: usize = 100;

/// Timeouts without effect after which a worker sets flag bypass, and after as many more the peer timeout is
/// over.
const TIMEOUTS_IN_VAIN: u32 = 10;

/// Next step when further timeouts change nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Chunks are retransmitted.
    Repeat,
    /// Chunks are retransmitted with flag bypass.
    Bypass,
    /// The peer timeout is over.
    PeerTimeout,
}

impl System {
    /// Returns whether every live worker gets its results, or an error that names the failed host, if all
    /// frames in flight are lost, no later frame is lost, and timeouts expire.
    pub(crate) fn ends(&self, state: &State) -> bool {
        let mut state = State { network: Vec::new(), ..state.clone() };
        // The server migrates whenever workers do. Workers without the notice may stay in their plan version.
        if state.server.place == MigrationPhase::Before
            && state.workers.iter().any(|worker| worker.place.knows())
        {
            state.server.move_on(self.mutant);
        }
        let (mut stage, mut wasted_updates) = (Stage::Repeat, 0);
        for _ in 0..MOST_TIMEOUTS {
            if self.waiting_workers(&state).next().is_none() {
                return state
                    .workers
                    .iter()
                    .all(|worker| worker.failed.is_none_or(|whom| self.is_to_blame(&state, whom)));
            }
            let before = state.clone();
            for rank in 0..self.config.workers {
                self.time_out(&mut state, rank, stage != Stage::Repeat);
            }
            for sequence in self.out(&state).collect::<Vec<_>>() {
                let results = self.receive_onward(&mut state, sequence);
                self.carry(&mut state, results);
            }
            wasted_updates = if state.workers == before.workers { wasted_updates + 1 } else { 0 };
            if state != before && wasted_updates < TIMEOUTS_IN_VAIN {
                continue;
            }
            wasted_updates = 0;
            stage = match stage {
                Stage::Repeat => Stage::Bypass,
                Stage::Bypass => Stage::PeerTimeout,
                Stage::PeerTimeout => return false,
            };
            if stage == Stage::PeerTimeout {
                self.peer_timeout(&mut state);
            }
        }
        false
    }

    /// Returns the live workers that have neither all results nor an error.
    pub(crate) fn waiting_workers(&self, state: &State) -> impl Iterator<Item = u8> {
        let waits = |rank: u8| {
            let worker = &state.workers[usize::from(rank)];
            state.is_live(Peer::Worker(rank)) && worker.failed.is_none() && !worker.is_done(&self.config)
        };
        (0..self.config.workers).filter(move |rank| waits(*rank))
    }

    /// Lets a worker repeat its oldest outstanding chunk.
    fn time_out(&self, state: &mut State, rank: u8, bypass: bool) {
        if !state.is_live(Peer::Worker(rank)) {
            return;
        }
        let keepalive = self.keepalive(&state.workers[usize::from(rank)]);
        self.carry(state, keepalive.into_iter().collect());
        let worker = state.workers[usize::from(rank)];
        let oldest = state.outstanding(&self.config, self.mutant, rank).next();
        if let Some(sequence) = oldest {
            self.carry(state, vec![self.gradient(&worker, sequence, true, bypass)]);
        }
    }

    /// Returns whether that host failed, restarted or aborted the job, or has a gradient of another length or
    /// with values that no worker may send.
    fn is_to_blame(&self, state: &State, whom: Peer) -> bool {
        let own_fault = match whom {
            Peer::Worker(rank) => {
                self.is_shorter(rank)
                    || self.config.saturation
                    || state.workers[usize::from(rank)].failed.is_some_and(|by| by != whom)
            }
            Peer::Server | Peer::Elsewhere => false,
        };
        own_fault || [state.gone, state.reborn].contains(&Some(whom))
    }

    fn is_shorter(&self, rank: u8) -> bool {
        self.config.chunks_of(rank) < self.config.chunks
    }

    fn peer_timeout(&self, state: &mut State) {
        if state.gone == Some(Peer::Server) {
            for rank in self.waiting_workers(&state.clone()) {
                state.workers[usize::from(rank)].failed = Some(Peer::Server);
            }
        } else if self.may_learn_of_end(state) {
            let frames = self.learn_of_end(&mut state.server);
            self.carry(state, frames);
        } else if let Some(rank) = self.blames(&state.clone()).next() {
            let frames = state.server.give_up(Peer::Worker(rank));
            self.carry(state, frames);
        }
    }

    /// Returns the workers because of which the server would abort the job when its peer timeout expires:
    /// awaited workers that failed or aborted, and the one whose gradient has another length, if frames have
    /// shown the difference.
    pub(crate) fn blames(&self, state: &State) -> impl Iterator<Item = u8> {
        let server = &state.server;
        let waits = state.is_live(Peer::Server) && server.gave_up.is_none();
        let is_over = |rank: u8| {
            !state.is_live(Peer::Worker(rank)) || state.workers[usize::from(rank)].failed.is_some()
        };
        let never_times_out = self.mutant == Some(Mutant::NoPeerTimeout);
        let silent = move |rank: u8| !never_times_out && is_over(rank) && server.waits_for(rank);
        (0..self.config.workers)
            .filter(move |rank| waits && (silent(*rank) || server.differs && self.is_shorter(*rank)))
    }

    /// Delivers frames, and all frames sent in response, in order.
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
