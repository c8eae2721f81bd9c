//! What the daemon knows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_controller::{Fabric, Records};
use inart_wire::JobId;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::member::Member;
use super::orders::{Command, Pending, Told};
use super::rendezvous::Meeting;
use super::work::Work;
use crate::event_queue::ProcessId;

/// A job as the daemon knows it.
pub(crate) struct LiveJob {
    pub told: Told,
    /// Who has answered to what, and how.
    pub answers: BTreeMap<ProcessId, (u32, Result<(), String>)>,
    /// Of an elastic job.
    pub meeting: Option<Meeting>,
    /// Whether its tables are gone for good.
    pub is_gone: bool,
}

/// A look at whether frames of the jobs move.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Jobs with a worker that ran when it began, by number of the run's job.
    pub running: Vec<usize>,
    /// Jobs of which a frame came to a switch.
    pub moved: BTreeSet<JobId>,
}

/// The controller's daemon.
pub(crate) struct Daemon {
    pub fabric: Fabric,
    pub records: Records,
    /// A stream of its own.
    pub rng: ChaCha8Rng,
    /// What is to happen, by number of the event.
    pub pending: Vec<Option<Pending>>,
    pub queue: VecDeque<Command>,
    pub work: Option<Work>,
    /// By number of the run's job.
    pub jobs: Vec<LiveJob>,
    /// Counts the pieces of work.
    pub works: u32,
    /// Events that are yet to happen.
    pub to_come: usize,
    /// A look at whether frames of the jobs move, while it lasts.
    pub look: Option<Look>,
    /// What went wrong, if anything did.
    pub problem: Option<String>,
}

impl Daemon {
    pub fn new(fabric: Fabric, records: Records, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(5);
        Self {
            fabric,
            records,
            rng,
            pending: Vec::new(),
            queue: VecDeque::new(),
            work: None,
            jobs: Vec::new(),
            works: 0,
            to_come: 0,
            look: None,
            problem: None,
        }
    }

    /// Whether something is to be done, or asked for.
    pub fn is_busy(&self) -> bool {
        self.to_come > 0 || self.work.is_some() || !self.queue.is_empty()
    }

    pub fn is_elastic(&self, job: usize) -> bool {
        self.jobs.get(job).is_some_and(|job| job.meeting.is_some())
    }
}

impl LiveJob {
    /// The host of that process.
    pub fn member_mut(&mut self, id: ProcessId) -> Option<&mut Member> {
        self.meeting.as_mut()?.hosts.iter_mut().find(|member| member.process == id)
    }
}
