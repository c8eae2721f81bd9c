//! The rendezvous of an elastic job: every reachable state of small ones, and every mistake caught.

#![allow(clippy::print_stdout, reason = "a test prints what it found")]

use inart_model::rendezvous::{Config, Invariant, Mutant, explore};

const TWO: Config = Config { workers: 2, tensors: 3, margin: 1, death: false };

#[test]
fn views_end_at_a_stop_point_and_no_worker_waits_forever() {
    for config in [
        TWO,
        Config { death: true, ..TWO },
        Config { margin: 2, ..TWO },
        Config { workers: 3, tensors: 2, ..TWO },
        Config { workers: 3, tensors: 2, death: true, ..TWO },
    ] {
        let (states, broken) = explore(config, None);
        println!("{config:?}: {states} states");
        assert!(broken.is_empty(), "{config:?}: {broken:?}");
        assert!(states > 1000, "{config:?}: only {states} states");
    }
}

#[test]
fn every_mistake_is_caught() {
    let mut survivors = Vec::new();
    for (mutant, invariant) in Mutant::ALL {
        let (states, broken) = explore(Config { death: true, ..TWO }, Some(mutant));
        println!("{mutant:?}: {states} states");
        for (invariant, path) in &broken {
            println!("  breaks {invariant:?}: {path:?}");
        }
        if !broken.iter().any(|(broken, _)| *broken == invariant) {
            let others: Vec<Invariant> = broken.into_iter().map(|(broken, _)| broken).collect();
            survivors.push(format!("{mutant:?} does not break {invariant:?}, only {others:?}"));
        }
    }
    assert!(survivors.is_empty(), "mistakes survive:\n{}", survivors.join("\n"));
}
