//! Plans many networks, on as many threads as there are processors.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use inart_planner_aggregation::PlanError;

use crate::catalog::Panel;
use crate::network::Network;
use crate::outcome::Outcome;
use crate::series::Method;

/// Why an experiment has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A network could not be planned.
    #[error("{scheme} on {network}, seed {seed}: {source}")]
    Plan {
        /// Network.
        network: String,
        /// Seed of the network.
        seed: u64,
        /// Scheme.
        scheme: &'static str,
        /// Cause.
        source: Box<PlanError>,
    },
    /// No seed.
    #[error("no seeds: ask for at least one")]
    NoSeeds,
}

/// Outcomes of the plans that some panels show, by seed from 1 on. The result does not depend on the number
/// of threads.
pub(crate) struct Sweep {
    outcomes: HashMap<(Network, Method), Vec<Outcome>>,
}

impl Sweep {
    /// Plans with the seeds 1 to `seeds` what `panels` show, each once; reports to `progress` (plans done,
    /// all plans).
    ///
    /// # Errors
    /// The first plan that cannot be made.
    pub fn run<'p>(
        panels: impl Iterator<Item = &'p Panel>,
        seeds: u64,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Sweep, Error> {
        let mut known = HashSet::new();
        let mut tasks = Vec::new();
        for panel in panels {
            for point in &panel.points {
                for method in panel.series.iter().map(|series| series.method()) {
                    if known.insert((point.network, method)) {
                        tasks.extend((1..=seeds).map(|seed| (point.network, method, seed)));
                    }
                }
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
                    while let Some((index, &(network, method, seed))) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tasks.get(i)?)))
                    {
                        // Sending fails only if the receiving thread has panicked.
                        let _ = sender.send((index, Outcome::of(network, seed, method)));
                    }
                });
            }
            drop(sender);
            for (done, (index, answer)) in receiver.into_iter().enumerate() {
                answers[index] = Some(answer);
                progress(done as u64 + 1, tasks.len() as u64);
            }
        });
        let mut outcomes: HashMap<_, Vec<Outcome>> = HashMap::new();
        for ((network, method, seed), answer) in tasks.into_iter().zip(answers) {
            let answer = answer.expect("every task was taken by a thread");
            let scheme = method.scheme.name();
            let error =
                |source| Error::Plan { network: network.to_string(), seed, scheme, source: Box::new(source) };
            outcomes.entry((network, method)).or_default().push(answer.map_err(error)?);
        }
        Ok(Sweep { outcomes })
    }

    /// Returns the outcomes of a method on the network, by seed.
    pub fn outcomes(&self, network: Network, method: Method) -> &[Outcome] {
        self.outcomes.get(&(network, method)).map_or(&[], Vec::as_slice)
    }
}
