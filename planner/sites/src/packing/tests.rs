use proptest::prelude::*;

use super::arborescence::{Cost, min_cost_arborescence};
use super::{PackedTree, Packing, pack};

/// Links of the nine-site overlay, numbered from 1.
const LINKS: [(usize, usize); 13] =
    [(1, 2), (1, 3), (2, 3), (2, 5), (3, 4), (4, 5), (4, 6), (5, 7), (6, 7), (6, 8), (6, 9), (7, 8), (8, 9)];

type Arcs = (Vec<(usize, usize)>, Vec<f64>);

/// Converts links `(a, b, a to b, b to a)` to arcs with rates.
fn duplex(links: impl IntoIterator<Item = (usize, usize, f64, f64)>) -> Arcs {
    links.into_iter().flat_map(|(a, b, out, back)| [((a, b), out), ((b, a), back)]).unzip()
}

/// Whether every site's path along `next` ends at the root.
fn spans(root: usize, next: &[Option<usize>]) -> bool {
    next[root].is_none()
        && (0..next.len()).all(|site| {
            let way = std::iter::successors(Some(site), |&site| next[site]);
            way.take(next.len()).any(|site| site == root)
        })
}

/// Returns the least rate out of any proper non-empty set of sites.
fn least_cut(sites: usize, (arcs, rates): &Arcs) -> f64 {
    let cut = |set: usize| -> f64 {
        let leaves = |&(tail, head): &(usize, usize)| set >> tail & 1 == 1 && set >> head & 1 == 0;
        arcs.iter().zip(rates).filter(|(arc, _)| leaves(arc)).map(|(_, rate)| rate).sum()
    };
    (1..(1 << sites) - 1).map(cut).fold(f64::INFINITY, f64::min)
}

/// Returns the minimum over partitions of the sites of the rate between parts over twice the number of parts
/// minus one.
fn least_partition(sites: usize, (arcs, rates): &Arcs) -> f64 {
    let mut parts = vec![vec![0]];
    for _ in 1..sites {
        let grow = |parts: Vec<usize>| {
            let count = parts.iter().max().map_or(0, |most| most + 1);
            (0..=count).map(move |part| parts.iter().copied().chain([part]).collect())
        };
        parts = parts.into_iter().flat_map(grow).collect();
    }
    let value = |part: &Vec<usize>| {
        let count = part.iter().max().map_or(0, |most| most + 1);
        let between = arcs.iter().zip(rates).filter(|((tail, head), _)| part[*tail] != part[*head]);
        between.map(|(_, rate)| rate).sum::<f64>() / (2 * count.max(1) - 2) as f64
    };
    parts.iter().filter(|part| part.iter().any(|&part| part > 0)).map(value).fold(f64::INFINITY, f64::min)
}

/// Packs, and checks all guarantees of a packing.
fn checked(sites: usize, overlay: &Arcs) -> Packing {
    let (arcs, rates) = overlay;
    let packing = pack(sites, arcs, rates).unwrap();
    let mut load = vec![0.0; arcs.len()];
    let mut carry = |tail: usize, head: usize, rate: f64| {
        load[arcs.iter().position(|&arc| arc == (tail, head)).unwrap()] += rate;
    };
    for PackedTree { root, up, down, rate_bps } in &packing.trees {
        assert!(*rate_bps > 0.0 && spans(*root, up) && spans(*root, down));
        for site in 0..sites {
            up[site].into_iter().for_each(|next| carry(site, next, *rate_bps));
            down[site].into_iter().for_each(|parent| carry(parent, site, *rate_bps));
        }
    }
    for (load, rate) in load.iter().zip(rates) {
        assert!(*load <= rate * (1.0 + 1e-6), "{load} on {rate}");
    }
    let sum: f64 = packing.trees.iter().map(|tree| tree.rate_bps).sum();
    assert!((sum - packing.rate_bps).abs() <= 1e-9 * sum);
    assert!(packing.bound_bps >= packing.rate_bps);
    // As many trees may be omitted, each of a millionth of the rate at most.
    let gap = 1e-6 * (sites + arcs.len()) as f64;
    assert!(packing.rate_bps >= packing.bound_bps * (1.0 - gap), "{packing:?}");
    packing
}

fn assert_rate(packing: &Packing, expected: f64) {
    assert!((packing.rate_bps / expected - 1.0).abs() < 1e-6, "{} for {expected}", packing.rate_bps);
}

/// Returns the least cost over all spanning choices of one arc into each node.
fn brute_force(nodes: usize, arcs: &[(usize, usize)], costs: &[Cost], root: usize) -> Option<Cost> {
    let into: Vec<Vec<usize>> = (0..nodes)
        .filter(|&node| node != root)
        .map(|node| (0..arcs.len()).filter(|&arc| arcs[arc].1 == node).collect())
        .collect();
    let mut least: Option<Cost> = None;
    for mut choice in 0..into.iter().map(Vec::len).product() {
        let mut parents = vec![None; nodes];
        let mut cost = (0.0, 0.0);
        for options in &into {
            let arc = options[choice % options.len()];
            choice /= options.len();
            parents[arcs[arc].1] = Some(arcs[arc].0);
            cost = (cost.0 + costs[arc].0, cost.1 + costs[arc].1);
        }
        if spans(root, &parents) && least.is_none_or(|least| cost < least) {
            least = Some(cost);
        }
    }
    least
}

/// Digraphs of 2 to 5 nodes, with costs that often tie.
fn digraph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>, Vec<Cost>)> {
    let arc = |nodes| ((0..nodes, 0..nodes), (0_u8..6, 0_u8..4));
    let arcs = move |nodes| (Just(nodes), prop::collection::vec(arc(nodes), 0..13));
    (2_usize..6).prop_flat_map(arcs).prop_map(|(nodes, arcs)| {
        let cost = |(first, second)| (f64::from(first), f64::from(second));
        let (arcs, costs) = arcs.into_iter().map(|(arc, costs)| (arc, cost(costs))).unzip();
        (nodes, arcs, costs)
    })
}

/// Overlays of 2 to 6 sites: a ring and more links; rates in bit/s, symmetric or not.
fn overlay(symmetric: bool, rates: std::ops::Range<f64>) -> impl Strategy<Value = (usize, Arcs)> {
    let ends = |sites| (prop::collection::vec((0..sites, 0..sites), 0..9), Just(sites));
    let rate = prop::collection::vec((rates.clone(), rates), 15);
    ((2_usize..7).prop_flat_map(ends), rate).prop_map(move |((more, sites), rates)| {
        let ring = (0..sites).map(|site| (site, (site + 1) % sites));
        let mut links: Vec<(usize, usize)> =
            ring.chain(more).filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        links.sort_unstable();
        links.dedup();
        let both = |(a, b): (f64, f64)| if symmetric { (a, a) } else { (a, b) };
        let rates = rates.into_iter().map(both);
        (sites, duplex(links.into_iter().zip(rates).map(|((a, b), (out, back))| (a, b, out, back))))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn arborescences_cost_least((nodes, arcs, costs) in digraph(), root in 0_usize..5) {
        let root = root % nodes;
        let found = min_cost_arborescence(nodes, &arcs, &costs, root);
        let cost = found.map(|chosen| {
            let parents: Vec<_> = chosen.iter().map(|arc| arc.map(|arc| arcs[arc].0)).collect();
            assert!(spans(root, &parents));
            assert!(chosen.iter().enumerate().all(|(node, arc)| arc.is_none_or(|arc| arcs[arc].1 == node)));
            chosen.iter().flatten().fold((0.0, 0.0), |sum, &arc| (sum.0 + costs[arc].0, sum.1 + costs[arc].1))
        });
        prop_assert_eq!(cost, brute_force(nodes, &arcs, &costs, root));
    }

    #[test]
    fn packings_keep_to_capacities_and_cuts((sites, overlay) in overlay(false, 1e6..200e6)) {
        let packing = checked(sites, &overlay);
        prop_assert!(packing.rate_bps <= least_cut(sites, &overlay) * (1.0 + 1e-9));
        prop_assert_eq!(pack(sites, &overlay.0, &overlay.1), Ok(packing));
    }

    /// With equal rates in both directions of links, spanning trees of links used both ways suffice, and
    /// their maximum number is known (Tutte 1961, Nash-Williams 1961).
    #[test]
    fn symmetric_overlays_reach_their_strength((sites, overlay) in overlay(true, 1e6..200e6)) {
        let (rate, best) = (checked(sites, &overlay).rate_bps, least_partition(sites, &overlay));
        let gap = 1e-6 * (sites + overlay.0.len()) as f64;
        prop_assert!((rate / best - 1.0).abs() < gap, "{} {}", rate, best);
    }

    #[test]
    fn rates_may_differ_by_orders(
        (sites, (arcs, exponents)) in overlay(false, 0.0..9.0),
    ) {
        let overlay = (arcs, exponents.into_iter().map(|exponent| 10_f64.powf(exponent)).collect());
        checked(sites, &overlay);
    }
}

#[test]
fn known_rates() {
    let two = checked(2, &duplex([(0, 1, 30.0, 20.0)]));
    assert_rate(&two, 20.0);
    let star = checked(6, &duplex((1..6).map(|leaf| (0, leaf, 1e8, 1e8))));
    assert_rate(&star, 1e8);
    assert!(star.trees.iter().all(|tree| tree.root == 0), "the center is nearest to all: {star:?}");
    // All arcs are full: 6 of them, 4 in a tree up and down.
    let triangle = checked(3, &duplex([(0, 1, 10.0, 10.0), (1, 2, 10.0, 10.0), (0, 2, 10.0, 10.0)]));
    assert_rate(&triangle, 15.0);
    // A ring in one direction: every arc carries each chunk twice, except the arc into the root on the way up
    // and the arc into the last site on the way down.
    let ring = (vec![(0, 1), (1, 2), (2, 0)], vec![12.0; 3]);
    assert_rate(&checked(3, &ring), 9.0);
}

#[test]
fn nine_sites() {
    let of = |rates: [(f64, f64); 13]| {
        duplex(LINKS.iter().zip(rates).map(|(&(a, b), (out, back))| (a - 1, b - 1, out * 1e6, back * 1e6)))
    };
    let symmetric = [97., 121., 152., 80., 80., 123., 139., 91., 58., 127., 74., 102., 81.];
    let symmetric = of(symmetric.map(|rate| (rate, rate)));
    assert_rate(&checked(9, &symmetric), 155e6);
    assert!((least_cut(9, &symmetric) - 155e6).abs() < 1.0);
    // NETSTORM's released rates, plan version 0.
    let out = [38., 135., 123., 87., 127., 23., 133., 123., 118., 51., 148., 23., 71.];
    let back = [54., 81., 108., 78., 32., 20., 80., 142., 24., 93., 49., 147., 77.];
    let mut rates = out.map(|rate| (rate, 0.0));
    rates.iter_mut().zip(back).for_each(|(rates, back)| rates.1 = back);
    let drawn = of(rates);
    assert_rate(&checked(9, &drawn), 110e6);
    assert!((least_cut(9, &drawn) - 110e6).abs() < 1.0);
}

#[test]
fn parallel_arcs_count_together() {
    let arcs = [(0, 1), (0, 1), (1, 0), (1, 1), (1, 0)];
    assert_rate(&pack(2, &arcs, &[3.0, 4.0, 10.0, 99.0, 0.0]).unwrap(), 7.0);
}

#[test]
fn a_dense_network_of_equal_rates() {
    let links = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b, 1e9, 1e9)));
    // Half as many spanning trees as sites.
    assert_rate(&checked(12, &duplex(links)), 6e9);
}

#[test]
fn invalid_inputs_are_refused() {
    let error = |sites: usize, arcs: &[(usize, usize)], rates: &[f64]| pack(sites, arcs, rates).unwrap_err();
    assert_eq!(error(2, &[(0, 1)], &[1.0]), "the overlay is not strongly connected");
    assert_eq!(error(2, &[(0, 1), (1, 0)], &[1.0, 0.0]), "the overlay is not strongly connected");
    let halves = [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2)];
    assert_eq!(error(4, &halves, &[1.0; 5]), "the overlay is not strongly connected");
    assert_eq!(error(1, &[], &[]), "1 site: trees connect at least 2");
    assert_eq!(error(2, &[(0, 1)], &[]), "1 arcs with 0 rates");
    assert_eq!(error(2, &[(0, 2)], &[1.0]), "an arc from 0 to 2 among 2 sites");
    assert_eq!(error(2, &[(0, 1)], &[f64::INFINITY]), "a rate of inf bit/s from 0 to 1");
}
