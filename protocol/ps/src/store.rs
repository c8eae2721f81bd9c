//! A server's model, and updates that wait for their turn.

use std::collections::BTreeMap;

use crate::worker_states::WorkerNo;

/// Defect of an update's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Update of another model.
    #[error("an update of model {model:016x}, and this server has {own:016x}: start all with one model")]
    OtherModel {
        /// Model of the update.
        model: u64,
        /// Model of the server.
        own: u64,
    },
    /// Wrong number of values.
    #[error("an update of {values} values, and the model has {own}: start all with one model")]
    OtherLength {
        /// Values of the update.
        values: usize,
        /// Values of the server's model.
        own: usize,
    },
    /// NaN or infinite value.
    #[error("value {at} of an update is not finite: the worker's training has diverged")]
    NotFinite {
        /// Index of the first such value.
        at: usize,
    },
}

/// Overflow: an update of finite values that would take a value of the model beyond float32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("value {at} of the model becomes infinite by the update of worker {}: take a smaller step", .worker.0)]
pub struct Overflow {
    /// Sender of the update.
    pub worker: WorkerNo,
    /// Index of the value.
    pub at: usize,
}

/// A model's values, and updates of workers that were accepted and not applied yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    model: u64,
    values: Vec<f32>,
    held: BTreeMap<WorkerNo, Vec<f32>>,
}

impl Store {
    /// Creates a store from a model's fingerprint and its values.
    pub fn new(model: u64, values: Vec<f32>) -> Self {
        Store { model, values, held: BTreeMap::new() }
    }

    /// Returns the current values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Checks that values may be applied to this model.
    ///
    /// # Errors
    /// The defect.
    pub fn check(&self, model: u64, values: &[f32]) -> Result<(), Refusal> {
        if model != self.model {
            return Err(Refusal::OtherModel { model, own: self.model });
        }
        if values.len() != self.values.len() {
            return Err(Refusal::OtherLength { values: values.len(), own: self.values.len() });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(Refusal::NotFinite { at }),
            None => Ok(()),
        }
    }

    /// Holds an update until its turn, after [`check`](Self::check). Replaces another one of the same worker
    /// that was not applied yet.
    pub fn hold(&mut self, worker: WorkerNo, values: Vec<f32>) {
        self.held.insert(worker, values);
    }

    /// Adds `factor` times a worker's update to the model. Returns whether there was one.
    ///
    /// # Errors
    /// The first value that would be infinite or NaN. The model stays unchanged, and the update is dropped.
    pub fn apply(&mut self, worker: WorkerNo, factor: f32) -> Result<bool, Overflow> {
        let Some(update) = self.held.remove(&worker) else { return Ok(false) };
        let sums = || self.values.iter().zip(&update).map(|(value, change)| value + factor * change);
        if let Some(at) = sums().position(|sum| !sum.is_finite()) {
            return Err(Overflow { worker, at });
        }
        self.values.iter_mut().zip(&update).for_each(|(value, change)| *value += factor * change);
        Ok(true)
    }

    /// Drops a worker's update. Returns whether there was one.
    pub fn discard(&mut self, worker: WorkerNo) -> bool {
        self.held.remove(&worker).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_that_do_not_fit_are_refused() {
        let store = Store::new(7, vec![0.0; 3]);
        assert_eq!(store.check(8, &[0.0; 3]), Err(Refusal::OtherModel { model: 8, own: 7 }));
        assert_eq!(store.check(7, &[0.0; 2]), Err(Refusal::OtherLength { values: 2, own: 3 }));
        assert_eq!(store.check(7, &[0.0, f32::NAN, 0.0]), Err(Refusal::NotFinite { at: 1 }));
        assert_eq!(store.check(7, &[0.0, 0.0, f32::INFINITY]), Err(Refusal::NotFinite { at: 2 }));
        assert_eq!(store.check(7, &[1.0; 3]), Ok(()));
    }

    #[test]
    fn an_update_is_applied_once() {
        let mut store = Store::new(7, vec![1.0, 2.0]);
        store.hold(WorkerNo(3), vec![1.0, -1.0]);
        assert_eq!(store.apply(WorkerNo(3), 0.5), Ok(true));
        assert_eq!(store.apply(WorkerNo(3), 0.5), Ok(false));
        assert_eq!(store.values(), [1.5, 1.5]);
        store.hold(WorkerNo(3), vec![9.0, 9.0]);
        assert!(store.discard(WorkerNo(3)));
        assert_eq!(store.apply(WorkerNo(3), 1.0), Ok(false));
    }
}
