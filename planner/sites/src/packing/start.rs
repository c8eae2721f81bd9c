//! Initial columns.

use super::columns::{Column, DIRECTIONS, Graph};

/// Number of arborescences in and out for each root.
const PASSES: usize = 10;
/// Exponent of an arc's load in its price.
const POWER: i32 = 4;
/// Price of an arc without load, as a fraction of the price of the most loaded one.
const FLOOR: f64 = 1e-3;
/// Price of a hop between the root and an arc's parent, as a fraction of the mean price of arcs.
const PER_HOP: f64 = 0.5;

/// Returns arborescences of every root in both directions, in sequence, each the cheapest at prices that grow
/// with the load of the previous ones, relative to capacity. In the manner of multiplicative weights
/// (Plotkin, Shmoys and Tardos 1995, Garg and Koenemann 1998); no guarantee is needed here. Started from
/// these, the restricted program is often optimal at once, whereas from shortest paths alone dense networks
/// with uniform rates take a hundred times longer.
pub(crate) fn columns(graph: &Graph) -> Vec<Column> {
    let mut load = vec![0.0; graph.arcs.len()];
    let mut columns = Vec::new();
    for _ in 0..PASSES {
        for (root, direction) in (0..graph.sites).flat_map(|root| DIRECTIONS.map(|way| (root, way))) {
            let used: Vec<f64> =
                load.iter().zip(&graph.capacities).map(|(load, capacity)| load / capacity).collect();
            let most = used.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let price = |(used, capacity): (&f64, &f64)| ((used / most).powi(POWER) + FLOOR) / capacity;
            let prices: Vec<f64> = used.iter().zip(&graph.capacities).map(price).collect();
            let mean = prices.iter().sum::<f64>() / prices.len() as f64;
            if let Some(column) = graph.cheapest(direction, root, &prices, PER_HOP * mean) {
                column.arcs().for_each(|arc| load[arc] += 1.0);
                columns.push(column);
            }
        }
    }
    columns
}
