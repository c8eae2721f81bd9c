//! A worker, as Python holds it.

use std::sync::Arc;

use inart_protocol_aggregation::Assignment;
use inart_wire::Rank;
use pyo3::prelude::*;

use crate::errors::Trouble;
use crate::floats::Floats;
use crate::handle::Handle;
use crate::shared::Shared;

/// Returns a worker's job, rank and name, for people.
pub(crate) fn named(assignment: &Assignment, rank: Rank) -> String {
    let name = assignment.worker(rank).map_or("", |worker| &worker.name);
    format!("job {}, rank {rank} ({name})", assignment.name)
}

/// A worker of a job.
#[pyclass(frozen, module = "inart._inart")]
pub(crate) struct Worker {
    shared: Arc<Shared>,
    /// The job's name.
    #[pyo3(get)]
    job: String,
    /// The worker's name in the topology.
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    rank: u16,
    /// Returns the number of workers of the job.
    #[pyo3(get)]
    world_size: usize,
}

impl Worker {
    pub(crate) fn new(shared: Shared, assignment: &Assignment, rank: Rank) -> Self {
        Self {
            shared: Arc::new(shared),
            job: assignment.name.clone(),
            name: assignment.worker(rank).map_or_else(|_| String::new(), |worker| worker.name.clone()),
            rank: rank.get(),
            world_size: assignment.workers.len(),
        }
    }
}

#[pymethods]
impl Worker {
    /// Starts to sum `length` floats at `address`, which belong to `owner`. The caller ensures that they
    /// exist, are writable, and that no other code uses them until the handle was waited for. `target` is the
    /// address and the size in bytes of other memory that the caller writes the sum to in the end. `label` is
    /// compared with those of the other workers.
    #[pyo3(signature = (address, length, owner, target = None, label = ""))]
    fn start(
        &self,
        py: Python<'_>,
        address: usize,
        length: usize,
        owner: Py<PyAny>,
        target: Option<(usize, usize)>,
        label: &str,
    ) -> PyResult<Handle> {
        // SAFETY: the caller is the package's `_floats.py`, which has seen to it.
        let floats = unsafe { Floats::new(address, length, owner) };
        let (start, bytes) = target.unwrap_or((address, length * size_of::<f32>()));
        let started = py.detach(|| {
            let claim = self.shared.claim(start, bytes)?;
            Ok((self.shared.with(|worker| worker.start_with_label(floats, label))?, claim))
        });
        match started {
            Ok((started, claim)) => Ok(Handle::new(Arc::clone(&self.shared), started, claim)),
            Err(trouble) => Err(Trouble::raise(&trouble, py)),
        }
    }

    /// Ends the worker; a second time does nothing.
    fn shutdown(&self, py: Python<'_>) {
        py.detach(|| self.shared.shut_down());
    }
}
