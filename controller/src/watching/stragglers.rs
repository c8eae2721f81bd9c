//! Stragglers: workers that delay others without a cause in the network, since their programs have not
//! started a tensor that others have. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

/// Lag after which a worker is reported.
const LAGGING: Duration = Duration::from_secs(2);

/// Last report of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Tensors that the program has started.
    pub started: u64,
    /// Tensors of these whose sums are complete.
    pub ended: u64,
}

/// Workers that lag behind in a job, and since when.
#[derive(Debug, Clone, Default)]
pub struct Stragglers {
    since: BTreeMap<(String, String), (u64, Duration)>,
}

impl Stragglers {
    /// Returns the stragglers at `now`, by job and worker, and why, from the last reports of all workers of
    /// each job. A straggler has the sums of all tensors that its program has started, while another worker
    /// has started more. A worker that itself waits for sums may be slowed by the network, and is not
    /// reported.
    pub fn update(
        &mut self,
        now: Duration,
        workers: &BTreeMap<(String, String), Progress>,
    ) -> BTreeMap<(String, String), String> {
        let mut most: BTreeMap<&str, u64> = BTreeMap::new();
        for ((job, _), progress) in workers {
            let most = most.entry(job).or_default();
            *most = progress.started.max(*most);
        }
        let behind = workers.iter().filter(|((job, _), progress)| {
            progress.ended == progress.started && progress.started < most.get(&**job).copied().unwrap_or(0)
        });
        let mut since = BTreeMap::new();
        for (who, progress) in behind {
            let before = self.since.get(who).filter(|(started, _)| *started == progress.started);
            since.insert(who.clone(), before.copied().unwrap_or((progress.started, now)));
        }
        self.since = since;
        let stragglers = self.since.iter().filter(|(_, (_, since))| now.saturating_sub(*since) >= LAGGING);
        let why = |started: u64| {
            format!(
                "its program has not started tensor {started}, which others have: no network explains that"
            )
        };
        stragglers.map(|(who, (started, _))| (who.clone(), why(*started))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_computes_longer_is_a_straggler_and_one_that_waits_is_not() {
        let who = |rank: u32| ("job".to_owned(), format!("worker-{rank}"));
        let says = |progress: [(u64, u64); 3]| -> BTreeMap<_, _> {
            let said = progress.into_iter().map(|(started, ended)| Progress { started, ended });
            (0..).map(who).zip(said).collect()
        };
        let mut stragglers = Stragglers::default();
        let second = Duration::from_secs(1);
        // Worker 1 still computes; worker 2 has started as many tensors, but waits for sums.
        let state = says([(5, 4), (4, 4), (4, 3)]);
        assert!(stragglers.update(second, &state).is_empty(), "still within the limit");
        assert!(stragglers.update(2 * second, &state).is_empty());
        let named = stragglers.update(3 * second, &state);
        assert_eq!(named.keys().collect::<Vec<_>>(), [&who(1)]);
        assert!(named[&who(1)].starts_with("its program has not started tensor 4,"), "{named:?}");
        assert!(stragglers.update(4 * second, &says([(5, 4), (5, 4), (5, 4)])).is_empty());
        // Late again in another round: the time restarts.
        let state = says([(6, 5), (6, 5), (5, 5)]);
        assert!(stragglers.update(5 * second, &state).is_empty());
        assert_eq!(stragglers.update(7 * second, &state).len(), 1);
    }
}
