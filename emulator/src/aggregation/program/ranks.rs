//! The processes of a user's program, from their start to their end.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use inart_host_agent::StopSignal;
use inart_host_agent::report::Role;
use inart_wire::{JobId, Rank};
use nix::sys::signal::Signal;

use crate::aggregation::agents::Agents;
use crate::aggregation::job::JobRun;
use crate::aggregation::program::gate::{Gate, GateAction};
use crate::aggregation::program::rank_end::RankEnd;
use crate::error::Error;

/// Time that the other ranks have after a rank has failed, to report its failure as they saw it.
const GRACE: Duration = Duration::from_secs(5);
/// Longest time for ranks to end after their signal.
const LONGEST_END: Duration = Duration::from_secs(5);
/// Longest wait for reports after the last rank has ended: another process may hold its connection.
const LONGEST_REPORT: Duration = Duration::from_secs(10);

/// The ranks of all jobs.
pub(crate) struct Ranks {
    ranks: Vec<RankProcess>,
    jobs: Vec<JobId>,
    /// By job.
    gates: Vec<Gate>,
    /// Error of the first rank that failed.
    failed: Option<Error>,
    /// Error of another process; it counts only if no rank failed.
    server_failed: Option<Error>,
    /// The signal that ends all.
    interrupted: Option<Signal>,
    ending: Ending,
}

/// A rank's process.
struct RankProcess {
    role: Role,
    /// Index of its job among the runs.
    job: usize,
    rank: Rank,
    /// Name of its worker, the node.
    worker: String,
    /// Whether it sent a hello, as InArt's workers do.
    is_known: bool,
    ended: Option<(Instant, ExitStatus)>,
}

/// Progress of the end of all ranks, after a failure or an interruption.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    No,
    /// Running, until then.
    Grace(Instant),
    /// Signaled to end, with time until then.
    Signaled(Instant),
    Killed,
}

impl Ranks {
    /// Creates the ranks of jobs about to start.
    pub fn new(runs: &[JobRun]) -> Self {
        let of_job = |(job, run): (usize, &JobRun)| -> Vec<RankProcess> {
            let assignment = run.assignment();
            let workers = assignment.workers.iter().enumerate();
            let process = workers.map(|(rank, worker)| {
                let rank = Rank::try_from(rank).expect("assigned");
                let role = Role::Worker(assignment.job, rank);
                RankProcess { role, job, rank, worker: worker.name.clone(), is_known: false, ended: None }
            });
            process.collect()
        };
        Self {
            ranks: runs.iter().enumerate().flat_map(of_job).collect(),
            jobs: runs.iter().map(|run| run.assignment().job).collect(),
            gates: vec![Gate::default(); runs.len()],
            failed: None,
            server_failed: None,
            interrupted: None,
            ending: Ending::No,
        }
    }

    /// A rank was started, perhaps again.
    pub fn started(&mut self, role: Role) {
        self.of(role).for_each(|rank| rank.ended = None);
    }

    /// Records the hello of a rank.
    pub fn hello(&mut self, role: Role) {
        self.of(role).for_each(|rank| rank.is_known = true);
    }

    /// Returns whether any rank sent a hello.
    pub fn is_any_known(&self, job: usize) -> bool {
        self.ranks.iter().any(|rank| rank.job == job && rank.is_known)
    }

    /// A server has failed.
    pub fn server_failed(&mut self, error: Error) {
        self.server_failed.get_or_insert(error);
        self.give_grace();
    }

    /// Checks for ended ranks and for signals: opens the gate of jobs whose ranks have all joined, ends jobs,
    /// and ends all ranks after a failure. Returns the ranks that have failed now, without culprits.
    pub fn look_after(
        &mut self,
        agents: &mut Agents,
        runs: &mut [JobRun],
        stop: &mut StopSignal,
        culprits: &[String],
    ) -> Result<Vec<Role>, Error> {
        let failed = self.find_ended(agents, runs, culprits)?;
        self.begin_and_end_jobs(agents, runs)?;
        while let Some(signal) = stop.next_signal().map_err(Error::system("read signals"))? {
            self.ending = match self.interrupted.replace(signal) {
                None => self.tell(agents),
                Some(_) => self.kill(agents),
            };
        }
        self.ending = match self.ending {
            Ending::Grace(until) if Instant::now() > until => self.tell(agents),
            Ending::Signaled(until) if Instant::now() > until => self.kill(agents),
            ending => ending,
        };
        Ok(failed)
    }

    fn find_ended(
        &mut self,
        agents: &mut Agents,
        runs: &[JobRun],
        culprits: &[String],
    ) -> Result<Vec<Role>, Error> {
        let mut failed = Vec::new();
        let left = self.left_well();
        for rank in self.ranks.iter_mut().filter(|rank| rank.ended.is_none()) {
            let Some(status) = agents.exit_status(rank.role)? else { continue };
            rank.ended = Some((Instant::now(), status));
            if status.success() || culprits.contains(&rank.worker) {
                continue;
            }
            failed.push(rank.role);
            let said = agents.last_output(rank.role).unwrap_or_default();
            let job = &runs[rank.job].assignment().name;
            let before = left.iter().find(|(of, _)| *of == rank.job).map(|(_, name)| name.clone());
            let end = RankEnd::new(job, rank.rank.get(), &rank.worker, status, said).after(before);
            self.failed.get_or_insert_with(|| Error::Rank(Box::new(end)));
        }
        if !failed.is_empty() {
            self.give_grace();
        }
        Ok(failed)
    }

    /// The first rank of each job that has ended well, by job and name.
    fn left_well(&self) -> Vec<(usize, String)> {
        let mut left: Vec<_> = self
            .ranks
            .iter()
            .filter_map(|rank| rank.ended.filter(|(_, status)| status.success()).map(|(at, _)| (at, rank)))
            .collect();
        left.sort_by_key(|(at, _)| *at);
        let name = |rank: &RankProcess| format!("rank {} (worker {})", rank.rank.get(), rank.worker);
        left.into_iter().map(|(_, rank)| (rank.job, name(rank))).collect()
    }

    fn begin_and_end_jobs(&mut self, agents: &mut Agents, runs: &mut [JobRun]) -> Result<(), Error> {
        for (index, run) in runs.iter_mut().enumerate() {
            let ranks: Vec<_> = self.ranks.iter().filter(|rank| rank.job == index).collect();
            // A rank that has ended without a hello does not arrive any more; the others notice that it is
            // missing.
            let missing: Vec<_> =
                ranks.iter().filter(|rank| !rank.is_known && rank.ended.is_none()).collect();
            let is_any = ranks.iter().any(|rank| rank.is_known);
            match self.gates[index].look(Instant::now(), missing.is_empty(), is_any) {
                GateAction::Open => agents.begin(self.jobs[index]),
                GateAction::Wait => {}
                GateAction::Report(waited) => {
                    let names = missing.iter().map(|rank| format!("rank {} ({})", rank.rank, rank.worker));
                    tracing::warn!(
                        job = run.assignment().name,
                        "waiting for {} to join (inart.init, inart.torch.HookState) for {} s",
                        names.collect::<Vec<_>>().join(", "),
                        waited.as_secs()
                    );
                }
            }
            let ends: Vec<_> = ranks.iter().filter_map(|rank| rank.ended).map(|(at, _)| at).collect();
            if run.is_done() || ends.len() < ranks.len() {
                continue;
            }
            let roles: Vec<_> = ranks.iter().map(|rank| rank.role).collect();
            let waited = ends.into_iter().max().is_none_or(|last| last.elapsed() > LONGEST_REPORT);
            if waited || agents.has_read_all(&roles)? {
                run.end_of_program();
            }
        }
        Ok(())
    }

    /// Returns whether every rank has ended.
    pub fn have_ended(&self) -> bool {
        self.ranks.iter().all(|rank| rank.ended.is_some())
    }

    /// Returns when the last of them ended, if all have.
    pub fn ended_at(&self) -> Option<Instant> {
        let ends: Option<Vec<_>> = self.ranks.iter().map(|rank| rank.ended.map(|(at, _)| at)).collect();
        ends?.into_iter().max()
    }

    /// Returns whether ranks are ended because of a failure or an interruption.
    pub fn is_failing(&self) -> bool {
        self.ending != Ending::No
    }

    /// Why they did not end well.
    ///
    /// # Errors
    /// The interruption, or the first failure.
    pub fn outcome(&mut self) -> Result<(), Error> {
        if let Some(signal) = self.interrupted {
            return Err(Error::Interrupted(signal as i32));
        }
        self.failed.take().or(self.server_failed.take()).map_or(Ok(()), Err)
    }

    fn of(&mut self, role: Role) -> impl Iterator<Item = &mut RankProcess> {
        self.ranks.iter_mut().filter(move |rank| rank.role == role)
    }

    fn give_grace(&mut self) {
        if self.ending == Ending::No {
            self.ending = Ending::Grace(Instant::now() + GRACE);
        }
    }

    fn tell(&self, agents: &Agents) -> Ending {
        self.signal(agents, Signal::SIGTERM);
        Ending::Signaled(Instant::now() + LONGEST_END)
    }

    fn kill(&self, agents: &Agents) -> Ending {
        self.signal(agents, Signal::SIGKILL);
        Ending::Killed
    }

    fn signal(&self, agents: &Agents, signal: Signal) {
        let running = self.ranks.iter().filter(|rank| rank.ended.is_none());
        running.for_each(|rank| agents.signal(rank.role, signal));
    }
}
