//! Results in the relaxation. r(s, e) is the load of server s's results on link e; every set of nodes that
//! contains s and not some worker has an outflow of at least F_s. A mixture of trees satisfies this, so every
//! plan does.
//!
//! Only limited links have a variable, and only violated cuts have a row: over other links results flow
//! freely, and are spread again in every iteration, preferring links that are used already.

use crate::lp::fabric::Fabric;
use crate::model::Arc;
use crate::steiner::{Flow, Steiner};

/// Flows that fall short of F_s by less are whole, in the master's unit.
const SHORT: f64 = 1e-8;
/// Cuts that one worker's flow may add at a time.
const NESTED: usize = 4;

/// sum of r(s, e) over some arcs >= F_s.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Cut {
    /// Position of s among the servers.
    pub server: usize,
    pub arcs: Vec<Arc>,
}

/// Load of results on links without a row, and the violated cuts.
pub(crate) struct Look {
    pub load: Vec<f64>,
    pub cuts: Vec<Cut>,
}

/// Looks at a solution: F_s, and r(s, e) by server and arc, infinite where the link is not limited.
pub(crate) fn look(fabric: &Fabric<'_>, sending: &[f64], limited: Vec<Vec<f64>>) -> Look {
    let mut look = Look { load: vec![0.0; fabric.model.arcs()], cuts: Vec::new() };
    let mut flow = Flow::default();
    let servers = fabric.trees.iter().zip(sending).zip(limited).enumerate();
    for (server, ((tree, &sending), limited)) in servers.filter(|(_, ((_, sending), _))| **sending > SHORT) {
        let mut used = vec![0.0; limited.len()];
        for &terminal in &tree.terminals {
            flow.clear(tree);
            let known = |arc: Arc| match limited[arc as usize] {
                limit if limit.is_finite() => limit,
                _ => used[arc as usize],
            };
            flow.raise(tree, terminal, sending, known);
            if flow.raise(tree, terminal, sending, |arc| limited[arc as usize]) < sending - SHORT {
                look.cuts.extend(cuts(tree, &mut flow, terminal, (server, sending), &limited));
                continue;
            }
            for (arc, used) in (0..).zip(&mut used) {
                *used = flow.on(arc).max(*used);
            }
        }
        let free = look.load.iter_mut().zip(used).zip(&limited).filter(|(_, limit)| limit.is_infinite());
        free.for_each(|((load, used), _)| *load += used);
    }
    look
}

/// Returns the cut that limits a flow, then others that would limit it without that one.
fn cuts(
    tree: &Steiner<'_>,
    flow: &mut Flow,
    terminal: u32,
    (server, sending): (usize, f64),
    limited: &[f64],
) -> Vec<Cut> {
    let mut limited = limited.to_vec();
    let mut found = Vec::new();
    while found.len() < NESTED {
        let arcs = flow.cut(tree, terminal, |arc| limited[arc as usize]);
        arcs.iter().for_each(|&arc| limited[arc as usize] = sending);
        found.push(Cut { server, arcs });
        if flow.raise(tree, terminal, sending, |arc| limited[arc as usize]) >= sending - SHORT {
            break;
        }
    }
    found
}
