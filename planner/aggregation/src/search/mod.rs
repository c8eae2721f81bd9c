//! Local search for a placement that carries given rates F_s with no capacity exceeded.
//!
//! Guided by overloads: it picks an overloaded resource, removes something from it (a flow, a trunk, a whole
//! group, or a branch of a tree of results), and inserts it at the least cost, by any shortest path and at
//! any switch. Overloads that persist grow in weight, so the search leaves local minima without a temperature
//! to tune.

mod moves;
mod state;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::dag::Costs;
use crate::model::{Arc, NodeIx};
use crate::placement::Placement;
use crate::router::Router;
use state::{State, Unit};

/// Steps after which overloaded resources grow in weight, and the factor.
const GROWTH: (usize, f64) = (16, 1.02);
/// Steps after which a little of one server's rate is passed on to another, and the most of the total that
/// is.
const RETUNE: (usize, f64) = (64, 0.005);
/// Steps after which the range of weights is checked.
const TAME: usize = 512;

/// A placement under search, with the load it makes at the rates sought.
pub(crate) struct Search<'r, 'm> {
    router: &'r Router<'m>,
    state: State<'m>,
    /// Entry of every worker's flows into the fabric, and the link to it.
    entries: Vec<(NodeIx, Option<Arc>)>,
    /// Whether the shares may change during the search.
    free: bool,
    rng: ChaCha8Rng,
    /// Costs from a flow's source, and to its server.
    outward: Costs,
    inward: Costs,
    path: Vec<Arc>,
    /// Previous positions of the units that a large move changes.
    journal: Vec<(Unit, NodeIx, Box<[Arc]>)>,
}

impl<'r, 'm> Search<'r, 'm> {
    /// `free`: the search may pass rates F_s on from one server to another, their sum stays.
    pub fn new(
        router: &'r Router<'m>,
        placement: &Placement,
        sending: Vec<f64>,
        free: bool,
        rng: ChaCha8Rng,
    ) -> Self {
        let model = router.model;
        let entry = |&worker: &NodeIx| match model.arcs_out(worker) {
            &[(arc, switch)] if model.forwards(switch) => (switch, Some(arc)),
            _ => (worker, None),
        };
        Search {
            router,
            state: State::new(model, placement, sending),
            entries: model.workers.iter().map(entry).collect(),
            free,
            rng,
            outward: Costs::default(),
            inward: Costs::default(),
            path: Vec::new(),
            journal: Vec::new(),
        }
    }

    /// Changes the target rates of the placement.
    pub fn seek(&mut self, sending: Vec<f64>) {
        self.state.seek(sending);
    }

    pub fn placement(&self) -> Placement {
        self.state.placement()
    }

    /// Transfers a little rate from the server whose units are on the heaviest overload to the one with the
    /// lightest, if that lowers the energy.
    fn retune(&mut self) {
        let slopes = self.state.slopes();
        let by_slope = |&a: &usize, &b: &usize| slopes[a].total_cmp(&slopes[b]);
        let (Some(to), Some(from)) = ((0..slopes.len()).min_by(by_slope), (0..slopes.len()).max_by(by_slope))
        else {
            return;
        };
        let total: f64 = self.state.sending.iter().sum();
        let part = RETUNE.1 * self.rng.random::<f64>();
        let rate = (part * total).min(0.5 * self.state.sending[from]);
        let before = self.state.energy();
        if from == to {
            return;
        }
        self.state.pass_on(from, to, rate);
        if self.state.energy() > before {
            self.state.pass_on(to, from, rate);
        }
    }

    /// Searches for at most `steps` steps; whether it found a placement without overload.
    pub fn run(&mut self, steps: usize, out_of_time: &dyn Fn() -> bool) -> bool {
        for step in 0..steps {
            let Some(&worst) = self.state.over().choose(&mut self.rng) else { return true };
            if step % 64 == 0 && out_of_time() {
                return false;
            }
            self.relieve(worst);
            if (step + 1).is_multiple_of(GROWTH.0) {
                self.state.grow_weights(GROWTH.1);
            }
            if self.free && (step + 1).is_multiple_of(RETUNE.0) {
                self.retune();
            }
            if (step + 1).is_multiple_of(TAME) {
                self.state.clip_weights();
            }
        }
        false
    }
}
