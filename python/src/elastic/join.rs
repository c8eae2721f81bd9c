//! Joining an elastic job.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use inart_elastic::Host;
use inart_host_agent::report::{Report, Reporter, Role};
use inart_wire::{JobId, Rank};
use pyo3::prelude::*;

use super::class::Elastic;
use super::orders::Orders;
use super::thread::serve;
use crate::errors::Trouble;
use crate::signals;

/// Reader of an audited worker's reports, and the worker's place in its job.
pub(crate) struct Audit {
    pub reporter: Reporter,
    pub role: (JobId, Rank),
}

/// Joins an elastic job, and waits until a view starts with this worker in it.
///
/// # Errors
/// Returns why the worker cannot take part, or the exception of a signal handler.
pub(crate) fn join(host: Host, audit: Option<Audit>) -> PyResult<Elastic> {
    let (orders, awaited) = (Arc::<Orders>::default(), Arc::<Mutex<String>>::default());
    let (stopped, interrupted, heard) = (Arc::clone(&orders), Arc::clone(&orders), Arc::clone(&awaited));
    let host = host
        .stopped_by(move || stopped.is_stopped())
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
    Elastic::joined(calls, thread, orders, awaited, &joined)
}

/// Identifies the reporting worker, and waits until the reader lets it start.
fn greet(audit: Audit) -> PyResult<Reporter> {
    let Audit { mut reporter, role: (job, rank) } = audit;
    let gone = |error| {
        Trouble::new(
            "Error",
            format!("INART_REPORT: the reader of the reports has closed the socket ({error})"),
        )
    };
    reporter.send(&Report::Hello(Role::Worker(job, rank))).map_err(gone)?;
    signals::wait_for_start(&mut reporter, &format!("rank {rank}")).map_err(gone)??;
    Ok(reporter)
}
