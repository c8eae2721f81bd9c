//! Largest flows from a server to one terminal, and the cuts that limit them.

use super::problem::Steiner;
use crate::model::{Arc, NodeIx};

/// Less flow than this is a rounding error; rates are of the order of 1.
const NOTHING: f64 = 1e-12;

/// A flow from the server to one terminal, over shortest augmenting paths (Edmonds and Karp).
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Flow by arc.
    on: Vec<f64>,
    /// Value of the flow.
    value: f64,
    came: Vec<Option<Step>>,
    queue: Vec<NodeIx>,
}

/// One arc of an augmenting path.
#[derive(Debug, Clone, Copy)]
struct Step {
    arc: Arc,
    /// Against the arc's direction: some of its flow is taken back.
    back: bool,
    from: NodeIx,
}

impl Flow {
    /// Resets the flow to zero.
    pub fn clear(&mut self, steiner: &Steiner<'_>) {
        self.on.clear();
        self.on.resize(steiner.model.arcs(), 0.0);
        self.value = 0.0;
    }

    /// Returns the flow on an arc.
    pub fn on(&self, arc: Arc) -> f64 {
        self.on[arc as usize]
    }

    /// Raises the flow to `terminal` up to `aim`, within `capacity` by arc. Returns its value.
    pub fn raise(
        &mut self,
        steiner: &Steiner<'_>,
        terminal: NodeIx,
        aim: f64,
        capacity: impl Fn(Arc) -> f64,
    ) -> f64 {
        while self.value < aim - NOTHING && self.find(steiner, terminal, &capacity) {
            let mut path = Vec::new();
            let mut node = terminal;
            while let Some(step) = self.came[node as usize].filter(|_| node != steiner.root) {
                path.push(step);
                node = step.from;
            }
            let left = |step: &Step| self.left(step, &capacity);
            let most = path.iter().map(left).fold(aim - self.value, f64::min);
            for step in path {
                self.on[step.arc as usize] += if step.back { -most } else { most };
            }
            self.value += most;
        }
        self.value
    }

    fn left(&self, step: &Step, capacity: &impl Fn(Arc) -> f64) -> f64 {
        let on = self.on[step.arc as usize];
        if step.back { on } else { capacity(step.arc) - on }
    }

    /// Returns whether an augmenting path to the terminal exists.
    fn find(&mut self, steiner: &Steiner<'_>, terminal: NodeIx, capacity: &impl Fn(Arc) -> f64) -> bool {
        self.came.clear();
        self.came.resize(steiner.model.topology.nodes().len(), None);
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        queue.push(steiner.root);
        let mut next = 0;
        while let Some(&node) = queue.get(next).filter(|_| self.came[terminal as usize].is_none()) {
            next += 1;
            let ahead = steiner.arcs_out(node).map(|(arc, to)| (arc, false, to));
            let behind = steiner.arcs_in(node).map(|(arc, to)| (arc, true, to));
            for (arc, back, to) in ahead.chain(behind).filter(|&(_, _, to)| to != steiner.root) {
                let step = Step { arc, back, from: node };
                if self.came[to as usize].is_none() && self.left(&step, capacity) > NOTHING {
                    self.came[to as usize] = Some(step);
                    queue.push(to);
                }
            }
        }
        self.queue = queue;
        self.came[terminal as usize].is_some()
    }

    /// Returns, after [`Flow::raise`] did not reach its aim, the arcs into the nodes from which the terminal
    /// could still be reached.
    pub fn cut(&self, steiner: &Steiner<'_>, terminal: NodeIx, capacity: impl Fn(Arc) -> f64) -> Vec<Arc> {
        let mut inside = vec![false; steiner.model.topology.nodes().len()];
        inside[terminal as usize] = true;
        let mut open = vec![terminal];
        let mut reached = vec![terminal];
        while let Some(node) = open.pop() {
            let ahead = steiner.arcs_in(node).map(|(arc, from)| Step { arc, back: false, from });
            let behind = steiner.arcs_out(node).map(|(arc, from)| Step { arc, back: true, from });
            for step in ahead.chain(behind) {
                let is_open = self.left(&step, &capacity) > NOTHING;
                if is_open && !std::mem::replace(&mut inside[step.from as usize], true) {
                    open.push(step.from);
                    reached.push(step.from);
                }
            }
        }
        let entering = reached.iter().flat_map(|&node| steiner.arcs_in(node));
        let mut cut: Vec<Arc> =
            entering.filter(|&(_, from)| !inside[from as usize]).map(|(arc, _)| arc).collect();
        cut.sort_unstable();
        cut
    }
}
