//! Ground truth, computed in another way: each update as it was computed, once, and a model that is the sum
//! of the applied updates, or that a group's mean is merged into.

use std::collections::BTreeMap;

use inart_protocol_ps::Update;
use inart_ps_agent::{Applied, Start};

use crate::campaign::trial::{Groups, Rule};

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A computed update, as it must arrive.
#[derive(Debug, Clone)]
struct Computed {
    worker: usize,
    base: u64,
    has_arrived: bool,
}

/// An update that has arrived and was neither applied nor discarded.
#[derive(Debug, Clone)]
struct Held {
    iteration: u64,
    base: u64,
    values: Vec<f32>,
    is_refused: bool,
}

/// The reference. Its `Debug` text is part of a state's key.
#[derive(Debug, Clone)]
pub struct Truth {
    rule: Rule,
    computed: BTreeMap<Vec<u32>, Computed>,
    /// Models of this incarnation of the server, by version.
    models: BTreeMap<u64, Vec<f32>>,
    version: u64,
    /// Held update by worker, like the fields below.
    held: Vec<Option<Held>>,
    /// Last applied or discarded iteration, in this incarnation of the server.
    last: Vec<Option<u64>>,
    /// Iterations whose updates have arrived, in this incarnation of the server, and whether they were
    /// refused.
    arrived: Vec<BTreeMap<u64, bool>>,
    /// Number of updates in the model, or discarded in their turn, where iterations count them.
    done: Vec<u64>,
    is_counted: bool,
}

fn ensure(is_so: bool, what: impl Into<String>) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what.into()) }
}

impl Truth {
    /// Creates the reference. `is_counted`: no worker leaves, so that joining workers start at iteration 0.
    pub fn new(workers: usize, rule: Rule, model: Vec<f32>, is_counted: bool) -> Truth {
        Truth {
            is_counted: is_counted && matches!(rule, Rule::SyncModel(_)),
            rule,
            computed: BTreeMap::new(),
            models: BTreeMap::from([(0, model)]),
            version: 0,
            held: vec![None; workers],
            last: vec![None; workers],
            arrived: vec![BTreeMap::new(); workers],
            done: vec![0; workers],
        }
    }

    /// Restarts the server at the current version: each version is kept at once.
    pub fn restarted(&mut self) {
        self.held.fill(None);
        self.last.fill(None);
        self.arrived.fill(BTreeMap::new());
    }

    pub fn model(&self) -> &[f32] {
        &self.models[&self.version]
    }

    pub fn done(&self) -> &[u64] {
        &self.done
    }

    /// Checks that a worker computes from the model of that version, in every bit.
    pub fn pulled(&self, start: &Start, arriving: impl Fn(&[f32]) -> Vec<f32>) -> Result<(), String> {
        let version = start.version;
        let model =
            self.models.get(&version).ok_or(format!("version {version} was pulled and does not exist"))?;
        ensure(
            bits(&start.model) == bits(&arriving(model)),
            format!("version {version} was pulled as another"),
        )
    }

    pub fn computed(&mut self, worker: usize, base: u64, arriving: &[f32]) {
        let new = Computed { worker, base, has_arrived: false };
        let before = self.computed.insert(bits(arriving), new);
        assert!(before.is_none(), "updates are made to differ");
    }

    pub fn arrived(
        &mut self,
        worker: usize,
        iteration: u64,
        base: u64,
        values: &[f32],
        is_refused: bool,
    ) -> Result<(), String> {
        let computed =
            self.computed.get_mut(&bits(values)).ok_or("an update arrived that no worker computed")?;
        ensure(!computed.has_arrived, "an update arrived twice")?;
        computed.has_arrived = true;
        let is_its = (computed.worker, computed.base) == (worker, base);
        ensure(is_its, "an update arrived as another worker's, or as one of another version")?;
        let is_finite = values.iter().all(|value| value.is_finite());
        ensure(is_refused != is_finite, "an update with a NaN was not refused, or another one was")?;
        self.arrived[worker].insert(iteration, is_refused);
        // In a group, a refused update has no turn to wait for.
        if is_refused && matches!(self.rule, Rule::Groups(_)) {
            return Ok(());
        }
        let held = Held { iteration, base, values: values.to_vec(), is_refused };
        ensure(self.held[worker].replace(held).is_none(), "an update was replaced before it was applied")
    }

    /// Checks the report to the worker's program that its update was accepted.
    pub fn pushed(&self, worker: usize, iteration: u64, is_refused: bool) -> Result<(), String> {
        let of = self.arrived[worker].get(&iteration).copied();
        let of = of
            .ok_or(format!("worker {worker} was notified of iteration {iteration}, which has not arrived"))?;
        // On a new connection the report says only that the update has arrived.
        ensure(of || !is_refused, "a valid update is reported as refused")
    }

    fn release(&mut self, worker: usize, iteration: u64) -> Result<Held, String> {
        let held = self.held[worker].take().ok_or("an update was applied that is not there")?;
        ensure(held.iteration == iteration, format!("iteration {} became {iteration}", held.iteration))?;
        let last = self.last[worker].replace(iteration);
        ensure(last.is_none_or(|last| last < iteration), "an iteration counts twice")?;
        let is_next = !self.is_counted || iteration == self.done[worker];
        ensure(is_next, format!("worker {worker}'s iteration {} is called {iteration}", self.done[worker]))?;
        self.done[worker] += 1;
        Ok(held)
    }

    /// Checks applied updates; `model` is the server's, if this version is its last.
    pub fn applied(&mut self, applied: &Applied, model: Option<&[f32]>) -> Result<(), String> {
        let version = applied.version;
        ensure(version == self.version + 1, format!("version {version} follows {}", self.version))?;
        let mut all = Vec::new();
        for Update { worker, iteration, staleness, .. } in &applied.updates {
            let held = self.release(worker.index(), *iteration)?;
            ensure(!held.is_refused, "an update with a NaN was applied")?;
            ensure(*staleness == self.version - held.base, "the reported staleness is wrong")?;
            all.push(held.values);
        }
        let mut expected = self.model().to_vec();
        match self.rule {
            Rule::SyncModel(_) => all.iter().for_each(|values| {
                expected.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }),
            Rule::Groups(Groups { groups, .. }) => merge(&mut expected, &all, groups),
        }
        if let Some(model) = model {
            ensure(bits(model) == bits(&expected), format!("the model is {model:?} and not {expected:?}"))?;
        }
        self.version = version;
        self.models.insert(version, expected);
        Ok(())
    }

    pub fn discarded(&mut self, worker: usize, iteration: u64) -> Result<(), String> {
        let held = self.release(worker, iteration)?;
        ensure(held.is_refused, "a sound update was discarded")
    }

    /// Checks the end of the training.
    pub fn ended(&self, model: &[f32], is_fault_free: bool) -> Result<(), String> {
        ensure(self.held.iter().all(Option::is_none), "an update was taken and never applied")?;
        ensure(bits(model) == bits(self.model()), "the model is another one at the end")?;
        let lost = self.computed.values().filter(|computed| !computed.has_arrived).count();
        ensure(!is_fault_free || lost == 0, format!("{lost} updates were computed and never arrived"))
    }
}

/// Merges a group's mean into the model with weight 1/M (Algorithm 2, line 16), in double precision.
fn merge(model: &mut [f32], of_group: &[Vec<f32>], groups: usize) {
    let part = 1.0 / groups as f64;
    for (at, value) in model.iter_mut().enumerate() {
        let sum = of_group.iter().fold(0.0, |sum, of| sum + f64::from(of[at]));
        let mean = (sum / of_group.len() as f64) as f32;
        *value = (f64::from(*value) * (1.0 - part) + f64::from(mean) * part) as f32;
    }
}
