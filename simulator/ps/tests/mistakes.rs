//! Mistakes of a server that the oracle must find, each in trials that pass without it.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::time::Duration;

use inart_protocol_ps::{Applied, SyncModel, WorkerNo};
use inart_ps_agent::{Checkpoint, Decision, InOrder, Sequencer, Verdict};
use inart_simulator_ps::{AgentError, MODEL, Sync, Trial, TrialError, server_options};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// An update counts for two versions.
    Twice,
    /// An update is accepted and forgotten.
    Forgotten,
    /// A bit of an update changes before it is added.
    Bit,
    /// Workers pull the first model.
    OldModel,
    /// The checkpoint is a version behind.
    KeptLate,
    /// The server uses another synchronization than the requested one.
    OtherOrder,
}

struct Mistaken {
    own: InOrder<SyncModel>,
    mistake: Mistake,
    first: Vec<f32>,
    before: Option<Checkpoint>,
    pushes: u64,
    more: VecDeque<Decision>,
}

impl Sequencer for Mistaken {
    fn join(&mut self, who: WorkerNo, now: Duration) {
        self.own.join(who, now);
    }

    fn leave(&mut self, who: WorkerNo, now: Duration) {
        self.own.leave(who, now);
    }

    fn is_away(&self, who: WorkerNo) -> bool {
        self.own.is_away(who)
    }

    fn is_working(&self, who: WorkerNo) -> bool {
        self.own.is_working(who)
    }

    fn request(&mut self, who: WorkerNo, now: Duration) {
        self.own.request(who, now);
    }

    fn pull(&mut self, who: WorkerNo, now: Duration) -> Option<u64> {
        self.own.pull(who, now)
    }

    fn push(&mut self, who: WorkerNo, iteration: u64, mut values: Vec<f32>, now: Duration) -> Verdict {
        self.pushes += 1;
        if self.mistake == Mistake::Forgotten && self.pushes.is_multiple_of(3) {
            return Verdict { is_taken: true, refusal: None };
        }
        if self.mistake == Mistake::Bit && self.pushes == 4 {
            values[0] = f32::from_bits(values[0].to_bits() ^ (1 << 20));
        }
        self.before = Some(self.own.kept());
        self.own.push(who, iteration, values, now)
    }

    fn tick(&mut self, now: Duration) {
        self.own.tick(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        self.own.wake_at()
    }

    fn next_decision(&mut self) -> Option<Decision> {
        if let Some(more) = self.more.pop_front() {
            return Some(more);
        }
        let decision = self.own.next_decision()?;
        if let (Mistake::Twice, Decision::Applied(applied)) = (self.mistake, &decision) {
            let mut again = applied.clone();
            again.version += 1;
            self.more.push_back(Decision::Applied(again));
        }
        Some(decision)
    }

    fn version(&self) -> u64 {
        self.own.version()
    }

    fn values(&self) -> &[f32] {
        if self.mistake == Mistake::OldModel { &self.first } else { self.own.values() }
    }

    fn have_done(&self, iterations: u64) -> bool {
        self.own.have_done(iterations)
    }

    fn kept(&self) -> Checkpoint {
        let late = self.before.clone().filter(|_| self.mistake == Mistake::KeptLate);
        late.unwrap_or_else(|| self.own.kept())
    }
}

/// Returns the oracle's finding in a trial with a mistake; `None` without one.
fn found(trial: &Trial, mistake: Mistake) -> Option<String> {
    let Sync::Order(sync_model) = trial.options.sync else { return None };
    let sync_model = if mistake == Mistake::OtherOrder { SyncModel::asp() } else { sync_model };
    let ended = trial.run_with(|job, kept| {
        let (first, options) = (kept.values.clone(), server_options(job, &trial.options));
        let own = InOrder::restored(sync_model, options, MODEL, kept);
        Ok(Mistaken { own, mistake, first, before: None, pushes: 0, more: VecDeque::new() })
    });
    match ended {
        Ok(_) => None,
        Err(TrialError::Run(error @ (AgentError::Wrong { .. } | AgentError::Stuck(..)))) => {
            Some(error.to_string())
        }
        Err(error) => panic!("{mistake:?}: {error}"),
    }
}

/// Returns the trials in which a mistake is found, and the first finding.
fn trials(mistake: Mistake, of: impl Fn(&Trial) -> bool) -> (usize, usize, String) {
    let all: Vec<Trial> = (1..=120).map(|seed| Trial::random(seed).unwrap()).filter(of).take(20).collect();
    let errors: Vec<String> = all.iter().filter_map(|trial| found(trial, mistake)).collect();
    let first = errors.first().cloned().unwrap_or_default();
    eprintln!("{mistake:?}: found in {} of {} trials, such as: {first}", errors.len(), all.len());
    (errors.len(), all.len(), first)
}

#[test]
fn updates_that_count_twice_are_found() {
    let (found, all, first) = trials(Mistake::Twice, |_| true);
    assert_eq!((found, all), (20, 20), "{first}");
}

#[test]
fn updates_that_are_forgotten_are_found() {
    let (found, all, first) = trials(Mistake::Forgotten, |_| true);
    assert!(found * 10 >= all * 9, "{first}");
}

#[test]
fn a_changed_bit_is_found() {
    let (found, all, first) = trials(Mistake::Bit, |_| true);
    assert!(found * 10 >= all * 8 && first.contains("and not"), "{first}");
}

#[test]
fn an_old_model_is_found() {
    let (found, all, first) = trials(Mistake::OldModel, |_| true);
    assert_eq!((found, all), (20, 20), "{first}");
}

#[test]
fn a_version_that_is_kept_late_is_found_after_a_restart() {
    let restarts =
        |trial: &Trial| trial.faults.events.iter().any(|event| event.crash.as_deref() == Some("s1"));
    let (found, all, first) = trials(Mistake::KeptLate, restarts);
    assert!(found * 2 >= all && first.contains("was kept"), "{first}");
}

#[test]
fn another_order_is_found() {
    let in_turn = |trial: &Trial| {
        let sync_model = match trial.options.sync {
            Sync::Order(sync_model) => sync_model,
            Sync::Groups { .. } => return false,
        };
        let is_in_turn = matches!(sync_model, SyncModel::R2sp(r2sp) if r2sp.applied == Applied::InTurn);
        let workers = trial.network.matches("kind: worker").count();
        (is_in_turn || matches!(sync_model, SyncModel::Bsp(_))) && workers > 2 && trial.options.iterations > 4
    };
    let (found, all, first) = trials(Mistake::OtherOrder, in_turn);
    assert!(found * 3 >= all * 2, "{first}");
}
