//! Names of the command line that changed before the first release. An old name is refused with the new one
//! in the message; this file goes after one release.

/// Commands: the old name and the new one.
const COMMANDS: [(&str, &str); 3] =
    [("push", "apply"), ("rack-server", "group-server"), ("rack-worker", "group-worker")];

/// Schemes: the old name and the new one. `inart` and `r-inart` are in use again, for schemes of the InArt
/// paper, on networks of switches; networks of sites and peers have no such scheme.
const SCHEMES: [(&str, &str); 4] =
    [("even", "r-inart"), ("atp-nocap", "atp-unlimited"), ("exact", "optimal"), ("inart", "optimized")];

/// Flags: the old name and the new ones, where several commands had one flag for different things.
const FLAGS: [(&str, &[&str]); 38] = [
    ("step", &["learning-rate"]),
    ("shards", &["data-shards"]),
    ("part", &["data-shard"]),
    ("keep", &["checkpoint"]),
    ("patience", &["push-timeout", "server-timeout", "progress-timeout", "idle-timeout", "join-timeout"]),
    ("absence", &["reconnect-grace"]),
    ("gather", &["join-timeout"]),
    ("gather-within", &["join-timeout"]),
    ("join-patience", &["join-timeout"]),
    ("regroup-within", &["rejoin-timeout"]),
    ("choice-patience", &["selection-timeout"]),
    ("meeting-patience", &["connect-timeout"]),
    ("round-patience", &["progress-timeout"]),
    ("forget", &["background-decay"]),
    ("back-after", &["hold-down"]),
    ("gap", &["min-change-interval"]),
    ("change-gap", &["change-interval"]),
    ("opposite", &["sign-flip"]),
    ("random", &["synthetic"]),
    ("stated-compute", &["simulate-compute"]),
    ("expose", &["debug-dir"]),
    ("prior", &["default-rate"]),
    ("unled", &["uncoordinated"]),
    ("told-within", &["notify-jitter"]),
    ("stable", &["max-rate-loss"]),
    ("soak", &["trials"]),
    ("first", &["first-seed"]),
    ("levels", &["aggregation-depth"]),
    ("order", &["job-planning"]),
    ("at-once", &["concurrent-groups"]),
    ("racks", &["aggregated-groups"]),
    ("force-after", &["fairness-bound"]),
    ("lambda", &["rate-spread"]),
    ("mu", &["up-down-ratio"]),
    ("gamma", &["changing-part"]),
    ("eta", &["finish-threshold"]),
    ("half", &["dtype float16"]),
    ("new-epoch", &["new-plan-version"]),
];

/// Flags of `inart controller` that are commands of their own: the old flag and the new command.
const CLIENTS: [(&str, &str); 4] =
    [("ask", "status"), ("why", "decisions"), ("replan", "replan"), ("shares", "replan --shares")];

/// Returns the line for a message of the parser about an old name.
pub fn explained(message: &str) -> Option<String> {
    let between = |before: &str| {
        let (_, rest) = message.split_once(before)?;
        Some(rest.split_once('\'')?.0)
    };
    if let Some(name) = between("unrecognized subcommand '") {
        let (_, new) = COMMANDS.iter().find(|(old, _)| *old == name)?;
        return Some(format!("error: inart {name} is now called inart {new}; see inart {new} --help"));
    }
    if let Some(flag) = between("unexpected argument '--") {
        let name = flag.split('=').next().unwrap_or(flag);
        if let Some((_, new)) = CLIENTS.iter().find(|(old, _)| *old == name)
            && message.contains("Usage: inart controller")
        {
            let command = new.split(' ').next().unwrap_or(new);
            return Some(format!(
                "error: inart controller --{name} is now called inart {new}; see inart {command} --help"
            ));
        }
        let (_, new) = FLAGS.iter().find(|(old, _)| *old == name)?;
        let new: Vec<_> = new.iter().map(|new| format!("--{new}")).collect();
        return Some(format!("error: --{name} is now called {}; see --help", new.join(" or ")));
    }
    let value = between("invalid value '")?;
    let (_, new) = SCHEMES.iter().find(|(old, _)| *old == value)?;
    let is_scheme = message.contains("for '--scheme") && message.contains(new);
    is_scheme.then(|| format!("error: scheme {value} is now called {new}; see --help"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::parser::Cli;

    fn flags(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter_map(|one| one.get_long()).map(str::to_owned);
        own.chain(command.get_subcommands().flat_map(flags)).collect()
    }

    #[test]
    fn every_new_name_exists() {
        let (parser, mut known) = (Cli::command(), flags(&Cli::command()));
        known.sort();
        for name in FLAGS.iter().flat_map(|(_, new)| *new) {
            let flag = name.split(' ').next().unwrap_or(name);
            assert!(known.binary_search(&flag.to_owned()).is_ok(), "--{flag}");
        }
        for (old, new) in COMMANDS {
            assert!(parser.find_subcommand(new).is_some() && parser.find_subcommand(old).is_none(), "{new}");
        }
        for (old, new) in CLIENTS {
            assert!(Cli::command().try_get_matches_from(["inart", "controller", "n.yaml", old]).is_err());
            let words = ["inart"].into_iter().chain(new.split(' '));
            assert!(Cli::command().try_get_matches_from(words).is_ok(), "{new}");
        }
    }

    #[test]
    fn an_old_name_is_refused_with_the_new_one() {
        let said = |line: &str| {
            let error = Cli::command().try_get_matches_from(line.split(' ')).expect_err("an old name");
            explained(&error.to_string())
        };
        let named = |text: &str| Some(format!("error: {text}"));
        assert_eq!(
            said("inart push a b"),
            named("inart push is now called inart apply; see inart apply --help")
        );
        assert_eq!(
            said("inart controller n.yaml --gap 3s"),
            named("--gap is now called --min-change-interval; see --help")
        );
        assert_eq!(
            said("inart controller n.yaml --scheme=even"),
            named("scheme even is now called r-inart; see --help")
        );
        for (line, new) in [
            ("inart controller --ask 127.0.0.1:9558", "--ask is now called inart status; see inart status"),
            ("inart controller --why=x", "--why is now called inart decisions; see inart decisions"),
            ("inart controller --replan x --shares", "--replan is now called inart replan; see inart replan"),
            (
                "inart controller n.yaml --shares",
                "--shares is now called inart replan --shares; see inart replan",
            ),
        ] {
            assert_eq!(said(line), named(&format!("inart controller {new} --help")), "{line}");
        }
        assert_eq!(said("inart jobs --ask"), None);
        assert_eq!(said("inart controller n.yaml --nonsense"), None);
        assert_eq!(said("inart controller n.yaml --scheme nonsense"), None);
    }
}
