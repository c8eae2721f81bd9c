//! What the arguments ask for, read before a parser is chosen: the command, its files and its flags. Words
//! behind `--` are those of a user's program: they are neither opened nor read.

use std::ffi::OsString;
use std::path::Path;

use crate::commands::{document, order, peers, sites};
use crate::parser::Cli;

/// Which parser and which commands the arguments are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Networks with switches and parameter servers, and every command that has no network.
    Aggregation,
    /// Networks of sites.
    Sites,
    /// Networks of peers.
    Peers,
    /// An order at a parameter server.
    Order,
    /// Groups that meet parameter servers in turn.
    Racks,
}

/// A command with its words and flags.
#[derive(Debug, Default)]
struct Asked {
    command: String,
    words: Vec<OsString>,
    flags: Vec<String>,
}

impl Asked {
    /// Reads the arguments, the program's own name first. `parsers` tell which flags have a value.
    fn read(arguments: &[OsString], parsers: &[clap::Command]) -> Self {
        let mut asked = Self::default();
        let mut rest = arguments.iter().skip(1);
        while let Some(word) = rest.next() {
            let text = word.to_string_lossy();
            if text == "--" {
                break;
            }
            if let Some(flag) = text.strip_prefix("--") {
                let (name, value) = flag.split_once('=').map_or((flag, false), |(name, _)| (name, true));
                if !value && parsers.iter().any(|parser| takes_value(parser, &asked.command, name)) {
                    rest.next();
                }
                asked.flags.push(name.to_owned());
            } else if text.starts_with('-') && text.len() > 1 {
                // Those with a value belong to commands that have no network.
            } else if asked.command.is_empty() {
                asked.command = text.into_owned();
            } else {
                asked.words.push(word.clone());
            }
        }
        asked
    }

    /// The documents by which a system is chosen: the first word, or the words of `push`, which may begin
    /// with a plan.
    fn texts(&self) -> Vec<String> {
        let count = if self.command == "push" { 2 } else { 1 };
        // What cannot be read is an error of the command.
        self.words.iter().take(count).filter_map(|word| document::read(Path::new(word)).ok()).collect()
    }

    fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    fn is_one_of(&self, commands: &[&str]) -> bool {
        commands.contains(&&*self.command)
    }
}

/// Whether a command's flag takes the word behind it as its value.
fn takes_value(parser: &clap::Command, command: &str, flag: &str) -> bool {
    let Some(command) = parser.find_subcommand(command) else { return false };
    let is_named = |argument: &&clap::Arg| {
        argument.get_long() == Some(flag) || argument.get_all_aliases().unwrap_or_default().contains(&flag)
    };
    command.get_arguments().find(is_named).is_some_and(|argument| {
        let least = argument.get_num_args().map_or(1, |count| count.min_values());
        argument.get_action().takes_values() && least > 0 && !argument.is_require_equals_set()
    })
}

/// The system that the arguments ask for.
pub fn system(arguments: &[OsString], parsers: &[clap::Command]) -> System {
    let asked = Asked::read(arguments, parsers);
    if asked.is_one_of(&["plan", "simulate", "emulate", "push"]) {
        let texts = asked.texts();
        if asked.command != "push" && texts.iter().any(|text| sites::is_one(text)) {
            return System::Sites;
        }
        if texts.iter().any(|text| peers::is_one(text)) {
            return System::Peers;
        }
    }
    if !asked.is_one_of(&["simulate", "emulate"]) || !asked.has_flag("sync") {
        return System::Aggregation;
    }
    if asked.command == "emulate" && asked.has_flag("racks") { System::Racks } else { System::Order }
}

/// The parsers of all systems but the first.
pub fn other_parsers() -> [clap::Command; 4] {
    [System::Sites, System::Peers, System::Order, System::Racks].map(parser_of)
}

/// The parser of a system.
pub fn parser_of(system: System) -> clap::Command {
    use clap::CommandFactory as _;
    match system {
        System::Aggregation => Cli::command(),
        System::Sites => sites::Cli::command(),
        System::Peers => peers::Cli::command(),
        System::Order => order::Cli::command(),
        System::Racks => order::RackCli::command(),
    }
}

/// Where a flag belongs that the parser of a system does not know: the systems whose command of the same name
/// takes it.
pub fn strangers_home(system: System, command: &str, flag: &str) -> Option<String> {
    let long = flag.strip_prefix("--")?.split('=').next()?;
    let takes = |other: &System| {
        let parser = parser_of(*other);
        let command = parser.find_subcommand(command);
        command.is_some_and(|command| command.get_arguments().any(|one| one.get_long() == Some(long)))
    };
    let homes: Vec<_> = SYSTEMS.into_iter().filter(|other| *other != system && takes(other)).collect();
    let names: Vec<_> = homes.into_iter().map(System::name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "--{long}: `inart {command}` takes it for {} only; here it is for {}; leave it out",
            names.join(", "),
            system.name()
        )
    })
}

const SYSTEMS: [System; 5] =
    [System::Aggregation, System::Sites, System::Peers, System::Order, System::Racks];

impl System {
    /// As messages name it.
    fn name(self) -> &'static str {
        match self {
            System::Aggregation => "networks of switches and servers",
            System::Sites => "networks of sites",
            System::Peers => "networks of peers",
            System::Order => "orders at a server (--sync)",
            System::Racks => "groups in turn (--sync r2sp --racks)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn parsers() -> Vec<clap::Command> {
        let mut all = other_parsers().to_vec();
        all.push(<Cli as clap::CommandFactory>::command());
        all
    }

    #[test]
    fn values_and_the_words_of_a_program_are_no_networks() {
        for (line, expected) in [
            ("inart plan net.yaml", &["net.yaml"][..]),
            ("inart --json plan --check plan.json net.yaml", &["net.yaml"]),
            ("inart simulate net.yaml --faults f.yaml --drop=1%", &["net.yaml"]),
            ("inart emulate net.yaml -- cat other.yaml --sync r2sp", &["net.yaml"]),
            ("inart emulate net.yaml --follow more.yaml", &["net.yaml", "more.yaml"]),
            ("inart push plan.json net.yaml --switch v1=127.0.0.1:1", &["plan.json", "net.yaml"]),
        ] {
            assert_eq!(Asked::read(&words(line), &parsers()).words, expected, "{line}");
        }
    }

    #[test]
    fn flags_behind_two_dashes_choose_no_system() {
        let system = |line: &str| system(&words(line), &parsers());
        assert_eq!(system("inart simulate net.yaml --sync r2sp"), System::Order);
        assert_eq!(system("inart emulate net.yaml --sync=r2sp --racks=2"), System::Racks);
        assert_eq!(system("inart emulate net.yaml -- python3 t.py --sync r2sp"), System::Aggregation);
        assert_eq!(system("inart decode --sync x"), System::Aggregation);
    }

    /// A flag that had a value for one system only would hide the word behind it, or take it for a network.
    #[test]
    fn a_flag_has_a_value_in_all_systems_or_in_none() {
        let all = parsers();
        for command in ["plan", "simulate", "emulate", "push"] {
            let of = all.iter().filter_map(|parser| parser.find_subcommand(command));
            let flags: Vec<String> = of
                .flat_map(|of| of.get_arguments())
                .filter_map(|flag| flag.get_long().map(str::to_owned))
                .collect();
            for flag in flags {
                let knows = |parser: &&clap::Command| {
                    let of = parser.find_subcommand(command);
                    of.is_some_and(|of| {
                        of.get_arguments().any(|argument| argument.get_long() == Some(&*flag))
                    })
                };
                let takes: Vec<bool> =
                    all.iter().filter(knows).map(|parser| takes_value(parser, command, &flag)).collect();
                assert!(takes.iter().all(|each| *each == takes[0]), "{command} --{flag}: {takes:?}");
            }
        }
    }
}
