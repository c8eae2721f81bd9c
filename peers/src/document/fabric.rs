//! The switches of a network of peers: a tree that does not block, so that only the peers' ports limit a
//! plan.

use inart_planner::TopologyError;
use inart_planner::units::display_rate;

use super::validate::Result;
use crate::network::{Peer, TrunkLink};

/// How much slower than its peers a link between switches may be, relatively: sums of floats.
const ROUNDING: f64 = 1e-9;

/// Refuses switches that are apart, or linked in a circle, or by links that block.
pub(super) fn check(switches: &[(String, u64)], peers: &[Peer], trunks: &[(u64, TrunkLink)]) -> Result<()> {
    let mut side: Vec<usize> = (0..switches.len()).collect();
    for (at, trunk) in trunks {
        let [from, to] = trunk.ends.map(|end| side[end]);
        if from == to {
            let fix = "leave one of its links out: a frame has one way";
            return Err(TopologyError::new(
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
        return Err(TopologyError::new(None, format!("peer {}", peer.name), problem, fix));
    }
    for skipped in 0..trunks.len() {
        does_not_block(switches, peers, trunks, skipped)?;
    }
    Ok(())
}

fn place(switches: &[(String, u64)], trunk: &TrunkLink) -> String {
    let [from, to] = trunk.ends.map(|end| &switches[end].0);
    format!("link {from}-{to}")
}

/// A direction of a link carries what the peers behind it can send, or what those ahead can receive.
fn does_not_block(
    switches: &[(String, u64)],
    peers: &[Peer],
    trunks: &[(u64, TrunkLink)],
    which: usize,
) -> Result<()> {
    let (at, trunk) = &trunks[which];
    let mut behind = vec![false; switches.len()];
    behind[trunk.ends[0]] = true;
    // A tree: as many passes as there are links reach everything on one side.
    for _ in trunks {
        for (_, other) in trunks.iter().enumerate().filter(|(other, _)| *other != which) {
            let [a, b] = other.1.ends;
            let either = behind[a] || behind[b];
            (behind[a], behind[b]) = (either, either);
        }
    }
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
            return Err(TopologyError::new(*at, place(switches, trunk), problem, fix));
        }
    }
    Ok(())
}

fn fastest(bps: f64, trace: Option<&inart_fluid::Trace>) -> f64 {
    trace.map_or(bps, |trace| trace.rates_bps.iter().copied().fold(0.0, f64::max))
}
