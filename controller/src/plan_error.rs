//! Errors of plans that cannot be converted to tables, each in one line with place and fix.

use inart_protocol_aggregation::AssignmentError;

/// Why a plan cannot be converted to tables.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// More workers than ranks, or more servers than shards.
    #[error("job {job} has {count} {what}, the header has room for {limit}: split the job")]
    TooMany {
        /// Name of the job.
        job: String,
        /// Workers or servers.
        what: &'static str,
        /// Number of them.
        count: usize,
        /// Largest number.
        limit: usize,
    },
    /// Groups of a job with more than 64 workers that do not fit into the 64-index blocks of the header.
    #[error(
        "job {job}: its {workers} workers, summed in groups for server {server}, need more than the 256 \
         blocks of 64 bitmap indices \
         that the header has room for: split the job"
    )]
    BitmapIndices {
        /// Name of the job.
        job: String,
        /// Name of the server.
        server: String,
        /// Number of workers.
        workers: usize,
    },
    /// Name that the job does not have.
    #[error("job {job} has no {what} {name}, which the plan names: make a plan for this topology")]
    UnknownName {
        /// Name in the plan.
        name: String,
        /// Worker, server, or trunk from an aggregator.
        what: &'static str,
        /// Name of the job.
        job: String,
    },
    /// Nodes of a path that are not neighbors.
    #[error("path {path}: {from} has no link to {to}: make a plan for this topology")]
    NoLink {
        /// Path.
        path: String,
        /// Name of the switch.
        from: String,
        /// Next node of the path.
        to: String,
    },
    /// Path over a second interface of a host.
    #[error(
        "path {path}: host {host} sends and receives by its link to {attachment}, not {switch}: \
         list that link first in the topology, or plan without the other"
    )]
    SecondInterface {
        /// Path.
        path: String,
        /// Name of the host.
        host: String,
        /// Switch at the host's first link.
        attachment: String,
        /// Switch on the path.
        switch: String,
    },
    /// Worker that the results of a server do not reach.
    #[error(
        "results of server {server} cannot reach worker {worker}: the plan's tree must lead there over \
         switches, a host's \
         first link to the switches that serve the job"
    )]
    NoResults {
        /// Name of the server.
        server: String,
        /// Name of the worker.
        worker: String,
    },
    /// Result tree with two paths to a node.
    #[error("results of server {server} reach {node} on two paths of the plan: make another plan")]
    ResultsTwice {
        /// Name of the server.
        server: String,
        /// Node that would get each result twice.
        node: String,
    },
    /// Assignment that contradicts itself.
    #[error("the hosts' assignments cannot be made: {0}")]
    Assignment(AssignmentError),
    /// Frames that pass a switch twice on one port.
    #[error(
        "switch {switch}: frames of worker {worker} for server {server} come in from {from} on two paths of the plan; \
         a switch distinguishes them by the port only: plan with another path or aggregator for that flow"
    )]
    SamePort {
        /// Name of the switch.
        switch: String,
        /// Name of the worker.
        worker: String,
        /// Name of the server.
        server: String,
        /// Neighbor at the port.
        from: String,
    },
    /// Sum over several pipes of a Tofino.
    #[error(
        "switch {switch}: of the sum for server {server}, frames from {} come in by pipe {}, those from {} \
         by pipe {}, and \
         pipes share no registers: connect both links to ports of one pipe (`ports`), or plan with another aggregator",
        peers[0], pipes[0], peers[1], pipes[1]
    )]
    Pipes {
        /// Name of the switch.
        switch: String,
        /// Server of the sum.
        server: String,
        /// Neighbors at the two ports.
        peers: [String; 2],
        /// Pipes of the two ports.
        pipes: [u32; 2],
    },
}
