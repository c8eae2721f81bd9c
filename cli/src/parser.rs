//! The parser of networks with switches and servers, and of every command that has no network.

use clap::{Parser, Subcommand};

use crate::commands;

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
    /// Plan a job's aggregation on a topology, or check a plan.
    Plan(commands::plan::Args),
    /// Install a plan's tables through P4Runtime.
    Push(commands::push::Args),
    /// Show what a push would change.
    Diff(commands::diff::Args),
    /// Return to the plan installed before the last push.
    Rollback(commands::rollback::Args),
    /// Remove jobs from the switches, or list those that they hold.
    Remove(commands::remove::Args),
    /// List the switches' ports that the topology's links are at, or bring them up.
    Ports(commands::ports::Args),
    /// Install plans and keep the switches in order, as a daemon.
    Controller(Box<commands::controller::Args>),
    /// List, submit, pause, resume or delete the jobs of a running controller.
    Jobs(commands::jobs::Args),
    /// Run a worker's host agent.
    Worker(commands::worker::Args),
    /// Run a parameter server's host agent.
    Server(commands::server::Args),
    /// Run the embedded switch.
    Switch(commands::switch::Args),
    /// Say why nothing moves: which chunk waits for whom, and where its frames are stuck.
    Doctor(commands::doctor::Args),
    /// Run a whole training job on this machine, every sum checked.
    Emulate(commands::emulate::Args),
    /// Run jobs in virtual time: the real code under seeded faults, every sum checked.
    #[command(after_help = "Orders at a parameter server have flags of their own: \
        inart simulate TOPOLOGY --sync r2sp --help")]
    Simulate(commands::simulate::Args),
    /// Plan the experiments of the paper's figures: tables and charts, with the paper's numbers.
    Experiment(commands::experiment::Args),
    /// Run a data centre's process on a network of sites (docs/wide-area.md).
    Site(Box<commands::sites::site::Args>),
    /// Run the scheduler of a network of sites: plans by what sites measure.
    Scheduler(Box<commands::sites::site::SchedulerArgs>),
    /// Run a peer of decentralised training (docs/multicast.md).
    Peer(Box<commands::peers::peer::Args>),
    /// Run the coordinator of a network of peers: chooses the receivers of each update.
    Coordinator(Box<commands::peers::coordinator::Args>),
    /// Run a parameter server that workers meet in an order (docs/order.md).
    OrderServer(Box<commands::order::server::Args>),
    /// Run a worker of such a server.
    OrderWorker(Box<commands::order::worker::Args>),
    /// Run a parameter server that groups of workers meet in turn, whose gradients switches add up.
    RackServer(Box<commands::order::racks::server::Args>),
    /// Run a worker of such a group.
    RackWorker(Box<commands::order::racks::worker::Args>),
    /// Print the INART frames of a pcap file.
    Decode(commands::decode::Args),
}
