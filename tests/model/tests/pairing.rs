//! Pairing of tensors by transcripts: every reachable state of small jobs, and every mistake caught.

#![allow(clippy::print_stdout, reason = "a test prints what it found")]

use inart_model::pairing::{Config, Invariant, Mutant, explore};

const THREE: Config = Config { workers: 3, steps: 4, flight: 1, skips: 1 };
const REALIGNED: Config = Config { workers: 2, steps: 5, flight: 1, skips: 2 };

#[test]
fn a_skipped_tensor_ends_the_job_and_nothing_else_does() {
    for config in [
        THREE,
        REALIGNED,
        Config { flight: 2, ..REALIGNED },
        Config { workers: 2, steps: 9, flight: 2, skips: 1 },
        Config { workers: 3, steps: 3, flight: 2, skips: 1 },
    ] {
        let (states, broken) = explore(config, None);
        println!("{config:?}: {states} states");
        assert!(broken.is_empty(), "{config:?}: {broken:?}");
        assert!(states > 1000, "{config:?}: only {states} states");
    }
}

#[test]
fn every_mistake_in_pairing_is_caught() {
    let mut survivors = Vec::new();
    for (mutant, invariant) in Mutant::ALL {
        let config = if mutant == Mutant::ForgetsHistory { REALIGNED } else { THREE };
        let (states, broken) = explore(config, Some(mutant));
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
