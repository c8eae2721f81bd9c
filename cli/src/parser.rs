//! The parser of the command line.

use clap::{Parser, Subcommand};

use crate::commands;
use crate::line::Line;

/// Plan, install, emulate and simulate in-network aggregation for distributed training.
#[derive(Parser)]
#[command(name = "inart", version, arg_required_else_help = true)]
pub struct Cli {
    /// Print JSON in place of text.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

// Without a doc comment, which would replace the description above.
#[derive(Subcommand)]
pub enum Command {
    /// Generate, convert and check topologies.
    Topology(commands::topology::Args),
    /// Plan the jobs of a network, or verify a plan.
    Plan(Line<commands::plan::Plan>),
    /// Install a plan or multicast tables on the switches (P4Runtime or BFRuntime).
    Apply(Line<commands::apply::Apply>),
    /// Show the changes that `inart apply` would make.
    Diff(Line<commands::diff::Diff>),
    /// Return to the plan installed before the last `inart apply`.
    Rollback(commands::rollback::Args),
    /// Remove jobs from the switches, or list the jobs there.
    Remove(commands::remove::Args),
    /// List the switches' ports of the topology's links, or bring them up.
    Ports(commands::ports::Args),
    /// Run the controller: install plans, and keep switches and jobs running.
    Controller(Box<commands::controller::Args>),
    /// Print the status of a running controller, host, scheduler or coordinator.
    Status(commands::status::Args),
    /// List the decisions of a running controller, with their numbers.
    Decisions(commands::decisions::Args),
    /// Make a running controller search for better plans, and print its decision.
    Replan(commands::replan::Args),
    /// List, submit, pause, resume or delete the jobs of a running controller.
    Jobs(commands::jobs::Args),
    /// Run a host's process by its name in the network: worker, server, site, peer or client.
    #[command(aliases = ["site", "peer", "order-server", "order-worker"])]
    Host(Line<commands::host::Host>),
    /// Run the embedded switch.
    Switch(commands::switch::Args),
    /// Diagnose a stalled job: missing worker, and where its frames stop.
    Doctor(commands::doctor::Args),
    /// Train in network namespaces on this machine, and verify every sum (needs root).
    Emulate(Line<commands::emulate::Emulate>),
    /// Simulate jobs in virtual time, and verify every sum.
    Simulate(Line<commands::simulate::Simulate>),
    /// Reproduce the figures of the InArt, NETSTORM, SELMCAST and R²SP papers.
    Experiment(commands::experiment::Args),
    /// Run the scheduler of a network of sites, which plans from measured rates.
    Scheduler(Box<commands::host::sites::site::SchedulerArgs>),
    /// Run the coordinator of a network of peers, which chooses each update's receivers.
    Coordinator(Box<commands::host::peers::coordinator::Args>),
    /// Run a worker by its rank in an assignment, without a network file.
    #[command(hide = true)]
    Worker(commands::host::aggregation::worker::Args),
    /// Run a parameter server by its shard in an assignment, without a network file.
    #[command(hide = true)]
    Server(commands::host::aggregation::server::Args),
    /// Run a parameter server for groups aggregated in the network (hierarchical R²SP).
    #[command(hide = true)]
    GroupServer(Box<commands::host::ps::group_server::Args>),
    /// Run a worker of a group aggregated in the network (hierarchical R²SP).
    #[command(hide = true)]
    GroupWorker(Box<commands::host::ps::group_worker::Args>),
    /// Print the INART frames of a pcap file.
    Decode(commands::decode::Args),
}
