//! The fault campaign of parameter servers: `CAMPAIGN_TIMES=50` runs fifty times as many trials. Also
//! mistakes that the oracle must find.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use inart_simulator_ps::{AgentRun, Trial};

const TRIALS: u64 = 200;

fn times() -> u64 {
    std::env::var("CAMPAIGN_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Counts of faults, all above 0.
#[derive(Debug, Default)]
struct Seen([(&'static str, u64); 9]);

impl Seen {
    fn add(&mut self, run: &AgentRun) {
        let own = [
            ("an update applied", run.updates),
            ("a wasted update", run.wasted_updates),
            ("an update lost with its server", run.lost_updates),
            ("a worker timed out", run.given_up),
            ("a process killed", run.kills),
            ("a connection ended", run.disconnected),
            ("a message lost", run.lost_messages),
            ("a chunk sent again", run.sent_again),
            ("a message dropped", run.dropped),
        ];
        for (all, own) in self.0.iter_mut().zip(own) {
            *all = (own.0, all.1 + own.1);
        }
    }

    fn check(&self) {
        eprintln!("{self:?}");
        self.0.iter().for_each(|(what, count)| assert!(*count > 0, "{what} never occurred"));
    }
}

fn run(seed: u64, trial: &Trial) -> AgentRun {
    trial.run().unwrap_or_else(|error| {
        panic!("seed {seed}: {error}\n{}\n{}\n{:?}", trial.network, trial.faults.to_yaml(), trial.options)
    })
}

#[test]
fn workers_lose_no_update_and_keep_their_order_under_faults() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS * times() {
        seen.add(&run(seed, &Trial::random(seed).unwrap()));
    }
    seen.check();
}

#[test]
fn clients_in_groups_lose_no_update() {
    let mut seen = Seen::default();
    for seed in 1..=TRIALS / 2 * times() {
        seen.add(&run(seed, &Trial::of_groups(seed).unwrap()));
    }
    seen.check();
}

#[test]
fn equal_seeds_give_equal_runs() {
    for seed in 1..=10 {
        let trial = Trial::random(seed).unwrap();
        assert_eq!(run(seed, &trial), run(seed, &trial));
        let other = Trial {
            options: inart_simulator_ps::AgentOptions { seed: seed + 1, ..trial.options.clone() },
            ..trial.clone()
        };
        assert_ne!(run(seed, &trial), run(seed, &other));
    }
}
