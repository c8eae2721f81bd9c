//! The sequencer of a trial: workers in order, or clients in groups.

use std::time::Duration;

use inart_protocol_ps::{Batch, GroupOptions, Options, Part, SyncModel, WorkerNo};
use inart_ps_agent::{Checkpoint, Decision, InGroups, InOrder, Sequencer, Verdict};

use super::trial::{Groups, Rule, Trial};

/// One of the two sequencers.
#[derive(Debug, Clone)]
pub enum Either {
    Order(Box<InOrder<SyncModel>>),
    Groups(Box<InGroups>),
}

impl Either {
    /// Creates the sequencer of a trial, restored from a checkpoint.
    pub fn new(trial: &Trial, patience: Option<Duration>, model: u64, kept: Checkpoint) -> Either {
        match trial.rule {
            Rule::SyncModel(sync_model) => {
                let fixed = Options { patience, ..Options::fixed(trial.workers) };
                let options = match &trial.tuned {
                    Some((rule, speeds)) => {
                        let batch = |(start, speed): &(u32, f64)| Batch::new(*start, *speed);
                        Options { batches: speeds.iter().map(batch).collect(), tuning: Some(*rule), ..fixed }
                    }
                    None => fixed,
                };
                Either::Order(Box::new(InOrder::restored(sync_model, options, model, kept)))
            }
            Rule::Groups(Groups { groups, fraction, relaxation }) => {
                let options = GroupOptions {
                    clients: trial.workers,
                    groups,
                    fraction: Part::new(fraction).unwrap(),
                    relaxation: Part::new(relaxation).unwrap(),
                    patience,
                    outliers: None,
                };
                let batches = vec![1; trial.workers];
                Either::Groups(Box::new(InGroups::restored(options, batches, model, kept).unwrap()))
            }
        }
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
