//! Where a host gets its assignment from, and where it notes that it runs with it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use inart_formats::{DocumentError, FormatError};
use inart_protocol_aggregation::Assignment;
use inart_tls::{ChannelError, Security};
use inart_wire::Incarnation;

use crate::assignment_file::assignment_from_json;
use crate::client::{Client, ClientError};

/// Where a host gets its assignment from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A JSON file, as a push writes it.
    File(PathBuf),
    /// A controller.
    Controller {
        /// `host:port` or `unix:/path`.
        address: String,
        /// Name of the job; may be empty where there is only one.
        job: String,
        /// How the connection is protected.
        security: Security,
    },
}

/// Why a host has no assignment, or may not run with it.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file.
    #[error("assignment {}: {problem}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        problem: FileProblem,
    },
    /// The controller.
    #[error(transparent)]
    Controller(#[from] ClientError),
}

/// What is wrong with an assignment's file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// It cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// It is no assignment.
    #[error("{0}; give a file that a push of the job's plan has written")]
    Malformed(serde_json::Error),
    /// Another version wrote it in a format that this one does not read.
    #[error(transparent)]
    Format(FormatError),
    /// A host has run with it.
    #[error(
        "{who} has run with it before, and switches may still hold sums of that run; push the plan under a new \
         plan version and start all hosts with the assignment that this writes"
    )]
    Used {
        /// The host's role.
        who: String,
    },
    /// It cannot be noted that a host runs with it.
    #[error("cannot write the file that notes that {who} runs with it: {cause}")]
    Note {
        /// The host's role.
        who: String,
        /// Error of the operating system.
        cause: io::Error,
    },
}

impl Source {
    /// How long a host waits for a controller that is not there or not ready.
    pub const PATIENCE: Duration = Duration::from_secs(30);
    /// It asks this often meanwhile.
    const INTERVAL: Duration = Duration::from_millis(50);
    /// And logs this often for what it waits.
    const REMIND: Duration = Duration::from_secs(5);

    /// The assignment. A controller that is not there yet, or has not installed the plan, is
    /// [waited for](Self::PATIENCE).
    ///
    /// # Errors
    /// A file that is no assignment, or a controller that does not have it.
    pub async fn assignment(&self) -> Result<Assignment, SourceError> {
        match self {
            Self::File(file) => read(file).map_err(|problem| at(file, problem)),
            Self::Controller { address, job, security } => {
                let ask = async |controller: Client| controller.assignment(job).await;
                Ok(patiently(address, security, ask).await?)
            }
        }
    }

    /// Notes beside the file, or at the controller, that `who` (such as worker-3) runs with the assignment,
    /// and refuses a second run: sequences would start anew within the same plan version, and a switch that
    /// still holds a sum of the first run would answer with it. A controller that is asked again by the same
    /// `incarnation` of a host, since its answer was lost, answers again.
    ///
    /// # Errors
    /// [`FileProblem::Used`], or what the controller says, if another has run as `who`; and if it cannot be
    /// noted.
    pub async fn claim(
        &self,
        assignment: &Assignment,
        who: &str,
        incarnation: Incarnation,
    ) -> Result<(), SourceError> {
        match self {
            Self::File(file) => note(file, assignment, who).map_err(|problem| at(file, problem)),
            Self::Controller { address, security, .. } => {
                let (job, plan_version) = (assignment.job, assignment.plan_version);
                let ask = async |controller: Client| {
                    controller.register_host(job, plan_version, who, incarnation).await
                };
                Ok(patiently(address, security, ask).await?)
            }
        }
    }
}

fn at(file: &Path, problem: FileProblem) -> SourceError {
    SourceError::File { file: file.to_owned(), problem }
}

fn read(file: &Path) -> Result<Assignment, FileProblem> {
    let json = std::fs::read(file).map_err(FileProblem::Read)?;
    assignment_from_json(&json).map_err(|error| match error {
        DocumentError::Format(error) => FileProblem::Format(error),
        DocumentError::Contents(error) => FileProblem::Malformed(error),
    })
}

/// The note is a file that must not be there yet.
fn note(file: &Path, assignment: &Assignment, who: &str) -> Result<(), FileProblem> {
    let mut name = file.to_owned().into_os_string();
    name.push(format!(".plan version-{}.{who}.used", assignment.plan_version));
    match File::create_new(&name) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(FileProblem::Used { who: who.to_owned() })
        }
        Err(cause) => Err(FileProblem::Note { who: who.to_owned(), cause }),
    }
}

/// Asks the controller; again and again while it is not there or not ready, which a controller that starts or
/// restarts is soon.
pub(crate) async fn patiently<T>(
    address: &str,
    security: &Security,
    question: impl AsyncFn(Client) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let give_up = Instant::now() + Source::PATIENCE;
    // A controller that starts with its hosts is there sooner.
    let mut remind = Instant::now() + Duration::from_secs(1);
    loop {
        let answer = match Client::connect(address, security).await {
            Ok(controller) => question(controller).await,
            Err(error) => Err(error),
        };
        match answer {
            Err(
                why @ (ClientError::Connect(ChannelError::Connect { .. })
                | ClientError::NotYet { .. }
                | ClientError::Ended { .. }),
            ) if Instant::now() < give_up => {
                if Instant::now() >= remind {
                    tracing::warn!("waiting for the controller: {why}");
                    remind = Instant::now() + Source::REMIND;
                }
                tokio::time::sleep(Source::INTERVAL).await;
            }
            answer => return answer,
        }
    }
}
