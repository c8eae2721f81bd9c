//! `inart plan`, `inart simulate`, `inart emulate` and `inart push` on networks of peers: other flags than on
//! networks of switches; `inart peer` and `inart coordinator`.

mod connections;
pub mod coordinator;
pub mod draw;
mod emulate;
mod machines;
mod network;
pub mod peer;
mod plan;
mod push;
pub mod schedule;
mod simulate;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

pub use connections::place;

/// Decentralised training: who sends its update to whom, planned and simulated.
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
    /// Choose the receivers of a round on a network of peers, or check a plan.
    Plan(plan::Args),
    /// Run a job of peers in virtual time.
    Simulate(simulate::Args),
    /// Write the entries by which switches copy updates between the peers of a network.
    Push(push::Args),
    /// Train on a network of peers on this machine: namespaces, ports, processes, every update compared.
    Emulate(emulate::Args),
}

/// Whether these arguments of the process ask for something on a network of peers: the command is one of the
/// four, and a file that is named after it is such a network.
pub fn are_asked(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).filter(|word| !word.to_string_lossy().starts_with('-'));
    let commands = ["plan", "simulate", "emulate", "push"];
    let is_command = words.next().is_some_and(|word| commands.iter().any(|command| word == command));
    is_command && words.any(|word| network::is_one(Path::new(word)))
}

/// Runs the command.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Plan(args) => plan::run(&args, cli.json),
        Command::Simulate(args) => simulate::run(&args, cli.json),
        Command::Push(args) => push::run(&args, cli.json),
        Command::Emulate(args) => emulate::run(&args, cli.json),
    }
}

/// Prints a line at once: others may be waiting for it.
pub fn print_line(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("standard output")
}
