//! A bound from whole units: the capacity of links, switches and servers for flows that cannot be split.
//!
//! At rates F, link e carries n(s, e) units of shard s: whole numbers with sum_s F_s n(s, e) <= B(e). So does
//! a server its units, and a switch the members of its groups. Let pi(s, e) >= 0 price every unit of shard s
//! on e, and let u(s, w) reward every worker. In any plan the rewards are earned by direct flows, none of
//! which costs less than its reward, and by groups; and the payment of all units is at most that of the best
//! whole units on every capacity. Hence
//!
//! ```text
//! sum_{s,w} u(s, w) <= sum_v max { worth of groups that fit C(v) }
//! + sum_e max { sum_s pi(s, e) n_s : n fits B(e) }
//! ```
//!
//! where a group of shard s at v is worth the rewards of its members, less the cheapest paths to v and one
//! from v to the server. If results count, n(s, e) includes them, and a tree of each shard pays for its
//! links: the left side then has sum_s t(s) too, with t(s) at most the cost of any tree of s (Wong's dual
//! ascent). Prices for which this fails prove that no plan exists at rates F, nor at any higher ones: with
//! all F_s lower, a placement only fits better. The inequality is checked from the prices alone, so no
//! solver's tolerance enters the proof. docs/explanation/bounds.md has it in full, and a comparison.

mod ascent;
mod cover;
mod fill;
mod prices;
mod proof;

use crate::model::Model;
use crate::router::Router;

use ascent::Ascent;
use prices::Network;
use proof::{FIRST, Proof};

/// Limit on iterations, and on priced arcs, which is the limit on larger networks (at about 4 ns each).
const LOOKS: usize = 20_000;
const ARCS: usize = 1_000_000_000;
/// Cost factor of an arc if any path is allowed.
const DETOURS: usize = 4;
/// Cost factor of a tree of results.
const TREES: usize = 40;

/// Returns an upper bound on every plan's rate, no higher than `bound`; stops tightening at `goal`, or once
/// no time is left.
pub(crate) fn bound(
    model: &Model<'_>,
    router: &Router<'_>,
    equal: bool,
    goal: f64,
    bound: f64,
    time_left: &dyn Fn() -> f64,
) -> f64 {
    let servers = model.servers.len();
    let network = Network::new(router, &router.widest().dags);
    // Dijkstra's algorithm takes longer than one pass over a list.
    let each = if router.detours() { DETOURS } else { 1 };
    let trees = if network.trees.is_empty() { 0 } else { TREES };
    let arcs = (each * (network.racks.len() + 1) + trees) * servers * model.arcs();
    let looks = LOOKS.min(ARCS / arcs.max(1));
    if goal >= bound || looks < FIRST {
        return bound;
    }
    let mut proof = Proof { network: &network, ascent: Ascent::new(&network), looks, last: None, time_left };
    if equal || servers == 1 {
        let even = vec![1.0 / servers as f64; servers];
        if !router.detours() {
            return proof.along(&even, goal, bound, None);
        }
        // Prices over shortest paths are found sooner, and mostly hold over all, or nearly.
        let near = Network::new(router, &router.dags);
        let mut first = Proof { network: &near, ascent: Ascent::new(&near), looks, last: None, time_left };
        let guess = first.along(&even, goal, bound, None);
        proof.last = first.last;
        return proof.along(&even, goal, bound, Some(guess));
    }
    cover::bound(&mut proof, &crate::bounds::alone(model), goal, bound)
}

#[cfg(test)]
mod tests;
