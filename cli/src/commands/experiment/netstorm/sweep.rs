//! Runs cases over seeds, on as many threads as there are processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, anyhow};
use inart_overlay::{run, run_tuned};

use super::case::Case;
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
    ) -> anyhow::Result<Sweep> {
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
        let mut answers: Vec<Option<anyhow::Result<f64>>> = tasks.iter().map(|_| None).collect();
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
        let answers = answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(anyhow!("not run"))));
        let all: Vec<f64> = answers.collect::<anyhow::Result<_>>()?;
        let by_case = all.chunks(seeds.max(1) as usize).map(<[f64]>::to_vec);
        Ok(Sweep { cases: known, seconds: by_case.collect() })
    }

    /// The mean times of a case's rounds, by seed.
    pub fn seconds(&self, case: &Case) -> Option<&[f64]> {
        let at = self.cases.iter().position(|known| known == case)?;
        self.seconds.get(at).map(Vec::as_slice)
    }
}

fn seconds(case: Case, seed: u64) -> anyhow::Result<f64> {
    let overlay = draw(case.network, case.job, seed)?;
    let job = overlay.jobs().first().context("a network without a job")?;
    let options = case.method.options(&overlay);
    let run = match &case.method.tuning {
        Some(tuning) => run_tuned(&overlay, job, &options, tuning),
        None => run(&overlay, job, &options),
    };
    Ok(run.with_context(|| format!("{case:?}, seed {seed}"))?.mean_s)
}
