//! A training job: settings that all its processes know.

use inart_terms::{Terms, TermsError, fingerprint};

use crate::error::HostError;

/// Values per chunk: 16 KiB as float32.
pub const CHUNK_VALUES: usize = 4096;

/// A job: the names of its server and workers, and the length of its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Name of the job.
    pub name: String,
    /// Name of the server.
    pub server: String,
    /// Names of the workers, in the order of turns.
    pub workers: Vec<String>,
    /// Number of the model's values; at least 1.
    pub values: usize,
}

impl Job {
    /// Returns a fingerprint of the settings that all must agree on (FNV-1a of the names and the model's
    /// length).
    pub fn fingerprint(&self) -> u64 {
        let names = [&self.name, &self.server].into_iter().chain(&self.workers);
        let length = (self.values as u64).to_be_bytes();
        let bytes = names.flat_map(|name| name.bytes().chain([0])).chain(length);
        fingerprint(bytes.map(u64::from))
    }

    /// Returns the settings that all processes of the job must share; `more` are the program's own, such as
    /// the seed.
    ///
    /// # Errors
    /// The settings are too many or too long, or one occurs twice.
    pub fn terms(&self, more: &[(&str, String)]) -> Result<Terms, TermsError> {
        let own = [
            ("job", self.name.clone()),
            ("server", self.server.clone()),
            ("workers", self.workers.join(", ")),
            ("values of the model", self.values.to_string()),
        ];
        Terms::new(own.into_iter().chain(more.iter().cloned()))
    }

    /// Returns the number of a worker.
    ///
    /// # Errors
    /// The name is unknown.
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
