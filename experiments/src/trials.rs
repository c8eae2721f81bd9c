//! Runs cases over seeds, on as many threads as there are processors.

use std::error::Error;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// A case, which a seed turns into a run.
pub trait Trial: Copy + PartialEq + Debug + Send + Sync {
    /// Measurement of a run.
    type Run: Copy + Debug + Send;

    /// Runs the case with a seed.
    ///
    /// # Errors
    /// A run that fails.
    fn run(&self, seed: u64) -> Result<Self::Run, StudyError>;
}

/// Why a study has no result.
#[derive(Debug, thiserror::Error)]
#[error("{case}, seed {seed}")]
pub struct StudyError {
    /// Case that failed.
    pub case: String,
    /// Seed of the run.
    pub seed: u64,
    /// Cause.
    pub source: Box<dyn Error + Send + Sync>,
}

impl StudyError {
    /// Creates the error of a case.
    pub fn new(case: &impl Debug, seed: u64, source: impl Error + Send + Sync + 'static) -> Self {
        StudyError { case: format!("{case:?}"), seed, source: Box::new(source) }
    }
}

/// Runs of each case and seed.
pub struct Trials<T: Trial> {
    cases: Vec<T>,
    /// Runs by case, then by seed from 1 on.
    runs: Vec<Vec<T::Run>>,
}

impl<T: Trial> Trials<T> {
    /// Runs each case once per seed, from 1 to `seeds`; reports to `progress` (runs done, all runs).
    ///
    /// # Errors
    /// The first run that fails.
    pub fn run(
        cases: impl Iterator<Item = T>,
        seeds: u64,
        progress: &dyn Fn(u64, u64),
    ) -> Result<Self, StudyError> {
        let mut known: Vec<T> = Vec::new();
        for case in cases {
            if !known.contains(&case) {
                known.push(case);
            }
        }
        let tasks: Vec<(T, u64)> =
            known.iter().flat_map(|&case| (1..=seeds).map(move |seed| (case, seed))).collect();
        let threads = thread::available_parallelism().map_or(1, |n| n.get()).min(tasks.len());
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut answers: Vec<Option<Result<T::Run, StudyError>>> = tasks.iter().map(|_| None).collect();
        thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, tasks, next) = (sender.clone(), &tasks, &next);
                scope.spawn(move || {
                    while let Some((index, &(case, seed))) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, tasks.get(i)?)))
                    {
                        // Sending fails only if the receiving thread has panicked.
                        let _ = sender.send((index, case.run(seed)));
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
        let all: Vec<T::Run> = answers.into_iter().flatten().collect::<Result<_, _>>()?;
        let by_case = all.chunks(seeds.max(1) as usize).map(<[T::Run]>::to_vec);
        Ok(Trials { cases: known, runs: by_case.collect() })
    }

    /// Returns the runs of a case, by seed.
    pub fn runs(&self, case: &T) -> Option<&[T::Run]> {
        let at = self.cases.iter().position(|known| known == case)?;
        self.runs.get(at).map(Vec::as_slice)
    }
}
