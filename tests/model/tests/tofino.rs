//! Every reachable state of small networks whose switches follow the rules of Tofino's program, in all of
//! which the six invariants hold.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test prints what it found, and may panic")]

use std::collections::BTreeSet;

use inart_model::{Config, Marks, explore};
use inart_p4::Outcome;

/// Networks with marks that differ, that are all equal, and that equal that of an unused slot.
fn networks() -> Vec<(&'static str, Config)> {
    let apart = Config { tofino: Some(Marks::Apart), restart: true, ..Config::default() };
    let alike = Config { tofino: Some(Marks::Alike), ..apart };
    let zero = Config { tofino: Some(Marks::Zero), ..apart };
    let three = |config| Config { workers: 3, ..config };
    let row = |config| Config { switches: 2, chunks: 2, ..three(config) };
    // Frames between the passes make for many more states.
    let halves = |config: Config| Config { halves: true, restart: false, chunks: 2, ..config };
    vec![
        ("two workers", Config { chunks: 5, ..apart }),
        ("two workers, a mark of zero", zero),
        ("two workers, two chunks more than slots", Config { window: 2, chunks: 4, restart: false, ..alike }),
        ("three workers", three(apart)),
        ("two switches", row(apart)),
        ("two switches, a mark of zero", Config { chunks: 3, restart: false, ..row(zero) }),
        ("two switches, gradients summed once", Config { alone: true, ..row(apart) }),
        ("a previous plan version", Config { old_plan_version: true, ..apart }),
        ("a previous plan version of the same mark", Config { old_plan_version: true, ..alike }),
        ("a previous plan version, a mark of zero", Config { old_plan_version: true, ..zero }),
        (
            "a previous plan version of the same mark, two switches",
            Config { old_plan_version: true, chunks: 1, ..row(alike) },
        ),
        ("a run before", Config { rerun: true, chunks: 2, ..apart }),
        ("an earlier run of the same mark", Config { rerun: true, chunks: 2, ..alike }),
        ("a host is restarted", Config { reborn: true, chunks: 1, ..alike }),
        ("a shorter gradient, two switches", Config { shorter: true, ..row(alike) }),
        ("saturation", Config { saturation: true, chunks: 2, ..three(apart) }),
        ("saturation, two switches", Config { saturation: true, ..row(apart) }),
        ("scaled values", Config { scaled: 1, ..three(alike) }),
        ("repeats", Config { waves: true, chunks: 1, ..apart }),
        ("repeats, two switches", Config { waves: true, chunks: 1, switches: 2, ..apart }),
        ("repeats, three workers", Config { waves: true, chunks: 1, restart: false, ..three(alike) }),
        ("a host fails", Config { crash: true, ..alike }),
        ("hosts migrate", Config { moves: true, chunks: 1, ..alike }),
        ("larger job", Config { onward: true, chunks: 2, ..alike }),
        ("halves", halves(apart)),
        (
            "halves, a previous plan version of the same mark",
            halves(Config { old_plan_version: true, ..alike }),
        ),
        ("halves, restarts", Config { restart: true, ..halves(apart) }),
        ("halves, two switches, saturation", Config { saturation: true, chunks: 1, ..halves(row(alike)) }),
        ("halves, repeats", Config { halves: true, waves: true, chunks: 1, ..apart }),
        ("all", Config { old_plan_version: true, scaled: 1, saturation: true, crash: true, ..alike }),
    ]
}

#[test]
fn the_invariants_hold_in_every_reachable_state() {
    let mut states = 0;
    let mut outcomes = BTreeSet::new();
    for (name, config) in networks() {
        config.validate().unwrap();
        let report = explore(config, 2);
        println!("{:9} states: {name}", report.states);
        for (invariant, path) in &report.broken {
            println!("{}", invariant.words());
            path.iter().for_each(|action| println!("    {action:?}"));
        }
        assert!(report.broken.is_empty(), "{name}: {:?} broken", report.broken.keys());
        states += report.states;
        let counted = report.outcomes.iter().filter(|(_, times)| *times > 0);
        outcomes.extend(counted.map(|(outcome, _)| outcome.index()));
    }
    println!("{states:9} states in all");
    for outcome in Outcome::ALL {
        assert!(outcomes.contains(&outcome.index()), "{outcome} at a switch");
    }
}
