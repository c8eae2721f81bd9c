//! A parameter server, and the participants around it.

use inart_virtual::SplitMix64;

/// What participants of a job are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Workers of a cluster, each of which meets the server by itself.
    Workers,
    /// Clients of federated training, which meet it in groups.
    Clients,
}

impl Kind {
    /// Its name in documents.
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
    /// Its mean, in seconds.
    pub mean_s: f64,
    /// Its coefficient of variation; 0 for one that is always the same.
    pub cv: f64,
}

impl Time {
    /// A draw, in seconds.
    pub fn draw(&self, random: &mut SplitMix64) -> f64 {
        random.log_normal(self.mean_s, self.cv)
    }
}

/// A host's rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nic {
    /// What it sends at, in bit/s.
    pub out_bps: f64,
    /// What it receives at, in bit/s.
    pub in_bps: f64,
}

/// A worker or a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Participant {
    /// The host's name.
    pub name: String,
    /// Its rates.
    pub nic: Nic,
    /// To the server, in seconds.
    pub delay_s: f64,
    /// What an iteration (of a client: all local iterations of a round) computes for.
    pub compute: Time,
    /// Samples of its first batch.
    pub batch: u32,
    /// Samples a second of what a batch has beyond the first one.
    pub speed: f64,
}

/// A job that trains by way of its servers.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// What its participants are.
    pub kind: Kind,
    /// At least one, in the order of turns.
    pub participants: Vec<Participant>,
    /// All its servers together: each keeps an equal part of the model.
    pub server: Nic,
    /// The size of the model and of an update, in bits.
    pub bits: f64,
    /// What a client waits before each push.
    pub pause: Time,
}

/// A network with its jobs that train by way of servers.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The document's name.
    pub name: String,
    /// At least one.
    pub jobs: Vec<Job>,
}

impl Cluster {
    /// The job of that name.
    pub fn job_named(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }
}
