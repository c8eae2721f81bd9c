//! The process of a worker in a group whose gradients switches sum, in round-robin order with other groups.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use inart_host_agent::report::{Report, Role, RoundReport};
use inart_host_agent::status::StatusSocket;
use inart_planner_peers::SplitMix64;
use inart_protocol_aggregation::Assignment;
use inart_ps_groups::RackWorker;
use inart_report::{GroupWorkerEnd, Line, Trained, digest};
use inart_topologies::Switched;
use inart_topologies::ps::Time;
use inart_topologies::units::counted;
use inart_training::{Config, Stepper};
use inart_wire::Rank;

use crate::commands::host::aggregation::worker::parse_part;
use crate::commands::host::attachment::{HostArgs, Output};
use crate::commands::host::named;
use crate::commands::host::role::GROUP_WORKER;
use crate::commands::values::seconds;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Flags of the work of a worker in a group.
#[derive(clap::Args)]
struct Work {
    #[command(flatten)]
    host: HostArgs,
    /// Index of the worker among the workers of all groups, such as 4/6; selects its images.
    #[arg(long = "data-shard", value_name = "K/N", value_parser = parse_part)]
    part: (usize, usize),
    /// Number of groups in round-robin order.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    groups: u16,
    /// Iterations, the same number at every worker of every group.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Images per iteration.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Learning rate of all workers together.
    #[arg(long = "learning-rate", default_value_t = 0.3)]
    step: f64,
    /// Random seed of images, first weights and compute times, the same at all processes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Mean compute time of an iteration, such as 200ms [default: as fast as the machine is].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    compute: Option<f64>,
    /// With --compute: coefficient of variation of the compute time.
    #[arg(long, value_name = "PART", default_value_t = 0.0, requires = "compute")]
    compute_cv: f64,
}

/// Arguments of `inart group-worker`.
#[derive(clap::Args)]
pub struct Args {
    /// Rank of the worker in its group's job, from 0.
    #[arg(long)]
    rank: Rank,
    #[command(flatten)]
    work: Work,
}

/// Arguments of `inart host` for a worker of a group.
#[derive(clap::Args)]
pub struct Named {
    /// The worker's name in the network's document.
    #[arg(long)]
    name: String,
    #[command(flatten)]
    work: Work,
}

impl OnNetwork for Named {
    type Network = Switched;
    const SECTION: &'static Section = &GROUP_WORKER;

    fn run(self, _: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        let rank = |assignment: &Assignment| {
            Ok(Rank::try_from(named::worker_of_assignment(assignment, &self.name)?)?)
        };
        run_work(&self.work, rank, invocation.json)
    }
}

/// Runs `inart group-worker`.
pub fn run(args: &Args, json: bool) -> anyhow::Result<ExitCode> {
    run_work(&args.work, |_| Ok(args.rank), json)
}

fn run_work(
    args: &Work,
    rank: impl FnOnce(&Assignment) -> anyhow::Result<Rank>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    ensure!(args.step.is_finite() && args.step > 0.0, "--learning-rate {}: give a number above 0", args.step);
    ensure!(
        args.compute_cv.is_finite() && args.compute_cv >= 0.0,
        "--compute-cv {}: give a number from 0 on",
        args.compute_cv
    );
    args.host.run(json, |assignment, options, output| {
        ensure!(
            !assignment.exact_sums,
            "the assignment of job {} is of an exact-sum job, which groups cannot use; leave `sum: exact` \
             out of the topology",
            assignment.name
        );
        ensure!(
            !args.host.is_elastic()?,
            "job {}: it is elastic, and groups keep their workers; leave `elastic` out",
            assignment.name
        );
        let own = rank(&assignment)?;
        let (rank, workers) = args.part;
        let config = Config { seed: args.seed, rank, workers, batch: args.batch as usize };
        let stepper = Stepper::new(config, (args.step / workers as f64) as f32)?;
        assignment.worker(own)?;
        let port = args.host.open_port()?;
        let (who, incarnation) = (format!("worker-{own}"), options.incarnation);
        args.host.claim(&assignment, &who, incarnation)?;
        let watch = options.status.as_ref().map(StatusSocket::watch);
        let model = stepper.first_model();
        let place = (port, options);
        let worker = RackWorker::new(assignment.clone(), own, args.groups.into(), model, place)?;
        let worker = worker
            .with_term("seed", Some(args.seed.to_string()))
            .with_term("iterations", Some(args.iterations.to_string()))
            .with_term("step", Some(args.step.to_string()))
            .with_term("batch", Some(args.batch.to_string()));
        let _following = args.host.follow(&assignment, &who, incarnation, worker.migrator())?;
        let _reporting = args.host.report_to_controller(&assignment, &who, incarnation, watch)?;
        output.hello(Role::Worker(assignment.job, own))?;
        output.wait_for_start()?;
        train((args, own), &assignment, (stepper, worker), output)
    })
}

fn train(
    (args, rank): (&Work, Rank),
    assignment: &Assignment,
    (mut stepper, mut worker): (Stepper, RackWorker),
    output: &mut Output,
) -> anyhow::Result<()> {
    let compute = args.compute.map(|mean| Time { mean_s: mean, cv: args.compute_cv });
    let mut random = SplitMix64::stream(args.seed, args.part.0 as u64);
    let (mut waiting_s, mut push_s) = (0.0, 0.0);
    for iteration in 0..args.iterations {
        let began = Instant::now();
        let mut update = stepper.update(worker.model(), iteration.into(), args.batch as usize)?;
        if let Some(compute) = &compute {
            let whole = Duration::try_from_secs_f64(compute.draw(&mut random)).unwrap_or_default();
            std::thread::sleep(whole.saturating_sub(began.elapsed()));
        }
        let turn = worker.push(&mut update).with_context(|| format!("iteration {iteration}"))?;
        waiting_s += turn.ready.map_or(0.0, |ready| ready.communication.as_secs_f64());
        push_s += turn.push.communication.as_secs_f64();
        // Rounds of the report are iterations: *ready* has nothing to be compared.
        let stats = inart_host_agent::RoundStats { round: iteration, ..turn.push };
        output.report(|| Report::Round(RoundReport::new(stats, turn.record)))?;
    }
    let evaluation = stepper.evaluate(worker.model());
    let trained =
        Trained { loss: evaluation.loss, accuracy: evaluation.accuracy, digest: digest(worker.model()) };
    output.report(|| Report::Done { trained: Some(trained.clone()) })?;
    let each = f64::from(args.iterations);
    let end = GroupWorkerEnd {
        job: assignment.name.clone(),
        rank: rank.get(),
        iterations: args.iterations,
        waiting_s: waiting_s / each,
        push_s: push_s / each,
        trained: trained.clone(),
    };
    output.end(&Line::GroupWorkerEnded(end), || {
        format!(
            "worker {} of job {}: {}, {:.1} ms until its turn and {:.1} ms to push each; \
             loss {:.4}, accuracy {:.2} %",
            rank,
            assignment.name,
            counted(args.iterations, "iteration"),
            1e3 * waiting_s / each,
            1e3 * push_s / each,
            trained.loss,
            100.0 * trained.accuracy
        )
    })
}
