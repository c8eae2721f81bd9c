//! Why a training in groups ends early.

use inart_protocol_ps::TurnError;

/// What does not fit a server's part of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// A turn that cannot be.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// Workers sum something else.
    #[error(
        "group {group}: frame {frame} of an iteration has {values} values, expected {expected}: its \
         workers sum another gradient, or take part in another number of groups"
    )]
    Length {
        /// The group.
        group: usize,
        /// Which frame, *ready* first.
        frame: usize,
        /// Values of the frame.
        values: usize,
        /// As there have to be.
        expected: usize,
    },
    /// A frame of another iteration or tensor, or one that comes twice.
    #[error(
        "group {group}: frame {frame} is a duplicate or belongs to another iteration: its \
         workers sum another gradient, or take part in another number of groups"
    )]
    Frame {
        /// The group.
        group: usize,
        /// The frame, from the iteration's first on.
        frame: u32,
    },
    /// A group's workers do not share a setting with the server, or among themselves.
    #[error("group {group}: its workers do not have the same {name} as the server; start all with the same")]
    Terms {
        /// The group.
        group: usize,
        /// The setting.
        name: String,
    },
    /// Values have grown beyond numbers.
    #[error(
        "the update of group {group} makes value {value} of the model infinite or NaN; take a smaller step"
    )]
    NotFinite {
        /// The group.
        group: usize,
        /// Which value of the whole model.
        value: usize,
    },
}

/// Why a process cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RackError {
    /// A server whose share is nothing.
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
    /// What a group's workers sum.
    #[error("job {job}: {error}")]
    Part {
        /// The job of the group.
        job: String,
        /// What does not fit.
        error: PartError,
    },
    /// A group's job has ended.
    #[error("job {job}: {error}")]
    Group {
        /// The job of the group.
        job: String,
        /// Why.
        error: Box<inart_host_agent::Error>,
    },
    /// A worker is gone.
    #[error("job {job}: no frame from worker {worker} for {seconds:.1} s")]
    Silent {
        /// The job of the group.
        job: String,
        /// The worker.
        worker: String,
        /// For how long.
        seconds: f64,
    },
    /// A group that never came.
    #[error(
        "job {job}: no worker has joined for {seconds:.0} s; start {}, and check interfaces and the plan on the \
         switches",
        workers.join(", ")
    )]
    NoWorkers {
        /// The job of the group.
        job: String,
        /// For how long.
        seconds: f64,
        /// Its workers.
        workers: Vec<String>,
    },
    /// Servers that do not share a setting, as a worker has seen it.
    #[error("job {job}: servers {first} and {second} do not have the same {name}; start both with the same")]
    OtherServer {
        /// The job of the worker's group.
        job: String,
        /// The setting.
        name: String,
        /// A server.
        first: String,
        /// Another one.
        second: String,
    },
    /// The process was told to stop.
    #[error("server {0} was stopped before the last iteration")]
    Stopped(String),
    /// A thread cannot be made.
    #[error("start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A host of InArt.
    #[error(transparent)]
    Host(#[from] inart_host_agent::Error),
    /// A model of another length.
    #[error("a model of {given} values, and the job's gradient has {values}; give them the same length")]
    Model {
        /// Values given.
        given: usize,
        /// Values of the gradient.
        values: usize,
    },
    /// A numbers of groups.
    #[error(transparent)]
    Turns(#[from] TurnError),
}
