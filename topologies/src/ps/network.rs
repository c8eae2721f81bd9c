//! A parameter server, and the participants around it.

use inart_virtual::SplitMix64;

/// Kind of a job's participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Workers of a cluster, each of which meets the server by itself.
    Workers,
    /// Clients of federated training, which meet it in groups.
    Clients,
}

impl Kind {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Workers => "workers",
            Kind::Clients => "clients",
        }
    }
}

/// A time that is drawn for each use: log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// Mean, in seconds.
    pub mean_s: f64,
    /// Coefficient of variation; 0 for one that is always the same.
    pub cv: f64,
}

impl Time {
    /// Returns a draw, in seconds.
    pub fn draw(&self, random: &mut SplitMix64) -> f64 {
        random.log_normal(self.mean_s, self.cv)
    }
}

/// A host's rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nic {
    /// Send rate, in bit/s.
    pub out_bps: f64,
    /// Receive rate, in bit/s.
    pub in_bps: f64,
}

/// A worker or a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Participant {
    /// The host's name.
    pub name: String,
    /// Rates.
    pub nic: Nic,
    /// To the server, in seconds.
    pub delay_s: f64,
    /// Compute time of an iteration (of a client: of all local iterations of a round).
    pub compute: Time,
    /// Samples of its first batch.
    pub batch: u32,
    /// Samples per second of a batch after the first one.
    pub speed: f64,
}

/// A job that trains with parameter servers.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Name.
    pub name: String,
    /// Kind of its participants.
    pub kind: Kind,
    /// At least one, in the order of turns.
    pub participants: Vec<Participant>,
    /// All its servers together: each keeps an equal part of the model.
    pub server: Nic,
    /// The size of the model and of an update, in bits.
    pub bits: f64,
    /// Pause of a client before each push.
    pub pause: Time,
}

/// A network with its jobs that train with parameter servers.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The document's name.
    pub name: String,
    /// At least one.
    pub jobs: Vec<Job>,
}

impl Cluster {
    /// Returns the job of that name.
    pub fn job_named(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }
}
