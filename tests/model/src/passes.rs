//! Effect of a frame in each of two passes of a Tofino switch.

use std::sync::atomic::Ordering;

use inart_p4::Outcome;

use crate::arrival::{Arrival, StepOf};
use crate::frame::{Contribution, FirstPass, Frame};
use crate::halves::{self, Passed};
use crate::invariant::Pass;
use crate::node::Node;
use crate::slot::{second_pass, slot_of};
use crate::state::State;
use crate::system::System;
use crate::tofino;

impl System {
    pub(crate) fn at_first_pass(&self, state: &State, switch: u8, frame: &Contribution) -> Arrival {
        let place = slot_of(&self.config, frame.run, frame.sequence);
        let slot = state.switches[usize::from(switch)][place];
        let mut after = slot;
        let (outcome, passed) = halves::first(&self.config, self.mutant, switch, &mut after, frame);
        let (out, sent) = match passed {
            Passed::Again(first) => {
                // A complete frame is counted when it leaves.
                if !first.complete {
                    self.count(outcome);
                }
                // A complete pass stands for a partial of its slot.
                let partial = Contribution { partial: true, contributors: after.seen, ..*frame };
                // The frame carries the slot's flags: the half in this pass may be of other frames than the
                // second, and only they recorded that it saturated on the way.
                let marked = Contribution { overflow: frame.overflow || after.overflow, ..*frame };
                let again = (Node::Again(switch), Frame::Halfway(marked, first));
                (first.complete.then_some(partial), Some(again))
            }
            _ => {
                self.count(outcome);
                (Some(*frame), Some((self.config.after(switch), Frame::Contribution(*frame))))
            }
        };
        let step = StepOf { switch, place, slots: (slot, after), frame, pass: Pass::First };
        self.of_switch(state, &step, out, sent)
    }

    pub(crate) fn at_second_pass(
        &self,
        state: &State,
        switch: u8,
        frame: &Contribution,
        first: FirstPass,
    ) -> Arrival {
        let place = second_pass(slot_of(&self.config, frame.run, frame.sequence));
        let slot = state.switches[usize::from(switch)][place];
        let mut after = slot;
        let (outcome, passed) = halves::second(&self.config, self.mutant, switch, &mut after, frame, first);
        let out = match passed {
            Passed::Out(out) if matches!(outcome, Outcome::Completed | Outcome::Repeated) => {
                let (outcome, out) = tofino::egress(self.mutant, &mut after, outcome, out);
                self.count(outcome);
                out
            }
            Passed::Out(out) => Some(out),
            _ => None,
        };
        let sent = out.map(|out| (self.config.after(switch), Frame::Contribution(out)));
        let pass = Pass::Second { complete: first.complete };
        self.of_switch(state, &StepOf { switch, place, slots: (slot, after), frame, pass }, out, sent)
    }

    /// Loses a frame that is complete in both passes between the ingress and the egress of the second.
    pub(crate) fn lost_in_second_pass(
        &self,
        state: &State,
        switch: u8,
        frame: &Contribution,
        first: FirstPass,
    ) -> Option<Arrival> {
        let place = second_pass(slot_of(&self.config, frame.run, frame.sequence));
        let slot = state.switches[usize::from(switch)][place];
        let mut after = slot;
        let (outcome, _) = halves::second(&self.config, self.mutant, switch, &mut after, frame, first);
        let pass = Pass::Second { complete: false };
        let step = StepOf { switch, place, slots: (slot, after), frame, pass };
        (outcome == Outcome::Completed && first.complete).then(|| self.of_switch(state, &step, None, None))
    }

    fn count(&self, outcome: Outcome) {
        self.rules.outcomes[outcome.index()].fetch_add(1, Ordering::Relaxed);
    }
}
