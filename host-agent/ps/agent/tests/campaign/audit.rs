//! Ground truth: each update as it was computed, once, and a model that is the sum of the applied updates.

use std::collections::BTreeMap;

use inart_protocol_ps::Update;
use inart_ps_agent::{Checkpoint, Start};

use super::trial::{Groups, Rule, Trial};

/// Counts of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub computed: u64,
    pub arrived: u64,
    pub applied: u64,
    pub discarded: u64,
    pub gone: u64,
    pub kills: u64,
    pub cuts: u64,
    pub restarts: u64,
    /// Restarts with chunks of an update in flight.
    pub restarts_in_a_push: u64,
    pub chunks_repeated: u64,
    pub chunks_unasked: u64,
    pub stale_incarnation: u64,
    pub superseded: u64,
    pub sent_again: u64,
    pub pulls_repeated: u64,
    /// For groups: models of past rounds.
    pub late: u64,
    /// Updates applied at another scale than 1.
    pub scaled: u64,
    /// Servers restarted without their model, and with that of another training.
    pub forgot: u64,
    pub other_file: u64,
    /// Workers refused because of the server's other model, or of other settings.
    pub refused_model: u64,
    pub refused_terms: u64,
    /// Trainings that ended because the model would become infinite, and workers that ended with them.
    pub overflows: u64,
    pub stopped: u64,
}

impl Seen {
    pub fn list(&self) -> [(&'static str, u64); 15] {
        [
            ("an update computed", self.computed),
            ("an update arrived", self.arrived),
            ("an update applied", self.applied),
            ("an update discarded", self.discarded),
            ("a worker timed out", self.gone),
            ("a worker killed", self.kills),
            ("a connection cut", self.cuts),
            ("a server restarted", self.restarts),
            ("a server restarted in the middle of a push", self.restarts_in_a_push),
            ("a chunk twice", self.chunks_repeated),
            ("a chunk unasked", self.chunks_unasked),
            ("a packet of another incarnation", self.stale_incarnation),
            ("an update superseded", self.superseded),
            ("a chunk sent again", self.sent_again),
            ("a pull twice", self.pulls_repeated),
        ]
    }

    /// Returns counts of refusals by name.
    pub fn refusals(&self) -> [(&'static str, u64); 4] {
        [
            ("a server without its model", self.forgot),
            ("a server with the file of another training", self.other_file),
            ("a worker of another model", self.refused_model),
            ("a worker with another seed", self.refused_terms),
        ]
    }

    pub fn add(&mut self, other: &Seen) {
        self.computed += other.computed;
        self.arrived += other.arrived;
        self.applied += other.applied;
        self.discarded += other.discarded;
        self.gone += other.gone;
        self.kills += other.kills;
        self.cuts += other.cuts;
        self.restarts += other.restarts;
        self.restarts_in_a_push += other.restarts_in_a_push;
        self.chunks_repeated += other.chunks_repeated;
        self.chunks_unasked += other.chunks_unasked;
        self.stale_incarnation += other.stale_incarnation;
        self.superseded += other.superseded;
        self.sent_again += other.sent_again;
        self.pulls_repeated += other.pulls_repeated;
        self.late += other.late;
        self.scaled += other.scaled;
        self.forgot += other.forgot;
        self.other_file += other.other_file;
        self.refused_model += other.refused_model;
        self.refused_terms += other.refused_terms;
        self.overflows += other.overflows;
        self.stopped += other.stopped;
    }
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A computed update, as it must arrive.
struct Computed {
    worker: usize,
    base: u64,
    /// Samples of the worker's iteration.
    batch: u32,
    has_arrived: bool,
}

/// The reference: records what was computed, and sums it independently.
pub struct Audit {
    computed: BTreeMap<Vec<u32>, Computed>,
    /// Models of this incarnation of the server, by version.
    models: BTreeMap<u64, Vec<f32>>,
    version: u64,
    /// By worker: the update that has arrived and was neither applied nor discarded.
    held: BTreeMap<usize, (u64, u64, Vec<f32>)>,
    /// By worker: the last iteration that was applied or discarded, in this incarnation of the server.
    last: BTreeMap<usize, u64>,
    pub seen: Seen,
}

impl Audit {
    pub fn new(first: Vec<f32>) -> Self {
        Audit {
            computed: BTreeMap::new(),
            models: BTreeMap::from([(0, first)]),
            version: 0,
            held: BTreeMap::new(),
            last: BTreeMap::new(),
            seen: Seen::default(),
        }
    }

    /// Checks that a restarted server resumes from an existing model.
    pub fn restarted(&mut self, kept: &Checkpoint) {
        assert_eq!(bits(&kept.values), bits(&self.models[&kept.version]));
        self.version = kept.version;
        self.held.clear();
        self.last.clear();
    }

    /// Replaces the model by that of another training.
    pub fn restarts(&mut self, kept: &Checkpoint) {
        self.models = BTreeMap::from([(kept.version, kept.values.clone())]);
    }

    /// Checks that the server ends the training because model and held updates exceed float32 at that value.
    pub fn overflows(&mut self, version: u64, worker: usize, at: usize, trial: &Trial) {
        let seed = trial.seed;
        assert_eq!(version, self.version + 1, "seed {seed}");
        assert!(self.held.contains_key(&worker), "seed {seed}: an update of {worker} that has not arrived");
        let size = |(of, (_, _, values)): (&usize, &(u64, u64, Vec<f32>))| {
            (f64::from(self.scale(*of, values, trial)) * f64::from(values[at])).abs()
        };
        let most = f64::from(self.models[&self.version][at].abs()) + self.held.iter().map(size).sum::<f64>();
        assert!(most > f64::from(f32::MAX), "seed {seed}: value {at} is at most {most:e}");
        self.seen.overflows += 1;
    }

    pub fn pulled(&self, start: &Start, trial: &Trial, as_received: impl Fn(&[f32]) -> Vec<f32>) {
        let expected = as_received(&self.models[&start.version]);
        assert_eq!(bits(&start.model), bits(&expected), "seed {}", trial.seed);
    }

    pub fn computed(&mut self, worker: usize, (base, batch): (u64, u32), as_received: &[f32]) {
        self.seen.computed += 1;
        let new = Computed { worker, base, batch, has_arrived: false };
        assert!(self.computed.insert(bits(as_received), new).is_none(), "updates are drawn to differ");
    }

    pub fn arrived(&mut self, worker: usize, iteration: u64, base: u64, values: &[f32], seed: u64) {
        self.seen.arrived += 1;
        let computed = self.computed.get_mut(&bits(values)).unwrap_or_else(|| {
            panic!("seed {seed}: an update arrived that no worker computed");
        });
        assert_eq!((computed.worker, computed.base), (worker, base), "seed {seed}");
        assert!(!computed.has_arrived, "seed {seed}: an update arrived twice");
        computed.has_arrived = true;
        let before = self.held.insert(worker, (iteration, base, values.to_vec()));
        assert!(before.is_none(), "seed {seed}: an update was replaced");
    }

    fn release(&mut self, worker: usize, iteration: u64, seed: u64) -> (u64, Vec<f32>) {
        let (of, base, values) = self.held.remove(&worker).expect("an update that has arrived");
        assert_eq!(of, iteration, "seed {seed}");
        let last = self.last.insert(worker, iteration);
        assert!(last.is_none_or(|last| last < iteration), "seed {seed}: an iteration counts twice");
        (base, values)
    }

    pub fn applied(&mut self, version: u64, updates: &[Update], model: Option<&[f32]>, trial: &Trial) {
        let Trial { seed, rule, .. } = trial;
        let seed = *seed;
        assert_eq!(version, self.version + 1, "seed {seed}");
        let mut expected = self.models[&self.version].clone();
        let mut all = Vec::new();
        for update in updates {
            let (base, values) = self.release(update.worker.index(), update.iteration, seed);
            assert_eq!(update.staleness, self.version - base, "seed {seed}");
            self.seen.applied += 1;
            all.push((self.scale(update.worker.index(), &values, trial), values));
        }
        match rule {
            Rule::SyncModel(_) => all.iter().for_each(|(scale, values)| {
                self.seen.scaled += u64::from(*scale != 1.0);
                // Exact but for one rounding each, like the sum of two floats in double precision.
                let scaled = |value: &f32| (f64::from(*scale) * f64::from(*value)) as f32;
                let add = |(sum, value): (&mut f32, &f32)| {
                    *sum = (f64::from(*sum) + f64::from(scaled(value))) as f32
                };
                expected.iter_mut().zip(values).for_each(add);
            }),
            Rule::Groups(Groups { groups, .. }) => {
                let all: Vec<_> = all.into_iter().map(|(_, values)| values).collect();
                merge(&mut expected, &all, *groups);
            }
        }
        if let Some(model) = model {
            assert_eq!(bits(model), bits(&expected), "seed {seed}: version {version}");
        }
        assert!(
            expected.iter().all(|value| value.is_finite()),
            "seed {seed}: version {version} is not finite"
        );
        self.version = version;
        self.models.insert(version, expected);
    }

    /// Returns the weight of an update: the samples of its iteration relative to those of its first batch
    /// (Algorithm 1, line 5).
    fn scale(&self, worker: usize, values: &[f32], trial: &Trial) -> f32 {
        let Some((_, speeds)) = &trial.tuned else { return 1.0 };
        (f64::from(self.computed[&bits(values)].batch) / f64::from(speeds[worker].0)) as f32
    }

    pub fn discarded(&mut self, worker: usize, iteration: u64, seed: u64) {
        let (_, values) = self.release(worker, iteration, seed);
        assert!(values.iter().any(|value| value.is_nan()), "seed {seed}: a sound update was discarded");
        self.seen.discarded += 1;
    }

    /// Takes a refused model of a group's client, which counts nothing.
    pub fn refused(&mut self, worker: usize, seed: u64) {
        let (_, _, values) = self.held.remove(&worker).expect("it has just arrived");
        assert!(values.iter().any(|value| value.is_nan()), "seed {seed}: a sound model was refused");
        self.seen.discarded += 1;
    }

    /// Checks at the end that every accepted update is in the model.
    pub fn ended(&self, seed: u64) {
        assert!(self.held.is_empty(), "seed {seed}: updates were taken and never applied");
    }

    pub fn model(&self) -> &[f32] {
        &self.models[&self.version]
    }
}

/// Merges a group's mean into the model with weight 1/M (Algorithm 2, line 16), in double precision.
fn merge(model: &mut [f32], of_group: &[Vec<f32>], groups: usize) {
    let part = 1.0 / groups as f64;
    for (at, value) in model.iter_mut().enumerate() {
        let sum = of_group.iter().fold(0.0, |sum, of| sum + f64::from(of[at]));
        let mean = (sum / of_group.len() as f64) as f32;
        *value = (f64::from(*value) * (1.0 - part) + f64::from(mean) * part) as f32;
    }
}
