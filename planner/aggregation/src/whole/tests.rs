//! Compares the bound with the integer program on random networks, and fills with all packings.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::bound;
use super::fill::{Fill, Worth};
use crate::bounds;
use crate::choices::{Paths, Results};
use crate::model::Model;
use crate::router::Router;
use crate::schemes::optimal::program::{self, Answer, Effort};
use crate::schemes::optimized::starts;
use crate::solve::feasible;
use inart_topologies::switched::Topology;

#[path = "../../tests/networks/mod.rs"]
mod networks;

const SEED: u64 = 11;
/// Small enough to be solved at once.
const EXACT: Effort = Effort { binaries: 150, nodes: 2000 };

/// Returns the bound of the last job, once with `squeeze` times the capacities, and its optimum; `None` if
/// that is unknown.
fn bound_and_optimum(text: &str, equal: bool, squeeze: f64, results: Results) -> Option<(f64, f64, f64)> {
    let topology = Topology::from_yaml(text).unwrap();
    let job = topology.jobs().last()?;
    let model = Model::new(&topology, job, results);
    let router = Router::new(&model, Paths::Any);
    feasible(&router).ok()?;
    let time = || f64::INFINITY;
    let Answer::Best { placement, proven: true } =
        program::solve(router.widest(), equal, 0.0, false, EXACT, &time)
    else {
        return None;
    };
    let optimum = starts::rate(&router, &placement, equal).rate;
    let closed = bounds::closed_form(&model, equal);
    let mut squeezed = Model::new(&topology, job, results);
    squeezed.capacity.iter_mut().for_each(|capacity| *capacity *= squeeze);
    let router = Router::new(&squeezed, Paths::Any);
    // A goal below the optimum, or a bound too low would not show.
    let found = bound(&squeezed, &router, equal, 0.6 * optimum, closed, &|| f64::INFINITY);
    Some((found, optimum, closed))
}

fn on_random_networks(cases: u32, test: impl Fn(&str, bool) -> Result<(), TestCaseError>) {
    let config =
        Config { cases, rng_seed: RngSeed::Fixed(SEED), failure_persistence: None, ..Config::default() };
    let drawn = (networks::document(), any::<bool>());
    if let Err(failure) = TestRunner::new(config).run(&drawn, |(text, equal)| test(&text, equal)) {
        panic!("{failure}");
    }
}

#[test]
fn no_optimum_is_above_the_bound() {
    compare(Results::Ignored, 24);
}

#[test]
fn no_optimum_is_above_the_bound_where_results_count() {
    compare(Results::Counted, 24);
}

#[test]
#[ignore = "soak: about 80 s"]
fn no_optimum_of_120_networks_is_above_the_bound() {
    compare(Results::Ignored, 120);
    compare(Results::Counted, 120);
}

fn compare(results: Results, cases: u32) {
    let [solved, overrated, tightened, met] = [(); 4].map(|()| Cell::new(0));
    on_random_networks(cases, |text, equal| {
        let Some((found, optimum, closed)) = bound_and_optimum(text, equal, 1.0, results) else {
            return Ok(());
        };
        prop_assert!(optimum <= found * (1.0 + 1e-7), "{optimum} is above the bound {found}\n{text}");
        prop_assert!(found <= closed);
        solved.set(solved.get() + 1);
        if closed > optimum * 1.01 {
            overrated.set(overrated.get() + 1);
            tightened.set(tightened.get() + u32::from(found < closed * 0.99));
            met.set(met.get() + u32::from(found < optimum * 1.01));
        }
        Ok(())
    });
    let [solved, overrated, tightened, met] = [solved, overrated, tightened, met].map(Cell::into_inner);
    eprintln!(
        "results {results}: {solved} solved, of which the closed form overrates {overrated} by 1 % and more: \
         {tightened} bounds are lower by that, {met} within 1 % of the optimum"
    );
    assert!(solved > cases / 3 && tightened > cases / 12, "{solved} solved, {tightened} tightened");
}

/// The test above would notice units that count for more than they are.
#[test]
fn a_bound_that_takes_capacities_too_low_is_caught() {
    is_caught(16);
}

#[test]
#[ignore = "soak: about 10 s"]
fn a_bound_that_takes_capacities_too_low_is_caught_in_forty_networks() {
    is_caught(40);
}

fn is_caught(cases: u32) {
    let (solved, caught) = (Cell::new(0), Cell::new(0));
    on_random_networks(cases, |text, equal| {
        if let Some((found, optimum, _)) = bound_and_optimum(text, equal, 0.97, Results::Counted) {
            solved.set(solved.get() + 1);
            caught.set(caught.get() + u32::from(optimum > found * (1.0 + 1e-7)));
        }
        Ok(())
    });
    let [solved, caught] = [solved, caught].map(Cell::into_inner);
    assert!(caught > cases / 10, "caught in {caught} of {solved} networks");
}

/// Tries all packings, one shard after the other.
fn brute_force(shards: &[(usize, Worth)], sending: &[f64], left: f64) -> f64 {
    let Some(((s, worth), rest)) = shards.split_first() else { return 0.0 };
    let value = |n: usize| match worth {
        _ if n == 0 => 0.0,
        Worth::Each(price) => price * n as f64,
        Worth::Table(values) => values[n.min(values.len()) - 1],
    };
    let most = (left / sending[*s] * (1.0 + 1e-12)) as usize;
    let with = |n: usize| value(n) + brute_force(rest, sending, left - n as f64 * sending[*s]);
    (0..=most).map(with).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn fills_are_the_best_there_are() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut exact = 0;
    for _ in 0..2000 {
        let shards = rng.random_range(1..=4);
        let sending: Vec<f64> = (0..shards).map(|_| f64::from(rng.random_range(2..9)) / 4.0).collect();
        let worth = |rng: &mut ChaCha8Rng| {
            if rng.random() {
                return Worth::Each(rng.random_range(0.1..2.0));
            }
            let mut value = rng.random_range(-2.0..0.0);
            let rise = |_| {
                value += rng.random_range(0.1..1.0);
                value
            };
            Worth::Table((0..4).map(rise).collect())
        };
        let shards = (0..shards).map(|s| (s, worth(&mut rng))).collect();
        let capacity = f64::from(rng.random_range(1..32)) / 4.0;
        let fill = Fill { resource: 0, capacity, shards };
        let best = brute_force(&fill.shards, &sending, capacity);
        let mut units = vec![0; sending.len()];
        let most = fill.fill(&sending, |s, n| units[s] = n);
        assert!(most >= best - 1e-9, "{most} for {best}: {fill:?} at {sending:?}");
        exact += usize::from(most <= best + 1e-9);
        let used: f64 = units.iter().zip(&sending).map(|(&n, f)| n as f64 * f).sum();
        assert!(used <= capacity * (1.0 + 1e-6));
    }
    // All except those with too many packings.
    assert!(exact > 1900, "{exact}");
}
