//! Options of bmv2 that `inart switch` accepts and ignores, so that command lines of `simple_switch_grpc`
//! run as they are.

use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};

const THRIFT: &str = "--thrift-port is ignored: there is no Thrift server, use P4Runtime";
const LOGS: &str = "bmv2's logging options are ignored: set INART_LOG=debug to log to standard error";
const NANOMSG: &str = "there are no nanomsg sockets";
const PCAP: &str = "--pcap is ignored: capture on the interfaces, as with tcpdump -i INTERFACE -w FILE";
const DUMP: &str = "--dump-packet-data is ignored: capture on the interfaces";

/// Values that follow an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    None,
    One,
    OneOrNone,
}

/// Each option: its name, the values that follow, and the note that is printed about it.
const OPTIONS: [(&str, Values, &str); 13] = [
    ("thrift-port", Values::One, THRIFT),
    ("log-console", Values::None, LOGS),
    ("log-flush", Values::None, LOGS),
    ("log-level", Values::One, LOGS),
    ("log-file", Values::One, LOGS),
    ("nanolog", Values::One, NANOMSG),
    ("notifications-addr", Values::One, NANOMSG),
    ("dump-packet-data", Values::One, DUMP),
    ("pcap", Values::OneOrNone, PCAP),
    ("max-port-count", Values::One, ""),
    ("enable-swap", Values::None, ""),
    ("disable-swap", Values::None, ""),
    ("priority-queues", Values::One, ""),
];

/// The options that were given.
#[derive(Default)]
pub struct Ignored {
    given: [bool; OPTIONS.len()],
}

impl Ignored {
    /// Returns these options and the others.
    pub fn and(&self, other: &Self) -> Self {
        Self { given: std::array::from_fn(|at| self.given[at] || other.given[at]) }
    }

    /// Returns what users should know of the options, each note once.
    pub fn notes(&self) -> impl Iterator<Item = &'static str> {
        let mut notes: Vec<&'static str> = Vec::new();
        for ((_, _, note), is_given) in OPTIONS.iter().zip(self.given) {
            if is_given && !note.is_empty() && !notes.contains(note) {
                notes.push(note);
            }
        }
        notes.into_iter()
    }
}

impl clap::Args for Ignored {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(OPTIONS.iter().map(|&(name, values, _)| {
            let argument = Arg::new(name).long(name).hide(true);
            let argument = if name == "log-level" { argument.short('L') } else { argument };
            match values {
                Values::None => argument.action(ArgAction::SetTrue),
                Values::One => argument.action(ArgAction::Set),
                Values::OneOrNone => argument.num_args(0..=1),
            }
        }))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Ignored {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut ignored = Self::default();
        ignored.update_from_arg_matches(matches)?;
        Ok(ignored)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let is_given = |name| matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
        self.given = OPTIONS.map(|(name, _, _)| is_given(name));
        Ok(())
    }
}
