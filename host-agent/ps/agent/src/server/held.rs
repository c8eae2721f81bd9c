//! Which training a server holds.

use inart_protocol_ps::WorkerNo;
use inart_terms::Agreement;

/// Which training a server holds: what its workers have to share, and its number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Training {
    /// Drawn when the model began, and kept with it; 0 for one that is not compared.
    pub number: u64,
    /// The server's name.
    pub server: String,
    /// The workers' names, by number.
    pub workers: Vec<String>,
    /// What they have to share.
    pub agreement: Agreement,
}

impl Training {
    /// The name of a worker.
    pub fn name(&self, worker: WorkerNo) -> String {
        let known = self.workers.get(worker.index()).cloned();
        known.unwrap_or_else(|| format!("worker {}", worker.0))
    }
}
