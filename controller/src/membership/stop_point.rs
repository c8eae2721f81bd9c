//! Agreement on the stop point of a view: the workers agree on the number T of a tensor. Every tensor below
//! T is summed, none from T on is started.
//!
//! Each worker reports the number of tensors that it has started. All are asked to hold at a T above these
//! numbers. A worker that has started T meanwhile refuses, and all are asked for a larger T; workers that
//! hold at the smaller one continue. A worker that holds at T has not started T, so no worker can have
//! completed it: hence the agreement terminates. When all have accepted the same T, it is announced, and
//! all leave there.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller_api::Ending;

/// State of the agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StopPoint {
    pub since: Duration,
    pub stage_since: Duration,
    pub asked: Ending,
    pub margin: u32,
    /// Number of started tensors and acceptance of the request, by host.
    pub answers: BTreeMap<String, (u32, bool)>,
}

impl StopPoint {
    /// Creates an agreement without answers.
    pub fn new(now: Duration, margin: u32) -> Self {
        Self { since: now, stage_since: now, asked: Ending::Prepare, margin, answers: BTreeMap::new() }
    }

    /// Starts another request to the workers.
    pub fn ask(&mut self, now: Duration, ending: Ending) {
        (self.asked, self.stage_since) = (ending, now);
        self.answers.clear();
    }

    /// Returns the next request to the workers, from their answers.
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
