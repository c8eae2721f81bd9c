//! A worker of an elastic job, as Python holds it. A thread has the worker and does one call after the other,
//! so that Ctrl-C ends any wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use inart_elastic::{ElasticWorker, Error, Event, Host};
use inart_host_agent::report::{Report, Reporter, Role, RoundReport};
use inart_wire::{JobId, Rank};
use pyo3::prelude::*;

use crate::errors::Trouble;
use crate::floats::Floats;
use crate::signals;

/// A worker of an elastic job.
#[pyclass(frozen, module = "inart._inart")]
pub(crate) struct Elastic {
    /// To the thread, until the worker is shut down.
    calls: Mutex<Option<Sender<Call>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Ends its wait for a run.
    stopped: Arc<AtomicBool>,
    seen: Mutex<Seen>,
    /// The process that joined; the thread is missing in those that were forked from it.
    process: u32,
}

/// Who takes part, and how far the worker is.
#[derive(Clone, Debug, Default)]
struct Seen {
    job: String,
    rank: u16,
    workers: Vec<String>,
    rounds: u64,
    run: u16,
}

/// What the thread is to do.
enum What {
    AllReduce(Floats),
    Load(Vec<Floats>),
    /// Leaves the job, which has all its rounds if that is true.
    End(bool),
}

struct Call {
    what: What,
    answer: Sender<Answer>,
}

struct Answer {
    /// Seconds that it took on the network, of a sum.
    outcome: Result<f64, Trouble>,
    seen: Seen,
}

/// Who reads what an audited worker reports, and the worker's place in its job.
pub(crate) struct Audit {
    pub reporter: Reporter,
    pub role: (JobId, Rank),
}

/// Joins an elastic job, and waits until a run begins with this worker in it.
///
/// # Errors
/// Why it cannot take part, or what a signal's handler raises.
pub(crate) fn join(host: Host, audit: Option<Audit>) -> PyResult<Elastic> {
    let stopped = Arc::<AtomicBool>::default();
    let told = Arc::clone(&stopped);
    let host = host.stopped_by(move || told.load(Ordering::Acquire));
    let host = if audit.is_some() { host.recorded() } else { host };
    let reporter = audit.map(greet).transpose()?;
    let ((calls, orders), (answer, joined)) = (mpsc::channel(), mpsc::channel());
    let work = move || serve(host, reporter, &orders, &answer);
    let thread = thread::Builder::new().name("inart-elastic".into()).spawn(work);
    let thread =
        thread.map_err(|error| Trouble::new("Error", format!("no thread for the worker ({error})")))?;
    let elastic = Elastic {
        calls: Mutex::new(Some(calls)),
        thread: Mutex::new(Some(thread)),
        stopped,
        seen: Mutex::default(),
        process: std::process::id(),
    };
    elastic.wait(&joined)?;
    Ok(elastic)
}

/// Says who reports, and waits until whoever reads it lets the worker begin.
fn greet(audit: Audit) -> PyResult<Reporter> {
    let Audit { mut reporter, role: (job, rank) } = audit;
    let gone =
        |error| Trouble::new("Error", format!("INART_REPORT: whoever reads the reports is gone ({error})"));
    reporter.send(&Report::Hello(Role::Worker(job, rank))).map_err(gone)?;
    while !reporter.wait_for_start_timeout(signals::SLICE).map_err(gone)? {
        signals::check()?;
    }
    Ok(reporter)
}

/// The thread: joins, and does what it is told until nobody can tell it more.
fn serve(host: Host, mut reporter: Option<Reporter>, orders: &Receiver<Call>, joined: &Sender<Answer>) {
    let mut worker = match ElasticWorker::join(host) {
        Ok(worker) => worker,
        Err(error) => {
            let trouble = failed(error, &mut reporter);
            let _ = joined.send(Answer { outcome: Err(trouble), seen: Seen::default() });
            return;
        }
    };
    // Whoever asked may wait no more.
    let _ = joined.send(Answer { outcome: Ok(0.0), seen: Seen::of(&worker) });
    while let Ok(Call { what, answer }) = orders.recv() {
        let outcome = match what {
            What::AllReduce(mut floats) => {
                worker.all_reduce(floats.as_mut()).map(|stats| stats.communication.as_secs_f64())
            }
            What::Load(state) => load(&mut worker, state).map(|()| 0.0),
            What::End(done) => {
                let seen = Seen::of(&worker);
                if let Some(reporter) = &mut reporter {
                    let _ = reporter.send(&Report::Done { trained: None }); // nobody may be left to read it
                }
                let ended = if done { worker.finish() } else { worker.leave() };
                let _ = answer.send(Answer { outcome: ended.map(|()| 0.0).map_err(Trouble::from), seen });
                return;
            }
        };
        let told = tell(&mut worker, &mut reporter);
        let outcome = outcome.map_err(|error| failed(error, &mut reporter));
        let outcome = outcome.and_then(|seconds| told.map(|()| seconds));
        let _ = answer.send(Answer { outcome, seen: Seen::of(&worker) });
    }
    // A controller that is gone waits for nobody.
    let _ = worker.leave();
}

/// Loads the newest state: all of it in one tensor.
fn load(worker: &mut ElasticWorker, mut state: Vec<Floats>) -> Result<(), Error> {
    let mut all: Vec<f32> = state.iter_mut().flat_map(|floats| floats.as_mut().to_vec()).collect();
    worker.load(&mut all)?;
    let mut rest = &all[..];
    for floats in &mut state {
        let floats = floats.as_mut();
        let (own, others) = rest.split_at(floats.len());
        floats.copy_from_slice(own);
        rest = others;
    }
    Ok(())
}

/// Reports runs and sums; if whoever reads that is gone, sums are not what was asked for.
fn tell(worker: &mut ElasticWorker, reporter: &mut Option<Reporter>) -> Result<(), Trouble> {
    let Some(reporter) = reporter else { return Ok(()) };
    for event in worker.events() {
        let report = match event {
            Event::Run(assignment, rank) => Report::Run(Box::new(assignment), rank),
            Event::Sum(stats, record) => Report::Round(RoundReport::new(stats, record)),
        };
        reporter.send(&report).map_err(|error| {
            Trouble::new("Error", format!("INART_REPORT: whoever reads the reports is gone ({error})"))
        })?;
    }
    Ok(())
}

/// What is raised; an error that ends the worker's part is reported, too.
fn failed(error: Error, reporter: &mut Option<Reporter>) -> Trouble {
    let is_over = !error.is_membership();
    let trouble = Trouble::from(error);
    if let Some(reporter) = reporter.as_mut().filter(|_| is_over) {
        let _ = reporter.send(&Report::Failed { error: trouble.message.clone() });
    }
    trouble
}

impl Seen {
    fn of(worker: &ElasticWorker) -> Self {
        let membership = worker.membership();
        Self {
            job: worker.assignment().name.clone(),
            rank: membership.rank.get(),
            workers: membership.workers,
            rounds: worker.rounds(),
            run: membership.run.get(),
        }
    }
}

impl Elastic {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for an answer of the thread; Ctrl-C ends the wait, and the call goes on.
    fn wait(&self, answers: &Receiver<Answer>) -> PyResult<f64> {
        loop {
            match answers.recv_timeout(signals::SLICE) {
                Ok(Answer { outcome, seen }) => {
                    if !seen.workers.is_empty() {
                        *self.seen() = seen;
                    }
                    return Ok(outcome?);
                }
                Err(RecvTimeoutError::Timeout) => signals::check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(
                        Trouble::new("Error", "the worker's thread has ended; join the job anew").into()
                    );
                }
            }
        }
    }

    fn call(&self, what: What) -> PyResult<f64> {
        if self.process != std::process::id() {
            let message = "this process was forked from the one that joined the job, and only that one can sum: join \
                           in the process that sums, after it was forked";
            return Err(Trouble::new("Error", message).into());
        }
        let (answer, answers) = mpsc::channel();
        {
            let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let gone = || Trouble::new("Error", "the worker was shut down; join the job anew");
            let calls = calls.as_ref().ok_or_else(gone)?;
            calls.send(Call { what, answer }).map_err(|_| gone())?;
        }
        self.wait(&answers)
    }

    /// Leaves the job, if that was not done before.
    fn end(&self, done: bool) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        self.stopped.store(true, Ordering::Release);
        let is_there = self.calls.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let ended = if is_there { self.call(What::End(done)).map(drop) } else { Ok(()) };
        drop(self.calls.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(thread), Ok(())) = (thread, &ended) {
            let _ = thread.join(); // a panic there has been reported
        }
        ended
    }
}

#[pymethods]
impl Elastic {
    #[getter]
    fn job(&self) -> String {
        self.seen().job.clone()
    }

    #[getter]
    fn name(&self) -> String {
        let seen = self.seen();
        seen.workers.get(usize::from(seen.rank)).cloned().unwrap_or_default()
    }

    #[getter]
    fn rank(&self) -> u16 {
        self.seen().rank
    }

    #[getter]
    fn workers(&self) -> Vec<String> {
        self.seen().workers.clone()
    }

    #[getter]
    fn rounds(&self) -> u64 {
        self.seen().rounds
    }

    #[getter]
    fn run(&self) -> u16 {
        self.seen().run
    }

    /// Sums `length` floats at `address`, which are `owner`'s, in place; the seconds that it took. The caller
    /// has seen to it that they are there and writable, and that nobody uses them meanwhile.
    fn all_reduce(&self, py: Python<'_>, address: usize, length: usize, owner: Py<PyAny>) -> PyResult<f64> {
        // SAFETY: the caller is the package's `_floats.py`, which has seen to it.
        let floats = unsafe { Floats::new(address, length, owner) };
        py.detach(|| self.call(What::AllReduce(floats)))
    }

    /// Replaces all these floats by those of the newest worker.
    fn load_state(&self, py: Python<'_>, state: Vec<(usize, usize, Py<PyAny>)>) -> PyResult<()> {
        // SAFETY: as above.
        let floats = state.into_iter().map(|(at, length, owner)| unsafe { Floats::new(at, length, owner) });
        let floats = floats.collect();
        py.detach(|| self.call(What::Load(floats)).map(drop))
    }

    /// This worker has done all its rounds, as all others have.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.end(true))
    }

    /// This worker takes part no more, though others go on; a second time does nothing.
    fn shutdown(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.end(false))
    }
}
