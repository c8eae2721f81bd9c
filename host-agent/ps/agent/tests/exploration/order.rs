//! The server's sequencer, with deliberate mistakes.

use std::time::Duration;

use inart_protocol_ps::{Refusal, WorkerNo};
use inart_ps_agent::{Checkpoint, Decision, Sequencer, Verdict};

use super::mistakes::Mistake;
use crate::campaign::sequencer::Either;

/// A sequencer with a mistake.
#[derive(Debug, Clone)]
pub struct Mistaken {
    own: Either,
    mistake: Mistake,
    /// By worker: the number of applied updates.
    done: Vec<u64>,
}

impl Mistaken {
    pub fn new(own: Either, mistake: Mistake, workers: usize) -> Mistaken {
        Mistaken { own, mistake, done: vec![0; workers] }
    }

    /// Returns the round of a client's group.
    fn round(&self, who: WorkerNo) -> Option<u64> {
        match &self.own {
            Either::Order(_) => None,
            Either::Groups(own) => {
                let groups = (0..).take_while(|group| own.server().round(*group).is_some()).count();
                own.server().round(who.index() % groups)
            }
        }
    }

    fn push_mistaken(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict {
        let is_finite = values.iter().all(|value| value.is_finite());
        let sound = |value: &f32| if value.is_finite() { *value } else { 0.0 };
        match self.mistake {
            Mistake::AnyValues => self.own.push(who, iteration, values.iter().map(sound).collect(), now),
            Mistake::RefusedIsNothing if !is_finite => {
                let refusal = Some(Refusal::NotFinite { at: 0 });
                Verdict { refusal, ..self.own.push(who, iteration, vec![0.0; values.len()], now) }
            }
            Mistake::LateCounts => self.own.push(who, self.round(who).unwrap_or(iteration), values, now),
            Mistake::PushedAgain => Verdict { is_taken: true, ..self.own.push(who, iteration, values, now) },
            _ => self.own.push(who, iteration, values, now),
        }
    }
}

impl Sequencer for Mistaken {
    fn join(&mut self, who: WorkerNo, now: Duration) {
        self.own.join(who, now);
    }

    fn leave(&mut self, who: WorkerNo, now: Duration) {
        if self.mistake != Mistake::NeverLeaves {
            self.own.leave(who, now);
        }
    }

    fn is_away(&self, who: WorkerNo) -> bool {
        self.own.is_away(who)
    }

    fn is_working(&self, who: WorkerNo) -> bool {
        self.mistake != Mistake::NotUnderWay && self.own.is_working(who)
    }

    fn request(&mut self, who: WorkerNo, now: Duration) {
        self.own.request(who, now);
    }

    fn pull(&mut self, who: WorkerNo, now: Duration) -> Option<u64> {
        self.own.pull(who, now)
    }

    fn push(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict {
        self.push_mistaken(who, iteration, values, now)
    }

    fn tick(&mut self, now: Duration) {
        self.own.tick(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        self.own.wake_at()
    }

    fn next_decision(&mut self) -> Option<Decision> {
        let decision = self.own.next_decision()?;
        if let Decision::Applied(applied) = &decision {
            applied.updates.iter().for_each(|update| self.done[update.worker.index()] += 1);
        }
        Some(decision)
    }

    fn version(&self) -> u64 {
        self.own.version()
    }

    fn values(&self) -> &[f32] {
        self.own.values()
    }

    fn have_done(&self, iterations: u64) -> bool {
        match self.mistake {
            Mistake::OneIsEnough => self.done.iter().any(|done| *done >= iterations),
            _ => self.own.have_done(iterations),
        }
    }

    fn kept(&self) -> Checkpoint {
        self.own.kept()
    }
}
