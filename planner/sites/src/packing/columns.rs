//! Columns of the program: spanning arborescences, and the cheapest ones at given prices of arcs.

use std::collections::VecDeque;

use super::arborescence::{Cost, min_cost_arborescence};

/// Direction of an arborescence: results of all sites to the root, or the sum from the root to all sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    In,
    Out,
}

/// Both directions, in the order in which columns are made.
pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::In, Direction::Out];

/// Spanning arborescence; one unit of its weight uses one unit of each of its arcs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Column {
    pub direction: Direction,
    /// Site of the root.
    pub root: usize,
    /// Arc between each site and its parent, by site; `None` at the root.
    pub to_parent: Vec<Option<usize>>,
}

impl Column {
    /// Returns the arcs, by position.
    pub fn arcs(&self) -> impl Iterator<Item = usize> {
        self.to_parent.iter().copied().flatten()
    }

    /// Returns the cost of one unit at these prices of arcs.
    pub fn cost(&self, prices: &[f64]) -> f64 {
        self.arcs().map(|arc| prices[arc]).sum()
    }
}

/// Strongly connected digraph, and its reverse.
pub(crate) struct Graph {
    pub sites: usize,
    /// Capacity of each arc, in units.
    pub capacities: Vec<f64>,
    /// (tail, head) of each arc.
    pub arcs: Vec<(usize, usize)>,
    /// (head, tail) of each arc.
    reversed: Vec<(usize, usize)>,
    /// Fewest arcs between root and site: `[direction][root][site]`.
    hops: [Vec<Vec<f64>>; 2],
}

impl Graph {
    /// Creates a graph. `capacities` has one entry per arc; `None` if the graph is not strongly connected.
    pub fn new(sites: usize, arcs: Vec<(usize, usize)>, capacities: Vec<f64>) -> Option<Self> {
        let reversed: Vec<(usize, usize)> = arcs.iter().map(|&(tail, head)| (head, tail)).collect();
        let hops_over = |arcs: &[(usize, usize)]| (0..sites).map(|root| hops(sites, arcs, root)).collect();
        let hops: [Vec<Vec<f64>>; 2] = [hops_over(&reversed), hops_over(&arcs)];
        let connected = hops.iter().flatten().flatten().all(|hops| hops.is_finite());
        connected.then_some(Graph { sites, capacities, arcs, reversed, hops })
    }

    /// Returns the arcs as (parent, child) of an arborescence.
    fn ends(&self, direction: Direction) -> &[(usize, usize)] {
        match direction {
            Direction::In => &self.reversed,
            Direction::Out => &self.arcs,
        }
    }

    /// Returns the parent of each site.
    pub fn parents(&self, column: &Column) -> Vec<Option<usize>> {
        let ends = self.ends(column.direction);
        column.to_parent.iter().map(|arc| arc.map(|arc| ends[arc].0)).collect()
    }

    /// Returns the maximum number of arcs between the root and a site.
    pub fn height(&self, column: &Column) -> u32 {
        let parents = self.parents(column);
        let depth = |mut site: usize| {
            let mut depth = 0;
            while let Some(parent) = parents[site] {
                (site, depth) = (parent, depth + 1);
            }
            depth
        };
        (0..self.sites).map(depth).max().unwrap_or_default()
    }

    /// Returns the arborescence of least cost, where `per_hop` is the price of an arc for each hop between
    /// the root and the arc's parent; among equal costs, one whose parents are near the root.
    pub fn cheapest(
        &self,
        direction: Direction,
        root: usize,
        prices: &[f64],
        per_hop: f64,
    ) -> Option<Column> {
        let (ends, hops) = (self.ends(direction), &self.hops[direction as usize][root]);
        let cost = |(&(parent, _), &price): (&(usize, usize), &f64)| -> Cost {
            (price + per_hop * hops[parent], hops[parent])
        };
        let costs: Vec<Cost> = ends.iter().zip(prices).map(cost).collect();
        let to_parent = min_cost_arborescence(self.sites, ends, &costs, root)?;
        Some(Column { direction, root, to_parent })
    }

    /// Returns the cheapest arborescences at these prices, with their costs, by root, first in, then out.
    pub fn offers(&self, prices: &[f64], per_hop: f64) -> Vec<(Column, f64)> {
        let each = (0..self.sites).flat_map(|root| DIRECTIONS.map(|direction| (direction, root)));
        each.filter_map(|(direction, root)| {
            let column = self.cheapest(direction, root, prices, per_hop)?;
            let cost = column.cost(prices);
            Some((column, cost))
        })
        .collect()
    }
}

/// Returns the fewest arcs from the root to each site; infinity if no path exists.
fn hops(sites: usize, arcs: &[(usize, usize)], root: usize) -> Vec<f64> {
    let mut next = vec![Vec::new(); sites];
    for &(tail, head) in arcs {
        next[tail].push(head);
    }
    let mut hops = vec![f64::INFINITY; sites];
    hops[root] = 0.0;
    let mut open = VecDeque::from([root]);
    while let Some(site) = open.pop_front() {
        for &head in &next[site] {
            if hops[head].is_infinite() {
                hops[head] = hops[site] + 1.0;
                open.push_back(head);
            }
        }
    }
    hops
}
