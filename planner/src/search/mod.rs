//! Local search for a placement that carries given rates F_s with no capacity exceeded.
//!
//! Guided by what is overloaded: it takes a resource that is too full, takes something off it (a flow, a trunk, or a whole
//! group), and puts it back where it costs least, by any shortest path and at any switch. Overloads that persist grow
//! in weight, so the search leaves local minima without a temperature to tune.

mod moves;
mod state;

use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::dag::Costs;
use crate::model::{Arc, NodeIx};
use crate::placement::Placement;
use crate::router::Router;
use state::{State, Unit};

/// A placement under search, with the load it makes at the rates sought.
pub(crate) struct Search<'r, 'm> {
    router: &'r Router<'m>,
    state: State<'m>,
    /// Of every worker: where its flows enter the fabric, and the link on which they get there.
    entries: Vec<(NodeIx, Option<Arc>)>,
    rng: ChaCha8Rng,
    /// Costs from a flow's source, and to its server.
    outward: Costs,
    inward: Costs,
    path: Vec<Arc>,
    /// Where the units that a large move changes were before.
    journal: Vec<(Unit, NodeIx, Box<[Arc]>)>,
}

impl<'r, 'm> Search<'r, 'm> {
    pub fn new(router: &'r Router<'m>, placement: &Placement, sending: Vec<f64>, rng: ChaCha8Rng) -> Self {
        let model = router.model;
        let entry = |&worker: &NodeIx| match model.arcs_out(worker) {
            &[(arc, switch)] if model.forwards(switch) => (switch, Some(arc)),
            _ => (worker, None),
        };
        Search {
            router,
            state: State::new(model, placement, sending),
            entries: model.workers.iter().map(entry).collect(),
            rng,
            outward: Costs::default(),
            inward: Costs::default(),
            path: Vec::new(),
            journal: Vec::new(),
        }
    }

    /// Seeks other rates from the same placement.
    pub fn seek(&mut self, sending: Vec<f64>) {
        self.state.seek(sending);
    }

    pub fn placement(&self) -> Placement {
        self.state.placement()
    }

    /// Searches for at most `steps` steps; whether it found a placement without overload.
    pub fn run(&mut self, steps: usize, out_of_time: &dyn Fn() -> bool) -> bool {
        for step in 0..steps {
            let Some(&worst) = self.state.over().choose(&mut self.rng) else { return true };
            if step % 64 == 0 && out_of_time() {
                return false;
            }
            self.relieve(worst);
            if step % 4 == 3 {
                self.state.grow_weights(1.05);
            }
            if step % 512 == 511 {
                self.state.tame_weights();
            }
        }
        false
    }
}
