//! Which processes are killed when, and which are started again.

use inart_simulator_ps::Absence;

/// Whose process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The server's.
    Server,
    /// That of a worker or a client, by its number.
    Worker(usize),
}

/// What is done to a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Seconds from the first pull.
    pub at_s: f64,
    /// To whose process.
    pub who: Who,
    /// It is started again; else it is killed.
    pub is_return: bool,
}

/// The server is killed, and started again from the model that it has kept. In seconds from the first pull.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outage {
    /// When it is killed.
    pub from_s: f64,
    /// When it is started again.
    pub until_s: f64,
}

/// What is still to be done, in order.
#[derive(Debug)]
pub struct Schedule {
    /// The last comes first.
    open: Vec<Change>,
}

impl Schedule {
    /// All changes of a run.
    pub fn new(absences: &[Absence], outages: &[Outage]) -> Self {
        let change = |at_s, who, is_return| Change { at_s, who, is_return };
        let workers = absences.iter().flat_map(|absence| {
            let who = Who::Worker(absence.participant);
            let back = absence.until_s.map(|until_s| change(until_s, who, true));
            std::iter::once(change(absence.from_s, who, false)).chain(back)
        });
        let server = outages.iter().flat_map(|outage| {
            [change(outage.from_s, Who::Server, false), change(outage.until_s, Who::Server, true)]
        });
        let mut open: Vec<Change> = workers.chain(server).collect();
        open.sort_by(|a, b| b.at_s.total_cmp(&a.at_s));
        Schedule { open }
    }

    /// The next change that is due.
    pub fn due(&mut self, now_s: f64) -> Option<Change> {
        self.open.last().is_some_and(|change| change.at_s <= now_s).then(|| self.open.pop()).flatten()
    }

    /// Whether everything was done.
    pub fn is_over(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_when_they_are_due_and_in_order() {
        let absence =
            |participant, from_s, until_s| Absence { participant, from_s, until_s, is_noticed: true };
        let outage = Outage { from_s: 2.0, until_s: 4.0 };
        let mut schedule = Schedule::new(&[absence(3, 1.0, Some(3.0)), absence(1, 2.5, None)], &[outage]);
        assert_eq!(schedule.due(0.9), None);
        let mut done = Vec::new();
        while let Some(change) = schedule.due(3.5) {
            done.push((change.who, change.is_return));
        }
        let (server, worker) = (Who::Server, Who::Worker);
        assert_eq!(done, [(worker(3), false), (server, false), (worker(1), false), (worker(3), true)]);
        assert!(!schedule.is_over() && schedule.due(4.0).is_some() && schedule.is_over());
    }
}
