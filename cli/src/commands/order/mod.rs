//! `inart simulate` and `inart emulate TOPOLOGY --sync …` on networks with parameter servers: participants
//! that push updates and pull the model, in the order that `--sync` names. Other flags than for all-reduce.
//! `inart order-server` and `inart order-worker`.

mod absent;
mod clients;
mod common;
mod connections;
mod emulate;
mod emulated;
mod ended;
mod learner;
mod network;
pub mod racks;
pub mod server;
mod simulate;
pub mod worker;
mod workers;

use std::ffi::OsString;
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

/// Whether these arguments of the process ask for an order at a server: the command is one of the two, and
/// `--sync` is among them.
pub fn are_asked(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let command = words.clone().find(|word| !word.starts_with('-'));
    let is_command = command.is_some_and(|word| word == "simulate" || word == "emulate");
    is_command && words.any(|word| word == "--sync" || word.starts_with("--sync="))
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

/// Whether these arguments, which ask for an order, are of an emulation in groups.
pub fn are_of_racks(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let command = words.clone().find(|word| !word.starts_with('-'));
    command.is_some_and(|word| word == "emulate")
        && words.any(|word| word == "--racks" || word.starts_with("--racks="))
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
