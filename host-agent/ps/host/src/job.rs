//! A training job, as all its processes know it.

use inart_terms::{Terms, TermsError, fingerprint};

use crate::error::HostError;

/// Values of a chunk: 16 KiB as float32.
pub const CHUNK_VALUES: usize = 4096;

/// A job: its server's and workers' names, and how long its model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// The server's name.
    pub server: String,
    /// The workers' names, in the order of turns.
    pub workers: Vec<String>,
    /// The model's values; at least 1.
    pub values: usize,
}

impl Job {
    /// A fingerprint of what all have to agree on (FNV-1a of the names and the model's length).
    pub fn fingerprint(&self) -> u64 {
        let names = [&self.name, &self.server].into_iter().chain(&self.workers);
        let length = (self.values as u64).to_be_bytes();
        let bytes = names.flat_map(|name| name.bytes().chain([0])).chain(length);
        fingerprint(bytes.map(u64::from))
    }

    /// What all processes of the job have to share; `more` are the program's own terms, such as the seed.
    ///
    /// # Errors
    /// Terms that are too many or too long, or one that occurs twice.
    pub fn terms(&self, more: &[(&str, String)]) -> Result<Terms, TermsError> {
        let own = [
            ("job", self.name.clone()),
            ("server", self.server.clone()),
            ("workers", self.workers.join(", ")),
            ("values of the model", self.values.to_string()),
        ];
        Terms::new(own.into_iter().chain(more.iter().cloned()))
    }

    /// The number of a worker.
    ///
    /// # Errors
    /// Nobody of that name.
    pub fn number(&self, worker: &str) -> Result<u32, HostError> {
        let place = self.workers.iter().position(|name| name == worker);
        place.map(|place| place as u32).ok_or_else(|| HostError::NoWorker {
            name: worker.to_owned(),
            job: self.name.clone(),
            known: self.workers.join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_job_has_another_fingerprint() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect();
        let job = Job { name: "j".into(), server: "s".into(), workers: names("a b"), values: 9 };
        assert_eq!(job.fingerprint(), job.clone().fingerprint());
        let others = [
            Job { values: 10, ..job.clone() },
            Job { workers: names("b a"), ..job.clone() },
            Job { workers: names("ab"), ..job.clone() },
            Job { name: "js".into(), server: String::new(), ..job.clone() },
        ];
        assert!(others.iter().all(|other| other.fingerprint() != job.fingerprint()));
        assert_eq!(job.number("b").ok(), Some(1));
        assert!(job.number("c").is_err_and(|error| error.to_string().contains("a, b")));
    }
}
