//! The parser of the command line.

use clap::{Parser, Subcommand};

use crate::commands;
use crate::line::Line;

/// In-network aggregation for distributed training, on networks people really have.
#[derive(Parser)]
#[command(name = "inart", version, arg_required_else_help = true)]
pub struct Cli {
    /// Print one JSON document instead of text.
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
    /// Plan a job on a network of any kind, or check a plan.
    Plan(Line<commands::plan::Plan>),
    /// Install a plan on the switches, or the tables by which they copy updates between peers.
    Apply(Line<commands::apply::Apply>),
    /// Show what `inart apply` would change.
    Diff(Line<commands::diff::Diff>),
    /// Return to the plan installed before the last `inart apply`.
    Rollback(commands::rollback::Args),
    /// Remove jobs from the switches, or list those that they hold.
    Remove(commands::remove::Args),
    /// List the switches' ports that the topology's links are at, or bring them up.
    Ports(commands::ports::Args),
    /// Install plans and keep the switches in order, as a daemon.
    Controller(Box<commands::controller::Args>),
    /// List, submit, pause, resume or delete the jobs of a running controller.
    Jobs(commands::jobs::Args),
    /// Run the process of a host: a worker, server, site, peer or client, by its name in the network.
    #[command(aliases = ["site", "peer", "order-server", "order-worker"])]
    Host(Line<commands::host::Host>),
    /// Run the embedded switch.
    Switch(commands::switch::Args),
    /// Say why nothing moves: which chunk waits for whom, and where its frames are stuck.
    Doctor(commands::doctor::Args),
    /// Train on a network of any kind on this machine: namespaces and processes, every sum checked.
    Emulate(Line<commands::emulate::Emulate>),
    /// Run jobs on a network of any kind in virtual time, every sum checked.
    Simulate(Line<commands::simulate::Simulate>),
    /// Plan the experiments of the paper's figures: tables and charts, with the paper's numbers.
    Experiment(commands::experiment::Args),
    /// Run the scheduler of a network of sites: plans by what sites measure.
    Scheduler(Box<commands::host::sites::site::SchedulerArgs>),
    /// Run the coordinator of a network of peers: chooses the receivers of each update.
    Coordinator(Box<commands::host::peers::coordinator::Args>),
    /// Run a worker by its rank in an assignment, without the network's document.
    #[command(hide = true)]
    Worker(commands::host::aggregation::worker::Args),
    /// Run a server by its shard in an assignment, without the network's document.
    #[command(hide = true)]
    Server(commands::host::aggregation::server::Args),
    /// Run a server of groups by its shard in their assignments.
    #[command(hide = true)]
    GroupServer(Box<commands::host::ps::group_server::Args>),
    /// Run a worker of a group by its rank in the group's assignment.
    #[command(hide = true)]
    GroupWorker(Box<commands::host::ps::group_worker::Args>),
    /// Print the INART frames of a pcap file.
    Decode(commands::decode::Args),
}
