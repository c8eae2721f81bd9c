//! State of the daemon.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_controller::{Fabric, Records};
use inart_wire::JobId;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::member::Member;
use super::orders::{Command, Instruction, Pending};
use super::rendezvous::Meeting;
use super::work::Work;
use crate::event_queue::ProcessId;

/// A job as the daemon knows it.
pub(crate) struct LiveJob {
    pub instruction: Instruction,
    /// Answers by process: the instruction's number and the outcome.
    pub answers: BTreeMap<ProcessId, (u32, Result<(), String>)>,
    /// Rendezvous of an elastic job.
    pub meeting: Option<Meeting>,
    /// Whether its tables are removed for good.
    pub is_removed: bool,
}

/// Check whether jobs send frames.
#[derive(Debug, Default)]
pub(crate) struct UsageCheck {
    /// Jobs with a worker that ran at its start, by index in the run.
    pub running: Vec<usize>,
    /// Jobs that sent a frame to a switch.
    pub moved: BTreeSet<JobId>,
}

/// The controller's daemon.
pub(crate) struct Daemon {
    pub fabric: Fabric,
    pub records: Records,
    /// Separate random stream.
    pub rng: ChaCha8Rng,
    /// Scheduled actions, by number of the event.
    pub pending: Vec<Option<Pending>>,
    pub queue: VecDeque<Command>,
    pub work: Option<Work>,
    /// Jobs, by index in the run.
    pub jobs: Vec<LiveJob>,
    /// Counts the pieces of work.
    pub works: u32,
    /// Number of events that have not happened yet.
    pub to_come: usize,
    /// Active check whether jobs send frames.
    pub usage_check: Option<UsageCheck>,
    /// First violation.
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
            usage_check: None,
            problem: None,
        }
    }

    /// Returns whether a command or request is pending.
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
