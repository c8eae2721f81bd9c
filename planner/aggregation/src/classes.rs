//! Racks: workers attached to the same single switch are interchangeable in the relaxation. Averaging y over
//! them keeps every row of Eq. (5); their uplinks only say f <= B(uplink). A multi-homed worker is not
//! merged.

use std::collections::BTreeMap;

use crate::model::{Model, NodeIx};

/// Workers with equal attachments to the network.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    /// Node where their flows enter the fabric: their switch, or the worker itself if it has several links.
    pub source: NodeIx,
    /// Positions in the job's worker list.
    pub workers: Vec<usize>,
}

/// All classes of a job.
pub(crate) fn classes(model: &Model<'_>) -> Vec<Class> {
    let mut by_source: BTreeMap<NodeIx, Vec<usize>> = BTreeMap::new();
    for (w, &worker) in model.workers.iter().enumerate() {
        let source = match model.arcs_out(worker) {
            [(_, switch)] if model.forwards(*switch) => *switch,
            _ => worker,
        };
        by_source.entry(source).or_default().push(w);
    }
    by_source.into_iter().map(|(source, workers)| Class { source, workers }).collect()
}
