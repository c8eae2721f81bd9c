//! Settings and faults of a trial.

use inart_protocol_ps::{Applied, BatchRule, Blocking, SyncModel};
use inart_ps_agent::Precision;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rule of synchronization.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Synchronization model for workers.
    SyncModel(SyncModel),
    /// Clients in groups.
    Groups(Groups),
}

/// Number of groups, the part of each that is awaited, and r.
#[derive(Debug, Clone, Copy)]
pub struct Groups {
    pub groups: usize,
    pub fraction: f64,
    pub relaxation: f64,
}

/// Condition that ends the part of a worker, or the training, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// The server restarts without its model.
    Forgets,
    /// The server restarts from the file of another training, whose model has as many values.
    OtherFile,
    /// A worker starts with another seed.
    OtherTerms { worker: usize },
    /// Updates are finite, and so large that the model would become infinite.
    Overflows,
}

/// One trial.
#[derive(Debug, Clone)]
pub struct Trial {
    pub seed: u64,
    pub workers: usize,
    pub rule: Rule,
    pub values: usize,
    pub chunk_values: usize,
    pub precision: Precision,
    pub window: usize,
    pub is_paced: bool,
    pub iterations: u64,
    /// Part of packets that fail, though they may have arrived.
    pub fails: f64,
    /// Connections that break and recover.
    pub cuts: usize,
    /// Workers that crash and restart.
    pub kills: usize,
    /// Times that the server crashes and restarts, from a checkpoint.
    pub restarts: usize,
    /// Part of updates with a NaN.
    pub not_finite: f64,
    /// Batch tuning, if any, and by worker the samples of its first batch and per second.
    pub tuned: Option<(BatchRule, Vec<(u32, f64)>)>,
    pub odd: Option<Odd>,
}

impl Trial {
    pub fn random(seed: u64) -> Trial {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sync_model = match random.random_range(0..7) {
            0 => SyncModel::bsp(),
            1 => SyncModel::asp(),
            2 => SyncModel::ssp(random.random_range(0..3), Blocking::AfterPush).unwrap(),
            3 => SyncModel::ssp(random.random_range(1..3), Blocking::BeforeCommit).unwrap(),
            4 => SyncModel::safa(random.random_range(0.3..1.0), 3).unwrap(),
            5 => SyncModel::r2sp(0.8, Applied::OnArrival).unwrap(),
            _ => SyncModel::r2sp(random.random_range(0.0..1.0), Applied::InTurn).unwrap(),
        };
        let values = random.random_range(1..40);
        let workers = random.random_range(1..6);
        // From a random stream of its own, so that earlier seeds keep their trials.
        let mut tuned = ChaCha8Rng::seed_from_u64(seed ^ 0xba7c);
        let speed = |_| (tuned.random_range(1..40), tuned.random_range(1.0..30.0));
        let speeds: Vec<_> = (0..workers).map(speed).collect();
        let rule = if seed.is_multiple_of(2) { BatchRule::FillIdle } else { BatchRule::Proportional };
        Trial {
            seed,
            workers,
            rule: Rule::SyncModel(sync_model),
            values,
            chunk_values: random.random_range(1..=values.min(9)),
            precision: if random.random_bool(0.3) { Precision::Half } else { Precision::Single },
            window: random.random_range(1..6),
            is_paced: random.random_bool(0.3),
            iterations: random.random_range(2..7),
            fails: if random.random_bool(0.7) { random.random_range(0.0..0.4) } else { 0.0 },
            cuts: random.random_range(0..8),
            kills: random.random_range(0..4),
            restarts: random.random_range(0..3),
            not_finite: if random.random_bool(0.3) { 0.1 } else { 0.0 },
            tuned: seed.is_multiple_of(3).then_some((rule, speeds)),
            odd: None,
        }
    }

    /// Adds such a condition to a third of the trials, from a random stream of its own, so that earlier seeds
    /// keep their other events.
    pub fn with_odd(mut self) -> Trial {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ 0x0dd);
        let worker = random.random_range(0..self.workers);
        self.odd = match random.random_range(0..12) {
            0 => Some(Odd::Forgets),
            1 => Some(Odd::OtherFile),
            2 => Some(Odd::OtherTerms { worker }),
            // A mean of models does not grow.
            3 if matches!(self.rule, Rule::SyncModel(_)) => Some(Odd::Overflows),
            _ => None,
        };
        match self.odd {
            Some(Odd::Forgets | Odd::OtherFile) => self.restarts = self.restarts.max(1),
            // In half precision such values are infinite before they are added. A server that restarts from
            // its checkpoint would train on.
            Some(Odd::Overflows) => (self.precision, self.restarts) = (Precision::Single, 0),
            _ => {}
        }
        self
    }

    /// Clients in groups; everything else as in the trial of that seed.
    pub fn of_groups(seed: u64) -> Trial {
        let mut trial = Trial::random(seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x9009);
        trial.workers = random.random_range(2..7);
        let groups = random.random_range(1..=trial.workers.min(3));
        let (fraction, relaxation) = (random.random_range(0.3..1.0), random.random_range(0.0..1.0));
        trial.tuned = None;
        trial.rule = Rule::Groups(Groups { groups, fraction, relaxation });
        trial
    }
}
