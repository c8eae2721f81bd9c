//! Joining a job as a worker: assignment, interface, claim, and audit.

use std::path::PathBuf;
use std::time::Duration;

use inart_controller_api::{Following, HostReport, NotDone, Reporting, Source};
use inart_elastic::Host;
use inart_host_agent::report::{Report, Reporter, Role};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch};
use inart_host_agent::{BatchedPort, MigrationError, Options, Transport, Worker as Agent};
use inart_protocol_aggregation::{Assignment, DEFAULT_PEER_TIMEOUT, NonFinite};
use inart_tls::{ClientTls, IdentityFiles, Security};
use inart_wire::{Incarnation, Rank};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::elastic::{self, Audit, Elastic};
use crate::errors::Trouble;
use crate::shared::{Joined, Shared};
use crate::signals;
use crate::worker::{Worker, named};

/// The source of assignments that may have to be waited for.
const CONTROLLER: &str = "the controller to install the plan";

/// Settings of a worker; the names are those of the arguments of `inart.init`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    assignment: Option<PathBuf>,
    controller: Option<String>,
    job: Option<String>,
    rank: i64,
    world_size: Option<usize>,
    interface: String,
    peer_timeout: Option<f64>,
    non_finite: String,
    report: Option<PathBuf>,
    status: Option<String>,
    tls_ca: Option<PathBuf>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tls_name: Option<String>,
    insecure: bool,
}

/// Joins the job that a dictionary of settings names: a worker, or one of an elastic job.
#[pyfunction]
pub(crate) fn join(py: Python<'_>, settings: Settings) -> PyResult<Py<PyAny>> {
    let joined = py.detach(|| {
        let mut reporter = settings.reporter()?;
        let source = settings.source()?;
        if signals::wait_for(CONTROLLER, source.is_elastic())? {
            return settings.join_elastic(source, reporter).map(Kind::Elastic);
        }
        let joined = settings.join(&source, reporter.as_mut());
        match (joined, reporter) {
            (Ok((joined, assignment, rank)), reporter) => {
                let shared = Shared::new(joined, named(&assignment, rank), reporter, None);
                Ok(Kind::Fixed(Worker::new(shared, &assignment, rank)))
            }
            (Err(error), Some(mut reporter)) => {
                // The error is raised too; the reader of the report may have disconnected.
                let _ = reporter.send(&Report::Failed { error: error.to_string() });
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    })?;
    match joined {
        Kind::Fixed(worker) => Ok(Py::new(py, worker)?.into_any()),
        Kind::Elastic(worker) => Ok(Py::new(py, worker)?.into_any()),
    }
}

/// A worker that has joined.
enum Kind {
    Fixed(Worker),
    Elastic(Elastic),
}

/// Follows the controller, if there is one, to each new plan of the job.
fn follow(
    source: &Source,
    assignment: &Assignment,
    who: &str,
    incarnation: Incarnation,
    worker: &Agent,
) -> Result<Option<Following>, Trouble> {
    let migrator = worker.migrator();
    let follow = source.follow(assignment.job, who, incarnation, move |update| {
        migrator.take(update.step, update.assignment.clone(), update.previous_plan_version).map_err(|error| {
            match error {
                MigrationError::Refused(why) => NotDone::Refused(why.to_string()),
                MigrationError::Ended => NotDone::Ended,
            }
        })
    });
    follow.map_err(|error| Trouble::new("Error", format!("no thread to follow the controller ({error})")))
}

/// Reports to the controller, if there is one, how the worker is.
fn report(
    source: &Source,
    assignment: &Assignment,
    who: &str,
    incarnation: Incarnation,
    watch: Option<StatusWatch>,
) -> Result<Option<Reporting>, Trouble> {
    let Some(watch) = watch else { return Ok(None) };
    let report = source.report(assignment.job, who, incarnation, move || match watch.latest()? {
        HostStatus::Worker(worker) => Some(HostReport::from(&worker)),
        HostStatus::Server(_) => None,
    });
    report.map_err(|error| Trouble::new("Error", format!("no thread to report to the controller ({error})")))
}

impl Settings {
    fn reporter(&self) -> Result<Option<Reporter>, Trouble> {
        let Some(socket) = &self.report else { return Ok(None) };
        let connected = Reporter::connect(socket).map_err(|error| {
            let place = socket.display();
            Trouble::new(
                "Error",
                format!("INART_REPORT {place}: cannot connect to it ({error}); unset it to report nothing"),
            )
        });
        connected.map(Some)
    }

    fn join_elastic(&self, source: Source, reporter: Option<Reporter>) -> PyResult<Elastic> {
        let place = Rank::try_from(self.rank).map_err(|_| {
            wrong(format!("rank {}: give the worker's place in the topology's list", self.rank))
        })?;
        let assignment = signals::wait_for(CONTROLLER, source.assignment())?;
        let interface = self.interface.clone();
        let Options { peer_timeout, non_finite, status, .. } = self.options()?;
        let open = move || {
            let port = BatchedPort::open(&interface).map_err(inart_host_agent::Error::from)?;
            Ok(Box::new(port) as Box<dyn Transport>)
        };
        let options =
            move || Ok(Options { peer_timeout, non_finite, status: status.clone(), ..Options::default() });
        let host = Host::with_transport(source, &format!("worker-{place}"), open).options(options);
        let audit = reporter.map(|reporter| Audit { reporter, role: (assignment.job, place) });
        elastic::join(host, audit)
    }

    fn join(&self, source: &Source, reporter: Option<&mut Reporter>) -> PyResult<(Joined, Assignment, Rank)> {
        let options = self.options()?;
        let assignment = signals::wait_for(CONTROLLER, source.assignment())?;
        assignment.validate().map_err(|error| wrong(error.to_string()))?;
        if let Some(job) = self.job.as_ref().filter(|job| !job.is_empty() && **job != assignment.name) {
            let name = &assignment.name;
            return Err(wrong(format!(
                "the assignment is of the job {name}, not of {job}: give one of them"
            ))
            .into());
        }
        let rank = self.rank_in(&assignment)?;
        let port = BatchedPort::open(&self.interface)
            .map_err(|error| Trouble::from(inart_host_agent::Error::from(error)))?;
        // The other hosts must not take a second run of this rank for the first.
        let who = format!("worker-{rank}");
        let incarnation = options.incarnation;
        signals::wait_for(CONTROLLER, source.claim(&assignment, &who, incarnation))?;
        let watch = options.status.as_ref().map(StatusSocket::watch);
        let worker = Agent::with_options(assignment.clone(), rank, port, options).map_err(Trouble::from)?;
        let _following = follow(source, &assignment, &who, incarnation, &worker)?;
        let _reporting = report(source, &assignment, &who, incarnation, watch)?;
        if let Some(reporter) = reporter {
            let gone = |error| {
                Trouble::new(
                    "Error",
                    format!("INART_REPORT: the reader of the reports has closed the socket ({error})"),
                )
            };
            reporter.send(&Report::Hello(Role::Worker(assignment.job, rank))).map_err(gone)?;
            signals::wait_for_start(reporter, &named(&assignment, rank)).map_err(gone)??;
        }
        Ok((Joined { _following, _reporting, worker }, assignment, rank))
    }

    fn source(&self) -> Result<Source, Trouble> {
        match (&self.assignment, &self.controller) {
            (Some(file), None) => Ok(Source::File(file.clone())),
            (None, Some(address)) => Ok(Source::Controller {
                address: address.clone(),
                job: self.job.clone().unwrap_or_default(),
                security: self.security()?,
            }),
            (Some(_), Some(_)) => {
                Err(wrong("both an assignment and a controller are given: give one of them"))
            }
            (None, None) => Err(wrong(
                "neither an assignment nor a controller is given: set INART_ASSIGNMENT or INART_CONTROLLER, or pass \
                 assignment= or controller=",
            )),
        }
    }

    fn security(&self) -> Result<Security, Trouble> {
        let Some(ca) = &self.tls_ca else {
            return Ok(if self.insecure { Security::Plain } else { Security::Local });
        };
        let identity = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(IdentityFiles { certificate: certificate.clone(), key: key.clone() })
            }
            (None, None) => None,
            _ => {
                return Err(Trouble::new(
                    "ControllerError",
                    "TLS: give both tls_cert and tls_key, or neither",
                ));
            }
        };
        Ok(Security::Tls(ClientTls::load(ca, identity.as_ref(), self.tls_name.as_deref())?))
    }

    fn options(&self) -> PyResult<Options> {
        let listen = |address: &String| {
            let socket = StatusSocket::listen(address);
            socket.map(|socket| socket.on_interface(&self.interface)).map_err(|error| {
                Trouble::new(
                    "Error",
                    format!("status {address}: cannot listen there ({error}); give another"),
                )
            })
        };
        let status = self.status.as_ref().map(listen).transpose()?;
        // The controller reads the worker's status from this address.
        let status = status.or_else(|| self.controller.is_some().then(StatusSocket::quiet));
        let (peer_timeout, non_finite) = (peer_timeout(self.peer_timeout)?, non_finite(&self.non_finite)?);
        Ok(Options { peer_timeout, non_finite, status, ..Options::default() })
    }

    fn rank_in(&self, assignment: &Assignment) -> Result<Rank, Trouble> {
        let workers = assignment.workers.len();
        let rank = Rank::try_from(self.rank).ok().filter(|rank| rank.index() < workers).ok_or_else(|| {
            let (rank, job, last) = (self.rank, &assignment.name, workers.saturating_sub(1));
            wrong(format!("rank {rank}: the job {job} has ranks 0 to {last}; set RANK or pass rank="))
        })?;
        match self.world_size {
            Some(size) if size != workers => Err(wrong(format!(
                "the job {} has {workers} workers, but WORLD_SIZE is {size}: start {workers} processes, or plan the \
                 job for {size} workers",
                assignment.name
            ))),
            _ => Ok(rank),
        }
    }
}

fn wrong(message: impl Into<String>) -> Trouble {
    Trouble::new("AssignmentError", message)
}

/// Seconds as a peer timeout; the default without any.
///
/// # Errors
/// `ValueError` if they are not above 0.
pub(crate) fn peer_timeout(seconds: Option<f64>) -> PyResult<Duration> {
    let Some(seconds) = seconds else { return Ok(DEFAULT_PEER_TIMEOUT) };
    let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero());
    timeout.ok_or_else(|| PyValueError::new_err(format!("peer_timeout {seconds}: give seconds above 0")))
}

/// Returns the handling of NaN and infinity with that name.
///
/// # Errors
/// `ValueError` for another name.
pub(crate) fn non_finite(name: &str) -> PyResult<NonFinite> {
    match name {
        "pass" => Ok(NonFinite::Pass),
        "abort" => Ok(NonFinite::Abort),
        _ => Err(PyValueError::new_err(format!("non_finite {name:?}: give \"pass\" or \"abort\""))),
    }
}
