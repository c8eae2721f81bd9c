//! Sequencers: workers by a synchronization model, or clients in groups.

use std::time::Duration;

use inart_protocol_ps::{Batch, GroupOptions, Options, SyncModel, WorkerNo, fraction_of, relaxation_of};
use inart_ps_agent::{Checkpoint, Decision, InGroups, InOrder, Sequencer, Verdict};
use inart_topologies::ps::Job;

use super::error::AgentError;
use super::options::{AgentOptions, Sync};

/// One of the two sequencers.
#[derive(Debug, Clone)]
pub enum Either {
    /// Workers by a synchronization model.
    Order(Box<InOrder<SyncModel>>),
    /// Clients in groups.
    Groups(Box<InGroups>),
}

impl Either {
    /// Creates the sequencer of a server that starts from a checkpoint.
    ///
    /// # Errors
    /// The groups are invalid.
    pub fn new(
        job: &Job,
        options: &AgentOptions,
        model: u64,
        kept: Checkpoint,
    ) -> Result<Either, AgentError> {
        let patience = Some(options.patience);
        Ok(match options.sync {
            Sync::Order(sync_model) => {
                let own = server_options(job, options);
                Either::Order(Box::new(InOrder::restored(sync_model, own, model, kept)))
            }
            Sync::Groups { groups, fraction, relaxation } => {
                let own = GroupOptions {
                    clients: job.participants.len(),
                    groups,
                    fraction: fraction_of(fraction)?,
                    relaxation: relaxation_of(relaxation)?,
                    patience,
                    outliers: None,
                };
                own.check()?;
                let batches = job.participants.iter().map(|one| one.batch).collect();
                Either::Groups(Box::new(InGroups::restored(own, batches, model, kept)?))
            }
        })
    }

    fn own(&self) -> &dyn Sequencer {
        match self {
            Either::Order(own) => &**own,
            Either::Groups(own) => &**own,
        }
    }

    fn own_mut(&mut self) -> &mut dyn Sequencer {
        match self {
            Either::Order(own) => &mut **own,
            Either::Groups(own) => &mut **own,
        }
    }
}

/// Returns the settings of a server for these workers.
pub fn server_options(job: &Job, options: &AgentOptions) -> Options {
    let batches = job.participants.iter().map(|one| Batch::new(one.batch, one.speed)).collect();
    Options { batches, tuning: options.tuning, patience: Some(options.patience) }
}

impl Sequencer for Either {
    fn join(&mut self, who: WorkerNo, now: Duration) {
        self.own_mut().join(who, now);
    }

    fn leave(&mut self, who: WorkerNo, now: Duration) {
        self.own_mut().leave(who, now);
    }

    fn is_away(&self, who: WorkerNo) -> bool {
        self.own().is_away(who)
    }

    fn is_working(&self, who: WorkerNo) -> bool {
        self.own().is_working(who)
    }

    fn request(&mut self, who: WorkerNo, now: Duration) {
        self.own_mut().request(who, now);
    }

    fn pull(&mut self, who: WorkerNo, now: Duration) -> Option<u64> {
        self.own_mut().pull(who, now)
    }

    fn push(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict {
        self.own_mut().push(who, iteration, values, now)
    }

    fn tick(&mut self, now: Duration) {
        self.own_mut().tick(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        self.own().wake_at()
    }

    fn next_decision(&mut self) -> Option<Decision> {
        self.own_mut().next_decision()
    }

    fn version(&self) -> u64 {
        self.own().version()
    }

    fn values(&self) -> &[f32] {
        self.own().values()
    }

    fn have_done(&self, iterations: u64) -> bool {
        self.own().have_done(iterations)
    }

    fn kept(&self) -> Checkpoint {
        self.own().kept()
    }
}
