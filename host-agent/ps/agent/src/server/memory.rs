//! What a server holds in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ServerAgent;
use crate::sequencer::Sequencer;

const BYTES_PER_VALUE: usize = 4;

impl<S: Sequencer> ServerAgent<S> {
    /// Bytes of the model, of versions that are being pulled, and of updates that arrive. Workers that pull
    /// one version share it, and a version that has arrived at all who pulled it is not held. Updates that
    /// wait for their turn are the sequencer's.
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

    /// The most that [`held_bytes`](Self::held_bytes) and held updates may be for a model of that many
    /// values and workers: the model, the version that was pulled last, and one more for each worker, which
    /// either pulls, or pushes, or waits for its update's turn.
    pub fn most_bytes(values: usize, workers: usize) -> u64 {
        BYTES_PER_VALUE as u64 * values as u64 * (workers as u64 + 2)
    }
}
