//! `inart simulate` and `inart emulate TOPOLOGY --sync …` on networks with parameter servers: participants
//! that push updates and pull the model, in the order that `--sync` names. Other flags than for all-reduce.
//! `inart order-server` and `inart order-worker`.

mod absent;
mod agents;
mod clients;
mod common;
mod connections;
mod emulate;
mod emulated;
mod ended;
mod learner;
mod network;
mod no_plan;
pub mod racks;
pub mod server;
mod simulate;
pub mod worker;
mod workers;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Training by way of a parameter server: in which order workers or clients meet it.
#[derive(Parser)]
#[command(name = "inart", version)]
pub struct Cli {
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a job of workers or clients in virtual time.
    Simulate(Box<simulate::Args>),
    /// Train at a parameter server on this machine: namespaces, processes, every update compared. Groups
    /// whose gradients switches add up have flags of their own: --sync r2sp --racks --help.
    Emulate(Box<emulate::Args>),
}

/// The same in groups whose gradients switches add up (`--racks`), on this machine.
#[derive(Parser)]
#[command(name = "inart", version)]
pub struct RackCli {
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: RackCommand,
}

#[derive(Subcommand)]
enum RackCommand {
    /// Train in groups whose gradients switches add up, in turn at the servers, on this machine.
    Emulate(Box<racks::emulate::Args>),
}

/// Runs the command.
pub fn run_racks(cli: RackCli) -> anyhow::Result<ExitCode> {
    let RackCommand::Emulate(args) = cli.command;
    racks::emulate::run(&args, cli.json)
}

/// Runs the command.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Simulate(args) => simulate::run(&args, cli.json),
        Command::Emulate(args) => emulate::run(&args, cli.json),
    }
}
