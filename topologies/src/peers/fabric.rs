//! The switches of a network of peers: a tree that does not block, so that only the peers' ports limit a
//! plan.

use super::network::{Peer, TrunkLink};
use crate::error::{NetworkError, Result};
use crate::trace::Trace;
use crate::units::display_rate;

/// Relative tolerance for a link between switches that is slower than its peers: sums of floats.
const ROUNDING: f64 = 1e-9;

/// Refuses switches that are apart, or linked in a circle, or by links that block.
pub(super) fn check(switches: &[(String, u64)], peers: &[Peer], trunks: &[(u64, TrunkLink)]) -> Result<()> {
    let mut side: Vec<usize> = (0..switches.len()).collect();
    for (at, trunk) in trunks {
        let [from, to] = trunk.ends.map(|end| side[end]);
        if from == to {
            let fix = "leave one of its links out: a frame has one way";
            return Err(NetworkError::new(
                *at,
                place(switches, trunk),
                "it closes a circle of switches",
                fix,
            ));
        }
        side.iter_mut().filter(|side| **side == from).for_each(|side| *side = to);
    }
    let home = peers.first().map(|peer| side[peer.switch]);
    if let Some(peer) = peers.iter().find(|peer| Some(side[peer.switch]) != home) {
        let (first, switch) = (&peers[0].name, &switches[peer.switch].0);
        let problem = format!("it has no way to peer {first}");
        let fix = format!("link switch {switch} to the others");
        return Err(NetworkError::new(None, format!("peer {}", peer.name), problem, fix));
    }
    let mut neighbors = vec![Vec::new(); switches.len()];
    for (number, (_, trunk)) in trunks.iter().enumerate() {
        let [a, b] = trunk.ends;
        neighbors[a].push((b, number));
        neighbors[b].push((a, number));
    }
    for which in 0..trunks.len() {
        does_not_block(switches, peers, trunks, &neighbors, which)?;
    }
    Ok(())
}

fn place(switches: &[(String, u64)], trunk: &TrunkLink) -> String {
    let [from, to] = trunk.ends.map(|end| &switches[end].0);
    format!("link {from}-{to}")
}

/// Returns the switches on `from`'s side of a link of a tree. Neighbors are listed with their links.
fn behind(neighbors: &[Vec<(usize, usize)>], from: usize, link: usize) -> Vec<bool> {
    let mut reached = vec![false; neighbors.len()];
    reached[from] = true;
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for &(next, over) in &neighbors[at] {
            if over != link && !reached[next] {
                reached[next] = true;
                open.push(next);
            }
        }
    }
    reached
}

/// Checks that each direction of a link carries the traffic of the peers behind it, or to those ahead.
fn does_not_block(
    switches: &[(String, u64)],
    peers: &[Peer],
    trunks: &[(u64, TrunkLink)],
    neighbors: &[Vec<(usize, usize)>],
    which: usize,
) -> Result<()> {
    let (at, trunk) = &trunks[which];
    let behind = behind(neighbors, trunk.ends[0], which);
    let sum = |is_behind: bool, rate: fn(&Peer) -> f64| -> f64 {
        peers.iter().filter(|peer| behind[peer.switch] == is_behind).map(rate).sum()
    };
    let up = |peer: &Peer| fastest(peer.up_bps, peer.up_trace.as_ref());
    let down = |peer: &Peer| fastest(peer.down_bps, peer.down_trace.as_ref());
    let needed = [sum(true, up).min(sum(false, down)), sum(false, up).min(sum(true, down))];
    for (has, needed) in trunk.rates_bps.into_iter().zip(needed) {
        if has < needed * (1.0 - ROUNDING) {
            let problem = format!("{} is slower than the peers that use it", display_rate(has));
            let fix = format!("give it {}: plans count on switches that do not block", display_rate(needed));
            return Err(NetworkError::new(*at, place(switches, trunk), problem, fix));
        }
    }
    Ok(())
}

fn fastest(bps: f64, trace: Option<&Trace>) -> f64 {
    trace.map_or(bps, |trace| trace.rates_bps.iter().copied().fold(0.0, f64::max))
}
