//! One job under one scheme: collects what its hosts report, has every sum audited, and ends in figures.

use inart_host_agent::report::{Report, Role};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::{Assignment, ServerCounters, Split};
use inart_report::Trained;
use inart_topologies::units::counted;

use crate::aggregation::auditor::{AuditedSum, Auditor};
use crate::aggregation::figures::{JobFigures, Pace, Planned};
use crate::aggregation::runs::Runs;
use crate::error::Error;

/// A running job.
pub struct JobRun {
    scheme: String,
    assignment: Assignment,
    rounds: Rounds,
    auditor: Auditor,
    losses: Vec<f32>,
    /// Results of the workers that have ended their last round, by rank; `Some(None)` without training.
    done: Vec<Option<Option<Trained>>>,
    servers: Vec<Option<ServerCounters>>,
    /// Runs of an elastic job.
    runs: Option<Runs>,
}

/// Facts about a job's rounds that are known in advance.
#[derive(Clone, Copy, Debug)]
enum Rounds {
    /// Number of rounds, and the gradient's length in each.
    Known { rounds: u32, gradient_len: usize },
    /// A user's program sums what it likes, and ends when it likes.
    Open { is_over: bool },
}

impl JobRun {
    /// A job that is about to start.
    pub fn new(scheme: &str, assignment: Assignment, rounds: u32, gradient_len: usize) -> Self {
        Self::of(scheme, assignment, Rounds::Known { rounds, gradient_len })
    }

    /// Creates the run of a job whose workers are a user's program.
    pub fn of_program(scheme: &str, assignment: Assignment) -> Self {
        Self::of(scheme, assignment, Rounds::Open { is_over: false })
    }

    fn of(scheme: &str, assignment: Assignment, rounds: Rounds) -> Self {
        let trained = match rounds {
            Rounds::Known { rounds, .. } => rounds as usize,
            Rounds::Open { .. } => 0,
        };
        Self {
            scheme: scheme.to_owned(),
            rounds,
            auditor: Auditor::new(assignment.workers.len()),
            losses: vec![0.0; trained],
            done: vec![None; assignment.workers.len()],
            servers: vec![None; assignment.shards.len()],
            assignment,
            runs: None,
        }
    }

    /// The job is elastic: what its hosts report is of runs of its own.
    pub fn elastic(self, is_elastic: bool) -> Self {
        Self { runs: is_elastic.then(Runs::default), ..self }
    }

    /// Returns whether the job's members may change.
    pub fn is_elastic(&self) -> bool {
        self.runs.is_some()
    }

    /// A host of an elastic job was killed, or is started again.
    pub fn set_gone(&mut self, role: Role, gone: bool) {
        self.runs.iter_mut().for_each(|runs| runs.set_gone(role, gone));
    }

    fn is_gone(&self, is_server: bool, place: usize) -> bool {
        self.runs.as_ref().is_some_and(|runs| runs.is_gone(is_server, place))
    }

    fn gradient_len(&self) -> usize {
        match self.rounds {
            Rounds::Known { gradient_len, .. } => gradient_len,
            Rounds::Open { .. } => 0,
        }
    }

    /// Returns the assignment of the hosts.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// Returns the reports of its workers about their sums.
    pub fn auditor(&self) -> &Auditor {
        &self.auditor
    }

    /// Returns the number of rounds whose sums were correct at every worker.
    pub fn rounds_audited(&self) -> u32 {
        match &self.runs {
            Some(runs) => runs.audited(self.gradient_len()).count() as u32,
            None => self.auditor.audited().len() as u32,
        }
    }

    /// Returns the goodput of the rounds from that one on whose sums were correct, in bits per second of
    /// wall-clock time.
    pub fn goodputs_from(&self, round: usize) -> Vec<f64> {
        let goodput = |sum: &AuditedSum| 32.0 * sum.values as f64 / sum.seconds;
        match &self.runs {
            Some(runs) => runs.audited(self.gradient_len()).skip(round).map(goodput).collect(),
            None => self.auditor.audited().iter().skip(round).map(goodput).collect(),
        }
    }

    /// Returns the number of compared sums: one per round, block and worker.
    pub fn sums_checked(&self) -> u64 {
        match &self.runs {
            Some(runs) => runs.auditors().map(Auditor::sums_checked).sum(),
            None => self.auditor.sums_checked(),
        }
    }

    /// Bytes of gradients and partials that came in at its servers.
    pub fn ps_ingress_bytes(&self) -> u64 {
        self.servers.iter().flatten().map(|server| server.bytes_received).sum()
    }

    /// Returns whether every worker has ended its last round.
    pub fn is_done(&self) -> bool {
        match self.rounds {
            Rounds::Known { .. } => {
                let mut done = self.done.iter().enumerate();
                done.all(|(place, done)| done.is_some() || self.is_gone(false, place))
            }
            Rounds::Open { is_over } => is_over,
        }
    }

    /// Every worker's program has ended.
    pub fn end_of_program(&mut self) {
        self.rounds = Rounds::Open { is_over: true };
    }

    /// Returns whether every server has reported its counters.
    pub fn is_ended(&self) -> bool {
        let mut servers = self.servers.iter().enumerate();
        servers.all(|(place, server)| server.is_some() || self.is_gone(true, place))
    }

    /// Takes in a report of one of the job's hosts; refuses wrong sums.
    pub fn take(&mut self, role: Role, report: Report) -> Result<(), Error> {
        let workers = self.assignment.workers.len();
        match (role, report) {
            (Role::Worker(_, place), Report::Run(assignment, rank)) => {
                self.runs.iter_mut().for_each(|runs| runs.begin(place, (*assignment).clone(), rank));
            }
            (Role::Worker(_, rank), Report::Round(report)) => {
                let wrong = |mismatch| Error::Mismatch {
                    scheme: self.scheme.clone(),
                    job: self.assignment.name.clone(),
                    mismatch,
                };
                if let Some(runs) = &mut self.runs {
                    return runs.take(rank, report).map_err(wrong);
                }
                let values = match self.rounds {
                    Rounds::Known { gradient_len, .. } => Some(gradient_len),
                    Rounds::Open { .. } => None,
                };
                self.auditor.take(&self.assignment, values, rank, report).map_err(wrong)?;
            }
            (Role::Worker(_, place), Report::Training { round, loss }) => {
                let workers = self.runs.as_ref().and_then(|runs| runs.workers(place)).unwrap_or(workers);
                if let Some(sum) = self.losses.get_mut(round as usize) {
                    *sum += loss / workers as f32;
                }
            }
            (Role::Worker(_, rank), Report::Done { trained }) => {
                if let Some(place) = self.done.get_mut(rank.index()) {
                    *place = Some(trained);
                }
            }
            (Role::Server(_, shard), Report::Server(counters)) => {
                if let Some(place) = self.servers.get_mut(shard.index()) {
                    *place = Some(counters);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The job's figures, once it has ended. The plan's rate is unscaled.
    pub fn figures(self, plan: &Plan, scale: f64) -> Result<JobFigures, Error> {
        let ps_ingress_bytes = self.ps_ingress_bytes();
        let seconds: Vec<_> = match &self.runs {
            Some(runs) => runs.audited(self.gradient_len()).map(|sum| sum.seconds).collect(),
            None => self.auditor.audited().iter().map(|sum| sum.seconds).collect(),
        };
        let job = self.assignment.name.clone();
        let failed = |why: String| Error::Failed { who: format!("job {job}"), why };
        let (rounds, gradient_len) = match self.rounds {
            Rounds::Known { rounds, gradient_len } => (rounds as usize, gradient_len),
            Rounds::Open { .. } => (seconds.len(), 0),
        };
        // Of a round that some workers of an elastic job have lost, not all have reported.
        if seconds.len() != rounds && self.runs.is_none() || seconds.is_empty() {
            return Err(failed(format!(
                "ended after {} of {rounds}",
                seconds.len(),
                rounds = counted(rounds, "round")
            )));
        }
        let gone: Vec<_> = (0..self.done.len()).map(|place| self.is_gone(false, place)).collect();
        let left = self.done.into_iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(done, _)| done);
        let done: Option<Vec<Option<Trained>>> = left.collect();
        let done = done.filter(|done| !done.is_empty());
        let done = done.ok_or_else(|| failed("a worker did not report its end".into()))?;
        let digest = |trained: &Option<Trained>| trained.as_ref().map(|trained| trained.digest.clone());
        let names = self.assignment.workers.iter().zip(&gone).filter(|(_, gone)| !**gone);
        let names = names.map(|(worker, _)| &worker.name);
        if let Some((worker, _)) = names.zip(&done).find(|(_, other)| digest(other) != digest(&done[0])) {
            return Err(Error::Diverged { scheme: self.scheme, job, worker: worker.clone() });
        }
        let workers = done.len();
        let split = Split::new(&self.assignment, gradient_len);
        let chunks = split.chunks().count();
        let frame_bytes = chunks * self.assignment.values_per_frame.frame_bytes();
        let pace = Pace::of(&seconds, frame_bytes, gradient_len, scale);
        let numbers = split.numbers_per_value() * gradient_len;
        Ok(JobFigures {
            job,
            bit_exact: true,
            rate_bps: pace.rate_bps,
            planned_rate_bps: plan.rate_bps,
            throughput_bps: pace.rate_bps * workers as f64,
            planned: Planned::of(plan, 4.0 * numbers as f64, workers),
            goodput_bps: pace.goodput_bps,
            comm_seconds: pace.wall_comm_seconds * scale,
            comm_seconds_mean: pace.wall_comm_seconds_mean * scale,
            wall_comm_seconds: pace.wall_comm_seconds,
            ps_ingress_bytes,
            retransmissions: {
                let auditors = self.runs.iter().flat_map(Runs::auditors).chain([&self.auditor]);
                auditors.flat_map(Auditor::tallies).map(|tally| tally.retransmissions).sum()
            },
            runs: self.runs.as_ref().map(Runs::count),
            trained: done.into_iter().next().flatten(),
            losses: self.losses,
        })
    }
}

#[cfg(test)]
mod tests {
    use inart_host_agent::report::RoundReport;
    use inart_planner_aggregation::{Options, schemes};
    use inart_protocol_aggregation::{ShardAssignment, WorkerAddress};
    use inart_topologies::switched::Topology;
    use inart_wire::{JobId, MacAddr, PlanVersion, Rank, ShardId, ValuesPerFrame};

    use super::*;

    const JOB: u16 = 1;

    fn assignment() -> Assignment {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let worker = |rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) };
        Assignment {
            job: JobId::try_from(i64::from(JOB)).expect("small"),
            name: "digits".into(),
            plan_version: PlanVersion::from(1u16),
            values_per_frame: ValuesPerFrame::N32,
            window_chunks: 2,
            exact_sums: false,
            workers: vec![worker(0), worker(1)],
            shards: vec![ShardAssignment {
                server: "s".into(),
                mac: mac(9),
                share: 1.0,
                rate_bps: 1e6,
                bitmap_indices: vec![],
            }],
        }
    }

    fn run() -> JobRun {
        JobRun::new("atp", assignment(), 1, 3)
    }

    fn plan() -> Plan {
        let topology = Topology::from_yaml(
            "{name: pair, nodes: [{name: v, kind: switch}, {name: s, kind: server},
              {name: a, kind: worker}, {name: b, kind: worker}],
              links: [{ends: [a, v], rate: 3 Gbps}, {ends: [b, v], rate: 3 Gbps}, {ends: [s, v], rate: 3 Gbps}]}",
        )
        .expect("valid");
        inart_planner_aggregation::plan(&topology, &topology.jobs()[0], &Options::new(schemes::LBMM))
            .expect("planned")
    }

    fn worker(rank: i64) -> Role {
        let job = JobId::try_from(i64::from(JOB)).expect("small");
        Role::Worker(job, Rank::try_from(rank).expect("small"))
    }

    fn round(sent: [f32; 3], result: [f32; 3], comm_seconds: f64) -> Report {
        Report::Round(RoundReport {
            round: 0,
            comm_seconds,
            ended_ns: 0,
            counters: Default::default(),
            sent: sent.into(),
            result: result.into(),
        })
    }

    fn done(digest: &str) -> Report {
        Report::Done { trained: Some(Trained { loss: 0.1, accuracy: 0.9, digest: digest.into() }) }
    }

    fn end(run: &mut JobRun, digests: [&str; 2]) {
        run.take(worker(0), round([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.5)).expect("waits for the other");
        assert_eq!(run.rounds_audited(), 0);
        run.take(worker(1), round([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.25)).expect("right");
        assert_eq!((run.rounds_audited(), run.sums_checked()), (1, 2));
        for (rank, digest) in (0..).zip(digests) {
            assert!(!run.is_done());
            run.take(worker(rank), done(digest)).expect("taken");
        }
        assert!(run.is_done() && !run.is_ended());
        let Role::Worker(job, _) = worker(0) else { unreachable!() };
        let server = Role::Server(job, ShardId::from(0u16));
        run.take(server, Report::Server(ServerCounters { bytes_received: 77, ..Default::default() }))
            .expect("taken");
        assert!(run.is_ended());
    }

    #[test]
    fn a_job_ends_in_figures() {
        let mut run = run();
        end(&mut run, ["a", "a"]);
        let figures = run.figures(&plan(), 0.01).expect("complete");
        assert_eq!((figures.wall_comm_seconds, figures.ps_ingress_bytes), (0.25, 77));
        // Two frames of 44 + 4 · 32 bytes (digits of two values and of one) in a quarter of a second, a
        // hundred times slower than the topology's links.
        assert!((figures.rate_bps - 2.0 * 172.0 * 8.0 / 0.25 * 100.0).abs() < 1e-6, "{figures:?}");
        assert!((figures.throughput_bps - 2.0 * figures.rate_bps).abs() < 1e-6, "{figures:?}");
        // Both gradients of 3 · 12 digits, 144 bytes, go through the server's link of 3 Gbps.
        assert!((figures.planned_rate_bps - 1.5e9).abs() < 1.0, "{figures:?}");
        assert!((figures.planned.comm_seconds - 1152.0 / 1.5e9).abs() < 1e-12, "{figures:?}");
        assert_eq!((figures.planned.throughput_bps, figures.planned.ps_ingress_bytes), (3e9, 288.0));
        let trained = figures.trained.expect("reported");
        assert_eq!((trained.accuracy, trained.digest.as_str()), (0.9, "a"));
    }

    #[test]
    fn a_wrong_sum_ends_it_and_names_scheme_and_job() {
        let mut run = run();
        run.take(worker(1), round([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.5)).expect("waits for the other");
        let error =
            run.take(worker(0), round([1.0, 2.0, 3.0], [2.0, 5.0, 6.0], 0.5)).expect_err("4 is right");
        assert!(error.is_failure());
        assert_eq!(
            error.to_string(),
            "wrong sum under scheme atp, job digits: round 0, worker w0: it received 5 instead of 4 as value 1 of \
             the tensor"
        );
    }

    #[test]
    fn workers_with_other_weights_and_missing_rounds_are_failures() {
        let mut diverged = run();
        end(&mut diverged, ["a", "b"]);
        assert!(
            matches!(diverged.figures(&plan(), 0.01), Err(Error::Diverged { worker, .. }) if worker == "w1")
        );
        assert!(matches!(run().figures(&plan(), 0.01), Err(Error::Failed { .. })));
    }

    /// Reports a tensor of this many values in a round, all 1; the sum is 2 in each of them.
    fn tensor(round: u32, values: usize) -> Report {
        Report::Round(RoundReport {
            round,
            comm_seconds: 0.5,
            ended_ns: 0,
            counters: Default::default(),
            sent: vec![1.0; values],
            result: vec![2.0; values],
        })
    }

    #[test]
    fn a_program_sums_tensors_of_any_length_as_often_as_it_likes() {
        let mut run = JobRun::of_program("inart", assignment());
        // One rank is two tensors ahead of the other.
        for (rank, round, values) in [(0, 0, 500), (0, 1, 3), (1, 0, 500), (0, 2, 5), (1, 1, 3)] {
            run.take(worker(rank), tensor(round, values)).expect("right");
        }
        assert_eq!((run.rounds_audited(), run.sums_checked(), run.auditor().pending()), (2, 6, 1));
        let lengths: Vec<_> = run.auditor().audited().iter().map(|sum| sum.values).collect();
        assert_eq!(lengths, [500, 3]);
        let tally = run.auditor().tallies()[1];
        assert_eq!((tally.tensors, tally.bytes, tally.seconds), (2, 2012, 1.0));
        assert_eq!(run.auditor().not_finite(), 0);
        run.take(worker(0), Report::Done { trained: None }).expect("taken");
        run.take(worker(1), Report::Done { trained: None }).expect("taken");
        assert!(!run.is_done(), "the processes may go on");
        run.end_of_program();
        assert!(run.is_done());
    }

    #[test]
    fn ranks_of_a_program_that_sum_different_lengths_are_named() {
        let mut run = JobRun::of_program("inart", assignment());
        run.take(worker(0), tensor(0, 7)).expect("waits for the other");
        let error = run.take(worker(1), tensor(0, 8)).expect_err("not one tensor").to_string();
        assert!(
            error.ends_with("round 0, worker w1: the report holds 8 sent values instead of 7"),
            "{error}"
        );
    }
}
