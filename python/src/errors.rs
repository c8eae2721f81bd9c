//! Errors of the libraries as exceptions of `inart._errors`.

use inart_controller_api::SourceError;
use inart_host_agent::Error;
use inart_protocol_aggregation::Failure;
use inart_tls::TlsError;
use inart_wire::ShardId;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// An exception to be, which can be raised any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// Name of the exception's class.
    class: &'static str,
    pub(crate) message: String,
    culprit: Option<Culprit>,
    changed: Option<MembershipChanged>,
}

/// Membership view in which an elastic job continues.
#[derive(Clone, Debug)]
struct MembershipChanged {
    view: u16,
    workers: usize,
}

/// The host that an aborted job names as the cause.
#[derive(Clone, Debug)]
struct Culprit {
    name: String,
    rank: Option<u16>,
    shard: Option<u16>,
}

impl Trouble {
    pub(crate) fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), culprit: None, changed: None }
    }

    /// Returns the exception.
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        self.exception(py).unwrap_or_else(|error| error)
    }

    fn exception(&self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("inart._errors")?.getattr(self.class)?;
        let exception = class.call1((&self.message,))?;
        if let Some(culprit) = &self.culprit {
            exception.setattr("culprit", &culprit.name)?;
            exception.setattr("rank", culprit.rank)?;
            exception.setattr("shard", culprit.shard)?;
        }
        if let Some(MembershipChanged { view, workers }) = self.changed {
            exception.setattr("view", view)?;
            exception.setattr("world_size", workers)?;
        }
        Ok(PyErr::from_value(exception))
    }
}

/// Last resort if a class is missing: the exception names the class.
impl From<Trouble> for PyErr {
    fn from(trouble: Trouble) -> Self {
        Python::try_attach(|py| trouble.raise(py)).unwrap_or_else(|| PyRuntimeError::new_err(trouble.message))
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Assignment(_) => Self::new("AssignmentError", message),
            Error::Port(_) | Error::Io { .. } => Self::new("InterfaceError", message),
            Error::Failure(failure) => {
                Self { culprit: culprit(&failure), ..Self::new("AbortedError", message) }
            }
            Error::TooManyTensors { .. }
            | Error::NoWorkers { .. }
            | Error::Ended(_)
            | Error::Panicked(_)
            | Error::Forked => Self::new("Error", message),
        }
    }
}

/// The culprit of a job that is part of a larger one, which ended elsewhere: its name is in the message only.
const NOT_KNOWN: &str = "not known";

/// `None` for this worker itself, which knows its name.
fn culprit(failure: &Failure) -> Option<Culprit> {
    let server = |server: &String, shard: ShardId| Culprit {
        name: server.clone(),
        rank: None,
        shard: Some(shard.get()),
    };
    match failure {
        Failure::NotFinite { .. } => None,
        Failure::Elsewhere { .. } => Some(Culprit { name: NOT_KNOWN.to_owned(), rank: None, shard: None }),
        Failure::Aborted { culprit, name, .. }
        | Failure::OtherTensors { culprit, name, .. }
        | Failure::OtherAddress { worker: culprit, name, .. } => {
            Some(Culprit { name: name.clone(), rank: Some(culprit.get()), shard: None })
        }
        Failure::ServerLost { shard, server: name, .. }
        | Failure::ServerRestarted { shard, server: name }
        | Failure::ServerSilent { shard, server: name, .. } => Some(server(name, *shard)),
    }
}

impl From<SourceError> for Trouble {
    fn from(error: SourceError) -> Self {
        let class = match error {
            SourceError::File { .. } => "AssignmentError",
            SourceError::Controller(_) => "ControllerError",
        };
        Self::new(class, error.to_string())
    }
}

impl From<inart_elastic::Error> for Trouble {
    fn from(error: inart_elastic::Error) -> Self {
        use inart_elastic::Error;
        let message = error.to_string();
        match error {
            Error::Membership { view, workers, .. } => Self {
                changed: Some(MembershipChanged { view, workers }),
                ..Self::new("MembershipChanged", message)
            },
            Error::Control(error) => error.into(),
            Error::Host(error) => error.into(),
            Error::NoController | Error::OtherRole { .. } => Self::new("AssignmentError", message),
            Error::OtherState { .. } => Self::new("TensorError", message),
            Error::ControllerSilent { .. } => Self::new("ControllerError", message),
            Error::Stopped | Error::Interrupted | Error::System(_) => Self::new("Error", message),
        }
    }
}

impl From<TlsError> for Trouble {
    fn from(error: TlsError) -> Self {
        Self::new("ControllerError", format!("TLS: {error}"))
    }
}
