//! Reads a command's words, opens its network once, and hands both to the entry of the network's kind.

use std::ffi::OsString;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use inart_topologies::Network;

use super::entry::{Entry, Invocation};
use super::flags::{Flag, flags_of};
use super::needs;
use super::section::Section;
use crate::commands::network;
use crate::commands::output::usage_line;

const NETWORK: &str = "NETWORK";
const PLAN: &str = "PLAN";
const COMMAND: &str = "COMMAND";

/// The words of a command that are not flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// A network.
    Network,
    /// A network; random trials need none.
    NetworkOrTrials,
    /// A network, and behind `--` a program of the user's.
    NetworkAndProgram,
    /// A network, and before it a plan where the kind of network has one.
    PlanAndNetwork,
}

/// A command that runs on networks of several kinds.
pub trait ByNetwork {
    /// The command's name.
    const NAME: &'static str;
    /// Words that the command takes besides flags.
    const WORDS: Words;

    /// Returns the command on each kind of network.
    fn entries() -> Vec<Entry>;

    /// Returns the section that runs on this network with these flags.
    ///
    /// # Errors
    /// Flags and network that do not determine the section.
    fn section(network: &Network, given: &Given<'_>) -> anyhow::Result<&'static Section>;

    /// Returns the name of the host or network that has the section, for refusals.
    fn place(network: Option<&Path>, _given: &Given<'_>) -> String {
        network.map_or_else(|| "a run without a network".to_owned(), |path| path.display().to_string())
    }
}

/// The words of a command, as they were given.
pub struct Line<C> {
    given: ArgMatches,
    command: PhantomData<C>,
}

impl<C: ByNetwork> clap::Args for Line<C> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = positionals(command, C::WORDS);
        command.args(flags_of(&C::entries()).iter().map(Flag::argument))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<C> FromArgMatches for Line<C> {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: given.clone(), command: PhantomData })
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        self.given = given.clone();
        Ok(())
    }
}

fn positionals(command: clap::Command, words: Words) -> clap::Command {
    let path = |name: &'static str| Arg::new(name).value_parser(clap::value_parser!(PathBuf));
    let network = path(NETWORK).help("Network (YAML or JSON); its kind decides which flags apply");
    match words {
        Words::Network => command.arg(network.required(true)),
        Words::NetworkOrTrials => command.arg(network),
        Words::NetworkAndProgram => command.arg(network.required(true)).arg(
            Arg::new(COMMAND)
                .last(true)
                .num_args(0..)
                .action(ArgAction::Append)
                .value_parser(clap::value_parser!(OsString))
                .help("Networks of switches: program to run once per worker (docs/how-to/bring-your-program.md)"),
        ),
        Words::PlanAndNetwork => command
            .allow_missing_positional(true)
            .arg(
                path(PLAN)
                    .help("Networks of switches: plans (JSON), or a network of peers on the same switches"),
            )
            .arg(network.required(true)),
    }
}

/// The flags and words that were given, before their values have types.
pub struct Given<'m> {
    matches: &'m ArgMatches,
    flags: Vec<Flag>,
}

impl Given<'_> {
    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.flags.iter().find(|flag| flag.name == name).is_some_and(|flag| self.count(flag) > 0)
    }

    /// Returns the value of a flag, the first if it was given several times.
    pub fn value(&self, name: &str) -> Option<String> {
        let value = self.matches.get_raw(name)?.next()?;
        Some(value.to_string_lossy().into_owned())
    }

    fn count(&self, flag: &Flag) -> usize {
        match flag.takes_value() {
            true => self.matches.get_raw_occurrences(flag.name).map_or(0, Iterator::count),
            false => self.matches.get_flag(flag.name).into(),
        }
    }

    fn path(&self, name: &str) -> Option<&Path> {
        self.matches.try_get_one::<PathBuf>(name).ok().flatten().map(PathBuf::as_path)
    }

    fn program(&self) -> Vec<OsString> {
        let words = self.matches.try_get_raw(COMMAND).ok().flatten();
        words.into_iter().flatten().map(ToOwned::to_owned).collect()
    }

    /// Refuses flags and words that another section takes.
    fn refuse_others(&self, entries: &[Entry], section: &Section, place: &str) -> anyhow::Result<()> {
        for flag in &self.flags {
            if self.count(flag) > 0 && !flag.is_of(section) {
                let homes: Vec<_> = flag.takers.iter().map(|(taker, _)| taker.is_for).collect();
                bail!("--{} is for {}; {place} {}", flag.name, homes.join(" and "), section.has);
            }
        }
        let switches = &entries[0];
        if section != switches.section {
            if self.path(PLAN).is_some() {
                bail!(
                    "PLAN is for {}; {place} {}: give the network alone",
                    switches.section.is_for,
                    section.has
                );
            }
            if let Some(word) = self.program().first() {
                let word = word.to_string_lossy();
                bail!("-- {word}: programs are for {}; {place} {}", switches.section.is_for, section.has);
            }
        }
        Ok(())
    }

    /// Returns the words for the parser of one section.
    fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        for flag in &self.flags {
            let long = format!("--{}", flag.name);
            if !flag.takes_value() {
                words.extend((0..self.count(flag)).map(|_| OsString::from(&long)));
                continue;
            }
            for values in self.matches.get_raw_occurrences(flag.name).into_iter().flatten() {
                let values: Vec<_> = values.collect();
                if values.is_empty() {
                    words.push(OsString::from(&long));
                }
                for value in values {
                    let mut word = OsString::from(&long);
                    word.push("=");
                    word.push(value);
                    words.push(word);
                }
            }
        }
        // The network is open already.
        words.extend(self.path(PLAN).map(|plan| plan.as_os_str().to_owned()));
        let program = self.program();
        if !program.is_empty() {
            words.push("--".into());
            words.extend(program);
        }
        words
    }
}

impl<C: ByNetwork> Line<C> {
    /// Opens the network and runs the command on it.
    ///
    /// # Errors
    /// The network's file, a flag of another kind, or an error of the command itself.
    pub fn run(self, json: bool) -> anyhow::Result<ExitCode> {
        let entries = C::entries();
        let given = Given { matches: &self.given, flags: flags_of(&entries) };
        let path = given.path(NETWORK).map(Path::to_owned);
        let network = path.as_deref().map(network::read).transpose()?;
        let (entry, typed) = choose::<C>(&entries, &given, path.as_deref(), network.as_ref())?;
        let asked = Invocation { path: path.unwrap_or_default(), json };
        entry.run(&typed, network, &asked)
    }
}

/// Returns the entry of the network's kind, and the flags by its types.
fn choose<'e, C: ByNetwork>(
    entries: &'e [Entry],
    given: &Given<'_>,
    path: Option<&Path>,
    network: Option<&Network>,
) -> anyhow::Result<(&'e Entry, ArgMatches)> {
    let section = match network {
        Some(network) => C::section(network, given)?,
        // Only trials do without a network, and those are of switches.
        None => entries[0].section,
    };
    let place = C::place(path, given);
    let entry = entries.iter().find(|entry| entry.section == section);
    let entry = entry.ok_or_else(|| {
        let kinds: Vec<_> = entries.iter().map(|entry| entry.section.is_for).collect();
        anyhow!("{place} {}; `inart {}` is for {}", section.has, C::NAME, kinds.join(" and "))
    })?;
    let typed = typed(entries, entry, given, &place)?;
    needs::check(section, C::NAME, &typed).map_err(|problem| anyhow!(problem))?;
    Ok((entry, typed))
}

/// Returns the flags by the types of one entry.
fn typed(entries: &[Entry], entry: &Entry, given: &Given<'_>, place: &str) -> anyhow::Result<ArgMatches> {
    given.refuse_others(entries, entry.section, place)?;
    entry.parser().try_get_matches_from(given.words()).map_err(|error| wrong(&error))
}

/// Returns wrong usage as one line.
fn wrong(error: &clap::Error) -> anyhow::Error {
    debug_assert_ne!(error.kind(), ErrorKind::DisplayHelp, "the command's parser prints help");
    let line = usage_line(&error.to_string());
    anyhow!("{}", line.strip_prefix("error: ").unwrap_or(&line))
}

/// Checks whether a command line is right, without running it; for tests of documents.
#[cfg(test)]
impl<C: ByNetwork> Line<C> {
    /// Checks the flags: of a network in a file of this folder as the command does, of one that a document
    /// only mentions as flags of any kind.
    ///
    /// # Errors
    /// Why the command would be refused.
    pub fn check(&self, folder: &Path) -> anyhow::Result<()> {
        let entries = C::entries();
        let given = Given { matches: &self.given, flags: flags_of(&entries) };
        let Some(named) = given.path(NETWORK) else {
            return choose::<C>(&entries, &given, None, None).map(drop);
        };
        let path = folder.join(named);
        if path.is_file() {
            let network = network::read(&path)?;
            return choose::<C>(&entries, &given, Some(&path), Some(&network)).map(drop);
        }
        let place = named.display().to_string();
        let outcomes = entries.iter().map(|entry| typed(&entries, entry, &given, &place).map(drop));
        let refusals: Vec<_> = outcomes.map_while(Result::err).map(|refusal| refusal.to_string()).collect();
        if refusals.len() == entries.len() { bail!("{}", refusals.join("; ")) } else { Ok(()) }
    }
}
