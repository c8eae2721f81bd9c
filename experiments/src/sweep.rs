//! Plans many networks, on as many threads as there are processors.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use inart_planner::{PlanError, Scheme};

use crate::network::Network;
use crate::outcome::Outcome;
use crate::series::Series;

/// Why an experiment has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A network could not be planned.
    #[error("{scheme} on {network}, seed {seed}: {source}")]
    Plan {
        /// The network.
        network: String,
        /// Its seed.
        seed: u64,
        /// The scheme.
        scheme: Scheme,
        /// Why.
        source: PlanError,
    },
    /// No seed was asked for.
    #[error("no seeds: ask for at least one")]
    NoSeeds,
}

/// What every scheme comes to on every network, by seed from 1 on. The result does not depend on the number of threads.
pub(crate) struct Sweep {
    outcomes: BTreeMap<(Network, &'static str), Vec<Outcome>>,
}

impl Sweep {
    /// Plans `networks` with every scheme and the seeds 1 to `seeds`; tells `progress` (plans done, all plans).
    pub fn run(
        networks: &BTreeSet<Network>,
        seeds: u64,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Sweep, Error> {
        let mut tasks = Vec::new();
        for &network in networks {
            for scheme in Series::schemes() {
                tasks.extend((1..=seeds).map(|seed| (network, scheme, seed)));
            }
        }
        if tasks.is_empty() {
            return Err(Error::NoSeeds);
        }
        let threads = thread::available_parallelism().map_or(1, |n| n.get()).min(tasks.len());
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut answers: Vec<Option<Result<Outcome, PlanError>>> = vec![None; tasks.len()];
        thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, tasks, next) = (sender.clone(), &tasks, &next);
                scope.spawn(move || {
                    while let Some((index, &(network, scheme, seed))) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tasks.get(i)?)))
                    {
                        // Nobody listens any more only if the receiving thread has panicked.
                        let _ = sender.send((index, Outcome::of(network, seed, scheme)));
                    }
                });
            }
            drop(sender);
            for (done, (index, answer)) in receiver.into_iter().enumerate() {
                answers[index] = Some(answer);
                progress(done as u64 + 1, tasks.len() as u64);
            }
        });
        let mut outcomes: BTreeMap<_, Vec<Outcome>> = BTreeMap::new();
        for ((network, scheme, seed), answer) in tasks.into_iter().zip(answers) {
            let answer = answer.expect("every task was taken by a thread");
            let error = |source| Error::Plan { network: network.to_string(), seed, scheme, source };
            outcomes.entry((network, scheme.name())).or_default().push(answer.map_err(error)?);
        }
        Ok(Sweep { outcomes })
    }

    /// The scheme's outcomes on the network, by seed.
    pub fn outcomes(&self, network: Network, scheme: Scheme) -> &[Outcome] {
        self.outcomes.get(&(network, scheme.name())).map_or(&[], Vec::as_slice)
    }
}
