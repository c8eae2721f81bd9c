//! Help texts follow docs' style: a first sentence that is short and complete alone, further sentences in
//! paragraphs of their own, and the field's words. Flags of times take one type, and `--json` counts
//! everywhere.
#![allow(clippy::unwrap_used)]

use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory};

use crate::banned::{IN_HELP, PRINTED};
use crate::commands::by_network;
use crate::parser::Cli;

/// Most characters of a first sentence, without `[default: …]`.
const LONGEST: usize = 90;
/// Beginnings that have no meaning without another text.
const DEPENDENT: [&str; 14] = [
    "It", "Its", "They", "Their", "Which", "What", "Who", "Whose", "Of", "That", "How", "The same", "As",
    "When",
];

/// Returns a text as words with single spaces around each.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '²' || c == '-'));
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// Returns the text without `[default: …]` at its end.
fn bare(text: &str) -> &str {
    text.split(" [default").next().unwrap().trim_end_matches('.')
}

/// Returns the defect of a help text; `None` for a good one.
fn problem(short: &str, long: &str) -> Option<String> {
    let (first, all) = (bare(short), words(long));
    if first.is_empty() {
        return Some("no help".to_owned());
    }
    let length = first.chars().count();
    if length > LONGEST {
        return Some(format!("{length} characters; move details to a paragraph of their own: {first}"));
    }
    if let Some(word) =
        PRINTED.iter().chain(&IN_HELP).find(|word| all.to_lowercase().contains(&format!(" {word} ")))
    {
        return Some(format!("has {word:?}: {long}"));
    }
    let start = words(first);
    let dependent = DEPENDENT.iter().find(|beginning| start.starts_with(&format!(" {beginning} ")));
    dependent.map(|beginning| format!("begins with {beginning:?}: {first}"))
}

fn of_argument(argument: &Arg) -> Vec<String> {
    if argument.is_hide_set() {
        return Vec::new();
    }
    let text = |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string).unwrap_or_default();
    let short = text(argument.get_help());
    let long = text(argument.get_long_help().or_else(|| argument.get_help()));
    let own = problem(&short, &long).map(|problem| format!("{}: {problem}", argument.get_id()));
    let possible = argument.get_possible_values();
    let values = possible.iter().filter_map(|value| {
        let help = value.get_help()?.to_string();
        problem(&help, &help).map(|problem| format!("{}={}: {problem}", argument.get_id(), value.get_name()))
    });
    own.into_iter().chain(values).collect()
}

/// Adds a command and its subcommands, with their paths.
fn tree(command: &Command, path: &str, all: &mut Vec<(String, Command)>) {
    all.push((path.to_owned(), command.clone()));
    for below in command.get_subcommands() {
        tree(below, &format!("{path} {}", below.get_name()), all);
    }
}

/// Returns all parsers that have typed flags: those of the tree, and of each kind of network.
pub fn parsers() -> Vec<(String, Command)> {
    let mut all = Vec::new();
    tree(&Cli::command(), "inart", &mut all);
    for (command, entries) in by_network() {
        // Its own parser has the flags of all kinds as text.
        all.retain(|(path, _)| *path != format!("inart {command}"));
        for entry in entries {
            all.push((format!("inart {command} ({})", entry.section.heading), entry.parser()));
        }
    }
    all
}

#[test]
fn help_is_short_and_complete_alone() {
    let mut wrong = Vec::new();
    let mut commands = Vec::new();
    tree(&Cli::command(), "inart", &mut commands);
    assert!(commands.len() > 30, "{} commands", commands.len());
    for (path, command) in &commands {
        let text = |about: Option<&clap::builder::StyledStr>| about.map(ToString::to_string);
        let short = text(command.get_about()).unwrap_or_default();
        let long = text(command.get_long_about()).unwrap_or_else(|| short.clone());
        wrong.extend(problem(&short, &long).map(|problem| format!("{path}: {problem}")));
    }
    for (path, parser) in parsers() {
        let arguments = parser.get_arguments().filter(|argument| argument.get_id() != "help");
        wrong.extend(arguments.flat_map(of_argument).map(|problem| format!("{path} {problem}")));
    }
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn long_or_dependent_help_is_a_problem() {
    assert_eq!(problem("Random seed [default: 1]", "Random seed."), None);
    let long = "x".repeat(91);
    for wrong in ["", &long, "Of elastic jobs", "Wait so long", "Scheme as in the paper", "Where nobody is"] {
        assert!(problem(wrong, wrong).is_some(), "{wrong:?}");
    }
}

/// `--peer-timeout` had three syntaxes.
#[test]
fn every_flag_of_a_time_takes_the_same_texts() {
    let mut count = 0;
    for (path, parser) in parsers() {
        for argument in parser.get_arguments() {
            let names: Vec<_> = argument.get_value_names().unwrap_or_default().iter().collect();
            let default = argument.get_default_values().first().map(|value| value.to_string_lossy());
            let is_time = default.is_some_and(|text| crate::commands::values::seconds(&text).is_ok());
            let Some(long) = argument.get_long().filter(|_| is_time || names == ["TIME"]) else { continue };
            count += 1;
            let outcome = |value: &str| {
                let given = [parser.get_name().to_owned(), format!("--{long}={value}")];
                parser.clone().try_get_matches_from(&given[usize::from(parser.is_no_binary_name_set())..])
            };
            let refused = outcome("5").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ValueValidation, "{path} --{long} 5");
            assert!(refused.to_string().contains("5 has no unit"), "{path} --{long} 5: {refused}");
            for taken in ["1500ms", "2 s", "1.5min", "90m", "1h", "30 seconds"] {
                let kind = outcome(taken).err().map(|error| error.kind());
                assert_ne!(kind, Some(ErrorKind::ValueValidation), "{path} --{long} {taken}");
            }
        }
    }
    assert!(count > 40, "{count} flags of times");
}

/// Each command is given `--json`, and none leaves it unread.
#[test]
fn every_command_honors_json() {
    let main = include_str!("main.rs");
    let (_, run) = main.split_once("fn run(command: Command, json: bool)").unwrap();
    let arms: Vec<_> =
        run.lines().take_while(|line| *line != "}").filter(|line| line.contains("Command::")).collect();
    assert_eq!(arms.len(), Cli::command().get_subcommands().count(), "one line for each command: {arms:#?}");
    let deaf: Vec<_> = arms.iter().filter(|arm| !words(arm).contains(" json ")).collect();
    assert!(deaf.is_empty(), "not given --json: {deaf:#?}");
    unread(&std::path::Path::new(env!("INART_ROOT")).join("cli/src"));
}

/// Checks that no parameter of a command hides that it is not read; the compiler names the others.
fn unread(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            unread(&path);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let hidden = concat!("_", "json: bool");
            assert!(!text.contains(hidden), "{}: {hidden}", path.display());
        }
    }
}
