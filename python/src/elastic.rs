//! A worker of an elastic job, as Python holds it. A thread has the worker and does one call after the other,
//! so that Ctrl-C ends any wait.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_elastic::{ElasticWorker, Error, Event, Host};
use inart_host_agent::Error as AgentError;
use inart_host_agent::report::{Report, Reporter, Role, RoundReport};
use inart_wire::{JobId, Rank};
use pyo3::prelude::*;

use crate::errors::Trouble;
use crate::floats::Floats;
use crate::notice::{self, Wait};
use crate::signals;

/// A call that is interrupted, or a join that is withdrawn, has ended within this time.
const LONGEST_END: Duration = Duration::from_secs(15);

/// A worker of an elastic job.
#[pyclass(frozen, module = "inart._inart")]
pub(crate) struct Elastic {
    /// To the thread, until the worker is shut down.
    calls: Mutex<Option<Sender<Call>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    orders: Arc<Orders>,
    /// What it waits for before a run, in words.
    awaited: Arc<Mutex<String>>,
    seen: Mutex<Seen>,
    /// The process that joined; the thread is missing in those that were forked from it.
    process: u32,
}

/// What ends waits of the thread.
#[derive(Debug, Default)]
struct Orders {
    /// The worker leaves the job.
    is_stopped: AtomicBool,
    /// Numbers of the last call that was made, that is under way, and that is to end.
    made: AtomicU64,
    under_way: AtomicU64,
    interrupted: AtomicU64,
}

impl Orders {
    /// Whether the call under way is to end.
    fn is_interrupted(&self) -> bool {
        let under_way = self.under_way.load(Ordering::Acquire);
        under_way > 0 && self.interrupted.load(Ordering::Acquire) == under_way
    }
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
    number: u64,
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
    let (orders, awaited) = (Arc::<Orders>::default(), Arc::<Mutex<String>>::default());
    let (stopped, interrupted, heard) = (Arc::clone(&orders), Arc::clone(&orders), Arc::clone(&awaited));
    let host = host
        .stopped_by(move || stopped.is_stopped.load(Ordering::Acquire))
        .interrupted_by(move || interrupted.is_interrupted())
        .on_waiting(move |why| {
            why.clone_into(&mut heard.lock().unwrap_or_else(PoisonError::into_inner));
        });
    let host = if audit.is_some() { host.recorded() } else { host };
    let reporter = audit.map(greet).transpose()?;
    let ((calls, received), (answer, joined)) = (mpsc::channel(), mpsc::channel());
    let serving = Arc::clone(&orders);
    let work = move || serve(host, reporter, &serving, &received, &answer);
    let thread = thread::Builder::new().name("inart-elastic".into()).spawn(work);
    let thread =
        thread.map_err(|error| Trouble::new("Error", format!("no thread for the worker ({error})")))?;
    let elastic = Elastic {
        calls: Mutex::new(Some(calls)),
        thread: Mutex::new(Some(thread)),
        orders,
        awaited,
        seen: Mutex::default(),
        process: std::process::id(),
    };
    if let Err(raised) = elastic.wait(&joined, 0) {
        elastic.withdraw();
        return Err(raised);
    }
    Ok(elastic)
}

/// Says who reports, and waits until whoever reads it lets the worker begin.
fn greet(audit: Audit) -> PyResult<Reporter> {
    let Audit { mut reporter, role: (job, rank) } = audit;
    let gone =
        |error| Trouble::new("Error", format!("INART_REPORT: whoever reads the reports is gone ({error})"));
    reporter.send(&Report::Hello(Role::Worker(job, rank))).map_err(gone)?;
    signals::wait_for_start(&mut reporter, &format!("rank {rank}")).map_err(gone)??;
    Ok(reporter)
}

/// The thread: joins, and does what it is told until nobody can tell it more.
fn serve(
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
    // Whoever asked may wait no more.
    let _ = joined.send(Answer { outcome: Ok(0.0), seen: Seen::of(&worker) });
    let mut has_warned = false;
    while let Ok(Call { number, what, answer }) = calls.recv() {
        orders.under_way.store(number, Ordering::Release);
        let outcome = match what {
            _ if orders.is_interrupted() => Err(Error::Interrupted),
            What::AllReduce(mut floats) => worker.all_reduce(floats.as_mut()).map(|stats| {
                if stats.not_finite && !mem::replace(&mut has_warned, true) {
                    warn_not_finite(&worker);
                }
                stats.communication.as_secs_f64()
            }),
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
        orders.under_way.store(0, Ordering::Release);
        let _ = answer.send(Answer { outcome, seen: Seen::of(&worker) });
    }
    // A controller that is gone waits for nobody.
    let _ = worker.leave();
}

/// Warns that the gradient of the last round was not finite.
fn warn_not_finite(worker: &ElasticWorker) {
    let seen = Seen::of(worker);
    let who = format!("job {}, rank {} ({})", seen.job, seen.rank, seen.name());
    let round = u32::try_from(seen.rounds.saturating_sub(1)).unwrap_or(u32::MAX);
    let warn = |py: Python<'_>| notice::warn(py, &notice::not_finite(&who, round));
    // What an interpreter that ends does with it is of no use to anybody.
    let _ = Python::try_attach(warn);
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

impl Seen {
    fn name(&self) -> String {
        self.workers.get(usize::from(self.rank)).cloned().unwrap_or_default()
    }
}

impl Elastic {
    /// Checks that this process has joined. Takes no lock: in a fork of that process, a lock may be held by a
    /// thread that is missing.
    fn check_process(&self) -> PyResult<()> {
        if self.process == std::process::id() {
            Ok(())
        } else {
            Err(Trouble::from(AgentError::Forked).into())
        }
    }

    fn known(&self) -> PyResult<MutexGuard<'_, Seen>> {
        self.check_process()?;
        Ok(self.seen())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the thread's answer to the call of that number; 0 is the join. Ctrl-C ends the wait and the
    /// call: the array is not written any more.
    fn wait(&self, answers: &Receiver<Answer>, number: u64) -> PyResult<f64> {
        let mut wait = Wait::begin();
        loop {
            match answers.recv_timeout(signals::SLICE) {
                Ok(Answer { outcome, seen }) => {
                    self.see(seen);
                    return Ok(outcome?);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.report(&mut wait);
                    if let Err(raised) = signals::check() {
                        self.interrupt(answers, number);
                        return Err(raised);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "the worker's thread has ended; join the job again";
                    return Err(Trouble::new("Error", message).into());
                }
            }
        }
    }

    fn see(&self, seen: Seen) {
        if !seen.workers.is_empty() {
            *self.seen() = seen;
        }
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Reports a wait that lasts, if the controller has said what for.
    fn report(&self, wait: &mut Wait) {
        let Some(seconds) = wait.is_due() else { return };
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !awaited.is_empty() {
            notice::say(&format!("waiting for a run of the job for {seconds} s: {awaited}"));
        }
    }

    /// Ends a call, and waits until the thread does nothing more for it.
    fn interrupt(&self, answers: &Receiver<Answer>, number: u64) {
        if number > 0 {
            self.orders.interrupted.store(number, Ordering::Release);
            if let Ok(Answer { seen, .. }) = answers.recv_timeout(LONGEST_END) {
                self.see(seen);
            }
        }
    }

    /// Ends a join that has not succeeded, and waits until the controller knows.
    fn withdraw(&self) {
        self.orders.is_stopped.store(true, Ordering::Release);
        drop(self.calls.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let until = Instant::now() + LONGEST_END;
        while !thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn call(&self, what: What) -> PyResult<f64> {
        self.check_process()?;
        let (answer, answers) = mpsc::channel();
        let number = 1 + self.orders.made.fetch_add(1, Ordering::AcqRel);
        {
            let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let gone = || Trouble::new("Error", "the worker was shut down; join the job anew");
            let calls = calls.as_ref().ok_or_else(gone)?;
            calls.send(Call { number, what, answer }).map_err(|_| gone())?;
        }
        self.wait(&answers, number)
    }

    /// Leaves the job, if that was not done before.
    fn end(&self, done: bool) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        self.orders.is_stopped.store(true, Ordering::Release);
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

impl Drop for Elastic {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The thread is missing in this process, and may have held locks.
            mem::forget(self.calls.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            mem::forget(self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            return;
        }
        // The thread leaves the job and ends, whatever it waits for.
        self.orders.is_stopped.store(true, Ordering::Release);
    }
}

#[pymethods]
impl Elastic {
    #[getter]
    fn job(&self) -> PyResult<String> {
        Ok(self.known()?.job.clone())
    }

    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.known()?.name())
    }

    #[getter]
    fn rank(&self) -> PyResult<u16> {
        Ok(self.known()?.rank)
    }

    #[getter]
    fn workers(&self) -> PyResult<Vec<String>> {
        Ok(self.known()?.workers.clone())
    }

    #[getter]
    fn rounds(&self) -> PyResult<u64> {
        Ok(self.known()?.rounds)
    }

    #[getter]
    fn run(&self) -> PyResult<u16> {
        Ok(self.known()?.run)
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
