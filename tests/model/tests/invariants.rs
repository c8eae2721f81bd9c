//! Every reachable state of small networks, in all of which the invariants hold.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test prints what it found, and may panic")]

use std::collections::BTreeSet;

use inart_model::{Config, Invariant, Verdict, explore};
use inart_p4::Outcome;

/// Small networks that between them have everything that may go wrong; none has fifty thousand states.
fn networks() -> Vec<(&'static str, Config)> {
    let two = Config { restart: true, ..Config::default() };
    let three = Config { workers: 3, ..two };
    let row = Config { workers: 3, switches: 2, ..Config::default() };
    vec![
        ("two workers", two),
        ("two workers, more chunks than the server keeps", Config { chunks: 5, ..two }),
        ("two workers, a chunk more than slots", Config { window: 2, chunks: 3, ..two }),
        ("three workers", three),
        ("three workers, two slots, two chunks", Config { window: 2, chunks: 2, restart: false, ..three }),
        ("three workers, one unsummed", Config { alone: true, chunks: 2, ..three }),
        ("two switches, two chunks", Config { restart: true, chunks: 2, ..row }),
        ("two switches, gradients summed once", Config { restart: true, alone: true, ..row }),
        ("a previous plan version", Config { old_plan_version: true, ..two }),
        ("a previous plan version, three workers", Config { old_plan_version: true, chunks: 2, ..three }),
        ("a run before", Config { rerun: true, chunks: 2, ..two }),
        ("a run before, three workers", Config { rerun: true, chunks: 1, restart: false, ..three }),
        ("a run before, scaled values", Config { rerun: true, scaled: 1, chunks: 2, restart: false, ..two }),
        ("a host is restarted", Config { reborn: true, chunks: 2, ..two }),
        (
            "a host is restarted, after a run before",
            Config { reborn: true, rerun: true, chunks: 1, restart: false, ..two },
        ),
        ("a shorter gradient", Config { shorter: true, ..two }),
        ("a shorter gradient, two switches", Config { shorter: true, chunks: 2, ..row }),
        (
            "a shorter gradient, gradients summed once",
            Config { shorter: true, chunks: 2, alone: true, ..three },
        ),
        ("a shorter gradient, two slots", Config { shorter: true, window: 2, ..Config::default() }),
        ("saturation", Config { saturation: true, ..three }),
        ("saturation, two switches", Config { saturation: true, chunks: 2, ..row }),
        ("scaled values", Config { scaled: 1, ..three }),
        ("floats", Config { floats: true, ..three }),
        ("floats, two switches, two slots", Config { floats: true, window: 2, chunks: 2, ..row }),
        ("floats, a host is restarted", Config { floats: true, reborn: true, chunks: 2, ..two }),
        ("floats, hosts move", Config { floats: true, moves: true, chunks: 1, ..two }),
        ("scaled values, two switches", Config { scaled: 1, chunks: 2, ..row }),
        ("scaled values, two tensors", Config { scaled: 2, chunks: 4, ..two }),
        ("scaled values, two tensors, two slots", Config { scaled: 2, chunks: 4, window: 2, ..two }),
        (
            "scaled values, three workers, two tensors, two slots",
            Config { scaled: 2, chunks: 4, window: 2, ..three },
        ),
        ("scaled values, repeats", Config { scaled: 1, waves: true, chunks: 2, ..two }),
        ("values that are not finite", Config { scaled: 2, chunks: 4, not_finite: true, ..two }),
        (
            "values that are not finite, three workers, two slots",
            Config { scaled: 1, window: 2, not_finite: true, ..three },
        ),
        ("scaled values, a previous plan version", Config { scaled: 1, old_plan_version: true, ..two }),
        ("repeats", Config { waves: true, chunks: 2, ..two }),
        ("repeats, two switches", Config { waves: true, switches: 2, chunks: 1, ..two }),
        ("repeats, three workers", Config { waves: true, chunks: 1, ..three }),
        ("a host fails", Config { crash: true, ..two }),
        ("a host fails, three workers, two chunks", Config { crash: true, chunks: 2, ..three }),
        ("a host fails, two slots", Config { crash: true, window: 2, ..two }),
        ("a host fails, scaled values", Config { crash: true, scaled: 1, window: 2, ..two }),
        ("hosts move, switches restart", Config { moves: true, chunks: 1, ..two }),
        ("hosts move, three workers", Config { moves: true, chunks: 1, restart: false, ..three }),
        ("hosts move, two switches", Config { moves: true, chunks: 1, ..row }),
        ("hosts move, two slots, one chunk", Config { moves: true, window: 2, chunks: 1, ..two }),
        ("hosts move, led by the server, one chunk", Config { moves: true, led: true, chunks: 1, ..two }),
        ("hosts move back and forth", Config { moves: true, undo: true, chunks: 1, ..two }),
        (
            "hosts migrate, and one fails",
            Config { moves: true, crash: true, chunks: 1, restart: false, ..two },
        ),
        ("hosts move, scaled values", Config { moves: true, scaled: 1, chunks: 2, restart: false, ..two }),
        (
            "all but a window",
            Config { old_plan_version: true, scaled: 1, saturation: true, crash: true, ..two },
        ),
    ]
}

/// Networks of about a hundred thousand states and more; `networks` has a smaller one like each.
fn large() -> Vec<(&'static str, Config)> {
    let two = Config { restart: true, ..Config::default() };
    let three = Config { workers: 3, ..two };
    let row = Config { workers: 3, switches: 2, ..Config::default() };
    vec![
        ("two workers, two chunks more than slots", Config { window: 2, chunks: 4, ..two }),
        ("three workers, two slots", Config { window: 2, chunks: 3, restart: false, ..three }),
        ("two switches", Config { restart: true, ..row }),
        ("a host fails, three workers", Config { crash: true, ..three }),
        ("hosts move", Config { moves: true, chunks: 2, restart: false, ..two }),
        ("hosts move, two slots", Config { moves: true, window: 2, chunks: 2, restart: false, ..two }),
        (
            "hosts move, led by the server",
            Config { moves: true, led: true, chunks: 2, restart: false, ..two },
        ),
    ]
}

/// Returns those in which sums go on.
fn of_onward() -> Vec<(&'static str, Config)> {
    let two = Config { restart: true, ..Config::default() };
    let three = Config { workers: 3, ..two };
    let row = Config { workers: 3, switches: 2, ..Config::default() };
    vec![
        ("sums go on", Config { onward: true, ..two }),
        ("sums go on, more chunks than the server keeps", Config { onward: true, chunks: 5, ..two }),
        ("sums go on, two slots", Config { onward: true, window: 2, chunks: 3, ..two }),
        ("sums go on, three workers", Config { onward: true, ..three }),
        ("sums go on, two switches", Config { onward: true, chunks: 2, restart: true, ..row }),
        (
            "sums go on, a previous plan version",
            Config { onward: true, old_plan_version: true, chunks: 2, ..two },
        ),
        (
            "sums go on, a host is restarted",
            Config { onward: true, reborn: true, chunks: 2, restart: false, ..two },
        ),
        ("sums go on, floats", Config { onward: true, floats: true, window: 2, ..two }),
        ("sums go on, scaled values", Config { onward: true, scaled: 2, chunks: 4, window: 2, ..two }),
        (
            "sums go on, values that are not finite",
            Config { onward: true, scaled: 1, window: 2, not_finite: true, ..two },
        ),
        ("larger job, repeats", Config { onward: true, waves: true, chunks: 1, ..two }),
        (
            "larger job, a host fails here or elsewhere",
            Config { onward: true, crash: true, chunks: 2, window: 2, ..two },
        ),
        ("sums go on, hosts move", Config { onward: true, moves: true, chunks: 1, ..two }),
    ]
}

#[test]
fn the_invariants_hold_in_every_reachable_state() {
    explore_all(networks().into_iter().chain(of_onward()));
}

#[test]
#[ignore = "soak: about 120 s"]
fn the_invariants_hold_in_every_reachable_state_of_large_networks() {
    explore_all(networks().into_iter().chain(large()).chain(of_onward()));
}

/// Explores the networks: no invariant is broken, every rule is followed in one of them.
fn explore_all(networks: impl Iterator<Item = (&'static str, Config)>) {
    let mut states = 0;
    let (mut outcomes, mut verdicts) = (BTreeSet::new(), BTreeSet::new());
    for (name, config) in networks {
        config.validate().unwrap();
        let report = explore(config, 2);
        println!("{:9} states: {name}", report.states);
        for (invariant, path) in &report.broken {
            println!("{}", invariant.words());
            path.iter().for_each(|action| println!("    {action:?}"));
        }
        assert!(report.broken.is_empty(), "{name}: {:?} broken", report.broken.keys());
        states += report.states;
        outcomes.extend(
            report.outcomes.iter().filter(|(_, times)| *times > 0).map(|(outcome, _)| outcome.index()),
        );
        verdicts.extend(report.verdicts.iter().filter(|(_, times)| *times > 0).map(|(verdict, _)| *verdict));
    }
    println!("{states:9} states in all");
    for outcome in Outcome::ALL {
        assert!(outcomes.contains(&outcome.index()), "{outcome} at a switch");
    }
    for verdict in Verdict::ALL {
        assert!(verdicts.contains(&verdict), "{verdict:?} at the server");
    }
}

/// Readers of docs/protocol/reliability.md read the invariants that are checked here.
#[test]
fn the_document_states_the_invariants_in_these_words() {
    let document = include_str!("../../../docs/protocol/reliability.md");
    let stated: Vec<String> = document
        .lines()
        .skip_while(|line| *line != "## Invariants")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| Some(line.split_once(". *")?.1.replacen('*', "", 1)))
        .collect();
    let (six, others) = Invariant::ALL.split_at(6);
    assert_eq!(stated, six.iter().map(|invariant| invariant.words()).collect::<Vec<_>>());
    for words in others.iter().map(|invariant| invariant.words()) {
        assert!(document.contains(words), "{words}");
    }
}
