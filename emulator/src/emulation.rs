//! The whole of an emulation: plan, build, train under each scheme, check every sum, and measure.

use std::time::{Duration, Instant};

use inart_controller::{JobPlan, job_number};
use inart_planner::{Job, Levels, Order, Plan, Scheme, Topology};
use inart_trainer::{PARAMETERS, train_single_host};

use crate::capacity;
use crate::error::Error;
use crate::figures::{SchemeFigures, SingleHost, Summary};
use crate::job::JobRun;
use crate::network::Network;
use crate::options::Options;
use crate::scale::Scale;
use crate::script::Script;
use crate::supervisor::Supervisor;

/// How long the search for a plan may take.
const PLANNING: Duration = Duration::from_secs(10);

/// How far an emulation is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being done.
    pub stage: &'a str,
    /// Rounds done, of all schemes and jobs.
    pub rounds_done: u32,
    /// Rounds to do.
    pub rounds_total: u32,
}

/// A scheme with a plan for each job.
struct Planned {
    scheme: Scheme,
    plans: Vec<Plan>,
}

/// Emulates. Call it on a thread that lives as long as it takes: its processes end with the thread.
pub fn emulate(options: &Options, observer: &mut dyn FnMut(Progress<'_>)) -> Result<Summary, Error> {
    let start = Instant::now();
    options.validate()?;
    let jobs = options.running_jobs();
    let topology = options.topology.with_jobs(jobs.clone());
    Script::new(&topology, &options.faults, options.drop.share())?; // wrong input is told before the work
    let rounds_total = options.rounds * (options.schemes.len() * jobs.len()) as u32;
    let mut rounds_before = 0;
    let mut tell = |stage: &str, rounds_done| observer(Progress { stage, rounds_done, rounds_total });

    tell("planning", 0);
    let planned = plan_all(options, &topology)?;
    tell("building the network", 0);
    let scale = choose_scale(options, &topology, &planned)?;
    let mut network = Network::start(&topology, options, scale.factor())?;
    tell("training on one host", 0);
    let single_host = train_alone(options, &jobs)?;

    let (mut schemes, mut sums_checked) = (Vec::new(), 0);
    for planned in &planned {
        let mut run = SchemeRun { options, network: &mut network, scale: scale.factor() };
        let name = planned.scheme.name();
        let (figures, sums) = run.run(planned, &mut |rounds| tell(name, rounds_before + rounds))?;
        rounds_before += options.rounds * jobs.len() as u32;
        sums_checked += sums;
        schemes.push(figures);
    }
    Ok(Summary {
        topology: topology.name().to_owned(),
        bit_exact: schemes.iter().all(|scheme| scheme.bit_exact),
        rounds: options.rounds,
        sums_checked,
        scale: scale.factor(),
        seed: options.seed,
        drop: options.drop.share().get(),
        values: options.values.get(),
        window: options.window_chunks,
        elapsed_seconds: start.elapsed().as_secs_f64(),
        single_host,
        schemes,
    })
}

/// Plans all jobs under every scheme; several together.
fn plan_all(options: &Options, topology: &Topology) -> Result<Vec<Planned>, Error> {
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    let plan_scheme = |&scheme: &Scheme| {
        let start = Instant::now();
        let time_left = || PLANNING.as_secs_f64() - start.elapsed().as_secs_f64();
        let how = inart_planner::Options {
            seed: options.seed,
            levels: if scheme == Scheme::Inart { options.levels } else { Levels::One },
            time_left: &time_left,
            ..inart_planner::Options::new(scheme)
        };
        let plans = match jobs[..] {
            [job] => inart_planner::plan(topology, job, &how).map(|plan| vec![plan]),
            _ => inart_planner::plan_jobs(topology, &jobs, &how, Order::Together).map(|set| set.plans),
        };
        Ok(Planned {
            scheme,
            plans: plans.map_err(|cause| Error::Plan { scheme: scheme.to_string(), cause })?,
        })
    };
    options.schemes.iter().map(plan_scheme).collect()
}

/// The scale asked for, or the one at which this machine carries the most demanding scheme.
fn choose_scale(options: &Options, topology: &Topology, planned: &[Planned]) -> Result<Scale, Error> {
    let given = options.network.as_ref().map(|network| network.scale);
    if let Some(scale) = options.scale.or(given) {
        return Ok(scale);
    }
    let switches =
        topology.nodes().iter().filter(|node| node.kind == inart_planner::NodeKind::Switch).count();
    let demand = |planned: &Planned| -> f64 {
        let jobs = planned.plans.iter().zip(topology.jobs());
        jobs.map(|(plan, job)| capacity::demand(plan, job.workers.len(), switches, options.values)).sum()
    };
    let most = planned.iter().map(demand).fold(0.0, f64::max);
    let capacity = capacity::measure(options.values)?;
    tracing::info!("{most:.0} frames/s at the topology's rates, this machine carries {capacity:.0}");
    Ok(Scale::fitting(most, capacity))
}

/// Each job has training data and weights of its own.
pub(crate) fn job_seed(options: &Options, job: usize) -> u64 {
    options.seed.wrapping_add(job as u64)
}

fn train_alone(options: &Options, jobs: &[Job]) -> Result<Vec<SingleHost>, Error> {
    let train = |(index, job): (usize, &Job)| {
        let seed = job_seed(options, index);
        let history = train_single_host(seed, job.workers.len(), options.batch, options.rounds as usize)?;
        Ok(SingleHost {
            job: job.name.clone(),
            loss: history.evaluation.loss,
            accuracy: history.evaluation.accuracy,
            losses: history.losses,
        })
    };
    jobs.iter().enumerate().map(train).collect()
}

/// What a scheme needs to run.
struct SchemeRun<'a> {
    options: &'a Options,
    network: &'a mut Network,
    scale: f64,
}

impl SchemeRun<'_> {
    /// Runs all jobs under one scheme; its figures, and how many sums were checked.
    fn run(&mut self, planned: &Planned, tell: &mut dyn FnMut(u32)) -> Result<(SchemeFigures, u64), Error> {
        let scheme = planned.scheme.name();
        let plans: Vec<_> = planned.plans.iter().map(|plan| self.job_plan(plan)).collect::<Result<_, _>>()?;
        let assignments = self.network.install(scheme, &plans)?;
        let before = self.network.counters()?;
        let mut runs: Vec<_> = assignments
            .into_iter()
            .map(|assignment| JobRun::new(scheme, assignment, self.options.rounds, PARAMETERS))
            .collect();
        let happened = Supervisor::new(self.options, self.network, scheme, &runs)?.run(&mut runs, tell)?;
        let after = self.network.counters()?;

        let sums = runs.iter().map(JobRun::sums_checked).sum();
        let jobs =
            runs.into_iter().zip(&planned.plans).map(|(run, plan)| run.figures(plan.rate_bps, self.scale));
        let jobs = jobs.collect::<Result<_, _>>()?;
        let figures = SchemeFigures {
            // A switch that was killed has forgotten what it had counted.
            packets_aggregated: after.aggregated.saturating_sub(before.aggregated),
            link_drops: (after.links - before.links).dropped,
            links: after.links - before.links,
            faults: happened,
            switch_drops: after.drops_since(&before),
            ..SchemeFigures::of_jobs(scheme.to_owned(), self.options.rounds, jobs)
        };
        Ok((figures, sums))
    }

    fn job_plan(&self, plan: &Plan) -> Result<JobPlan, Error> {
        let job = job_number(self.network.topology(), &plan.job).expect("plans are for the topology's jobs");
        Ok(JobPlan {
            job,
            plan: plan.clone(),
            window_chunks: self.options.window_chunks,
            rate_scale: self.scale,
            new_epoch: true,
        })
    }
}
