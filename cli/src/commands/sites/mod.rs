//! `inart plan`, `inart simulate` and `inart emulate` on networks of sites: other flags than on networks of
//! switches; `inart site` and `inart scheduler`.

pub mod both_levels;
mod emulate;
mod emulate_both;
mod faults;
mod inside;
mod network;
mod own;
mod plan;
mod simulate;
pub mod site;
mod soak;
mod stopping;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
pub use network::is_one;
pub use simulate::seconds;

/// Training between data centres: trees of sites, planned and simulated.
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
    /// Plan trees on a network of sites, or check a plan.
    Plan(plan::Args),
    /// Run a job's rounds on a network of sites in virtual time, every sum checked.
    Simulate(simulate::Args),
    /// Train on a network of sites on this machine: namespaces, links, processes, every sum checked.
    Emulate(emulate::Args),
}

/// Runs the command.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Plan(args) => plan::run(&args, cli.json),
        Command::Simulate(args) => simulate::run(&args, cli.json),
        Command::Emulate(args) => emulate::run(&args, cli.json),
    }
}
