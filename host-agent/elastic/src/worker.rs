//! A worker that outlives runs.

use std::time::Duration;

use inart_controller_api::{Following, Reporting, Role, Source, ViewMembership};
use inart_host_agent::{RoundStats, Worker};
use inart_protocol_aggregation::{Assignment, RoundRecord};
use inart_wire::{PlanVersion, Rank};

use crate::digits;
use crate::error::{Error, Left, left};
use crate::host::Host;
use crate::layout::Layout;
use crate::progress::{Progress, Standing};
use crate::view_end::{Start, ViewEnd};

/// A worker holds for this long at most until the controller says where the view ends. One that is there lets
/// workers go on after seconds.
const HOLD_WITHIN: Duration = Source::PATIENCE;
/// The label of a piece of a state, which no worker sums with a gradient.
const STATE_LABEL: &str = "piece of a state";
/// Values of a state that are broadcast at a time.
const PIECE_VALUES: usize = 1 << 16;

/// Who takes part in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The view's number.
    pub view: PlanVersion,
    /// This worker's rank.
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

/// What happened to a worker that keeps account of it ([`Host::recorded`](crate::Host::recorded)).
#[derive(Clone, Debug)]
pub enum Event {
    /// A view has begun: what all its hosts were told, and this worker's rank.
    Run(Assignment, Rank),
    /// A tensor was summed: a gradient, or what a broadcast is made of.
    Sum(RoundStats, RoundRecord),
}

/// A worker of an elastic job: sums tensors with the workers that are there.
pub struct ElasticWorker {
    host: Host,
    view: Option<View>,
    membership: ViewMembership,
    rank: Rank,
    progress: Progress,
    /// What has happened since it was asked last.
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
    /// A tensor under way is looked at this often: whether the controller has ended the view.
    const LOOK: Duration = Duration::from_millis(20);

    /// Joins a job, and waits until its next view begins with this worker in it.
    ///
    /// # Errors
    /// Why it cannot take part.
    pub fn join(mut host: Host) -> Result<Self, Error> {
        let mut progress = Progress::new(host.rounds);
        let membership = host.wait_for_view(None, progress.rounds(), progress.must_load_state())?;
        let (view, rank) = View::begin(&mut host, &membership)?;
        progress.begin(standing(&membership));
        let mut worker = Self { host, view: Some(view), membership, rank, progress, events: Vec::new() };
        worker.note_run();
        Ok(worker)
    }

    /// What all hosts of the view are told.
    pub fn assignment(&self) -> &Assignment {
        &self.membership.assignment
    }

    /// Rounds in the state that the program holds: those that it began with, and those that it has completed
    /// or loaded since.
    pub fn rounds(&self) -> u64 {
        self.progress.rounds()
    }

    /// Who takes part in the view.
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

    /// Takes notice that the workers are others ([`Error::Membership`]); who they are.
    ///
    /// # Errors
    /// Why this worker cannot take part. There is no such reason where another view has begun already.
    pub fn accept_membership(&mut self) -> Result<Membership, Error> {
        self.progress.take_notice();
        Ok(self.membership())
    }

    /// Replaces a gradient by the sum over the gradients of all workers of the view. A program does so once
    /// in every round; rounds are counted by it. Where a view ends and all go on in another one with the same
    /// workers and rounds, the sum is that of the next view.
    ///
    /// # Errors
    /// [`Error::Membership`] if the workers are others or one of them lacks a round: then the gradient is as
    /// it was. All others end this worker's part.
    pub fn all_reduce(&mut self, gradient: &mut [f32]) -> Result<RoundStats, Error> {
        self.all_reduce_with_label(gradient, "")
    }

    /// Replaces a gradient as [`all_reduce`](Self::all_reduce), with a label that must be the same at all
    /// workers of the view ([`inart_host_agent::Worker::start_with_label`]).
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce); different labels end this worker's part.
    pub fn all_reduce_with_label(&mut self, gradient: &mut [f32], label: &str) -> Result<RoundStats, Error> {
        if let Some(why) = self.progress.news().cloned() {
            return Err(self.membership_error(why));
        }
        self.progress.settle();
        loop {
            match self.reduce(gradient, label)? {
                Ok(stats) => {
                    self.progress.summed();
                    return Ok(stats);
                }
                Err(left) => self.go_on(left)?,
            }
        }
    }

    /// Replaces values by those of the worker of that rank, to the bit. All workers call it with as many
    /// values. The state of the [newest](Membership::newest) worker goes in one call: if that fails, the
    /// values are as they were.
    ///
    /// Values travel in pieces of 2^16. Beside the values themselves a worker needs room for a copy of them,
    /// and for a few pieces of 16 bytes per value.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce); and [`Error::OtherState`] if that worker has another number of
    /// values.
    pub fn broadcast(&mut self, values: &mut [f32], from: Rank) -> Result<(), Error> {
        self.broadcast_with(values, 0, from)
    }

    /// As [`broadcast`](Self::broadcast), where that worker's digest of the layout is compared, too.
    fn broadcast_with(&mut self, values: &mut [f32], digest: u64, from: Rank) -> Result<(), Error> {
        if let Some(why) = self.progress.news().cloned() {
            return Err(self.membership_error(why));
        }
        self.progress.begin_load();
        let is_own = self.rank == from;
        let mut tensor = Vec::new();
        // The layout comes first: pieces of different states would be summed with one another.
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

    /// Sends a piece of this worker's state, or replaces it by that of the worker that sends. `tensor` is
    /// room.
    fn share(&mut self, piece: &mut [f32], is_own: bool, tensor: &mut Vec<f32>) -> Result<(), Error> {
        tensor.clear();
        match is_own {
            true => digits::write(piece, tensor),
            false => tensor.resize(digits::PER_FLOAT * piece.len(), 0.0),
        }
        if let Err(left) = self.reduce(tensor, STATE_LABEL)? {
            // All load, since one of them has not: so this is news for everybody.
            self.go_on(left)?;
            return Err(self.membership_error(Left::Told));
        }
        if !is_own {
            digits::read(tensor, piece);
        }
        Ok(())
    }

    /// Loads the state of the newest worker into `state`, in whatever run that comes about:
    /// [`accept_membership`](Self::accept_membership) and [`broadcast`](Self::broadcast), again if the
    /// workers change meanwhile.
    ///
    /// # Errors
    /// All but [`Error::Membership`].
    pub fn load(&mut self, state: &mut [f32]) -> Result<(), Error> {
        self.load_with(state, 0)
    }

    /// As [`load`](Self::load), with a digest of what the values are, such as names and shapes of tensors. A
    /// worker whose state differs from the newest in it leaves its view, and the others go on.
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

    /// What this worker put into the sum that was there last and what it got, bit for bit; `None` before the
    /// first of a view.
    pub fn record(&self) -> Option<RoundRecord> {
        self.view.as_ref().and_then(|view| view.worker.record())
    }

    /// What has happened since the last call, if the [host](crate::Host::recorded) keeps account of it.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn note_run(&mut self) {
        if self.host.records {
            self.events.push(Event::Run(self.membership.assignment.clone(), self.rank));
        }
    }

    /// This worker has done all its rounds, as all others have.
    ///
    /// # Errors
    /// What the controller says.
    pub fn finish(mut self) -> Result<(), Error> {
        self.view = None;
        self.host.leave(self.rounds(), true)
    }

    /// This worker takes part no more, though others go on.
    ///
    /// # Errors
    /// What the controller says.
    pub fn leave(mut self) -> Result<(), Error> {
        self.view = None;
        self.host.leave(self.rounds(), false)
    }

    fn membership_error(&self, why: Left) -> Error {
        Error::Membership { view: self.membership.view.get(), workers: self.assignment().workers.len(), why }
    }

    /// Sums a tensor; or how the view was left instead.
    fn reduce(&mut self, tensor: &mut [f32], label: &str) -> Result<Result<RoundStats, Left>, Error> {
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
        // The others need not wait for it; a controller that is gone waits for no host.
        let _ = self.host.leave(self.rounds(), false);
    }

    /// The same; an error that ends the wait has not ended the view.
    fn sum(&mut self, tensor: &mut [f32], label: &str) -> Result<Result<RoundStats, Left>, Error> {
        let Some(view) = &self.view else { return Ok(Err(Left::Told)) };
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
            match view.worker.wait_timeout(handle, Self::LOOK) {
                Ok(Ok((_, stats))) => return Ok(Ok(stats)),
                Ok(Err(again)) => handle = again,
                Err(error) => return failed(error),
            }
            if view.end.is_over() {
                return Ok(Err(Left::Told));
            }
            // The tensor stays as it is: its sum is only written by the wait.
            self.host.ending().map_or(Ok(()), Err)?;
        }
    }

    /// Leaves the view, and goes on in the next one.
    ///
    /// # Errors
    /// [`Error::Membership`] if the program has to know.
    fn go_on(&mut self, left: Left) -> Result<(), Error> {
        let number = self.membership.view;
        self.view = None;
        self.membership =
            self.host.wait_for_view(Some((number, &left)), self.rounds(), self.progress.must_load_state())?;
        let (view, rank) = View::begin(&mut self.host, &self.membership)?;
        (self.view, self.rank) = (Some(view), rank);
        self.note_run();
        match self.progress.go_on(standing(&self.membership), left.clone()) {
            false => Ok(()),
            true => Err(self.membership_error(left)),
        }
    }
}

fn standing(membership: &ViewMembership) -> Standing {
    Standing {
        newest: membership.newest,
        rounds: membership.rounds,
        must_load_state: membership.must_load_state,
    }
}
