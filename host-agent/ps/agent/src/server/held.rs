//! The training that a server holds.

use inart_protocol_ps::WorkerNo;
use inart_terms::Agreement;

/// The training that a server holds: its number, and the settings that workers must share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Training {
    /// Drawn with the first model, and kept in checkpoints; 0 for one that is not compared.
    pub number: u64,
    /// The server's name.
    pub server: String,
    /// The workers' names, by number.
    pub workers: Vec<String>,
    /// Settings that workers must share.
    pub agreement: Agreement,
}

impl Training {
    /// Returns the name of a worker.
    pub fn name(&self, worker: WorkerNo) -> String {
        let known = self.workers.get(worker.index()).cloned();
        known.unwrap_or_else(|| format!("worker {}", worker.0))
    }
}
