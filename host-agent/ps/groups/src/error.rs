//! Errors that end a training in groups.

use inart_protocol_ps::TurnError;

/// Sum that does not fit a server's part of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Invalid turn.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// Wrong length: the workers sum another tensor.
    #[error(
        "group {group}: frame {frame} of an iteration has {values} values, expected {expected}: its \
         workers sum another gradient, or take part in another number of groups"
    )]
    Length {
        /// The group.
        group: usize,
        /// Number of the frame; *ready* is first.
        frame: usize,
        /// Values of the frame.
        values: usize,
        /// Expected number of values.
        expected: usize,
    },
    /// Duplicate frame, or frame of another iteration or tensor.
    #[error(
        "group {group}: frame {frame} is a duplicate or belongs to another iteration: its \
         workers sum another gradient, or take part in another number of groups"
    )]
    Frame {
        /// The group.
        group: usize,
        /// Number of the frame, from the iteration's first on.
        frame: u32,
    },
    /// Setting that a group's workers do not share with the server, or among themselves.
    #[error("group {group}: its workers do not have the same {name} as the server; start all with the same")]
    Terms {
        /// The group.
        group: usize,
        /// The setting.
        name: String,
    },
    /// Values that are no longer finite.
    #[error(
        "the update of group {group} makes value {value} of the model infinite or NaN; take a smaller step"
    )]
    NotFinite {
        /// The group.
        group: usize,
        /// Index of the value in the complete model.
        value: usize,
    },
}

/// Error that ends a process.
#[derive(Debug, thiserror::Error)]
pub enum RackError {
    /// Server with an empty share.
    #[error("job {job}: server {server} has no part of a model of {values} values; name fewer servers")]
    NoPart {
        /// The job of a group.
        job: String,
        /// The server.
        server: String,
        /// Values of the model.
        values: usize,
    },
    /// Groups that cut the model in different ways.
    #[error(
        "job {job}: server {server} has another part of the model than in job {first}, or gets it in other \
         frames; plan groups with equal shares and values per frame, none of them with `sum: exact`"
    )]
    OtherPart {
        /// The job of a group.
        job: String,
        /// The server.
        server: String,
        /// The first group's job.
        first: String,
    },
    /// Wrong sum of a group's workers.
    #[error("job {job}: {error}")]
    Part {
        /// The job of the group.
        job: String,
        /// Reason.
        error: PartError,
    },
    /// End of a group's job.
    #[error("job {job}: {error}")]
    Group {
        /// The job of the group.
        job: String,
        /// Reason.
        error: Box<inart_host_agent::Error>,
    },
    /// Silent worker.
    #[error("job {job}: no frame from worker {worker} for {seconds:.1} s")]
    Silent {
        /// The job of the group.
        job: String,
        /// The worker.
        worker: String,
        /// Time without a frame.
        seconds: f64,
    },
    /// Group without workers.
    #[error(
        "job {job}: no worker has joined for {seconds:.0} s; start {}, and check interfaces and the plan on the \
         switches",
        workers.join(", ")
    )]
    NoWorkers {
        /// The job of the group.
        job: String,
        /// Time without a worker.
        seconds: f64,
        /// Workers of the group.
        workers: Vec<String>,
    },
    /// Setting that servers do not share, as a worker has detected.
    #[error("job {job}: servers {first} and {second} do not have the same {name}; start both with the same")]
    OtherServer {
        /// The job of the worker's group.
        job: String,
        /// The setting.
        name: String,
        /// One server.
        first: String,
        /// Other server.
        second: String,
    },
    /// Stop of the process on request.
    #[error("server {0} was stopped before the last iteration")]
    Stopped(String),
    /// Failure to create a thread.
    #[error("start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// Failure of an InArt host.
    #[error(transparent)]
    Host(#[from] inart_host_agent::Error),
    /// Model of another length.
    #[error("a model of {given} values, and the job's gradient has {values}; give them the same length")]
    Model {
        /// Values given.
        given: usize,
        /// Values of the gradient.
        values: usize,
    },
    /// Invalid numbers of groups.
    #[error(transparent)]
    Turns(#[from] TurnError),
}
