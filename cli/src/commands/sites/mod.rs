//! `inart plan`, `inart simulate` and `inart emulate` on networks of sites: other flags than on networks of
//! switches; `inart site` and `inart scheduler`.

pub mod both_levels;
mod emulate;
mod emulate_both;
mod faults;
mod inside;
mod network;
mod plan;
mod simulate;
pub mod site;
mod stopping;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
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

/// Whether these arguments of the process ask for something on a network of sites: the command is one of the
/// three, and a file that is named after it is such a network.
pub fn are_asked(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).filter(|word| !word.to_string_lossy().starts_with('-'));
    let is_command =
        words.next().is_some_and(|word| word == "plan" || word == "simulate" || word == "emulate");
    is_command && words.any(|word| network::is_one(Path::new(word)))
}

/// Runs the command.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Plan(args) => plan::run(&args, cli.json),
        Command::Simulate(args) => simulate::run(&args, cli.json),
        Command::Emulate(args) => emulate::run(&args, cli.json),
    }
}
