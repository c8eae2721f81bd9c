//! A parameter server's loop.

use std::time::Duration;

use inart_protocol_aggregation::{Assignment, Instant, ServerCounters, ServerShard, StateMachine};
use inart_wire::ShardId;

use crate::agent::{Agent, Stopper};
use crate::status::HostStatus;
use crate::{BatchedPort, Error, Migrator, Options, Transport};

/// The server of one shard of a job.
pub struct Server {
    shard: ServerShard,
    agent: Agent,
    peer_timeout: Duration,
    ending: Option<JobEnd>,
    /// For how long no worker may join.
    patience: Option<Duration>,
}

/// Looks for the end of the job: all workers are silent, and no sum is under way.
#[derive(Clone, Copy, Debug)]
struct JobEnd {
    /// They have been silent for so long then.
    silence: Duration,
    /// When it looked last, and from when on a silence counts.
    looked: Instant,
    counts_from: Instant,
}

impl JobEnd {
    /// It looks this often.
    const INTERVAL: Duration = Duration::from_millis(500);

    /// Whether the job has ended, after workers have been silent for so long. A server that was itself
    /// stopped listens first.
    fn look(&mut self, now: Instant, silent: Option<Duration>) -> bool {
        if now.since(self.looked) > self.silence / 2 {
            self.counts_from = now + self.silence / 2;
        }
        self.looked = now;
        now >= self.counts_from && silent.is_some_and(|silent| silent >= self.silence)
    }
}

impl Server {
    /// A job whose workers are silent for so many peer timeouts has ended.
    const SILENT_PEER_TIMEOUTS: u32 = 4;
    /// How long workers that have not heard that the job was aborted are still told.
    const LINGER: Duration = Duration::from_secs(2);

    /// The server of that shard on a network interface.
    ///
    /// # Errors
    /// What is wrong with the assignment or the interface.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        interface: &str,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, shard, || Ok(Box::new(BatchedPort::open(interface)?)), options)
    }

    /// The same on a transport.
    ///
    /// # Errors
    /// What is wrong with the assignment or the transport.
    pub fn with_transport(
        assignment: Assignment,
        shard: ShardId,
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, shard, || Ok(Box::new(transport)), options)
    }

    /// The same on a transport that is opened once the assignment is known to be valid.
    fn on(
        assignment: Assignment,
        shard: ShardId,
        open: impl FnOnce() -> Result<Box<dyn Transport>, Error>,
        options: Options,
    ) -> Result<Self, Error> {
        let frame_bytes = assignment.values_per_frame.frame_bytes();
        let peer_timeout = options.peer_timeout;
        let shard = ServerShard::new(assignment, shard, options.incarnation, peer_timeout)?;
        Ok(Self {
            shard,
            agent: Agent::new(open()?, frame_bytes, options)?,
            peer_timeout,
            ending: None,
            patience: None,
        })
    }

    /// Lets it end with its job: when sums were there, none is under way, and all workers have been silent
    /// for four peer timeouts.
    #[must_use]
    pub fn ends_with_job(mut self) -> Self {
        let silence = Self::SILENT_PEER_TIMEOUTS * self.peer_timeout;
        self.ending = Some(JobEnd { silence, looked: Instant::START, counts_from: Instant::START });
        self
    }

    /// Lets it end with an error if no worker has joined within this time.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Ends the wait for a first worker.
    ///
    /// # Errors
    /// No worker has joined within the patience.
    fn look_for_workers(&mut self) -> Result<(), Error> {
        let waited = self.agent.clock.now().since(Instant::START);
        if self.patience.is_none_or(|patience| waited < patience) {
            return Ok(());
        }
        let absent = self.never_heard();
        if absent.len() < self.shard.workers() {
            self.patience = None;
            return Ok(());
        }
        Err(Error::NoWorkers { seconds: waited.as_secs_f64(), workers: absent })
    }

    /// Returns the workers that were never heard from, in words.
    pub fn never_heard(&self) -> Vec<String> {
        self.shard.never_heard().map(|(rank, name)| format!("worker {rank} ({name})")).collect()
    }

    /// Serves until told to stop, until the job is aborted, or with [`ends_with_job`](Self::ends_with_job)
    /// until its workers have left.
    ///
    /// # Errors
    /// Why the job was aborted, or what the transport says; no worker within its patience.
    pub fn run(&mut self) -> Result<(), Error> {
        let ended = self.serve();
        self.agent.end_moves();
        ended
    }

    fn serve(&mut self) -> Result<(), Error> {
        let mut until: Option<Instant> = None;
        while !self.agent.is_stopped()? {
            let moved = self.agent.carry_out_moves(&mut self.shard);
            self.agent.transmit(&mut self.shard)?;
            if let Some(failure) = self.shard.failure() {
                let now = self.agent.clock.now();
                if now >= *until.get_or_insert(now + Self::LINGER) {
                    return Err(failure.into());
                }
            }
            self.look_for_workers()?;
            let mut look = self.patience.map(|_| self.agent.clock.now() + JobEnd::INTERVAL);
            if let Some(ending) = &mut self.ending {
                let now = self.agent.clock.now();
                if ending.look(now, self.shard.silent_for(now)) {
                    return Ok(());
                }
                look = Some(now + JobEnd::INTERVAL);
            }
            self.agent.publish(moved, |now| HostStatus::Server(self.shard.status(now)));
            self.agent.wait(self.shard.next_deadline().into_iter().chain(until).chain(look).min())?;
            self.agent.take_in(&mut self.shard)?;
        }
        Ok(())
    }

    /// What tells it to stop while it [runs](Self::run).
    pub fn stopper(&self) -> Stopper {
        self.agent.stopper()
    }

    /// What moves it to another plan of its job while it [runs](Self::run).
    pub fn migrator(&self) -> Migrator {
        self.agent.migrator()
    }

    /// What was counted since the start.
    pub fn counters(&self) -> ServerCounters {
        self.shard.counters()
    }
}
