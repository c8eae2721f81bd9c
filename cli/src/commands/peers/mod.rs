//! `inart plan`, `inart simulate`, `inart emulate` and `inart push` on networks of peers: other flags than on
//! networks of switches; `inart peer` and `inart coordinator`.

mod connections;
pub mod coordinator;
pub mod draw;
mod emulate;
mod machines;
mod network;
mod own;
pub mod peer;
mod plan;
mod push;
pub mod schedule;
mod simulate;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

pub use connections::place;
pub use network::is_one;

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
