//! Damaged documents: reading, planning and checking them ends in a result or an error, never in a panic.

#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{Options, Plan, check, plan, schemes};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, leaf_spine};
use inart_topologies::switched::import::{Imported, import};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::imported::{SAMPLES, options};

/// Words of careless or hostile documents.
const WORDS: [&str; 24] = [
    "NaN", "-1", "0", "1e400", "1e-300", "1e300", ".inf", "null", "~", "[", "]", "{", "}", "\"", ":", ",",
    "- ", "&a", "*a", "!!int", "\n", "s0", "v0", "\u{0}",
];

/// One hit on a text.
#[derive(Debug, Clone)]
enum Damage {
    Write(Index, &'static str),
    Replace(Index, &'static str),
    Cut(Index, Index),
    Repeat(Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let word = prop::sample::select(WORDS.as_slice());
    prop_oneof![
        1 => (any::<Index>(), word.clone()).prop_map(|(at, word)| Damage::Write(at, word)),
        3 => (any::<Index>(), word).prop_map(|(at, word)| Damage::Replace(at, word)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Cut(from, to)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Repeat(from, to)),
    ]
}

/// Returns the words and separators of a text.
fn tokens(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    let word = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(end);
        all.push(token);
        rest = after;
    }
    all
}

fn damaged(text: &str, hits: &[Damage]) -> String {
    let mut all = tokens(text);
    for hit in hits {
        if all.is_empty() {
            break;
        }
        let length = all.len();
        let at = |index: &Index| index.index(length);
        match hit {
            Damage::Write(place, word) => all.insert(at(place), word),
            Damage::Replace(place, word) => {
                // Prefer a word or number: damaged text that still parses is more interesting.
                let place = at(place);
                let found = (place..all.len()).find(|&i| all[i].starts_with(char::is_alphanumeric));
                all[found.unwrap_or(place)] = word;
            }
            Damage::Cut(from, to) => drop(all.drain(at(from).min(at(to))..at(from).max(at(to)))),
            Damage::Repeat(from, to) => {
                let part = all[at(from).min(at(to))..at(from).max(at(to))].to_vec();
                let end = at(to);
                all.splice(end..end, part);
            }
        }
    }
    all.concat()
}

fn network() -> Topology {
    let equipment = Equipment {
        servers: 2,
        workers: 4,
        rate_bps: 6e6,
        aggregation_bps: 5e6,
        ingress_bps: 4e6,
        delay_seconds: 1e-5,
        gradient_bytes: 1_000_000,
        seed: 1,
    };
    leaf_spine(2, 2, 4, &equipment).unwrap()
}

/// Enough of planning to touch every number of a document, without the long searches.
fn plan_and_check(topology: &Topology) {
    let now = || 0.0;
    for job in topology.jobs() {
        for scheme in [schemes::LBMM, schemes::ATP_UNLIMITED, schemes::INART, schemes::OPTIMIZED] {
            let options = Options { time_left: &now, ..Options::new(scheme) };
            if let Ok(plan) = plan(topology, job, &options) {
                let _ = check(topology, &plan);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn damaged_topologies(hits in prop::collection::vec(damage(), 1..4), json: bool) {
        let network = network();
        let text = if json { network.to_json() } else { network.to_yaml() };
        if let Ok(topology) = Topology::from_yaml(&damaged(&text, &hits)) {
            plan_and_check(&topology);
        }
    }

    #[test]
    fn damaged_imports(which in 0usize..5, hits in prop::collection::vec(damage(), 1..4)) {
        let (_, format, text) = SAMPLES[which];
        if let Ok(Imported { topology, .. }) = import(&damaged(text, &hits), format, &options()) {
            let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::LBMM)).unwrap();
            prop_assert_eq!(check(&topology, &plan), Ok(()));
        }
    }

    #[test]
    fn damaged_plans(hits in prop::collection::vec(damage(), 1..4)) {
        let network = network();
        let good = plan(&network, &network.jobs()[0], &Options::new(schemes::INART)).unwrap();
        if let Ok(read) = Plan::from_json(&damaged(&good.to_json(), &hits)) {
            let found = check(&network, &read);
            // If no finding is reported, the damage may only concern values without constraints.
            if found.is_ok() {
                let same = Plan { seed: good.seed, solve_ms: good.solve_ms, bounds: good.bounds.clone(),
                    scheme: good.scheme.clone(), violation: good.violation.clone(), load: good.load.clone(),
                    ..read };
                prop_assert_eq!(same.to_json(), good.to_json());
            }
        }
    }

    #[test]
    fn anything_at_all(text: String) {
        let _ = Topology::from_yaml(&text);
        let _ = Plan::from_json(&text);
    }
}
