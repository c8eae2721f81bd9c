//! The list of flags by section. The sections' own arguments are its source, so no flag can be missing.

use clap::{Arg, ArgAction};

use super::entry::Entry;
use super::section::Section;

/// A flag of a command, with the sections that take it.
pub struct Flag {
    /// The name after `--`. An alias is a flag of its own here, and is not in `--help`.
    pub name: &'static str,
    /// The sections that take the flag, each with its own argument.
    pub takers: Vec<(&'static Section, Arg)>,
}

/// Returns all flags of a command, in the order in which the entries have them; aliases come last.
pub fn flags_of(entries: &[Entry]) -> Vec<Flag> {
    let parsers: Vec<_> = entries.iter().map(|entry| (entry.section, entry.parser())).collect();
    let arguments =
        || parsers.iter().flat_map(|(section, of)| of.get_arguments().map(move |one| (*section, one)));
    let longs = arguments().filter_map(|(section, one)| Some((one.get_long()?, section, one)));
    let aliases = arguments().flat_map(|(section, one)| {
        one.get_all_aliases().unwrap_or_default().into_iter().map(move |name| (name, section, one))
    });
    let mut flags: Vec<Flag> = Vec::new();
    for (name, section, argument) in longs.chain(aliases) {
        let taker = (section, argument.clone());
        match flags.iter_mut().find(|flag| flag.name == name) {
            Some(flag) => flag.takers.push(taker),
            None => flags.push(Flag { name: kept(name), takers: vec![taker] }),
        }
    }
    flags
}

/// Returns a text that lives as long as the process, as the parser needs for names.
fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl Flag {
    /// Whether a section takes the flag.
    pub fn is_of(&self, section: &Section) -> bool {
        self.takers.iter().any(|(taker, _)| *taker == section)
    }

    /// Whether a value belongs to the flag.
    pub fn takes_value(&self) -> bool {
        self.takers[0].1.get_action().takes_values()
    }

    /// Returns the argument of the command's parser. Values are text: the network's kind decides what they
    /// may be.
    pub fn argument(&self) -> Arg {
        let first = &self.takers[0].1;
        let argument = Arg::new(self.name).long(self.name).help(self.short()).long_help(self.long());
        let argument = match &self.shown()[..] {
            [] => argument.hide(true),
            [(section, _)] => argument.help_heading(section.heading),
            _ => argument,
        };
        if !self.takes_value() {
            return argument.action(ArgAction::SetTrue);
        }
        let count = first.get_num_args().unwrap_or_else(|| 1.into());
        let argument = argument
            .action(ArgAction::Append)
            .value_parser(clap::value_parser!(std::ffi::OsString))
            .num_args(count)
            .require_equals(first.is_require_equals_set())
            .allow_negative_numbers(true);
        match first.get_value_names() {
            Some(names) => argument.value_names(names.to_vec()),
            None => argument,
        }
    }

    /// Returns the sections whose help shows the flag.
    fn shown(&self) -> Vec<&(&'static Section, Arg)> {
        let is_shown =
            |(_, argument): &&(_, Arg)| !argument.is_hide_set() && argument.get_long() == Some(self.name);
        self.takers.iter().filter(is_shown).collect()
    }

    fn short(&self) -> String {
        let first = self.shown().first().and_then(|(_, argument)| argument.get_help());
        first.map(ToString::to_string).unwrap_or_default()
    }

    /// Returns help that names each section in which the flag has another meaning.
    fn long(&self) -> String {
        let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
        for (section, argument) in self.shown() {
            let text = about(argument) + &values(argument);
            match texts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, headings)) => headings.push(section.heading),
                None => texts.push((text, vec![section.heading])),
            }
        }
        let all = texts.iter().flat_map(|(_, headings)| headings).count();
        let of = |(text, headings): &(String, Vec<&str>)| match all {
            1 => text.clone(),
            _ => format!("{}: {text}", headings.join(", ")),
        };
        texts.iter().map(of).collect::<Vec<_>>().join("\n")
    }
}

/// Returns all paragraphs about an argument, as one.
fn about(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    help.map(|help| help.to_string().replace("\n\n", " ")).unwrap_or_default()
}

/// Returns the default of an argument and the values that it may have.
fn values(argument: &Arg) -> String {
    if !argument.get_action().takes_values() {
        return String::new();
    }
    let mut text = String::new();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && !argument.is_hide_default_value_set() {
        text += &format!(" [default: {}]", defaults.join(","));
    }
    let possible = argument.get_possible_values();
    let named: Vec<_> = possible.iter().filter(|value| !value.is_hide_set()).collect();
    if named.iter().any(|value| value.get_help().is_some()) {
        for value in named {
            let help = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            text += &format!("\n  - {}{help}", value.get_name());
        }
    } else if !named.is_empty() {
        let names: Vec<_> = named.iter().map(|value| value.get_name()).collect();
        text += &format!(" [possible values: {}]", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::by_network as all;

    #[test]
    fn every_argument_of_every_section_is_in_the_table() {
        for (command, entries) in all() {
            let flags = flags_of(&entries);
            for entry in &entries {
                for argument in entry.parser().get_arguments().filter(|argument| !argument.is_positional()) {
                    let long = argument.get_long().expect("flags have long names");
                    let flag = flags.iter().find(|flag| flag.name == long);
                    let flag = flag.unwrap_or_else(|| panic!("{command} --{long} is not in the table"));
                    assert!(flag.is_of(entry.section), "{command} --{long}: {}", entry.section.heading);
                    assert!(argument.get_short().is_none(), "{command} --{long}: short names are not read");
                }
            }
        }
    }

    /// A flag with a value in one section only would take the next word in other sections.
    #[test]
    fn a_flag_has_a_value_in_all_sections_or_in_none() {
        for (command, entries) in all() {
            for flag in flags_of(&entries) {
                let values = flag.takers.iter().map(|(_, one)| {
                    (one.get_action().takes_values(), one.get_num_args(), one.is_require_equals_set())
                });
                let least = |(takes, count, equals): (bool, Option<clap::builder::ValueRange>, bool)| {
                    (takes, count.map_or(1, |count| count.min_values()), equals)
                };
                let mut values = values.map(least);
                let first = values.next();
                assert!(values.all(|other| Some(other) == first), "{command} --{}", flag.name);
            }
        }
    }

    #[test]
    fn help_shows_every_flag_under_the_heading_of_its_section() {
        for (command, entries) in all() {
            for flag in flags_of(&entries) {
                let argument = flag.argument();
                match &flag.shown()[..] {
                    [] => assert!(argument.is_hide_set(), "{command} --{}", flag.name),
                    [(section, _)] => assert_eq!(argument.get_help_heading(), Some(section.heading)),
                    several => {
                        let help = argument.get_long_help().expect("help").to_string();
                        let is_named = |(section, _): &&(&Section, Arg)| help.contains(section.heading);
                        assert!(several.iter().all(is_named), "{command} --{}: {help}", flag.name);
                    }
                }
            }
        }
    }
}
