//! `inart`: one binary for planning, switching, hosting and emulating in-network aggregation.
//!
//! This crate parses arguments and prints; the work is done by the libraries it calls.

#[cfg(test)]
mod banned;
mod commands;
#[cfg(test)]
mod documented;
#[cfg(test)]
mod help;
mod line;
mod parser;
#[cfg(test)]
mod reference;
mod renamed;
#[cfg(test)]
mod words;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use parser::{Cli, Command};

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // The parser's own `help` has no help.
    if let [_, help, flag] = &arguments[..]
        && help == "help"
        && (flag == "--help" || flag == "-h")
    {
        arguments.remove(1);
    }
    let parsed = with_negative_numbers(Cli::command()).try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|given| Cli::from_arg_matches(&given)) {
        Ok(cli) => cli,
        Err(error) => return usage(&arguments, &error),
    };
    // A daemon logs its events; other commands log warnings.
    log(if matches!(cli.command, Command::Controller(_)) { "info" } else { "warn" });
    ended(run(cli.command, cli.json))
}

fn run(command: Command, json: bool) -> anyhow::Result<ExitCode> {
    match command {
        Command::Topology(args) => commands::topology::run(args, json),
        Command::Plan(line) => line.run(json),
        Command::Apply(line) => line.run(json),
        Command::Diff(line) => line.run(json),
        Command::Rollback(args) => commands::rollback::run(args, json),
        Command::Remove(args) => commands::remove::run(args, json),
        Command::Ports(args) => commands::ports::run(args, json),
        Command::Controller(args) => commands::controller::run(*args, json),
        Command::Status(args) => commands::status::run(&args, json),
        Command::Decisions(args) => commands::decisions::run(&args, json),
        Command::Replan(args) => commands::replan::run(&args, json),
        Command::Jobs(args) => commands::jobs::run(args, json),
        Command::Host(line) => line.run(json),
        Command::Switch(args) => commands::switch::run(args, json),
        Command::Doctor(args) => commands::doctor::run(args, json),
        Command::Emulate(line) => line.run(json),
        Command::Simulate(line) => line.run(json),
        Command::Experiment(args) => commands::experiment::run(args, json),
        Command::Scheduler(args) => commands::host::sites::site::run_scheduler(&args, json),
        Command::Coordinator(args) => commands::host::peers::coordinator::run(&args, json),
        Command::Worker(args) => commands::host::aggregation::worker::run(args, json),
        Command::Server(args) => commands::host::aggregation::server::run(args, json),
        Command::GroupServer(args) => commands::host::ps::group_server::run(&args, json),
        Command::GroupWorker(args) => commands::host::ps::group_worker::run(&args, json),
        Command::Decode(args) => commands::decode::run(args, json),
    }
}

/// Writes log lines to standard error, from a level on that INART_LOG replaces.
fn log(level: &str) {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("INART_LOG")
                .unwrap_or_else(|_| format!("{level},highs=error").into()),
        )
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        // One line that names the place and the fix; status 2, as for wrong usage.
        Err(error) => {
            eprintln!("error: {}", commands::output::one_line(&error));
            ExitCode::from(2)
        }
    }
}

/// Reads `-1` after an option as its value, so that the option's own check names the problem.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| match argument.get_action().takes_values() && !argument.is_positional() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        })
        .mut_subcommands(with_negative_numbers)
}

/// Prints help unchanged, and wrong usage as one line.
fn usage(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    let is_help = !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help {
        let _ = error.print(); // fails only if no process reads
    } else if let Some(problem) = negative_value(arguments, error) {
        eprintln!("error: {problem}");
    } else {
        eprintln!("{}", commands::output::usage_line(&error.to_string()));
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// Returns the error for a value such as `-1s`, which the parser takes for a flag.
fn negative_value(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_number = flag.starts_with('-') && flag.contains(|c: char| c.is_ascii_digit());
    if error.kind() != ErrorKind::UnknownArgument || !is_number || flag.starts_with("--") {
        return None;
    }
    let word = arguments.iter().position(|word| word.to_string_lossy().starts_with(&**flag))?;
    let (before, word) = (arguments[word - 1].to_string_lossy(), arguments[word].to_string_lossy());
    before.starts_with("--").then(|| format!("{before} {word}: it is below 0; give a value above 0"))
}
