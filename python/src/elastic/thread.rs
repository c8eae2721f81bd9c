//! The thread that has the worker.

use std::mem;
use std::sync::mpsc::{Receiver, Sender};

use inart_elastic::{ElasticWorker, Error, Event, Host};
use inart_host_agent::report::{Report, Reporter, RoundReport};
use pyo3::prelude::*;

use super::calls::{Answer, Call, Request, Seen};
use super::orders::Orders;
use crate::errors::Trouble;
use crate::floats::Floats;
use crate::notice;

/// Joins, and runs calls until the last one.
pub(super) fn serve(
    host: Host,
    mut reporter: Option<Reporter>,
    orders: &Orders,
    calls: &Receiver<Call>,
    joined: &Sender<Answer>,
) {
    let mut worker = match ElasticWorker::join(host) {
        Ok(worker) => worker,
        Err(error) => {
            let trouble = failed(error, &mut reporter);
            let _ = joined.send(Answer { outcome: Err(trouble), seen: Seen::default() });
            return;
        }
    };
    // The program may wait no more.
    let _ = joined.send(Answer { outcome: Ok(0.0), seen: Seen::of(&worker) });
    let mut has_warned = false;
    while let Ok(Call { number, request, answer }) = calls.recv() {
        orders.begin(number);
        let outcome = match request {
            _ if orders.is_interrupted() => Err(Error::Interrupted.into()),
            Request::AllReduce(floats, label) => sum(&mut worker, floats, &label, &mut has_warned),
            Request::Load(state, layout) => load(&mut worker, state, layout),
            Request::End(done) => {
                let seen = Seen::of(&worker);
                if let Some(reporter) = &mut reporter {
                    let _ = reporter.send(&Report::Done { trained: None }); // the reader may have ended
                }
                let ended = if done { worker.finish() } else { worker.leave() };
                let _ = answer.send(Answer { outcome: ended.map(|()| 0.0).map_err(Trouble::from), seen });
                return;
            }
        };
        let reported = report(&mut worker, &mut reporter);
        let outcome = outcome.map_err(|ended| ended.raise(&mut reporter));
        let outcome = outcome.and_then(|seconds| reported.map(|()| seconds));
        orders.end();
        let _ = answer.send(Answer { outcome, seen: Seen::of(&worker) });
    }
    // A disconnected controller waits for no host.
    let _ = worker.leave();
}

/// Reason that a call has no result.
enum Ended {
    /// The worker's error.
    Job(Error),
    /// An error of the arrays that the program gave.
    Arrays(Trouble),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Job(error)
    }
}

impl Ended {
    fn raise(self, reporter: &mut Option<Reporter>) -> Trouble {
        match self {
            Self::Job(error) => failed(error, reporter),
            Self::Arrays(trouble) => trouble,
        }
    }
}

/// Sums an array; returns the seconds that it took.
fn sum(
    worker: &mut ElasticWorker,
    mut floats: Floats,
    label: &str,
    has_warned: &mut bool,
) -> Result<f64, Ended> {
    let stats = worker.all_reduce_with_label(floats.as_mut(), label)?;
    if stats.not_finite && !mem::replace(has_warned, true) {
        warn_not_finite(worker);
    }
    Ok(stats.communication.as_secs_f64())
}

/// Loads the newest state: all of it in one tensor.
fn load(worker: &mut ElasticWorker, mut state: Vec<Floats>, layout: u64) -> Result<f64, Ended> {
    let mut all: Vec<f32> = state.iter_mut().flat_map(|floats| floats.as_mut().to_vec()).collect();
    worker.load_with(&mut all, layout)?;
    let mut rest = &all[..];
    for floats in &mut state {
        let array = floats.as_mut();
        let (own, others) = rest.split_at(array.len());
        array.copy_from_slice(own);
        floats.check_written().map_err(Ended::Arrays)?;
        rest = others;
    }
    Ok(0.0)
}

/// Warns that the gradient of the last round was not finite.
fn warn_not_finite(worker: &ElasticWorker) {
    let seen = Seen::of(worker);
    let who = format!("job {}, rank {} ({})", seen.job, seen.rank, seen.name());
    let round = u32::try_from(seen.rounds.saturating_sub(1)).unwrap_or(u32::MAX);
    let warn = |py: Python<'_>| notice::warn(py, &notice::not_finite(&who, round));
    // An interpreter that ends shows no warning.
    let _ = Python::try_attach(warn);
}

/// Reports runs and sums. Without a reader the sums would not be audited, which is an error.
fn report(worker: &mut ElasticWorker, reporter: &mut Option<Reporter>) -> Result<(), Trouble> {
    let Some(reporter) = reporter else { return Ok(()) };
    for event in worker.events() {
        let report = match event {
            Event::Run(assignment, rank) => Report::Run(Box::new(assignment), rank),
            Event::Sum(stats, record) => Report::Round(RoundReport::new(stats, record)),
        };
        reporter.send(&report).map_err(|error| {
            Trouble::new(
                "Error",
                format!("INART_REPORT: the reader of the reports has closed the socket ({error})"),
            )
        })?;
    }
    Ok(())
}

/// Converts an error to the exception to raise; an error that ends the worker's part is reported, too.
fn failed(error: Error, reporter: &mut Option<Reporter>) -> Trouble {
    let is_over = !error.is_membership();
    let trouble = Trouble::from(error);
    if let Some(reporter) = reporter.as_mut().filter(|_| is_over) {
        let _ = reporter.send(&Report::Failed { error: trouble.message.clone() });
    }
    trouble
}
