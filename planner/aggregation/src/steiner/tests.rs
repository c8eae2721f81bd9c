//! Compares bounds and trees with all possible trees, on small networks.

#![allow(clippy::unwrap_used)]

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::choices::Results;
use crate::model::{Arc, Model, NodeIx};
use crate::results::Trees;
use crate::routes::Rule;
use inart_topologies::switched::Topology;

#[allow(dead_code, reason = "it finds optima for other tests")]
#[path = "../../tests/brute/mod.rs"]
mod brute;

/// Returns the least cost of a set of arcs that reaches every worker, by trying all sets (of up to 14 arcs
/// that are not leaves).
fn least_cost(steiner: &Steiner<'_>, price: &[f64]) -> Option<f64> {
    let arcs: Vec<Arc> = steiner.arcs().collect();
    if arcs.len() > 14 {
        return None;
    }
    let cost = |set: u32| -> f64 {
        (0..arcs.len()).filter(|n| set >> n & 1 == 1).map(|n| price[arcs[n] as usize]).sum()
    };
    let works = |set: &u32| {
        let reached =
            steiner.reached(|arc| arcs.iter().position(|&a| a == arc).is_some_and(|n| set >> n & 1 == 1));
        steiner.terminals.iter().all(|&terminal| reached[terminal as usize])
    };
    let leaves: f64 = steiner.leaves.iter().map(|&arc| price[arc as usize]).sum();
    Some((0..1u32 << arcs.len()).filter(works).map(cost).fold(f64::INFINITY, f64::min) + leaves)
}

#[test]
fn no_tree_costs_less_than_the_ascent_says_and_few_trees_cost_more() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut compared, mut tight, mut best, mut nearest) = (0, 0, 0, 0);
    let mut ascent = Ascent::default();
    for seed in 0..200 {
        let size = brute::Size { switches: 4, workers: 4, servers: 2 };
        let topology = Topology::from_yaml(&brute::network(seed, &size, 1)).unwrap();
        let model = Model::new(&topology, &topology.jobs()[0], Results::Counted);
        for (s, &server) in model.servers.iter().enumerate() {
            let Some(steiner) = Steiner::new(&model, server, |_| true) else { continue };
            let price: Vec<f64> = (0..model.arcs()).map(|_| f64::from(rng.random_range(0..5))).collect();
            let Some(least) = least_cost(&steiner, &price) else { continue };
            let bound = ascent.bound(&steiner, &price);
            let mut tree = Vec::new();
            ascent.tree(&steiner, &price, &mut tree);
            let cost: f64 = tree.iter().map(|&arc| price[arc as usize]).sum();
            let reached = steiner.reached(|arc| tree.contains(&arc));
            assert!(steiner.terminals.iter().all(|&terminal| reached[terminal as usize]), "seed {seed}");
            assert!(bound <= least + 1e-9 && least <= cost + 1e-9, "seed {seed}: {bound} {least} {cost}");
            let grown = Trees::new(&model, Rule::Any).grow(s, &[], |arc| price[arc as usize]);
            let cost_grown: f64 = grown.iter().map(|&arc| price[arc as usize]).sum();
            assert!(cost_grown >= least - 1e-9, "seed {seed}: {cost_grown}, {least}");
            nearest += u32::from(cost_grown < least + 1e-9);
            compared += 1;
            tight += u32::from(bound > least - 1e-9);
            best += u32::from(cost < least + 1e-9);
        }
    }
    eprintln!(
        "{compared} compared, {tight} bounds and {best} trees are as good as can be, and {nearest} grown by the nearest"
    );
    assert!(compared >= 100 && 10 * tight >= 9 * compared && 10 * best >= 9 * compared);
    assert!(10 * nearest >= 8 * compared, "{nearest} of {compared}");
}

#[test]
fn flows_and_cuts_are_equal() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut limited = 0;
    let mut flow = Flow::default();
    for seed in 0..200 {
        let size = brute::Size { switches: 6, workers: 4, servers: 1 };
        let topology = Topology::from_yaml(&brute::network(seed, &size, 2)).unwrap();
        let model = Model::new(&topology, &topology.jobs()[0], Results::Counted);
        let Some(steiner) = Steiner::new(&model, model.servers[0], |_| true) else { continue };
        let capacity: Vec<f64> = (0..model.arcs()).map(|_| f64::from(rng.random_range(0..4))).collect();
        for &terminal in &steiner.terminals {
            let of = |arc: Arc| capacity[arc as usize];
            flow.clear(&steiner);
            // In two steps, as planning does it.
            flow.raise(&steiner, terminal, 9.0, |arc| 0.5 * of(arc));
            let value = flow.raise(&steiner, terminal, 9.0, of);
            let nodes = 0..model.topology.nodes().len() as NodeIx;
            for node in nodes.filter(|&node| node != terminal && node != steiner.root) {
                let into: f64 = steiner.arcs_in(node).map(|(arc, _)| flow.on(arc)).sum();
                let out: f64 = steiner.arcs_out(node).map(|(arc, _)| flow.on(arc)).sum();
                assert!((into - out).abs() < 1e-9, "seed {seed}");
            }
            assert!(
                (0..model.arcs() as Arc).all(|arc| flow.on(arc) <= of(arc) + 1e-9 && flow.on(arc) >= -1e-9)
            );
            if value < 9.0 - 1e-9 {
                let cut = flow.cut(&steiner, terminal, of);
                let through: f64 = cut.iter().map(|&arc| of(arc)).sum();
                assert!((through - value).abs() < 1e-9, "seed {seed}: {value} through {through}");
                assert!(!steiner.reached(|arc| !cut.contains(&arc))[terminal as usize]);
                limited += 1;
            }
        }
    }
    assert!(limited > 100, "{limited}");
}
