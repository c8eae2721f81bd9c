//! Workers that others wait for though no network explains it: their programs have not started what others
//! have. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

/// How long a worker lags behind before it is named.
const LAGGING: Duration = Duration::from_secs(2);

/// What a worker said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Tensors that its program has started.
    pub started: u64,
    /// Those of them whose sums it has.
    pub ended: u64,
}

/// Who lags behind in which job, and since when.
#[derive(Debug, Clone, Default)]
pub struct Late {
    since: BTreeMap<(String, String), (u64, Duration)>,
}

impl Late {
    /// Who is late at `now`, by `job` and worker, and why, from what all workers of each job said last: a
    /// worker that has the sums of all that its program has started, while another one's has started more. A
    /// worker that waits for sums itself may be slowed by the network, and is not named.
    pub fn see(
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
        let late = self.since.iter().filter(|(_, (_, since))| now.saturating_sub(*since) >= LAGGING);
        let why = |started: u64| {
            format!(
                "its program has not started tensor {started}, which others have: no network explains that"
            )
        };
        late.map(|(who, (started, _))| (who.clone(), why(*started))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_computes_longer_is_named_and_one_that_waits_is_not() {
        let who = |rank: u32| ("job".to_owned(), format!("worker-{rank}"));
        let says = |progress: [(u64, u64); 3]| -> BTreeMap<_, _> {
            let said = progress.into_iter().map(|(started, ended)| Progress { started, ended });
            (0..).map(who).zip(said).collect()
        };
        let mut late = Late::default();
        let second = Duration::from_secs(1);
        // Worker 1 still computes; worker 2 has started as much as it, but waits for sums.
        let state = says([(5, 4), (4, 4), (4, 3)]);
        assert!(late.see(second, &state).is_empty(), "it may be a moment");
        assert!(late.see(2 * second, &state).is_empty());
        let named = late.see(3 * second, &state);
        assert_eq!(named.keys().collect::<Vec<_>>(), [&who(1)]);
        assert!(named[&who(1)].starts_with("its program has not started tensor 4,"), "{named:?}");
        assert!(late.see(4 * second, &says([(5, 4), (5, 4), (5, 4)])).is_empty());
        // Late again in another round: counted anew.
        let state = says([(6, 5), (6, 5), (5, 5)]);
        assert!(late.see(5 * second, &state).is_empty());
        assert_eq!(late.see(7 * second, &state).len(), 1);
    }
}
