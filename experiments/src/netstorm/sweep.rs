//! Runs cases over seeds, on as many threads as there are processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use inart_overlay::run;

use super::case::Case;
use super::error::StudyError;
use super::networks::draw;

/// The mean time of a round, in seconds, of each case and seed.
pub struct Sweep {
    cases: Vec<Case>,
    /// By case, then by seed from 1 on.
    seconds: Vec<Vec<f64>>,
}

impl Sweep {
    /// Runs each case once per seed, from 1 to `seeds`; tells `progress` (runs done, all runs).
    ///
    /// # Errors
    /// The first run that fails.
    pub fn run(
        cases: impl Iterator<Item = Case>,
        seeds: u64,
        progress: &dyn Fn(u64, u64),
    ) -> Result<Sweep, StudyError> {
        let mut known: Vec<Case> = Vec::new();
        for case in cases {
            if !known.contains(&case) {
                known.push(case);
            }
        }
        let tasks: Vec<(Case, u64)> =
            known.iter().flat_map(|&case| (1..=seeds).map(move |seed| (case, seed))).collect();
        let threads = thread::available_parallelism().map_or(1, |n| n.get()).min(tasks.len());
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut answers: Vec<Option<Result<f64, StudyError>>> = tasks.iter().map(|_| None).collect();
        thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, tasks, next) = (sender.clone(), &tasks, &next);
                scope.spawn(move || {
                    while let Some((index, &(case, seed))) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tasks.get(i)?)))
                    {
                        // Nobody listens any more only if the receiving thread has panicked.
                        let _ = sender.send((index, seconds(case, seed)));
                    }
                });
            }
            drop(sender);
            for (done, (index, answer)) in receiver.into_iter().enumerate() {
                answers[index] = Some(answer);
                progress(done as u64 + 1, tasks.len() as u64);
            }
        });
        // Every task was sent back: a thread that panics ends the scope with its panic.
        let all: Vec<f64> = answers.into_iter().flatten().collect::<Result<_, _>>()?;
        let by_case = all.chunks(seeds.max(1) as usize).map(<[f64]>::to_vec);
        Ok(Sweep { cases: known, seconds: by_case.collect() })
    }

    /// The mean times of a case's rounds, by seed.
    pub fn seconds(&self, case: &Case) -> Option<&[f64]> {
        let at = self.cases.iter().position(|known| known == case)?;
        self.seconds.get(at).map(Vec::as_slice)
    }
}

fn seconds(case: Case, seed: u64) -> Result<f64, StudyError> {
    let overlay = draw(case.network, case.job, seed)?;
    let options = case.method.options(&overlay);
    // A network is drawn with its one job.
    let run = run(&overlay, &overlay.jobs()[0], &options);
    run.map(|run| run.mean_s).map_err(|source| StudyError::Run { case: Box::new(case), seed, source })
}
