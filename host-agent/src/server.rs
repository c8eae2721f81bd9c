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
    /// Longest time without any worker.
    patience: Option<Duration>,
}

/// Detection of the end of the job: all workers are silent, and no sum is in flight.
#[derive(Clone, Copy, Debug)]
struct JobEnd {
    /// Silence that ends the job.
    silence: Duration,
    /// Time of the last check, and start of the observed silence.
    checked: Instant,
    counts_from: Instant,
}

impl JobEnd {
    /// Check interval.
    const INTERVAL: Duration = Duration::from_millis(500);

    /// Returns whether the job has ended, given how long workers have been silent. A server that was itself
    /// suspended listens first.
    fn check(&mut self, now: Instant, silent: Option<Duration>) -> bool {
        if now.since(self.checked) > self.silence / 2 {
            self.counts_from = now + self.silence / 2;
        }
        self.checked = now;
        now >= self.counts_from && silent.is_some_and(|silent| silent >= self.silence)
    }
}

impl Server {
    /// Peer timeouts of silence after which a job has ended.
    const SILENT_PEER_TIMEOUTS: u32 = 4;
    /// Time for which workers without the abort notification are still notified.
    const LINGER: Duration = Duration::from_secs(2);

    /// The server of that shard on a network interface.
    ///
    /// # Errors
    ///
    /// The assignment or the interface is invalid.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        interface: &str,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, shard, || Ok(Box::new(BatchedPort::open(interface)?)), options)
    }

    /// Creates a server on a transport.
    ///
    /// # Errors
    ///
    /// The assignment or the transport is invalid.
    pub fn with_transport(
        assignment: Assignment,
        shard: ShardId,
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, shard, || Ok(Box::new(transport)), options)
    }

    /// Creates a server on a transport that is opened after the assignment was validated.
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

    /// Makes it end with its job: after a sum, when none is in flight, and all workers have been silent for
    /// four peer timeouts.
    #[must_use]
    pub fn ends_with_job(mut self) -> Self {
        let silence = Self::SILENT_PEER_TIMEOUTS * self.peer_timeout;
        self.ending = Some(JobEnd { silence, checked: Instant::START, counts_from: Instant::START });
        self
    }

    /// Makes it end with an error if no worker has joined within this time.
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

    /// Describes the workers that were never heard from.
    pub fn never_heard(&self) -> Vec<String> {
        self.shard.never_heard().map(|(rank, name)| format!("worker {rank} ({name})")).collect()
    }

    /// Serves until it is stopped, until the job is aborted, or with [`ends_with_job`](Self::ends_with_job)
    /// until its workers have left.
    ///
    /// # Errors
    ///
    /// The reason of the abort, the transport's error, or no worker within its patience.
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
            let mut next_check = self.patience.map(|_| self.agent.clock.now() + JobEnd::INTERVAL);
            if let Some(ending) = &mut self.ending {
                let now = self.agent.clock.now();
                if ending.check(now, self.shard.silent_for(now)) {
                    return Ok(());
                }
                next_check = Some(now + JobEnd::INTERVAL);
            }
            self.agent.publish(moved, |now| HostStatus::Server(self.shard.status(now)));
            self.agent.wait(self.shard.next_deadline().into_iter().chain(until).chain(next_check).min())?;
            self.agent.take_in(&mut self.shard)?;
        }
        Ok(())
    }

    /// Returns a handle that stops it while it [runs](Self::run).
    pub fn stopper(&self) -> Stopper {
        self.agent.stopper()
    }

    /// Returns a handle that migrates it to another plan of its job while it [runs](Self::run).
    pub fn migrator(&self) -> Migrator {
        self.agent.migrator()
    }

    /// Returns the counters since the start.
    pub fn counters(&self) -> ServerCounters {
        self.shard.counters()
    }
}
