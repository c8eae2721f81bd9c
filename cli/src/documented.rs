//! The command line takes every `inart` command of the documentation and of the Makefile, also of those
//! blocks that no test runs.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use clap::{CommandFactory, FromArgMatches};

use crate::parser::{Cli, Command};
use crate::with_negative_numbers;

const ROOT: &str = env!("INART_ROOT");

/// Returns the reason why these arguments are refused.
fn refusal(arguments: &[String]) -> Option<String> {
    let words = std::iter::once("inart").chain(arguments.iter().map(String::as_str));
    let parsed = with_negative_numbers(Cli::command()).try_get_matches_from(words);
    let cli = match parsed.and_then(|given| Cli::from_arg_matches(&given)) {
        Ok(cli) => cli,
        Err(error) => return error.use_stderr().then(|| error.to_string()),
    };
    let root = Path::new(ROOT);
    let checked = match &cli.command {
        Command::Plan(line) => line.check(root),
        Command::Apply(line) => line.check(root),
        Command::Host(line) => line.check(root),
        Command::Emulate(line) => line.check(root),
        Command::Simulate(line) => line.check(root),
        _ => Ok(()),
    };
    checked.err().map(|error| format!("error: {error:#}"))
}

/// A place in a document, whether parts of the command are left out there, and its arguments.
type Documented = (String, bool, Vec<String>);

#[test]
fn every_documented_command_is_parsed() {
    let script = concat!(env!("INART_ROOT"), "/tests/scripts/documented.py");
    let output = std::process::Command::new("python3").args([script, "--arguments"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let commands = lines.lines().map(|line| serde_json::from_str::<Documented>(line).unwrap());
    let commands: Vec<_> = commands.collect();
    assert!(commands.len() > 200, "{}", commands.len());
    assert!(commands.iter().any(|(place, ..)| place.starts_with("Makefile:")));
    let refused = |(place, is_shortened, arguments): &Documented| {
        let why = refusal(arguments)?;
        let is_missing = why.contains("required arguments were not provided");
        let place = format!("{place}: inart {}: {why}", arguments.join(" "));
        (!(*is_shortened && is_missing)).then_some(place)
    };
    let refused: Vec<_> = commands.iter().filter_map(refused).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn values_and_flags_of_documented_commands_are_judged() {
    let refused = |words: &[&str]| refusal(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    let without_unit = refused(&["emulate", "topologies/live.yaml", "--peer-timeout", "5"]).unwrap();
    assert!(without_unit.contains("5 has no unit"), "{without_unit}");
    let of_others = refused(&["simulate", "topologies/geo9.yaml", "--background", "0.5"]).unwrap();
    assert!(of_others.contains("--background is for"), "{of_others}");
    assert!(refused(&["simulate", "net.yaml", "--knowledge", "static"]).is_none());
    assert!(refused(&["simulate", "net.yaml", "--knowledge", "none"]).is_some());
}
