//! What happens in a trial.

use inart_order::{Applied, BatchRule, Blocking, Policy};
use inart_order_agent::Precision;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Who decides.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Workers one by one.
    Policy(Policy),
    /// Clients in groups.
    Groups(Groups),
}

/// So many groups; the part of each that is waited for; r.
#[derive(Debug, Clone, Copy)]
pub struct Groups {
    pub groups: usize,
    pub fraction: f64,
    pub relaxation: f64,
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
    /// The part of packets that fail, though they may have arrived.
    pub fails: f64,
    /// Connections that end and come back.
    pub cuts: usize,
    /// Workers that die and start again.
    pub kills: usize,
    /// Times that the server dies and starts again, from a version that was kept.
    pub restarts: usize,
    /// The part of updates that have a NaN.
    pub not_finite: f64,
    /// How batches are tuned, if they are, and by worker the samples of its first batch and per second.
    pub tuned: Option<(BatchRule, Vec<(u32, f64)>)>,
}

impl Trial {
    pub fn random(seed: u64) -> Trial {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let policy = match random.random_range(0..7) {
            0 => Policy::bsp(),
            1 => Policy::asp(),
            2 => Policy::ssp(random.random_range(0..3), Blocking::AfterPush).unwrap(),
            3 => Policy::ssp(random.random_range(1..3), Blocking::BeforeCommit).unwrap(),
            4 => Policy::safa(random.random_range(0.3..1.0), 3).unwrap(),
            5 => Policy::r2sp(0.8, Applied::OnArrival).unwrap(),
            _ => Policy::r2sp(random.random_range(0.0..1.0), Applied::InTurn).unwrap(),
        };
        let values = random.random_range(1..40);
        let workers = random.random_range(1..6);
        // Of a random stream of its own, so that earlier seeds keep their trials.
        let mut tuned = ChaCha8Rng::seed_from_u64(seed ^ 0xba7c);
        let speed = |_| (tuned.random_range(1..40), tuned.random_range(1.0..30.0));
        let speeds: Vec<_> = (0..workers).map(speed).collect();
        let rule = if seed.is_multiple_of(2) { BatchRule::FillIdle } else { BatchRule::Proportional };
        Trial {
            seed,
            workers,
            rule: Rule::Policy(policy),
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
        }
    }

    /// Clients in groups; all else as in the trial of that seed.
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
