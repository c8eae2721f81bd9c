//! Effect of a frame on its receiver.

use std::sync::atomic::Ordering;

use inart_p4::Outcome;

use crate::frame::{Contribution, Frame, Peer};
use crate::invariant::{self, Broken, Pass, SwitchStep};
use crate::mutant::Mutant;
use crate::node::Node;
use crate::onward::Onward;
use crate::run::Run;
use crate::server::{Handled, Outgoing, Server};
use crate::slot::{Slot, slot_of};
use crate::state::State;
use crate::sum::Sum;
use crate::switch;
use crate::system::System;
use crate::tofino;
use crate::worker::Worker;

/// Effect of a frame on its receiver.
#[derive(Debug, Default)]
pub struct Arrival {
    change: Option<Change>,
    counts: bool,
    /// Frames sent in response.
    pub outgoing: Outgoing,
    /// Chunks whose sums are sent to the larger job, with those sums.
    pub sent_onward: Vec<(u8, Sum)>,
    broken: Broken,
}

/// A frame at a slot of a switch.
#[derive(Clone, Copy)]
pub(crate) struct StepOf<'a> {
    pub switch: u8,
    pub place: usize,
    /// The slot before and after.
    pub slots: (Slot, Slot),
    pub frame: &'a Contribution,
    pub pass: Pass,
}

#[derive(Debug)]
enum Change {
    Slot(u8, usize, Slot, Option<(Run, u8)>),
    Server(Box<Server>),
    Worker(u8, Worker),
}

impl Arrival {
    /// Returns whether the effect changes a part of the state that the model keeps.
    pub fn changes(&self) -> bool {
        self.counts
    }

    /// Applies the effect to the state; the caller sends the outgoing frames.
    pub fn apply(&self, state: &mut State) {
        match &self.change {
            &Some(Change::Slot(switch, place, slot, completed)) => {
                state.switches[usize::from(switch)][place] = slot;
                state.completed[usize::from(switch)][place] = completed;
            }
            Some(Change::Server(server)) => state.server = **server,
            &Some(Change::Worker(rank, worker)) => state.workers[usize::from(rank)] = worker,
            None => {}
        }
        for &(sequence, sum) in &self.sent_onward {
            state.onward[usize::from(sequence)] = Onward::Out(sum);
        }
        state.broken.add(self.broken);
    }
}

impl System {
    /// Returns the effect that a frame would have on its receiver.
    pub fn arrival(&self, state: &State, node: Node, frame: &Frame) -> Arrival {
        match (node, frame) {
            (Node::Switch(switch), Frame::Contribution(frame)) if self.config.halves => {
                self.at_first_pass(state, switch, frame)
            }
            (Node::Switch(switch), Frame::Contribution(frame)) => self.at_switch(state, switch, frame),
            (Node::Again(switch), Frame::Halfway(frame, before)) => {
                self.at_second_pass(state, switch, frame, *before)
            }
            (Node::Server, Frame::Contribution(frame)) if state.is_live(Peer::Server) => {
                self.at_server(state, frame)
            }
            (Node::Server, &Frame::KeepAlive { worker, generation, run }) if state.is_live(Peer::Server) => {
                let mut server = state.server;
                let outgoing = server.keepalive(self.mutant, worker, generation, run);
                self.of_server(state, server, outgoing)
            }
            (Node::Worker(rank), frame) if state.is_live(Peer::Worker(rank)) => {
                self.at_worker(state, rank, frame)
            }
            _ => Arrival::default(),
        }
    }

    fn at_switch(&self, state: &State, switch: u8, frame: &Contribution) -> Arrival {
        let mut slots = state.switches[usize::from(switch)];
        let shared = self.mutant == Some(Mutant::NoPlanVersionInTag);
        let place = slot_of(&self.config, if shared { Run::First } else { frame.run }, frame.sequence);
        let before = slots[place];
        let (outcome, out) = switch::step(&self.config, self.mutant, switch, &mut slots, frame);
        self.rules.outcomes[outcome.index()].fetch_add(1, Ordering::Relaxed);
        let sent = out.map(|out| (self.config.after(switch), Frame::Contribution(out)));
        let step = StepOf { switch, place, slots: (before, slots[place]), frame, pass: Pass::Only };
        self.of_switch(state, &step, out, sent)
    }

    /// Completes a slot of a Tofino switch with a frame that is lost between ingress and egress.
    pub(crate) fn lost_inside(&self, state: &State, node: Node, frame: &Frame) -> Option<Arrival> {
        // The repeats received are the egress's only state.
        if self.config.tofino.is_none() || !self.config.waves {
            return None;
        }
        let (switch, frame) = match (node, frame) {
            (Node::Again(switch), Frame::Halfway(frame, before)) => {
                return self.lost_in_second_pass(state, switch, frame, *before);
            }
            (Node::Switch(switch), Frame::Contribution(frame)) if !self.config.halves => (switch, frame),
            _ => return None,
        };
        let place = slot_of(&self.config, frame.run, frame.sequence);
        let before = state.switches[usize::from(switch)][place];
        let mut after = before;
        let (outcome, _) = tofino::ingress(&self.config, self.mutant, switch, &mut after, frame);
        let step = StepOf { switch, place, slots: (before, after), frame, pass: Pass::Only };
        let lost = || self.of_switch(state, &step, None, None);
        (outcome == Outcome::Completed).then(lost)
    }

    /// Completes the effect of a frame that has changed a slot of a switch, or could have: `out` is the input
    /// of the rules, and `sent` the frames in flight because of the frame.
    pub(crate) fn of_switch(
        &self,
        state: &State,
        of: &StepOf<'_>,
        out: Option<Contribution>,
        sent: Option<(Node, Frame)>,
    ) -> Arrival {
        let StepOf { switch, place, slots: (before, after), frame, pass } = *of;
        let completed = state.completed[usize::from(switch)][place];
        let step = SwitchStep { before: &before, completed, frame, after: &after, out: out.as_ref(), pass };
        let completed = step.completed_after();
        let kept = |slot: Slot| if self.config.waves { slot } else { slot.without_askers() };
        Arrival {
            counts: kept(before) != kept(after) || completed != step.completed,
            change: Some(Change::Slot(switch, place, after, completed)),
            broken: step.broken(&self.config, state.ended(frame.run), switch, place),
            outgoing: sent.into_iter().collect(),
            sent_onward: Vec::new(),
        }
    }

    fn at_server(&self, state: &State, frame: &Contribution) -> Arrival {
        let mut server = state.server;
        let Handled { verdict, outgoing, sent_onward } = server.handle(&self.config, self.mutant, frame);
        self.rules.verdicts[verdict as usize].fetch_add(1, Ordering::Relaxed);
        let chunk = |server: &Server| server.chunk(&self.config, frame.sequence);
        let mut broken =
            invariant::server_step(&self.config, chunk(&state.server), frame, verdict, chunk(&server));
        broken.add(self.check_results(&state.onward, &mut server, &outgoing));
        for (sequence, sum) in &sent_onward {
            broken.add(invariant::is_sent_onward(&self.config, &state.onward, frame.run, *sequence, *sum));
        }
        Arrival { broken, sent_onward, ..self.of_server(state, server, outgoing) }
    }

    fn of_server(&self, state: &State, server: Server, outgoing: Outgoing) -> Arrival {
        let kept = |mut server: Server| {
            if !self.config.waves {
                server.forget_askers();
            }
            server
        };
        Arrival {
            counts: kept(server) != kept(state.server),
            change: Some(Change::Server(Box::new(server))),
            outgoing,
            sent_onward: Vec::new(),
            broken: Broken::default(),
        }
    }

    fn at_worker(&self, state: &State, rank: u8, frame: &Frame) -> Arrival {
        let before = state.workers[usize::from(rank)];
        let mut arrival = Arrival::default();
        if before.failed.is_some() {
            return arrival;
        }
        let (mut worker, ended) = (before, state.ended(before.run.unwrap_or_default()));
        let (config, mutant) = (&self.config, self.mutant);
        match *frame {
            Frame::Result { run, sequence, sum, other } => {
                if let Some(chunk) = worker.result(config, mutant, ended, (run, other), (sequence, sum)) {
                    arrival.broken = invariant::result(config, run, chunk, sequence, sum);
                    arrival.broken.add(invariant::read(
                        config,
                        chunk,
                        worker.reads_by(config, mutant, chunk),
                    ));
                    // Sums that an earlier generation of the server sent to the larger job are unknown now.
                    if [state.server.run, Run::Moved].contains(&run) {
                        arrival.broken.add(invariant::received_onward(config, &state.onward, chunk, sum));
                    }
                }
            }
            Frame::Request { to, sequence } => {
                if worker.accepts(mutant, to) && worker.awaits(config, mutant, ended, sequence) {
                    arrival.outgoing = vec![self.gradient(&worker, sequence, config.waves, true)];
                }
            }
            Frame::Abort { to, culprit } => {
                if worker.accepts(mutant, to) {
                    worker.failed = Some(culprit);
                }
            }
            Frame::Answer { to, bound } => worker.bound |= worker.accepts(mutant, to) && bound,
            Frame::Contribution(_) | Frame::Halfway(..) | Frame::KeepAlive { .. } => {}
        }
        if worker.run != before.run {
            arrival.outgoing.extend(self.keepalive(&worker));
        }
        arrival.counts = worker != before;
        arrival.change = (worker != before).then_some(Change::Worker(rank, worker));
        arrival
    }
}
