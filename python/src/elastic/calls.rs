//! Messages between the program and the worker's thread.

use std::sync::mpsc::Sender;

use inart_elastic::ElasticWorker;

use crate::errors::Trouble;
use crate::floats::Floats;

/// A call to the thread.
pub(super) struct Call {
    pub(super) number: u64,
    pub(super) request: Request,
    pub(super) answer: Sender<Answer>,
}

/// Calls of the worker's thread.
pub(super) enum Request {
    /// Sums floats under a label.
    AllReduce(Floats, String),
    /// Loads a state that has that digest of its layout.
    Load(Vec<Floats>, u64),
    /// Leaves the job, which has all its rounds if that is true.
    End(bool),
}

/// The thread's answer to a call.
pub(super) struct Answer {
    /// Seconds that it took on the network, of a sum.
    pub(super) outcome: Result<f64, Trouble>,
    pub(super) seen: Seen,
}

/// Members of the view, and the worker's progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) job: String,
    pub(super) rank: u16,
    pub(super) workers: Vec<String>,
    pub(super) rounds: u64,
    pub(super) view: u16,
}

impl Seen {
    pub(super) fn of(worker: &ElasticWorker) -> Self {
        let membership = worker.membership();
        Self {
            job: worker.assignment().name.clone(),
            rank: membership.rank.get(),
            workers: membership.workers,
            rounds: worker.rounds(),
            view: membership.view.get(),
        }
    }

    /// Returns the worker's name in the topology.
    pub(super) fn name(&self) -> String {
        self.workers.get(usize::from(self.rank)).cloned().unwrap_or_default()
    }
}
