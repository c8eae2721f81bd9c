//! The stop point before which a view ends everywhere: the workers agree on the number T of a tensor. Every
//! tensor below T is summed, none from T on is started.
//!
//! Each worker says how many tensors it has started. It is asked to hold at a T above all of them. One that
//! has started T by then refuses, and all are asked for a larger T; those that hold at the smaller one go
//! on. A worker that holds at T has not started T, so nobody can have completed it: hence this ends. When
//! all have accepted the same T, they are told so, and leave there.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller_api::Ending;

/// How far the workers have agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StopPoint {
    pub since: Duration,
    pub stage_since: Duration,
    pub asked: Ending,
    pub margin: u32,
    /// By host: how many tensors it has started, and whether it does as asked.
    pub answers: BTreeMap<String, (u32, bool)>,
}

impl StopPoint {
    /// Nothing is agreed on.
    pub fn new(now: Duration, margin: u32) -> Self {
        Self { since: now, stage_since: now, asked: Ending::Prepare, margin, answers: BTreeMap::new() }
    }

    /// The workers are asked for something else from now on.
    pub fn ask(&mut self, now: Duration, ending: Ending) {
        (self.asked, self.stage_since) = (ending, now);
        self.answers.clear();
    }

    /// What the workers are to be asked next, by what they have answered.
    pub fn next(&self, workers: &[String]) -> Option<(Ending, u32)> {
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
