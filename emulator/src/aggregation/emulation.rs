//! The whole of an emulation: plan, build, train under each scheme, check every sum, and measure.

use std::time::{Duration, Instant};

use inart_controller::{JobPlan, job_number};
use inart_planner_aggregation::{Levels, Plan, Scheme, plan_all};
use inart_protocol_aggregation::Assignment;
use inart_topologies::switched::{Job, Topology};
use inart_training::train_single_host;

use crate::aggregation::changing;
use crate::aggregation::figures::{SchemeFigures, SingleHost, Summary};
use crate::aggregation::job::JobRun;
use crate::aggregation::options::Options;
use crate::aggregation::own::OWN;
use crate::aggregation::program::{Program, ProgramJob, ProgramScheme, ProgramSummary};
use crate::aggregation::supervisor::{Supervisor, Watched};
use crate::aggregation::task::Task;
use crate::aggregation::testbed::{Testbed, TestbedCounters};
use crate::aggregation::timeline::{Event, JobLine, RoundPoint, Timeline};
use crate::aggregation::work::{Work, Workload};
use crate::error::Error;
use crate::machine::capacity;
use crate::machine::permission;
use crate::machine::scale::{Scale, check_slowest};
use crate::measured::{Measured, in_turn};

/// Longest time for the search of a plan.
const PLANNING: Duration = Duration::from_secs(10);

/// Longest time to wait for a round, at the plan's rate.
const LONGEST_ROUND: Duration = Duration::from_secs(24 * 3600);

/// Progress of an emulation.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Name of the stage.
    pub stage: &'a str,
    /// Rounds done, of all schemes and jobs.
    pub rounds_done: u32,
    /// Rounds to do.
    pub rounds_total: u32,
}

/// Jobs that have run under a scheme.
struct Seen {
    runs: Vec<JobRun>,
    watched: Watched,
    before: TestbedCounters,
    after: TestbedCounters,
}

/// A scheme with a plan for each job.
struct Planned {
    scheme: &'static dyn Scheme,
    plans: Vec<Plan>,
    /// Sets of plans that alternate, if plans change.
    turns: Vec<Vec<Plan>>,
}

/// Emulates. Call it on a thread that lives as long as it takes: its processes end with the thread.
///
/// # Errors
/// Any [`Error`]: options that are refused, a system call, a process that ended, a wrong sum, or an aborted
/// job.
pub fn emulate(
    options: &Options,
    work: Work,
    observer: &mut dyn FnMut(Progress<'_>),
) -> Result<Measured<Summary>, Error> {
    work.validate()?;
    let start = Instant::now();
    let rounds_total = work.rounds * (options.schemes.len() * options.jobs) as u32;
    let mut rounds_before = 0;
    let mut tell = |stage: &str, rounds_done| observer(Progress { stage, rounds_done, rounds_total });

    let mut emulation = Emulation::start(options.clone(), &mut |stage| tell(stage, 0))?;
    tell("training on one host", 0);
    let single_host = train_alone(options, work)?;
    let mut sums_checked = 0;
    let (schemes, problem) = in_turn(&options.schemes, |&scheme| {
        let name = scheme.name();
        let (figures, sums) =
            emulation.run(scheme, work, &mut |rounds| tell(name, rounds_before + rounds))?;
        rounds_before += work.rounds * options.jobs as u32;
        sums_checked += sums;
        Ok(figures)
    })?;
    let report = Summary {
        topology: emulation.testbed.topology().name().to_owned(),
        bit_exact: schemes.iter().all(|scheme| scheme.bit_exact),
        rounds: work.rounds,
        sums_checked,
        scale: emulation.scale(),
        seed: options.seed,
        drop: options.drop.share().get(),
        target: options.target.name(),
        values: options.values.get(),
        window: options.window_chunks,
        elapsed_seconds: start.elapsed().as_secs_f64(),
        single_host,
        changes: schemes.iter().find_map(|scheme: &SchemeFigures| scheme.changes.clone()),
        schemes,
    };
    Ok(Measured { report, problem })
}

/// Emulates with a user's own program as the workers of every job, one process per rank, under each scheme in
/// turn. As for [`emulate`], the thread has to live as long as it takes.
///
/// # Errors
/// Any [`Error`]: besides those of [`emulate`] a rank that failed, or a signal that ended all.
pub fn run_program(
    options: &Options,
    program: &mut Program,
    observer: &mut dyn FnMut(Progress<'_>),
) -> Result<Measured<ProgramSummary>, Error> {
    program.validate()?;
    if let Some(job) = options.running_jobs().into_iter().find(|job| job.elastic) {
        let problem = format!(
            "job {} is elastic, and the ranks of a program do not come and go here; leave `elastic` out of the topology",
            job.name
        );
        return Err(Error::Option { option: "command", problem });
    }
    let start = Instant::now();
    let mut tell = |stage: &str| observer(Progress { stage, rounds_done: 0, rounds_total: 0 });
    let mut emulation = Emulation::start(options.clone(), &mut tell)?;
    program.check_for_signals()?;
    let (schemes, problem) = in_turn(&options.schemes, |&scheme| {
        tell(scheme.name());
        emulation.run_program(scheme, program)
    })?;
    let jobs = || schemes.iter().flat_map(|scheme| &scheme.jobs);
    let report = ProgramSummary {
        topology: emulation.testbed.topology().name().to_owned(),
        command: program.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        bit_exact: jobs().any(|job| job.tensors > 0).then_some(true),
        sums_checked: jobs().map(|job| job.sums_checked).sum(),
        scale: emulation.scale(),
        seed: options.seed,
        drop: options.drop.share().get(),
        values: options.values.get(),
        window: options.window_chunks,
        elapsed_seconds: start.elapsed().as_secs_f64(),
        schemes,
    };
    Ok(Measured { report, problem })
}

/// A running testbed, with a plan per scheme. Schemes run one after the other, as often as wanted.
pub struct Emulation {
    options: Options,
    planned: Vec<Planned>,
    testbed: Testbed,
    scale: Scale,
}

impl Emulation {
    /// Plans every scheme, builds the testbed and starts its switches; reports each stage. As for
    /// [`emulate`], the thread must live as long as the emulation.
    ///
    /// # Errors
    /// [`Error`] for refused options, for a job without a plan, or if the testbed cannot be built.
    pub fn start(options: Options, tell: &mut dyn FnMut(&str)) -> Result<Self, Error> {
        options.validate()?;
        let topology = options.topology.with_jobs(options.running_jobs());
        options.schedule(&topology)?; // reports wrong input before the work
        if options.external.is_none() {
            permission::check()?;
            permission::check_loopback()?;
        }
        tell("planning");
        let mut planned = plan_schemes(&options, &topology)?;
        if options.changes.is_some() {
            for Planned { plans, turns, .. } in &mut planned {
                *turns = changing::others(&topology, plans, options.seed)?;
            }
        }
        tell("building the testbed");
        let scale = choose_scale(&options, &planned)?;
        let rates = topology.links().iter().flat_map(|link| link.rates_bps);
        check_slowest(rates, scale.factor()).map_err(|problem| Error::Option { option: "scale", problem })?;
        let testbed = Testbed::start(&topology, &options, scale.factor())?;
        Ok(Self { options, planned, testbed, scale })
    }

    /// Returns the factor on the topology's rates.
    pub fn scale(&self) -> f64 {
        self.scale.factor()
    }

    /// The rate of a scheme's slowest job as planned, in bits per second, unscaled; `None` of a scheme that
    /// is not one of the options'.
    pub fn planned_rate_bps(&self, scheme: &dyn Scheme) -> Option<f64> {
        let planned = self.planned.iter().find(|planned| planned.scheme == scheme)?;
        Some(planned.plans.iter().map(|plan| plan.rate_bps).fold(f64::INFINITY, f64::min))
    }

    /// Runs all jobs under one of the options' schemes, and reports completed rounds; returns the scheme's
    /// figures, and the number of compared sums.
    ///
    /// # Errors
    /// [`Error`] if the plans cannot be installed, a process ends early, a sum is wrong, or a job is aborted.
    pub fn run(
        &mut self,
        scheme: &dyn Scheme,
        work: Work,
        tell: &mut dyn FnMut(u32),
    ) -> Result<(SchemeFigures, u64), Error> {
        let length = work.workload.gradient_len();
        let slowest_bps = self.planned_rate_bps(scheme).expect("one of the options' schemes");
        let longest_round = 32.0 * length as f64 / slowest_bps / self.scale.factor();
        let longest_round =
            Duration::try_from_secs_f64(longest_round).unwrap_or(LONGEST_ROUND).min(LONGEST_ROUND);
        let topology = self.testbed.topology().clone();
        let job = |assignment: Assignment| {
            let elastic = topology.job_named(&assignment.name).is_some_and(|job| job.elastic);
            JobRun::new(scheme.name(), assignment, work.rounds, length).elastic(elastic)
        };
        let Seen { runs, watched, before, after } =
            self.watch(scheme, Task::Rounds(work), Some(longest_round), job, tell)?;

        let sums = runs.iter().map(JobRun::sums_checked).sum();
        let changes = self.options.changes.zip(watched.made.as_ref()).map(|(count, made)| {
            let lost: u32 = runs.iter().map(|run| work.rounds.saturating_sub(run.rounds_audited())).sum();
            made.figures(count, &watched.rounds, length, lost)
        });
        let (plans, scale) = (self.plans(scheme), self.scale.factor());
        let jobs = runs.into_iter().zip(plans).map(|(run, plan)| run.figures(plan, scale));
        let jobs = jobs.collect::<Result<_, _>>()?;
        let timeline = Timeline {
            jobs: plans
                .iter()
                .zip(watched.rounds)
                .map(|(plan, rounds)| unscaled(plan, rounds, scale))
                .collect(),
            events: in_order(&watched.happened, watched.news),
        };
        let figures = SchemeFigures {
            timeline,
            changes,
            // A switch that was killed has forgotten what it had counted.
            packets_aggregated: after.aggregated.saturating_sub(before.aggregated),
            link_drops: (after.links - before.links).dropped,
            links: after.links - before.links,
            faults: watched.happened,
            switch_drops: after.drops_since(&before),
            ..SchemeFigures::of_jobs(self.named(scheme).scheme, work.rounds, jobs)
        };
        Ok((figures, sums))
    }

    /// Runs a user's program as the workers of all jobs under one of the options' schemes.
    ///
    /// # Errors
    /// [`Error`] if the plans cannot be installed, a rank or a server fails, a sum is wrong, or a signal
    /// comes.
    pub fn run_program(
        &mut self,
        scheme: &dyn Scheme,
        program: &mut Program,
    ) -> Result<ProgramScheme, Error> {
        let job = |assignment| JobRun::of_program(scheme.name(), assignment);
        let Seen { runs, watched, before, after } =
            self.watch(scheme, Task::Program(program), None, job, &mut |_| ())?;
        let (plans, scale) = (self.plans(scheme), self.scale.factor());
        let jobs = runs.iter().zip(plans).zip(watched.audited);
        let jobs = jobs.map(|((run, plan), audited)| ProgramJob::of(run, plan, scale, audited));
        Ok(ProgramScheme {
            scheme: self.named(scheme).scheme,
            seconds: watched.seconds,
            packets_aggregated: after.aggregated.saturating_sub(before.aggregated),
            links: after.links - before.links,
            faults: watched.happened,
            switch_drops: after.drops_since(&before),
            jobs: jobs.collect(),
        })
    }

    /// Installs a scheme's plans, runs the hosts of all jobs to their end, and reads the counters.
    fn watch(
        &mut self,
        scheme: &dyn Scheme,
        task: Task<'_>,
        longest_round: Option<Duration>,
        job: impl FnMut(Assignment) -> JobRun,
        tell: &mut dyn FnMut(u32),
    ) -> Result<Seen, Error> {
        let plans: Vec<_> = self.plans(scheme).iter().map(|plan| self.job_plan(plan)).collect();
        let assignments = self.testbed.install(scheme.name(), &plans)?;
        let before = self.testbed.counters()?;
        let mut runs: Vec<_> = assignments.into_iter().map(job).collect();
        let turns = &self.planned.iter().find(|planned| planned.scheme == scheme).expect("planned").turns;
        let supervisor =
            Supervisor::new(&self.options, task, &mut self.testbed, &runs, longest_round)?.changing(turns);
        let watched = supervisor.run(&mut runs, tell)?;
        Ok(Seen { runs, watched, before, after: self.testbed.counters()? })
    }

    fn named(&self, scheme: &dyn Scheme) -> &Planned {
        let planned = self.planned.iter().find(|planned| planned.scheme == scheme);
        planned.expect("it is one of the options' schemes")
    }

    fn plans(&self, scheme: &dyn Scheme) -> &[Plan] {
        &self.named(scheme).plans
    }

    fn job_plan(&self, plan: &Plan) -> JobPlan {
        let job = job_number(self.testbed.topology(), &plan.job).expect("plans are for the topology's jobs");
        JobPlan {
            job,
            plan: plan.clone(),
            window_chunks: self.options.window_chunks,
            rate_scale: self.scale.factor(),
            new_plan_version: true,
        }
    }
}

/// Events of both lists by their time.
fn in_order(faults: &[Event], news: Vec<Event>) -> Vec<Event> {
    let mut all = [faults, &news].concat();
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    all
}

/// A job's line of a timeline, at the topology's own rates.
fn unscaled(plan: &Plan, rounds: Vec<RoundPoint>, scale: f64) -> JobLine {
    let point = |round: RoundPoint| RoundPoint { goodput_bps: round.goodput_bps / scale, ..round };
    JobLine { job: plan.job.clone(), rounds: rounds.into_iter().map(point).collect() }
}

/// Plans all jobs under every scheme.
fn plan_schemes(options: &Options, topology: &Topology) -> Result<Vec<Planned>, Error> {
    let plan_scheme = |&scheme: &&'static dyn Scheme| {
        if scheme == OWN {
            return Ok(Planned { scheme, plans: options.plans.clone(), turns: Vec::new() });
        }
        let start = Instant::now();
        let time_left = || PLANNING.as_secs_f64() - start.elapsed().as_secs_f64();
        let how = inart_planner_aggregation::Options {
            seed: options.seed,
            levels: if options.levels.number() <= scheme.promises().levels {
                options.levels
            } else {
                Levels::One
            },
            results: options.results,
            time_left: &time_left,
            ..inart_planner_aggregation::Options::new(scheme)
        };
        let plans = plan_all(topology, &how);
        let plans = plans.map_err(|cause| Error::Plan { scheme: scheme.to_string(), cause })?;
        Ok(Planned { scheme, plans, turns: Vec::new() })
    };
    options.schemes.iter().map(plan_scheme).collect()
}

/// The scale asked for, or the one at which this machine carries the most demanding scheme.
fn choose_scale(options: &Options, planned: &[Planned]) -> Result<Scale, Error> {
    let external = options.external.as_ref().map(|testbed| testbed.scale);
    if let Some(scale) = options.scale.or(external) {
        return Ok(scale);
    }
    let demand = |planned: &Planned| -> f64 {
        planned.plans.iter().map(|plan| capacity::demand(plan, options.values)).sum()
    };
    let most = planned.iter().map(demand).fold(0.0, f64::max) * options.target.frame_cost();
    let capacity = capacity::measure(options.values)?;
    tracing::info!("{most:.0} frames/s at the topology's rates, this machine carries {capacity:.0}");
    Ok(Scale::fitting(most, capacity))
}

/// Runs the same training without a network; returns an empty list if the workload has no training.
fn train_alone(options: &Options, work: Work) -> Result<Vec<SingleHost>, Error> {
    let Workload::Train { batch } = work.workload else { return Ok(Vec::new()) };
    let train = |(index, job): (usize, Job)| {
        let seed = options.job_seed(index);
        let history = train_single_host(seed, job.workers.len(), batch, work.rounds as usize)?;
        Ok(SingleHost {
            job: job.name,
            loss: history.evaluation.loss,
            accuracy: history.evaluation.accuracy,
            losses: history.losses,
        })
    };
    options.running_jobs().into_iter().enumerate().map(train).collect()
}
