//! Errors that end a worker's part by name: a server without its model, and other settings.

use inart_ps_agent::Checkpoint;

use super::{Event, World};
use crate::campaign::trial::Odd;

impl World<'_> {
    /// Ends a process that the server refuses, and restarts it with the correction that the refusal asks for.
    pub(super) fn is_refused(&mut self, worker: usize, why: &str) {
        let (seed, own) = (self.trial.seed, (self.taken[worker], self.training));
        match self.trial.odd {
            Some(Odd::Forgets | Odd::OtherFile) => {
                assert!(own.0 != 0 && own.0 != own.1, "seed {seed}: w{worker} has {own:?}: {why}");
                let named = format!("s1 has started without the model that w{worker} has trained");
                assert!(why.starts_with(&named), "seed {seed}: {why}");
                self.audit.seen.refused_model += 1;
            }
            Some(Odd::OtherTerms { worker: odd }) => {
                assert_eq!((worker, self.is_corrected), (odd, false), "seed {seed}: {why}");
                assert!(
                    why.starts_with(&format!("w{worker} has seed 2, s1 has seed 1")),
                    "seed {seed}: {why}"
                );
                self.is_corrected = true;
                self.audit.seen.refused_terms += 1;
            }
            _ => panic!("seed {seed}: w{worker} is refused: {why}"),
        }
        self.end_process(worker);
        let at = self.within(1, 1500);
        self.at(at, Event::Starts { worker });
    }

    pub(super) fn end_process(&mut self, worker: usize) {
        if let Some(agent) = self.workers[worker].take() {
            self.count_worker(&agent);
            self.processes[worker] += 1;
            self.cut(worker);
        }
    }

    /// Restarts the server without its model, if the trial asks for it: with the first weights, or with the
    /// file of another training.
    pub(super) fn lose_model(&mut self) {
        let n = self.trial.workers;
        let (version, values) = match self.trial.odd {
            Some(Odd::Forgets) => {
                self.audit.seen.forgot += 1;
                (0, self.first.clone())
            }
            Some(Odd::OtherFile) => {
                self.audit.seen.other_file += 1;
                (7, self.first.iter().map(|value| value * 3.0 + 0.25).collect())
            }
            _ => return,
        };
        self.training += 1;
        self.kept = Checkpoint { version, done: vec![0; n], members: vec![false; n], values };
        self.audit.restarts(&self.kept);
    }
}
