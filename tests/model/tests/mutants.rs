//! Every mistake breaks the invariant that it should.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test prints what it found, and may panic")]

use inart_model::{Mutant, search};

#[test]
fn every_mutant_is_caught() {
    let mut survivors = Vec::new();
    for (mutant, invariant, config) in Mutant::all() {
        let report = search(config, mutant, invariant);
        let broken: Vec<_> = report.broken.keys().collect();
        println!("{mutant:?}: breaks {broken:?} ({} states)", report.states);
        match report.broken.get(&invariant) {
            Some(path) => path.iter().for_each(|action| println!("    {action:?}")),
            None => survivors.push(format!("{mutant:?} does not break {invariant:?}, only {broken:?}")),
        }
    }
    assert!(survivors.is_empty(), "mutants survive:\n{}", survivors.join("\n"));
}
