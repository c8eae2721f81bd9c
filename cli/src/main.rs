//! `inart`: one binary for planning, switching, hosting and emulating in-network aggregation.
//!
//! This crate parses arguments and prints; the work is done by the libraries it calls.

mod asked;
mod commands;
mod needs;
mod parser;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use asked::System;
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
    let parsers: Vec<_> = asked::other_parsers().into_iter().chain([Cli::command()]).collect();
    match asked::system(&arguments, &parsers) {
        System::Aggregation => {}
        System::Sites => return on_networks_of(System::Sites, &arguments, commands::sites::run),
        System::Peers => return on_networks_of(System::Peers, &arguments, commands::peers::run),
        System::Order => return on_networks_of(System::Order, &arguments, commands::order::run),
        System::Racks => return on_networks_of(System::Racks, &arguments, commands::order::run_racks),
    }
    let cli: Cli = match parsed(System::Aggregation, &arguments) {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    // A daemon tells what happens; everything else speaks when something is wrong.
    let level = if matches!(cli.command, Command::Controller(_)) { "info" } else { "warn" };
    log(level);
    let json = cli.json;
    let result = match cli.command {
        Command::Topology(args) => commands::topology::run(args, json),
        Command::Plan(args) => commands::plan::run(args, json),
        Command::Push(args) => commands::push::run(args, json),
        Command::Diff(args) => commands::diff::run(args, json),
        Command::Rollback(args) => commands::rollback::run(args, json),
        Command::Remove(args) => commands::remove::run(args, json),
        Command::Ports(args) => commands::ports::run(args, json),
        Command::Controller(args) => commands::controller::run(*args, json),
        Command::Jobs(args) => commands::jobs::run(args, json),
        Command::Worker(args) => commands::worker::run(args, json),
        Command::Server(args) => commands::server::run(args, json),
        Command::Switch(args) => commands::switch::run(args, json),
        Command::Doctor(args) => commands::doctor::run(args, json),
        Command::Emulate(args) => commands::emulate::run(args, json),
        Command::Simulate(args) => commands::simulate::run(args, json),
        Command::Experiment(args) => commands::experiment::run(args, json),
        Command::Site(args) => commands::sites::site::run(&args, json),
        Command::Scheduler(args) => commands::sites::site::run_scheduler(&args),
        Command::Peer(args) => commands::peers::peer::run(&args, json),
        Command::Coordinator(args) => commands::peers::coordinator::run(&args, json),
        Command::OrderServer(args) => commands::order::server::run(&args, json),
        Command::OrderWorker(args) => commands::order::worker::run(&args, json),
        Command::RackServer(args) => commands::order::racks::server::run(&args, json),
        Command::RackWorker(args) => commands::order::racks::worker::run(&args, json),
        Command::Decode(args) => commands::decode::run(args, json),
    };
    ended(result)
}

/// Writes what happens to standard error, from a level on; INART_LOG says another.
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

/// Networks of sites and of peers, and orders at a server (`--sync`), have flags of their own:
/// `inart plan NETWORK --help` and `inart simulate NETWORK --sync r2sp --help` list them.
fn on_networks_of<C: CommandFactory + FromArgMatches>(
    system: System,
    arguments: &[OsString],
    run: fn(C) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    log("warn");
    match parsed(system, arguments) {
        Ok(cli) => ended(run(cli)),
        Err(status) => status,
    }
}

/// Parses the arguments for a system. Prints help, or what is wrong, and returns the status.
fn parsed<C: CommandFactory + FromArgMatches>(system: System, arguments: &[OsString]) -> Result<C, ExitCode> {
    let parsed = with_negative_numbers(C::command()).try_get_matches_from(arguments);
    let matches = parsed.map_err(|error| usage(system, arguments, &error))?;
    if let Err(problem) = needs::check(system, &matches) {
        eprintln!("error: {problem}");
        return Err(ExitCode::from(2));
    }
    C::from_arg_matches(&matches).map_err(|error| usage(system, arguments, &error))
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

/// Takes `-1` after an option for its value, so that the option's own check can say what is wrong with it.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| match argument.get_action().takes_values() && !argument.is_positional() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        })
        .mut_subcommands(with_negative_numbers)
}

/// Prints help as it is, and wrong usage as one line.
fn usage(system: System, arguments: &[OsString], error: &clap::Error) -> ExitCode {
    let is_help = !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help {
        let _ = error.print(); // fails only if nobody reads
    } else if let Some(problem) = of_another_system(system, arguments, error) {
        eprintln!("error: {problem}");
    } else {
        eprintln!("{}", commands::output::usage_line(&error.to_string()));
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// A flag that the command takes for another system, or a program where none is run.
fn of_another_system(system: System, arguments: &[OsString], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    if flag.starts_with('-') && flag.contains(|c: char| c.is_ascii_digit()) && !flag.starts_with("--") {
        let word = arguments.iter().position(|word| word.to_string_lossy().starts_with(&**flag))?;
        let (before, word) = (arguments[word - 1].to_string_lossy(), arguments[word].to_string_lossy());
        return before
            .starts_with("--")
            .then(|| format!("{before} {word}: it is below 0; give a value above 0"));
    }
    let is_command = |word: &&OsString| ["plan", "push", "simulate", "emulate"].iter().any(|one| word == one);
    let command = arguments.iter().skip(1).find(is_command)?.to_string_lossy();
    let behind = arguments.iter().position(|word| word == "--").map(|at| &arguments[at + 1..]);
    if command == "emulate" && behind.is_some_and(|words| words.iter().any(|word| word == &**flag)) {
        return Some(format!(
            "{flag}: programs run on networks of switches and servers only; leave `-- {flag}` out"
        ));
    }
    asked::strangers_home(system, &command, flag)
}
