//! Why a plan cannot be put into tables, in one line that names the place and the fix.

use inart_protocol_aggregation::AssignmentError;

/// Why a plan cannot be put into tables.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// More workers than there are ranks, or servers than there are shards.
    #[error("job {job} has {count} {what}, the header has room for {limit}: split the job")]
    TooMany {
        /// The job.
        job: String,
        /// Workers or servers.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many at most.
        limit: usize,
    },
    /// The groups of a job of more than 64 workers do not fit into the blocks of 64 that the header can name.
    #[error(
        "job {job}: its {workers} workers, summed in groups for server {server}, need more than the 256 \
         blocks of 64 bitmap indices \
         that the header has room for: split the job"
    )]
    BitmapIndices {
        /// The job.
        job: String,
        /// The server.
        server: String,
        /// How many workers.
        workers: usize,
    },
    /// A name that the job does not have.
    #[error("job {job} has no {what} {name}, which the plan names: plan again for this topology")]
    Stranger {
        /// The name.
        name: String,
        /// Worker, server, or trunk from an aggregator.
        what: &'static str,
        /// The job.
        job: String,
    },
    /// Two nodes of a path are not neighbours.
    #[error("path {path}: {from} has no link to {to}: plan again for this topology")]
    NoLink {
        /// The path.
        path: String,
        /// A switch.
        from: String,
        /// What should be its neighbour.
        to: String,
    },
    /// A path uses a second interface of a host.
    #[error(
        "path {path}: host {host} sends and receives by its link to {attachment}, not {switch}: \
         list that link first in the topology, or plan without the other"
    )]
    SecondInterface {
        /// The path.
        path: String,
        /// The host.
        host: String,
        /// Where its first link leads.
        attachment: String,
        /// Where the path leads.
        switch: String,
    },
    /// The servers' multicast does not come to a worker.
    #[error(
        "results of server {server} cannot reach worker {worker}: the plan's tree must lead there over \
         switches, a host's \
         first link to the switches that serve the job"
    )]
    NoResults {
        /// The server.
        server: String,
        /// The worker.
        worker: String,
    },
    /// A tree of results that is none.
    #[error("results of server {server} come to {node} on two ways of the plan: plan again")]
    ResultsTwice {
        /// The server.
        server: String,
        /// Who would get each result twice.
        node: String,
    },
    /// The hosts could not work with it.
    #[error("the hosts' assignments cannot be made: {0}")]
    Assignment(AssignmentError),
    /// A table cannot tell two passes of the same frame apart.
    #[error(
        "switch {switch}: frames of worker {worker} for server {server} come in from {from} on two ways of the plan; \
         a switch distinguishes them by the port only: plan with another path or aggregator for that flow"
    )]
    SamePort {
        /// The switch.
        switch: String,
        /// The worker.
        worker: String,
        /// The server.
        server: String,
        /// The neighbour behind the port.
        from: String,
    },
    /// A sum over several pipes of a Tofino.
    #[error(
        "switch {switch}: of the sum for server {server}, frames from {} come in by pipe {}, those from {} \
         by pipe {}, and \
         pipes share no registers: connect both links to ports of one pipe (`ports`), or plan with another aggregator",
        peers[0], pipes[0], peers[1], pipes[1]
    )]
    Pipes {
        /// The switch.
        switch: String,
        /// The server whose sum it is.
        server: String,
        /// The neighbours behind two ways in.
        peers: [String; 2],
        /// The pipes of the two.
        pipes: [u32; 2],
    },
}
