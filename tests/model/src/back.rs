//! Results of the larger job for sums sent to it.

use crate::config::Config;
use crate::frame::{Frame, Peer};
use crate::invariant::{self, Broken};
use crate::mutant::Mutant;
use crate::node::Node;
use crate::onward::Onward;
use crate::run::Run;
use crate::server::{Chunk, Outgoing, Server};
use crate::state::State;
use crate::sum::Sum;
use crate::system::System;

impl Server {
    /// Returns the sum of all for a chunk is back.
    pub fn back(&mut self, config: &Config, mutant: Option<Mutant>, sequence: u8, sum: Sum) -> Outgoing {
        let is = |mistake| mutant == Some(mistake);
        let waits = |chunk: &Chunk| !chunk.complete && config.is_sent_onward(chunk.sequence, chunk.have);
        let waiting = self.chunks.into_iter().flatten().filter(waits);
        let oldest = waiting.map(|chunk| chunk.sequence).min();
        let taken_for = oldest.filter(|_| is(Mutant::BackInOrder)).unwrap_or(sequence);
        let Some(mut chunk) = self.chunk(config, taken_for).filter(waits) else { return Vec::new() };
        chunk.sum = if is(Mutant::BackAdded) { chunk.sum + sum } else { sum };
        chunk.complete = true;
        chunk.next = if config.moves { self.place.of(self.run) } else { chunk.next };
        self.chunks[Self::place(config, taken_for)] = Some(chunk);
        self.ended |= 1 << taken_for;
        self.results(config, mutant, &chunk, false)
    }
}

impl System {
    /// Returns the chunks whose sums are at the larger job and whose results may arrive now.
    pub fn out<'a>(&self, state: &'a State) -> impl Iterator<Item = u8> + use<'a> {
        let may_come = [Peer::Server, Peer::Elsewhere].iter().all(|peer| state.is_live(*peer));
        let may_come = may_come && state.server.gave_up.is_none();
        let is_out = |onward: &Onward| matches!(onward, Onward::Out(_));
        (0..).zip(&state.onward).filter(move |(_, onward)| may_come && is_out(onward)).map(|(chunk, _)| chunk)
    }

    /// Delivers the larger job's result for a chunk. Returns the frames that the server sends.
    pub fn receive_onward(&self, state: &mut State, sequence: u8) -> Outgoing {
        let place = usize::from(sequence);
        let Some(&Onward::Out(own)) = state.onward.get(place) else { return Vec::new() };
        let sum = own + self.config.of_others(sequence);
        state.onward[place] = Onward::Back(sum);
        let mut server = state.server;
        let outgoing = server.back(&self.config, self.mutant, sequence, sum);
        let broken = self.check_results(&state.onward, &mut server, &outgoing);
        state.broken.add(broken);
        state.server = server;
        outgoing
    }

    /// Returns whether the server may learn now that the larger job has ended.
    pub(crate) fn may_learn_of_end(&self, state: &State) -> bool {
        !state.is_live(Peer::Elsewhere) && state.server.gave_up.is_none()
    }

    /// Informs the server that the larger job has ended. Returns the frames that the server sends.
    pub(crate) fn learn_of_end(&self, server: &mut Server) -> Outgoing {
        if self.mutant == Some(Mutant::EndElsewhereUnreported) {
            return Vec::new();
        }
        server.give_up(Peer::Elsewhere)
    }

    /// Returns the invariants that the results among those frames of the server break.
    pub(crate) fn check_results(
        &self,
        onward: &[Onward],
        server: &mut Server,
        outgoing: &[(Node, Frame)],
    ) -> Broken {
        let config = &self.config;
        let mut broken = Broken::default();
        for (_, frame) in outgoing {
            if let Frame::Result { run, sequence, sum, .. } = *frame {
                broken.add(invariant::result(config, run, sequence, sequence, sum));
                broken.add(invariant::received_onward(config, onward, sequence, sum));
                if config.reborn && run == Run::First {
                    broken.add(invariant::one_generation(config, sequence, sum, &mut server.counted));
                }
            }
        }
        broken
    }
}
