//! A worker that outlives runs.

use std::time::Duration;

use inart_controller_api::{Following, Reporting, Role, Source, ViewMembership};
use inart_host_agent::{RoundStats, Worker};
use inart_protocol_aggregation::{Assignment, RoundRecord};
use inart_wire::{PlanVersion, Rank};

use crate::digits;
use crate::error::{Error, LeaveReason, left};
use crate::host::Host;
use crate::layout::Layout;
use crate::progress::{NewestState, Progress};
use crate::view_end::{Start, ViewEnd};

/// Longest time that a worker holds until the controller decides where the view ends. A live controller lets
/// workers continue within seconds.
const HOLD_WITHIN: Duration = Source::PATIENCE;
/// The label of a piece of a state, which no worker sums with a gradient.
const STATE_LABEL: &str = "piece of a state";
/// Values of a state that are broadcast at a time.
const PIECE_VALUES: usize = 1 << 16;

/// Members of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The view's number.
    pub view: PlanVersion,
    /// Rank of this worker.
    pub rank: Rank,
    /// The workers' names, by rank.
    pub workers: Vec<String>,
    /// A worker with the newest state.
    pub newest: Rank,
    /// The rounds in that state.
    pub rounds: u64,
    /// Whether all workers load that state before the next round.
    pub must_load_state: bool,
}

/// Event of a worker that records its views and sums ([`Host::recorded`](crate::Host::recorded)).
#[derive(Clone, Debug)]
pub enum Event {
    /// Start of a view: its assignment, and this worker's rank.
    Run(Assignment, Rank),
    /// Sum of a tensor: a gradient, or a piece of a broadcast.
    Sum(RoundStats, RoundRecord),
}

/// A worker of an elastic job: sums tensors with the other workers of its view.
pub struct ElasticWorker {
    host: Host,
    view: Option<View>,
    membership: ViewMembership,
    rank: Rank,
    progress: Progress,
    /// Events since the last call.
    events: Vec<Event>,
}

/// A worker's part in a view.
struct View {
    worker: Worker,
    end: ViewEnd,
    _following: Option<Following>,
    _reporting: Option<Reporting>,
}

impl View {
    fn begin(host: &mut Host, membership: &ViewMembership) -> Result<(Self, Rank), Error> {
        let Role::Worker(rank) = membership.role else {
            return Err(host.other_role(membership.role, "worker"));
        };
        let (transport, options, watch) = host.agent()?;
        let worker = Worker::with_options(membership.assignment.clone(), rank, transport, options)?;
        let end = ViewEnd::default();
        let following = host.follow(membership, worker.migrator(), &end, || ())?;
        let reporting = host.report(membership, watch)?;
        Ok((Self { worker, end, _following: following, _reporting: reporting }, rank))
    }
}

impl ElasticWorker {
    /// Interval at which a wait for a tensor checks whether the controller has ended the view.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// Joins a job, and waits until a view with this worker starts.
    ///
    /// # Errors
    /// Why it cannot take part.
    pub fn join(mut host: Host) -> Result<Self, Error> {
        let mut progress = Progress::new(host.rounds);
        let membership = host.wait_for_view(None, progress.rounds(), progress.must_load_state())?;
        let (view, rank) = View::begin(&mut host, &membership)?;
        progress.begin(newest_state(&membership));
        let mut worker = Self { host, view: Some(view), membership, rank, progress, events: Vec::new() };
        worker.note_run();
        Ok(worker)
    }

    /// Returns the assignment of the view.
    pub fn assignment(&self) -> &Assignment {
        &self.membership.assignment
    }

    /// Returns the number of rounds in the program's state: the initial ones, and those completed or loaded
    /// since.
    pub fn rounds(&self) -> u64 {
        self.progress.rounds()
    }

    /// Returns the membership of the view.
    pub fn membership(&self) -> Membership {
        let ViewMembership { assignment, view, newest, rounds, must_load_state, .. } = &self.membership;
        Membership {
            view: *view,
            rank: self.rank,
            workers: assignment.workers.iter().map(|worker| worker.name.clone()).collect(),
            newest: *newest,
            rounds: *rounds,
            must_load_state: *must_load_state,
        }
    }

    /// Acknowledges a change of the workers ([`Error::Membership`]), and returns the new membership.
    ///
    /// # Errors
    ///
    /// The reason why this worker cannot take part. There is none if another view has started already.
    pub fn accept_membership(&mut self) -> Result<Membership, Error> {
        self.progress.take_notice();
        Ok(self.membership())
    }

    /// Replaces a gradient by the sum over the gradients of all workers of the view. A program calls it once
    /// per round, which counts the rounds. If a view ends and all continue in another one with the same
    /// workers and rounds, the sum is that of the next view.
    ///
    /// # Errors
    ///
    /// [`Error::Membership`] if the workers have changed or one of them lacks a round: then the gradient is
    /// unchanged. All others end this worker's part.
    pub fn all_reduce(&mut self, gradient: &mut [f32]) -> Result<RoundStats, Error> {
        self.all_reduce_with_label(gradient, "")
    }

    /// Replaces a gradient as [`all_reduce`](Self::all_reduce), with a label that must be the same at all
    /// workers of the view ([`inart_host_agent::Worker::start_with_label`]).
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce); different labels end this worker's part.
    pub fn all_reduce_with_label(&mut self, gradient: &mut [f32], label: &str) -> Result<RoundStats, Error> {
        if let Some(why) = self.progress.unacknowledged().cloned() {
            return Err(self.membership_error(why));
        }
        self.progress.settle();
        loop {
            match self.reduce(gradient, label)? {
                Ok(stats) => {
                    self.progress.summed();
                    return Ok(stats);
                }
                Err(left) => self.enter_next_view(left)?,
            }
        }
    }

    /// Replaces values by those of the worker of that rank, bit for bit. All workers call it with equally
    /// many values. The state of the [newest](Membership::newest) worker is sent in one call: if that fails,
    /// the values are unchanged.
    ///
    /// Values are sent in pieces of 2^16. In addition to the values a worker needs memory for a copy of them,
    /// and for a few pieces of 16 bytes per value.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce); and [`Error::OtherState`] if that worker has another number of
    /// values.
    pub fn broadcast(&mut self, values: &mut [f32], from: Rank) -> Result<(), Error> {
        self.broadcast_with(values, 0, from)
    }

    /// Broadcasts like [`broadcast`](Self::broadcast), and also compares that worker's digest of the layout.
    fn broadcast_with(&mut self, values: &mut [f32], digest: u64, from: Rank) -> Result<(), Error> {
        if let Some(why) = self.progress.unacknowledged().cloned() {
            return Err(self.membership_error(why));
        }
        self.progress.begin_load();
        let is_own = self.rank == from;
        let mut tensor = Vec::new();
        // The layout is sent first: pieces of different states would be summed with one another.
        let own = Layout { values: values.len() as u64, digest };
        let mut words = own.to_words();
        self.share(&mut words, is_own, &mut tensor)?;
        let newest = Layout::from_words(words);
        if newest != own {
            let worker = self.membership().workers.get(from.index()).cloned().unwrap_or_default();
            self.withdraw();
            return Err(Error::OtherState { worker, own, newest });
        }
        let mut loaded = Vec::with_capacity(if is_own { 0 } else { values.len() });
        for piece in 0..values.len().div_ceil(PIECE_VALUES) {
            let range = piece * PIECE_VALUES..((piece + 1) * PIECE_VALUES).min(values.len());
            if is_own {
                self.share(&mut values[range], true, &mut tensor)?;
            } else {
                loaded.resize(range.end, 0.0);
                self.share(&mut loaded[range], false, &mut tensor)?;
            }
        }
        if !is_own {
            values.copy_from_slice(&loaded);
        }
        self.progress.loaded(from);
        Ok(())
    }

    /// Sends a piece of this worker's state, or replaces it by that of the sending worker. `tensor` is a
    /// buffer.
    fn share(&mut self, piece: &mut [f32], is_own: bool, tensor: &mut Vec<f32>) -> Result<(), Error> {
        tensor.clear();
        match is_own {
            true => digits::write(piece, tensor),
            false => tensor.resize(digits::PER_FLOAT * piece.len(), 0.0),
        }
        if let Err(left) = self.reduce(tensor, STATE_LABEL)? {
            // All load, since one of them has not: so every program has to know.
            self.enter_next_view(left)?;
            return Err(self.membership_error(LeaveReason::Ordered));
        }
        if !is_own {
            digits::read(tensor, piece);
        }
        Ok(())
    }

    /// Loads the state of the newest worker into `state`, across view changes: calls
    /// [`accept_membership`](Self::accept_membership) and [`broadcast`](Self::broadcast), again if the
    /// workers change meanwhile.
    ///
    /// # Errors
    /// All but [`Error::Membership`].
    pub fn load(&mut self, state: &mut [f32]) -> Result<(), Error> {
        self.load_with(state, 0)
    }

    /// Loads like [`load`](Self::load), with a digest of the layout, such as names and shapes of tensors. A
    /// worker whose layout differs from the newest state's leaves its view, and the others continue.
    ///
    /// # Errors
    /// All but [`Error::Membership`]; [`Error::OtherState`] if the newest state is another.
    pub fn load_with(&mut self, state: &mut [f32], digest: u64) -> Result<(), Error> {
        loop {
            let newest = self.accept_membership()?.newest;
            match self.broadcast_with(state, digest, newest) {
                Err(error) if error.is_membership() => {}
                loaded => return loaded,
            }
        }
    }

    /// Returns this worker's input to the last sum and the result, bit for bit; `None` before the first of a
    /// view.
    pub fn record(&self) -> Option<RoundRecord> {
        self.view.as_ref().and_then(|view| view.worker.record())
    }

    /// Returns the events since the last call, if the [host](crate::Host::recorded) records them.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn note_run(&mut self) {
        if self.host.records {
            self.events.push(Event::Run(self.membership.assignment.clone(), self.rank));
        }
    }

    /// Ends this worker's part, with all rounds done, as at all others.
    ///
    /// # Errors
    ///
    /// The controller's error.
    pub fn finish(mut self) -> Result<(), Error> {
        self.view = None;
        self.host.leave(self.rounds(), true)
    }

    /// Ends this worker's part, though others continue.
    ///
    /// # Errors
    ///
    /// The controller's error.
    pub fn leave(mut self) -> Result<(), Error> {
        self.view = None;
        self.host.leave(self.rounds(), false)
    }

    fn membership_error(&self, why: LeaveReason) -> Error {
        Error::Membership { view: self.membership.view.get(), workers: self.assignment().workers.len(), why }
    }

    /// Sums a tensor. Returns why the view was left if it was not summed.
    fn reduce(&mut self, tensor: &mut [f32], label: &str) -> Result<Result<RoundStats, LeaveReason>, Error> {
        match self.sum(tensor, label) {
            Ok(Ok(stats)) => {
                let record = self.record().filter(|_| self.host.records);
                self.events.extend(record.map(|record| Event::Sum(stats, record)));
                Ok(Ok(stats))
            }
            Err(ending @ (Error::Stopped | Error::Interrupted)) => {
                self.withdraw();
                Err(ending)
            }
            other => other,
        }
    }

    /// Leaves the view and the job. The next call joins again.
    fn withdraw(&mut self) {
        self.view = None;
        // The others need not wait for it; without a controller, none does.
        let _ = self.host.leave(self.rounds(), false);
    }

    /// Sums a tensor, without leaving the view on an error that ends the wait.
    fn sum(&mut self, tensor: &mut [f32], label: &str) -> Result<Result<RoundStats, LeaveReason>, Error> {
        let Some(view) = &self.view else { return Ok(Err(LeaveReason::Ordered)) };
        let host = &mut self.host;
        let mut ending = None;
        let started = view.end.start(HOLD_WITHIN, || {
            ending = host.ending();
            ending.is_some()
        });
        match started {
            Err(left) => return Ok(Err(left)),
            Ok(Start::Started) => {}
            Ok(Start::Ended) => return Err(ending.unwrap_or(Error::Interrupted)),
            Ok(Start::Silence) => {
                let awaited = "all workers hold until it announces the end of the view";
                return Err(Error::ControllerSilent { awaited, patience: HOLD_WITHIN });
            }
        }
        let failed = |error| left(error, self.rank, &self.membership.assignment).map(Err);
        let mut handle = match view.worker.start_with_label(tensor, label) {
            Ok(handle) => handle,
            Err(error) => return failed(error),
        };
        loop {
            match view.worker.wait_timeout(handle, Self::POLL_INTERVAL) {
                Ok(Ok((_, stats))) => return Ok(Ok(stats)),
                Ok(Err(again)) => handle = again,
                Err(error) => return failed(error),
            }
            if view.end.is_over() {
                return Ok(Err(LeaveReason::Ordered));
            }
            // The tensor stays as it is: its sum is only written by the wait.
            self.host.ending().map_or(Ok(()), Err)?;
        }
    }

    /// Leaves the view, and continues in the next one.
    ///
    /// # Errors
    ///
    /// [`Error::Membership`] if the program has to know.
    fn enter_next_view(&mut self, left: LeaveReason) -> Result<(), Error> {
        let number = self.membership.view;
        self.view = None;
        self.membership =
            self.host.wait_for_view(Some((number, &left)), self.rounds(), self.progress.must_load_state())?;
        let (view, rank) = View::begin(&mut self.host, &self.membership)?;
        (self.view, self.rank) = (Some(view), rank);
        self.note_run();
        match self.progress.enter_next_view(newest_state(&self.membership), left.clone()) {
            false => Ok(()),
            true => Err(self.membership_error(left)),
        }
    }
}

fn newest_state(membership: &ViewMembership) -> NewestState {
    NewestState {
        newest: membership.newest,
        rounds: membership.rounds,
        must_load_state: membership.must_load_state,
    }
}
