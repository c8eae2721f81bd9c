//! Source of a host's assignment, and the claim of its role.

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

/// Source of a host's assignment.
#[derive(Clone, Debug)]
pub enum Source {
    /// JSON file, as `inart apply` writes it.
    File(PathBuf),
    /// Controller.
    Controller {
        /// `host:port` or `unix:/path`.
        address: String,
        /// Name of the job; empty selects the only job.
        job: String,
        /// Security of the connection.
        security: Security,
    },
}

/// Error of a host that gets or claims its assignment.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Problem with the assignment file.
    #[error("assignment {}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Cause.
        #[source]
        problem: FileProblem,
    },
    /// Error of the controller.
    #[error(transparent)]
    Controller(#[from] ClientError),
}

/// Problem with an assignment file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// Unreadable file.
    #[error("{0}")]
    Read(io::Error),
    /// File that is not an assignment.
    #[error("{0}; give an assignment file of the job's plan")]
    Malformed(serde_json::Error),
    /// File in a format that this version does not read.
    #[error(transparent)]
    Format(FormatError),
    /// Assignment with which a host has run before.
    #[error(
        "{who} has run with it before, and switches may still hold sums of that run; apply the plan under a new \
         plan version and start all hosts with the new assignment"
    )]
    Used {
        /// Role of the host.
        who: String,
    },
    /// Failure to write the claim.
    #[error("cannot write the file that notes that {who} runs with it: {cause}")]
    Note {
        /// Role of the host.
        who: String,
        /// Error of the operating system.
        cause: io::Error,
    },
}

impl Source {
    /// Longest wait for a controller that is unreachable or not ready.
    pub const PATIENCE: Duration = Duration::from_secs(30);
    /// Interval of attempts meanwhile.
    const INTERVAL: Duration = Duration::from_millis(50);
    /// Interval of log lines meanwhile.
    const REMIND: Duration = Duration::from_secs(5);

    /// Returns the assignment. Waits for a controller that is unreachable or has not installed the plan,
    /// for up to [`PATIENCE`](Self::PATIENCE).
    ///
    /// # Errors
    /// If the file is not an assignment, or the controller does not have it.
    pub async fn assignment(&self) -> Result<Assignment, SourceError> {
        match self {
            Self::File(file) => read(file).map_err(|problem| at(file, problem)),
            Self::Controller { address, job, security } => {
                let ask = async |controller: Client| controller.assignment(job).await;
                Ok(patiently(address, security, ask).await?)
            }
        }
    }

    /// Claims role `who` (such as worker-3) with the assignment, in a file next to it or at the controller,
    /// and refuses a second claim: sequence numbers would restart within one plan version, and a switch
    /// that still holds a sum of the first run would answer with it. An `incarnation` may repeat its claim
    /// at a controller when an answer was lost.
    ///
    /// # Errors
    /// [`FileProblem::Used`] or the controller's refusal if another process has claimed `who`; an error if
    /// the claim cannot be written.
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

/// Creates the claim's file; fails if it exists.
fn note(file: &Path, assignment: &Assignment, who: &str) -> Result<(), FileProblem> {
    let mut name = file.to_owned().into_os_string();
    name.push(format!(".plan-version-{}.{who}.used", assignment.plan_version));
    match File::create_new(&name) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(FileProblem::Used { who: who.to_owned() })
        }
        Err(cause) => Err(FileProblem::Note { who: who.to_owned(), cause }),
    }
}

/// Asks the controller, repeatedly while it is unreachable or not ready, as during its start.
pub(crate) async fn patiently<T>(
    address: &str,
    security: &Security,
    request: impl AsyncFn(Client) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let give_up = Instant::now() + Source::PATIENCE;
    // A controller that starts together with its hosts is ready sooner.
    let mut remind = Instant::now() + Duration::from_secs(1);
    loop {
        let answer = match Client::connect(address, security).await {
            Ok(controller) => request(controller).await,
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
