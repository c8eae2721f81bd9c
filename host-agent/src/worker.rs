//! A worker's all-reduce.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inart_protocol_aggregation::{
    Assignment, Instant, Reduced, RoundRecord, TensorId, Waiting, WorkerCounters, WorkerFlow,
};
use inart_wire::Rank;

use crate::agent::Agent;
use crate::driver::{Driver, Shared};
use crate::{BatchedPort, Error, Migrator, Options, Transport};

/// A worker of a job: sums tensors with its peers.
///
/// Several tensors may be in flight, of different lengths; all workers start tensors of equal lengths in the
/// same order, and may wait for them in any order. Threads may share a worker, as long as the order of their
/// starts is kept.
///
/// Until it is dropped its peers know that it is alive, independent of the program. Errors meanwhile (a peer
/// aborted the job, this process was asked to stop) are returned by the next start or wait.
pub struct Worker {
    driver: Driver,
    rounds: Mutex<Rounds>,
}

#[derive(Default)]
struct Rounds {
    started: u32,
    /// Last sum.
    last: Option<Reduced>,
}

/// A tensor that is being summed. If it is dropped, only this worker loses its sum.
#[must_use = "`Worker::wait` has the sum"]
pub struct Handle<T> {
    tensor: T,
    round: u32,
    start: Instant,
    before: WorkerCounters,
    pending: Pending,
}

/// Discards a tensor that no caller waits for any more.
struct Pending {
    id: TensorId,
    shared: Arc<Shared>,
    is_taken: bool,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.is_taken {
            self.shared.discard(self.id);
        }
    }
}

/// Statistics of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundStats {
    /// Rounds count from 0: the tensors that were started before.
    pub round: u32,
    /// Time from the start to the end of the wait.
    pub communication: Duration,
    /// Counters of that time.
    pub counters: WorkerCounters,
    /// Whether this worker's tensor had a NaN or an infinity.
    pub not_finite: bool,
}

impl Worker {
    /// The worker of that rank on a network interface, with default options.
    ///
    /// # Errors
    ///
    /// The assignment or the interface is invalid.
    pub fn new(assignment: Assignment, rank: Rank, interface: &str) -> Result<Self, Error> {
        let options = Options::default();
        Self::on(assignment, rank, || Ok(Box::new(BatchedPort::open(interface)?)), options)
    }

    /// The worker of that rank on a transport: an interface that was opened, or another.
    ///
    /// # Errors
    ///
    /// The assignment or the transport is invalid.
    pub fn with_options(
        assignment: Assignment,
        rank: Rank,
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, rank, || Ok(Box::new(transport)), options)
    }

    /// Creates a worker on a transport that is opened after the assignment was validated.
    fn on(
        assignment: Assignment,
        rank: Rank,
        open: impl FnOnce() -> Result<Box<dyn Transport>, Error>,
        options: Options,
    ) -> Result<Self, Error> {
        let frame_bytes = assignment.values_per_frame.frame_bytes();
        let flow = WorkerFlow::new(assignment, rank, options.incarnation, options.peer_timeout)?
            .with_non_finite(options.non_finite);
        let driver = Driver::start(flow, Agent::new(open()?, frame_bytes, options)?)?;
        Ok(Self { driver, rounds: Mutex::default() })
    }

    /// Starts to sum a tensor with those that all workers start in the same position, and returns at once.
    /// The tensor is anything that holds floats: a `&mut [f32]`, a `Vec<f32>`.
    ///
    /// # Errors
    ///
    /// The reason why there will be no sum: then the job is over, unless there are [too many
    /// tensors](Error::TooManyTensors).
    pub fn start<T: AsMut<[f32]>>(&self, tensor: T) -> Result<Handle<T>, Error> {
        self.start_with_label(tensor, "")
    }

    /// Starts like [`start`](Self::start), and labels the tensor with program data such as a name, a shape,
    /// or a step number.
    ///
    /// A worker that skips a tensor pairs its later ones with other tensors of its peers. If those have
    /// another length or another label, the job ends at all workers with
    /// [`Failure::OtherTensors`](inart_protocol_aggregation::Failure::OtherTensors). Sums before that failure
    /// may be of different tensors.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with_label<T: AsMut<[f32]>>(&self, mut tensor: T, label: &str) -> Result<Handle<T>, Error> {
        let shared = &self.driver.shared;
        shared.check_process()?;
        let values = tensor.as_mut();
        let mut input = shared.room_for(values.len());
        input.copy_from(values);
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, start, before) = shared.begin(input.with_label(label))?;
        let round = rounds.started;
        rounds.started += 1;
        let pending = Pending { id, shared: Arc::clone(shared), is_taken: false };
        Ok(Handle { tensor, round, start, before, pending })
    }

    /// Waits for a tensor that this worker has started, and returns it as the sum over all workers' tensors
    /// (the caller divides for a mean).
    ///
    /// The sum has equal bits at every worker. Up to 256 values, and in an exact-sum job, it is the sum of
    /// the floats, rounded once ([`inart_protocol_aggregation::exact_sum`]). For the error of longer ones see
    /// [`inart_protocol_aggregation::scale`].
    ///
    /// # Errors
    ///
    /// The reason why there is no sum; then the job is over.
    pub fn wait<T: AsMut<[f32]>>(&self, mut handle: Handle<T>) -> Result<(T, RoundStats), Error> {
        loop {
            match self.end(handle, None, |_| ())? {
                Ok((tensor, stats, ())) => return Ok((tensor, stats)),
                Err(again) => handle = again,
            }
        }
    }

    /// Waits like [`wait`](Self::wait) for up to `timeout`; then returns the handle, to be waited for again.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_timeout<T: AsMut<[f32]>>(
        &self,
        handle: Handle<T>,
        timeout: Duration,
    ) -> Result<Result<(T, RoundStats), Handle<T>>, Error> {
        match self.end(handle, Some(timeout), |_| ())? {
            Ok((tensor, stats, ())) => Ok(Ok((tensor, stats))),
            Err(again) => Ok(Err(again)),
        }
    }

    /// Waits like [`wait`](Self::wait), and returns this worker's input to that sum and the result, bit for
    /// bit, for any number of waiting threads.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[expect(clippy::type_complexity, reason = "a wait that ended, or its handle")]
    pub fn wait_recorded<T: AsMut<[f32]>>(
        &self,
        handle: Handle<T>,
        timeout: Duration,
    ) -> Result<Result<(T, RoundStats, RoundRecord), Handle<T>>, Error> {
        self.end(handle, Some(timeout), Reduced::record)
    }

    #[expect(clippy::type_complexity, reason = "a wait that ended, or its handle")]
    fn end<T: AsMut<[f32]>, R>(
        &self,
        mut handle: Handle<T>,
        timeout: Option<Duration>,
        see: impl FnOnce(&Reduced) -> R,
    ) -> Result<Result<(T, RoundStats, R), Handle<T>>, Error> {
        let Some((reduced, now, counters)) = handle.pending.shared.end(handle.pending.id, timeout)? else {
            return Ok(Err(handle));
        };
        handle.pending.is_taken = true;
        let not_finite = reduced.is_own_not_finite();
        reduced.read(handle.tensor.as_mut());
        let seen = see(&reduced);
        let last = self.rounds.lock().unwrap_or_else(PoisonError::into_inner).last.replace(reduced);
        if let Some(last) = last {
            handle.pending.shared.reuse(last);
        }
        let stats = RoundStats {
            round: handle.round,
            communication: now.since(handle.start),
            counters: counters - handle.before,
            not_finite,
        };
        Ok(Ok((handle.tensor, stats, seen)))
    }

    /// Replaces the gradient by the sum over all workers' gradients of this round: starts, and waits.
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`wait`](Self::wait).
    pub fn all_reduce(&mut self, gradient: &mut [f32]) -> Result<RoundStats, Error> {
        self.all_reduce_with_label(gradient, "")
    }

    /// Replaces a labeled gradient by the sum: [starts](Self::start_with_label), and waits.
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`wait`](Self::wait).
    pub fn all_reduce_with_label(&mut self, gradient: &mut [f32], label: &str) -> Result<RoundStats, Error> {
        let handle = self.start_with_label(gradient, label)?;
        Ok(self.wait(handle)?.1)
    }

    /// Returns the host that keeps this worker waiting, as far as its servers know: `None` without a sum in
    /// flight, while results arrive, and in a fork of the worker's process.
    pub fn waiting(&self) -> Option<Waiting> {
        let shared = &self.driver.shared;
        if shared.check_process().is_ok() { shared.waiting() } else { None }
    }

    /// Returns a handle that migrates this worker to another plan of its job while it runs.
    pub fn migrator(&self) -> Migrator {
        self.driver.migrator.clone()
    }

    /// Returns this worker's input to the last sum and the result, bit for bit; `None` before the first, and
    /// in a fork of the worker's process.
    pub fn record(&self) -> Option<RoundRecord> {
        self.driver.shared.check_process().ok()?;
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        rounds.last.as_ref().map(Reduced::record)
    }
}
