//! A parameter server whose sums are parts of larger ones.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use inart_protocol_aggregation::completion_rule::{Answer, Onward, OwnSum};
use inart_protocol_aggregation::{Assignment, Failure, Instant, ServerCounters, ServerShard, StateMachine};
use inart_wire::{ChunkSeq, Rank, ShardId};

use crate::agent::{Agent, Stopper};
use crate::status::HostStatus;
use crate::{Error, Migrator, Options, Transport, Wake};

/// Number of results that may be sent early.
const BURST_FRAMES: u32 = 8;

/// Event for the owner of the server.
#[derive(Debug)]
pub enum OnwardEvent {
    /// First contribution to a new chunk.
    Started,
    /// Sum of a chunk with all workers, to be forwarded.
    Sum {
        /// Sum.
        sum: OwnSum,
        /// Length of the tensor that the worker of rank 0 waits for, by its last report.
        reported_length: Option<u32>,
    },
    /// The job is aborted.
    Aborted(Failure),
    /// Stop request to this process. The server continues until the owner aborts the job.
    Stopped,
}

/// Order of the owner to the server.
#[derive(Debug)]
enum Order {
    Back(Answer),
    Abort(String),
    Finish(ChunkSeq),
}

/// Passes results to the server, from any thread.
#[derive(Clone)]
pub struct SumsBack {
    orders: Sender<Order>,
    wake: Arc<dyn Wake>,
}

impl SumsBack {
    /// Passes the global sum for a chunk whose own sum was forwarded: every worker receives it. Ignored if
    /// the server has ended.
    pub fn give(&self, answer: Answer) {
        self.send(Order::Back(answer));
    }

    /// Ends the job because the larger job has ended: the workers receive the reason.
    pub fn abort(&self, reason: String) {
        self.send(Order::Abort(reason));
    }

    /// Announces that there are no chunks from that one on. The server ends when its workers have all
    /// results, or are silent.
    pub fn finish(&self, end: ChunkSeq) {
        self.send(Order::Finish(end));
    }

    fn send(&self, order: Order) {
        let _ = self.orders.send(order);
        self.wake.wake();
    }
}

/// A server of a job, usually its only one, whose sums are forwarded to others before they are results.
pub struct OnwardServer {
    shard: ServerShard<Onward>,
    agent: Agent,
    orders: Receiver<Order>,
    back: SumsBack,
    /// Results not sent yet, and when the next may be sent.
    returning: VecDeque<Answer>,
    free_at: Instant,
    frame_time: Duration,
    end: Option<ChunkSeq>,
    has_begun: bool,
    is_stopped: bool,
}

impl OnwardServer {
    /// Time for which workers without the abort notification are still notified.
    const LINGER: Duration = Duration::from_secs(2);

    /// The job's only server, on a transport.
    ///
    /// # Errors
    ///
    /// The assignment or the transport is invalid.
    pub fn with_transport(
        assignment: Assignment,
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        Self::of_shard(assignment, ShardId::from(0), transport, options)
    }

    /// The server of that shard.
    ///
    /// # Errors
    /// As [`with_transport`](Self::with_transport).
    pub fn of_shard(
        assignment: Assignment,
        shard: ShardId,
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        let frame_bytes = assignment.values_per_frame.frame_bytes();
        let rate_bps = assignment.shards.get(shard.index()).map_or(f64::INFINITY, |shard| shard.rate_bps);
        let frame_time = Duration::try_from_secs_f64(8.0 * frame_bytes as f64 / rate_bps).unwrap_or_default();
        let (incarnation, peer_timeout) = (options.incarnation, options.peer_timeout);
        let completion_rule = Onward::new(assignment.workers.len());
        let shard =
            ServerShard::with_completion_rule(assignment, shard, incarnation, peer_timeout, completion_rule)?;
        let agent = Agent::new(Box::new(transport), frame_bytes, options)?;
        let (orders, taken) = channel();
        let back = SumsBack { orders, wake: agent.transport().waker() };
        Ok(Self {
            shard,
            agent,
            orders: taken,
            back,
            returning: VecDeque::new(),
            free_at: Instant::START,
            frame_time,
            end: None,
            has_begun: false,
            is_stopped: false,
        })
    }

    /// Returns a handle that passes results to it.
    pub fn sums_back(&self) -> SumsBack {
        self.back.clone()
    }

    /// Serves until all workers have all results, or until the job is aborted; passes events to the owner.
    ///
    /// # Errors
    ///
    /// The reason of the abort, or the transport's error.
    pub fn run(&mut self, notify: &mut dyn FnMut(OnwardEvent)) -> Result<(), Error> {
        let ended = self.serve(notify);
        self.agent.end_moves();
        ended
    }

    fn serve(&mut self, notify: &mut dyn FnMut(OnwardEvent)) -> Result<(), Error> {
        let mut until: Option<Instant> = None;
        loop {
            if !self.is_stopped && self.agent.is_stopped()? {
                self.is_stopped = true;
                if self.end.is_some() {
                    return Ok(());
                }
                notify(OnwardEvent::Stopped);
            }
            let moved = self.agent.carry_out_moves(&mut self.shard);
            self.carry_out();
            let next = self.send_back();
            self.agent.transmit(&mut self.shard)?;
            self.forward_sums(notify);
            let now = self.agent.clock.now();
            if let Some(failure) = self.shard.failure() {
                if until.is_none() {
                    notify(OnwardEvent::Aborted(failure.clone()));
                }
                if now >= *until.get_or_insert(now + Self::LINGER) {
                    return Err(failure.into());
                }
            }
            let missing = self.end.map(|end| self.shard.until_all_have(now, end));
            if missing == Some(None) && until.is_none() {
                return Ok(());
            }
            self.agent.publish(moved, |now| HostStatus::Server(self.shard.status(now)));
            let deadlines = [self.shard.next_deadline(), until, missing.flatten(), next];
            self.agent.wait(deadlines.into_iter().flatten().min())?;
            self.agent.take_in(&mut self.shard)?;
        }
    }

    fn carry_out(&mut self) {
        for order in self.orders.try_iter() {
            match order {
                Order::Back(answer) => self.returning.push_back(answer),
                Order::Abort(reason) => self.shard.abort_elsewhere(&reason),
                Order::Finish(end) => self.end = Some(end),
            }
        }
    }

    /// Sends results at the rate at which gradients arrive: a whole chunk between sites at once would fill
    /// the queues. Returns when there is more to send.
    fn send_back(&mut self) -> Option<Instant> {
        let now = self.agent.clock.now();
        while !self.returning.is_empty() && self.free_at <= now + BURST_FRAMES * self.frame_time {
            self.shard.sum_is_back(self.returning.pop_front()?);
            self.free_at = self.free_at.max(now) + self.frame_time;
        }
        (!self.returning.is_empty()).then_some(now + self.frame_time)
    }

    fn forward_sums(&mut self, notify: &mut dyn FnMut(OnwardEvent)) {
        if !self.shard.has_open_chunk() {
            self.has_begun = false;
        } else if !std::mem::replace(&mut self.has_begun, true) {
            notify(OnwardEvent::Started);
        }
        while let Some(sum) = self.shard.next_sum() {
            let reported_length =
                Rank::try_from(0usize).ok().and_then(|first| self.shard.reported_length(first));
            notify(OnwardEvent::Sum { sum, reported_length });
        }
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
