//! Plans that change in a row while jobs run, and what that costs. A thread of its own orders the changes of
//! the controller, some at a time, and pauses after them for as long as they took: what jobs get in those
//! times and in the pauses is compared, so that both are of one run on one machine.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_controller::api::Client;
use inart_controller::api::proto::{ChangeStage, ChangeStatus};
use inart_planner_aggregation::{Plan, alternatives};
use inart_tls::Security;
use inart_topologies::switched::Topology;

use crate::aggregation::figures::{ChangesFigures, median};
use crate::aggregation::timeline::RoundPoint;
use crate::error::Error;

/// Rounds of every job before the first change: pipelines are full then.
pub const ROUNDS_BEFORE: u32 = 3;
/// Changes between two pauses.
const IN_A_ROW: u32 = 10;
/// Number of other sets of plans that alternate with the active one.
const SETS: usize = 2;
/// The controller is asked this often whether a change has ended.
const ASK: Duration = Duration::from_millis(5);

/// Times of plan changes, and of the pauses between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeLog {
    /// Number of changes.
    changes: u32,
    /// Seconds since the start of the run: from the first of some changes to the end of the last, and so to
    /// the end of the pause after it.
    blocks: Vec<[f64; 3]>,
    /// Duration of each change, in milliseconds.
    millis: Vec<f64>,
    /// Reason why the changes ended early.
    problem: Option<String>,
}

/// Plans that take turns, `plans` as the last. All are slowed down to the rate that each of them has: what a
/// job loses by a change, it loses by the change alone.
///
/// # Errors
/// If no scheme has others.
pub fn others(topology: &Topology, plans: &mut [Plan], seed: u64) -> Result<Vec<Vec<Plan>>, Error> {
    let mut sets = alternatives(topology, plans, seed, SETS);
    let Some(first) = sets.first() else {
        let problem = "no scheme has other routes for these jobs and shares; take another topology".into();
        return Err(Error::Option { option: "changes", problem });
    };
    let rates: Vec<f64> = first.iter().map(|plan| plan.rate_bps).collect();
    plans.iter_mut().zip(rates).for_each(|(plan, rate_bps)| plan.slow_down(rate_bps));
    sets.push(plans.to_vec());
    Ok(sets)
}

/// The thread that orders changes; dropping it ends that.
pub struct Changing {
    made: Arc<Mutex<ChangeLog>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Changing {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed
        }
    }
}

impl Changing {
    /// Starts to change plans `count` times, to the sets in turn. `start` is the start of the run.
    ///
    /// # Errors
    /// [`Error::System`] if no thread can be started.
    pub fn begin(address: &str, sets: &[Vec<Plan>], count: u32, start: Instant) -> Result<Self, Error> {
        let (made, stop) = (Arc::<Mutex<ChangeLog>>::default(), Arc::<AtomicBool>::default());
        let sets: Vec<Vec<String>> = sets.iter().map(|set| set.iter().map(Plan::to_json).collect()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::system("order changes of plans"))?;
        let orders = Orders {
            address: address.to_owned(),
            sets,
            count,
            start,
            made: made.clone(),
            stop: stop.clone(),
        };
        let work = move || {
            if let Err(problem) = runtime.block_on(orders.carry_out()) {
                lock(&orders.made).problem.get_or_insert(problem);
            }
        };
        let thread = thread::Builder::new().name("changes".into()).spawn(work);
        let thread = Some(thread.map_err(Error::system("order changes of plans"))?);
        Ok(Self { made, stop, thread })
    }

    /// Returns the changes made by the end of the run.
    pub fn end(self) -> ChangeLog {
        self.stop.store(true, Relaxed);
        lock(&self.made).clone()
    }
}

fn lock(made: &Mutex<ChangeLog>) -> MutexGuard<'_, ChangeLog> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Orders to the thread that makes changes.
struct Orders {
    address: String,
    sets: Vec<Vec<String>>,
    count: u32,
    start: Instant,
    made: Arc<Mutex<ChangeLog>>,
    stop: Arc<AtomicBool>,
}

impl Orders {
    async fn carry_out(&self) -> Result<(), String> {
        let client = Client::connect(&self.address, &Security::Local).await;
        let client = client.map_err(|error| error.to_string())?;
        let mut sets = self.sets.iter().cycle();
        let elapsed = || self.start.elapsed().as_secs_f64();
        while lock(&self.made).changes < self.count {
            let from = elapsed();
            for set in sets.by_ref().take(IN_A_ROW as usize) {
                let begun = elapsed();
                for plan in set {
                    if !self.change(&client, plan.clone()).await? {
                        return Ok(());
                    }
                }
                let mut made = lock(&self.made);
                made.changes += 1;
                made.millis.push(1e3 * (elapsed() - begun));
                if made.changes == self.count {
                    break;
                }
            }
            let to = elapsed();
            while elapsed() < to + (to - from) {
                if self.stop.load(Relaxed) {
                    return Ok(());
                }
                tokio::time::sleep(ASK).await;
            }
            lock(&self.made).blocks.push([from, to, elapsed()]);
        }
        Ok(())
    }

    /// Has one job moved to a plan; false if the run has ended meanwhile.
    async fn change(&self, client: &Client, plan: String) -> Result<bool, String> {
        let number = client.update_plan(plan).await.map_err(|error| error.to_string())?;
        while !self.stop.load(Relaxed) {
            let status = client.status().await.map_err(|error| error.to_string())?;
            let change = status.changes.iter().find(|change| change.number == number);
            if let Some(ended) = change.and_then(ended) {
                return ended.map(|()| true);
            }
            tokio::time::sleep(ASK).await;
        }
        Ok(false)
    }
}

/// Returns how a change ended, once it has.
fn ended(change: &ChangeStatus) -> Option<Result<(), String>> {
    let why = |what: &str| Err(format!("change {}: {what}: {}", change.number, change.problem));
    match change.stage() {
        ChangeStage::Done => Some(Ok(())),
        ChangeStage::Undone => Some(why("undone")),
        ChangeStage::Refused => Some(why("refused")),
        _ => None,
    }
}

impl ChangeLog {
    /// Computes the figures of the changes for jobs with these wall-clock rounds, whose gradients have
    /// `values` values.
    ///
    /// If there were fewer than `count` changes, the figures cover those and state the reason.
    pub fn figures(
        &self,
        count: u32,
        jobs: &[Vec<RoundPoint>],
        values: usize,
        lost_rounds: u32,
    ) -> ChangesFigures {
        let problem = (self.changes < count).then(|| {
            let why = self.problem.as_deref().unwrap_or("the training ended; give more rounds");
            format!("only {} of {count} changes of plans were made: {why}", self.changes)
        });
        let changing: Vec<_> = self.blocks.iter().map(|[from, to, _]| (*from, *to)).collect();
        let pausing: Vec<_> = self.blocks.iter().map(|[_, to, end]| (*to, *end)).collect();
        let ratio = |rounds: &Vec<RoundPoint>| {
            let [with, without] = [&changing, &pausing].map(|spans| rate(rounds, values, spans));
            (without > 0.0).then(|| with / without)
        };
        ChangesFigures {
            changes: self.changes,
            lost_rounds,
            goodput_ratio: jobs.iter().filter_map(ratio).reduce(f64::min),
            change_seconds: changing.iter().map(|(from, to)| to - from).sum(),
            change_ms: median(self.millis.clone()),
            problem,
        }
    }
}

/// Rounds per second in these spans; of a round that lies in one by half, half counts.
fn rate(rounds: &[RoundPoint], values: usize, spans: &[(f64, f64)]) -> f64 {
    let within = |round: &RoundPoint, (from, to): (f64, f64)| {
        let seconds = 32.0 * values as f64 / round.goodput_bps;
        let overlap = round.seconds.min(to) - (round.seconds - seconds).max(from);
        if seconds > 0.0 { overlap.max(0.0) / seconds } else { 0.0 }
    };
    let rounds: f64 =
        spans.iter().map(|span| rounds.iter().map(|round| within(round, *span)).sum::<f64>()).sum();
    rounds / spans.iter().map(|(from, to)| to - from).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rounds of this duration, one after the other, from `from` on.
    fn rounds(from: f64, count: u32, seconds: f64) -> Vec<RoundPoint> {
        let point = |round: u32| RoundPoint {
            seconds: from + f64::from(round + 1) * seconds,
            goodput_bps: 3200.0 / seconds,
        };
        (0..count).map(point).collect()
    }

    fn made(changes: u32) -> ChangeLog {
        let blocks = vec![[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]];
        ChangeLog { changes, blocks, millis: vec![90.0, 110.0, 100.0], problem: None }
    }

    #[test]
    fn what_changes_cost_is_what_jobs_got_meanwhile_and_in_the_pauses() {
        // A tenth of a second per round, and 0.125 s while plans change.
        let slower = [
            rounds(0.0, 10, 0.1),
            rounds(1.0, 8, 0.125),
            rounds(2.0, 10, 0.1),
            rounds(3.0, 8, 0.125),
            rounds(4.0, 30, 0.1),
        ];
        let jobs = [rounds(0.0, 60, 0.1), slower.concat()];
        let figures = made(20).figures(20, &jobs, 100, 0);
        assert_eq!(figures.problem, None);
        assert_eq!((figures.changes, figures.lost_rounds), (20, 0));
        assert!((figures.goodput_ratio.expect("known") - 0.8).abs() < 1e-9, "{figures:?}");
        assert!((figures.change_seconds - 2.0).abs() < 1e-9 && figures.change_ms == 100.0, "{figures:?}");
    }

    #[test]
    fn a_round_counts_where_it_lies() {
        let one = rounds(1.5, 1, 1.0);
        assert_eq!(rate(&one, 100, &[(1.0, 2.0)]), 0.5);
        assert_eq!(rate(&one, 100, &[(1.0, 2.0), (2.0, 3.0)]), 0.5);
        assert_eq!(rate(&one, 100, &[(2.5, 3.0)]), 0.0);
    }

    /// Measurements until then are kept.
    #[test]
    fn fewer_changes_than_wanted_keep_their_figures_and_say_why() {
        let jobs = [rounds(0.0, 60, 0.1)];
        let figures = made(7).figures(20, &jobs, 100, 0);
        assert_eq!((figures.changes, figures.change_ms), (7, 100.0));
        assert!(figures.goodput_ratio.is_some_and(|ratio| (ratio - 1.0).abs() < 1e-9), "{figures:?}");
        assert_eq!(
            figures.problem.as_deref(),
            Some("only 7 of 20 changes of plans were made: the training ended; give more rounds")
        );
        let refused = ChangeLog { problem: Some("change 8: refused: no room".into()), ..made(7) };
        let problem = refused.figures(20, &[], 100, 0).problem.expect("too few");
        assert!(problem.ends_with("were made: change 8: refused: no room"), "{problem}");
        assert_eq!(
            ChangeLog::default().figures(20, &jobs, 100, 0).goodput_ratio,
            None,
            "no change, no ratio"
        );
    }

    #[test]
    fn a_change_ends_once_with_its_reason() {
        let mut change = ChangeStatus { number: 3, problem: "no room".into(), ..Default::default() };
        change.set_stage(ChangeStage::Migrating);
        assert_eq!(ended(&change), None);
        change.set_stage(ChangeStage::Done);
        assert_eq!(ended(&change), Some(Ok(())));
        change.set_stage(ChangeStage::Undone);
        assert_eq!(ended(&change), Some(Err("change 3: undone: no room".into())));
    }

    #[test]
    fn plans_that_take_turns_have_one_rate_and_loads_that_fit() {
        let topology = Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).expect("valid");
        let how = inart_planner_aggregation::Options::new(inart_planner_aggregation::schemes::DEFAULT);
        let mut plans = inart_planner_aggregation::plan_all(&topology, &how).expect("planned");
        let sets = others(&topology, &mut plans, 1).expect("there are others");
        let routes = |plan: &Plan| (plan.flows.clone(), plan.trunks.clone());
        assert_eq!(sets.last(), Some(&plans));
        for (set, next) in sets.iter().zip(&sets[1..]) {
            assert_eq!(set[0].rate_bps, next[0].rate_bps);
            assert_ne!(routes(&set[0]), routes(&next[0]));
        }
        for plan in sets.iter().flatten() {
            assert_eq!(inart_planner_aggregation::check(&topology, plan), Ok(()));
        }
    }
}
