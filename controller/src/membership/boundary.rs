//! The boundary before which a run ends everywhere: the workers agree on the number T of a tensor. Every
//! tensor below T is summed, none from T on is started.
//!
//! Each worker says how many tensors it has started. It is asked to hold at a T above all of them. One that
//! has started T by then refuses, and all are asked for a larger T; those that hold at the smaller one go
//! on. A worker that holds at T has not started T, so nobody can have completed it: hence this ends. When
//! all have accepted the same T, they are told so, and leave there.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::Incarnation;

use super::{Ending, Membership, Phase};

/// How far the workers have agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    since: Duration,
    stage_since: Duration,
    asked: Ending,
    margin: u32,
    /// By host: how many tensors it has started, and whether it does as asked.
    answers: BTreeMap<String, (u32, bool)>,
}

impl Boundary {
    /// Nothing is agreed on.
    pub fn new(now: Duration, margin: u32) -> Self {
        Self { since: now, stage_since: now, asked: Ending::Prepare, margin, answers: BTreeMap::new() }
    }

    pub fn since(&self) -> Duration {
        self.since
    }

    pub fn stage_since(&self) -> Duration {
        self.stage_since
    }

    pub fn asked(&self) -> Ending {
        self.asked
    }

    /// The workers are asked for something else from now on.
    fn ask(&mut self, now: Duration, ending: Ending) {
        (self.asked, self.stage_since) = (ending, now);
        self.answers.clear();
    }

    /// What the workers are to be asked next, by what they have answered.
    fn next(&self, workers: &[String]) -> Option<(Ending, u32)> {
        let answers: Option<Vec<_>> = workers.iter().map(|host| self.answers.get(host)).collect();
        let largest = self.answers.values().map(|(started, _)| *started).max().unwrap_or(0);
        match self.asked {
            Ending::Prepare => {
                answers.map(|_| (Ending::Before(largest.saturating_add(self.margin)), self.margin))
            }
            Ending::Before(tensor) => {
                if self.answers.values().any(|(_, holds)| !holds) {
                    let margin = self.margin.saturating_mul(2);
                    return Some((Ending::Before(largest.max(tensor).saturating_add(margin)), margin));
                }
                answers.map(|_| (Ending::Agreed(tensor), self.margin))
            }
            Ending::None | Ending::Agreed(_) | Ending::Now => None,
        }
    }
}

impl Membership {
    /// A member answers to what it was told of the run's end: how many tensors it has started, and whether
    /// it does as told.
    pub fn heard(
        &mut self,
        now: Duration,
        host: &str,
        life: Incarnation,
        ending: Ending,
        started: u32,
        does: bool,
    ) {
        let is_member = self.run.as_mut().is_some_and(|run| run.member_mut(host, life).is_some());
        if let Phase::Bounded(boundary) = &mut self.phase
            && is_member
            && boundary.asked == ending
        {
            boundary.answers.insert(host.to_owned(), (started, does));
        }
        self.advance(now);
    }

    /// The workers agree: whether there was a step.
    pub(super) fn agree(&mut self, now: Duration) -> bool {
        let (Phase::Bounded(boundary), Some(run)) = (&mut self.phase, &self.run) else { return false };
        let workers: Vec<_> = run.workers().map(|worker| worker.host.clone()).collect();
        if let Some((ending, margin)) = boundary.next(&workers) {
            boundary.margin = margin;
            boundary.ask(now, ending);
            self.tell(ending);
            return true;
        }
        if matches!(boundary.asked, Ending::Agreed(_)) {
            return false;
        }
        if now >= boundary.since + self.timing.hold_within {
            // Somebody is in the run, and cannot be told.
            self.begin_leaving(now, true);
            return true;
        }
        if matches!(boundary.asked, Ending::Before(_))
            && now >= boundary.stage_since + self.timing.regroup_within
        {
            // Those that hold are let go on until the others are back.
            boundary.ask(now, Ending::Prepare);
            self.tell(Ending::Prepare);
            return true;
        }
        false
    }
}
