//! Flags that need another flag. Without that flag they are refused: a run that ignores a flag measures
//! something else than its user believes.

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::section::{PEERS, SITES, SWITCHES, Section};

/// A flag, and the other flag that it needs.
struct Need {
    flag: &'static str,
    other: &'static str,
    /// Values of the other flag, one of which is needed; empty if any value is enough.
    values: &'static [&'static str],
}

const fn need(flag: &'static str, other: &'static str, values: &'static [&'static str]) -> Need {
    Need { flag, other, values }
}

const MULTICAST: &[Need] = &[
    need("staleness", "sync", &["ssp"]),
    need("finish_threshold", "sync", &["ssp"]),
    need("guard_all", "sync", &["ssp"]),
];
const MULTICAST_SIMULATED: &[Need] = &[
    need("duration", "sync", &["ssp"]),
    need("rounds", "sync", &["bsp"]),
    need("draw", "scheme", &["orpheus"]),
    need("first_pass_only", "scheme", &["selmcast"]),
];
const MULTICAST_EMULATED: &[Need] =
    &[need("values", "multicast", &["switch"]), need("first_pass_only", "schemes", &["selmcast"])];
const MULTICAST_PLANNED: &[Need] = &[need("first_pass_only", "scheme", &["selmcast"])];
const TREES: &[Need] = &[need("degree", "scheme", &["bkt"])];
const TREES_SIMULATED: &[Need] = &[
    need("default_rate", "knowledge", &["passive", "uniform"]),
    need("auxiliary_choice", "auxiliary", &["edge-disjoint", "node-disjoint"]),
    need("busy_bound", "auxiliary", &["edge-disjoint", "node-disjoint"]),
    need("queue_length", "auxiliary", &["edge-disjoint", "node-disjoint"]),
];
const TREES_EMULATED: &[Need] =
    &[need("default_rate", "knowledge", &["passive"]), need("python", "schemes", &["gloo"])];
const AGGREGATION_SIMULATED: &[Need] =
    &[need("first_seed", "trials", &[]), need("watch_every", "follow", &[])];

/// Flags of a run that random trials draw for themselves.
const DRAWN_BY_TRIALS: &[&str] = &[
    "seed",
    "rounds",
    "runs",
    "odd_length",
    "skip",
    "tensors",
    "sizes",
    "gradient",
    "spikes",
    "window",
    "scheme",
    "aggregation_depth",
    "results",
    "budget",
    "peer_timeout",
    "limit",
];

fn of(section: &Section, command: &str) -> Vec<&'static Need> {
    let lists: [(&Section, &str, &[&'static [Need]]); 7] = [
        (&PEERS, "simulate", &[MULTICAST, MULTICAST_SIMULATED]),
        (&PEERS, "emulate", &[MULTICAST, MULTICAST_EMULATED]),
        (&PEERS, "plan", &[MULTICAST_PLANNED]),
        (&SITES, "simulate", &[TREES, TREES_SIMULATED]),
        (&SITES, "emulate", &[TREES_EMULATED]),
        (&SITES, "plan", &[TREES]),
        (&SWITCHES, "simulate", &[AGGREGATION_SIMULATED]),
    ];
    let own = lists.into_iter().find(|(of, name, _)| *of == section && *name == command);
    own.map_or(&[][..], |(_, _, needs)| needs).iter().copied().flatten().collect()
}

/// Checks that each flag has the other flag that it needs.
///
/// # Errors
/// The first flag that would be ignored, and the fix.
pub fn check(section: &Section, command: &str, given: &ArgMatches) -> Result<(), String> {
    let is_given = |flag: &str| {
        let known = given.try_contains_id(flag).unwrap_or(false);
        known && given.value_source(flag) == Some(ValueSource::CommandLine)
    };
    for Need { flag, other, values } in of(section, command) {
        // The processes' own check refuses draws of any kind.
        if !is_given(flag) || *flag == "draw" && is_given("processes") {
            continue;
        }
        let mut found = given.get_raw(other).into_iter().flatten();
        let has_it = match values.is_empty() {
            true => is_given(other),
            false => found.any(|value| values.iter().any(|wanted| value == *wanted)),
        };
        if !has_it {
            let wanted = format!("{} {}", long(other), values.join(" or "));
            let value =
                given.get_raw(flag).and_then(|mut values| values.next()).map(|value| value.to_string_lossy());
            let value =
                value.filter(|value| value != "true").map(|value| format!(" {value}")).unwrap_or_default();
            return Err(format!("{}{value}: it is for {} only; leave it out", long(flag), wanted.trim_end()));
        }
    }
    if *section == SWITCHES
        && command == "simulate"
        && is_given("trials")
        && let Some(flag) = DRAWN_BY_TRIALS.iter().find(|flag| is_given(flag))
    {
        return Err(format!("{}: the trials of --trials draw their own; leave it out", long(flag)));
    }
    Ok(())
}

fn long(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{emulate::Emulate, plan::Plan, simulate::Simulate};
    use crate::line::{ByNetwork, Entry};

    fn entries(command: &str) -> Vec<Entry> {
        match command {
            "plan" => Plan::entries(),
            "simulate" => Simulate::entries(),
            _ => Emulate::entries(),
        }
    }

    #[test]
    fn flags_without_what_they_need_are_refused() {
        for (section, line, refused) in [
            (&PEERS, "simulate --staleness 3", "--staleness 3: it is for --sync ssp only"),
            (&PEERS, "simulate --sync ssp --staleness 3", ""),
            (&PEERS, "simulate --sync ssp --rounds 3", "--rounds 3: it is for --sync bsp only"),
            (&PEERS, "simulate --rounds 3", ""),
            (&PEERS, "simulate --guard-all", "--guard-all: it is for --sync ssp only"),
            (&PEERS, "simulate --duration 3s", "--duration 3s: it is for --sync ssp"),
            (&PEERS, "simulate --draw fixed", "--draw fixed: it is for --scheme orpheus only"),
            (&PEERS, "emulate --first-pass-only", ""),
            (&PEERS, "emulate --schemes optimized,orpheus --first-pass-only", "--schemes selmcast only"),
            (&PEERS, "emulate --values 64", "--values 64: it is for --multicast switch only"),
            (&PEERS, "emulate --values 64 --multicast hosts,switch", ""),
            (&PEERS, "plan --first-pass-only", "--scheme selmcast only"),
            (&SITES, "plan --degree 3", "--degree 3: it is for --scheme bkt only"),
            (&SITES, "plan --scheme bkt --degree 3", ""),
            (&SITES, "simulate --default-rate 5Mbps", "--knowledge passive or uniform only"),
            (&SITES, "simulate --busy-bound 5", "--auxiliary edge-disjoint or node-disjoint only"),
            (&SITES, "simulate --auxiliary node-disjoint --busy-bound 5", ""),
            (&SITES, "emulate --python p", "--python p: it is for --schemes gloo only"),
            (&SITES, "emulate --schemes optimized,gloo --python p", ""),
            (&SITES, "emulate --default-rate 5Mbps", ""),
            (&SWITCHES, "simulate --first-seed 5", "--first-seed 5: it is for --trials only"),
            (&SWITCHES, "simulate --watch-every 1s", "--watch-every 1s: it is for --follow only"),
            (&SWITCHES, "simulate --trials 5 --rounds 3", "--rounds: the trials of --trials draw their own"),
            (&SWITCHES, "simulate --trials 5 --first-seed 3 --values 64 --target tofino2", ""),
        ] {
            let mut words = line.split_whitespace();
            let command = words.next().expect("a command");
            let entry = entries(command).into_iter().find(|entry| entry.section == section);
            let parser = entry.expect("an entry of the section").parser();
            let given = parser.try_get_matches_from(words).unwrap_or_else(|e| panic!("{line}: {e}"));
            match check(section, command, &given) {
                Ok(()) => assert_eq!(refused, "", "{line}"),
                Err(problem) => {
                    assert!(!refused.is_empty() && problem.contains(refused), "{line}: {problem}")
                }
            }
        }
    }
}
