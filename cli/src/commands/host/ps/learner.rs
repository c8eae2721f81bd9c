//! Training of a worker's or a client's process.

use anyhow::ensure;
use inart_ps_host::Start;
use inart_terms::digest_of_values;
use inart_topologies::ps::{Job, Kind};
use inart_training::{Client, Config, Local, Stepper};

/// Flags of how a client trains.
#[derive(Debug, Clone, clap::Args)]
pub struct LearnerArgs {
    /// Learning rate: of all workers together; with clients, of each client.
    #[arg(long = "learning-rate", default_value_t = 0.3)]
    pub step: f64,
    /// With clients: local steps of a client per round [default: 5].
    #[arg(long, value_name = "N")]
    local_steps: Option<usize>,
    /// With clients: number of single-digit data shards per client, drawn by seed [default: 2]
    ///
    /// Images are sorted by digit and cut into shards, so few shards give uneven data.
    #[arg(long = "data-shards", value_name = "K")]
    shards: Option<usize>,
}

/// Terms that a server and its workers both know: the job's kind and batches, the seed, and the first
/// weights.
pub fn shared_terms(cluster: &Job, seed: u64, first: &[f32]) -> Vec<(&'static str, String)> {
    let batches: Vec<_> = cluster.participants.iter().map(|own| own.batch.to_string()).collect();
    let kind = match cluster.kind {
        Kind::Workers => "workers that push changes",
        Kind::Clients => "clients that push models",
    };
    vec![
        ("seed", seed.to_string()),
        ("participants", kind.to_owned()),
        ("batches", batches.join(", ")),
        ("first weights (SHA-256)", digest_of_values(first)),
    ]
}

/// More steps than a round has.
const MOST_STEPS: usize = 10_000;

impl LearnerArgs {
    /// Refuses flags that jobs of this kind lack.
    pub fn check(&self, kind: Kind) -> anyhow::Result<()> {
        ensure!(
            self.step.is_finite() && self.step > 0.0,
            "--learning-rate {}: give a number above 0",
            self.step
        );
        for (is_given, flag) in
            [(self.local_steps.is_some(), "local-steps"), (self.shards.is_some(), "data-shards")]
        {
            ensure!(
                kind == Kind::Clients || !is_given,
                "--{flag}: it is for jobs of clients, and this one has workers; leave it out"
            );
        }
        let steps = self.local().steps;
        ensure!(
            (1..=MOST_STEPS).contains(&steps),
            "--local-steps {steps}: give a number from 1 to {MOST_STEPS}"
        );
        Ok(())
    }

    /// Returns how a client trains.
    pub fn local(&self) -> Local {
        let (shards, steps) = (self.shards.unwrap_or(2), self.local_steps.unwrap_or(5));
        Local { shards, steps, step: self.step as f32 }
    }

    /// Terms of a worker: those that its server knows, too, and how it trains.
    pub fn terms(&self, cluster: &Job, seed: u64, first: &[f32]) -> Vec<(&'static str, String)> {
        let mut all = shared_terms(cluster, seed, first);
        all.push(("program", "digits (inart-training)".to_owned()));
        all.push(("step", self.step.to_string()));
        if cluster.kind == Kind::Clients {
            let local = self.local();
            all.push(("local steps", local.steps.to_string()));
            all.push(("shards of data", local.shards.to_string()));
        }
        all
    }

    /// Returns the learner of the participant with this rank. `is_opposite`: a client that pushes its negated
    /// update.
    pub fn learner(&self, job: &Job, seed: u64, rank: usize, is_opposite: bool) -> anyhow::Result<Learner> {
        self.check(job.kind)?;
        ensure!(
            job.kind == Kind::Clients || !is_opposite,
            "--sign-flip: it is for jobs of clients, and this one has workers; leave it out"
        );
        let workers = job.participants.len();
        let batch = job.participants.get(rank).map_or(1, |own| own.batch as usize);
        let config = Config { seed, rank, workers, batch };
        Ok(match job.kind {
            Kind::Workers => Learner::Worker(Stepper::new(config, (self.step / workers as f64) as f32)?),
            Kind::Clients => Learner::Client { client: Client::new(config, self.local())?, is_opposite },
        })
    }
}

/// A training.
pub enum Learner {
    /// A worker, which pushes its change of the model.
    Worker(Stepper),
    /// A client, which pushes its trained model.
    Client { client: Client, is_opposite: bool },
}

impl Learner {
    /// Computes the values to push.
    pub fn push(&mut self, start: &Start) -> Vec<f32> {
        match self {
            Learner::Worker(stepper) => {
                let update = stepper.update(&start.model, start.iteration, start.batch.max(1) as usize);
                update.expect("a batch of one image or more")
            }
            Learner::Client { client, is_opposite } => {
                let mut model = client.train(&start.model, start.iteration);
                if *is_opposite {
                    model
                        .iter_mut()
                        .zip(start.model.iter())
                        .for_each(|(value, from)| *value = from - (*value - from));
                }
                model
            }
        }
    }
}
