//! Memory use of a server.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ServerAgent;
use crate::sequencer::Sequencer;

const BYTES_PER_VALUE: usize = 4;

impl<S: Sequencer> ServerAgent<S> {
    /// Returns the bytes of the model, of versions in transmission, and of incoming updates. Workers that
    /// pull one version share it, and a version that all its workers have received is not held. The sequencer
    /// counts updates that wait for their turn.
    pub fn held_bytes(&self) -> usize {
        let pulled = self.links.iter().filter_map(|link| link.outgoing.as_ref()?.values());
        let cached = self.model.iter().map(|(_, values)| values);
        let (mut known, mut values) = (BTreeSet::new(), self.sequencer.values().len());
        for version in pulled.chain(cached) {
            if known.insert(Arc::as_ptr(version)) {
                values += version.len();
            }
        }
        let arriving = self.links.iter().filter_map(|link| link.incoming.as_ref());
        values += arriving.map(|incoming| incoming.len()).sum::<usize>();
        BYTES_PER_VALUE * values
    }

    /// Returns the largest sum of [`held_bytes`](Self::held_bytes) and held updates for a model of `values`
    /// values and this many workers: the model, the version that was pulled last, and one more for each
    /// worker, which either pulls, or pushes, or waits for its update's turn.
    pub fn most_bytes(values: usize, workers: usize) -> u64 {
        BYTES_PER_VALUE as u64 * values as u64 * (workers as u64 + 2)
    }
}
