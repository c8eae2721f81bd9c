//! `inart emulate TOPOLOGY --sync r2sp --aggregated-groups`.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use inart_emulator::Measured;
use inart_emulator::machine::fault::DropRate;
use inart_emulator::machine::scale::{Scale, check_slowest};
use inart_emulator::ps::groups::{RackSetting, RackTable, emulate_racks, fitting_scale};
use inart_emulator::ps::scaled;
use inart_planner_ps::{RackError, Racks, candidate_racks, choose_racks};
use inart_topologies::Switched;
use inart_topologies::ps::{Job, Kind};
use inart_topologies::switched::Topology;
use inart_topologies::units::{counted, display_size};
use inart_training::PARAMETERS;
use inart_wire::ValuesPerFrame;
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::network::training_job;
use crate::commands::output::print;
use crate::commands::ps::no_plan::NoPlan;
use crate::commands::simulate::ps::groups::BY_RULE;
use crate::commands::values::{batch, duration};
use crate::line::section::{GROUPS, Section};
use crate::line::{Invocation, OnNetwork};

/// Default number of iterations.
const ITERATIONS: u32 = 30;
const MOST_ITERATIONS: u32 = 100_000;
/// More processes than are of use on one machine.
const MOST_WORKERS: usize = 64;
/// Shortest mean compute time. Shorter times vanish in the processes' competition for the machine.
const LEAST_COMPUTE_S: f64 = 0.4;

/// Groups of workers whose gradients switches sum, in round-robin order at the servers, on this machine.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    no_plan: NoPlan,
    /// Job to run [default: the only job with `compute`].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Synchronization between groups: r2sp.
    #[arg(long)]
    sync: String,
    /// Numbers of groups to compare; `auto` is the number with the shortest predicted iteration.
    ///
    /// 1 is aggregation without groups [default without a value: 1,auto].
    #[arg(long = "aggregated-groups", value_name = "GROUPS", num_args = 0..=1, require_equals = true, value_delimiter = ',',
        default_missing_value = "1,auto")]
    racks: Vec<String>,
    /// Iterations of every group; statistics leave out a third of them.
    #[arg(long, value_name = "N", default_value_t = ITERATIONS)]
    iterations: u32,
    /// Images per worker and iteration; the compute time is the document's.
    #[arg(long, default_value_t = 16, value_parser = batch::<u32>())]
    batch: u32,
    /// Learning rate of all workers together.
    #[arg(long = "learning-rate", default_value_t = 0.3)]
    step: f64,
    /// Factor on the network's rates, such as 1/500; compute times scale along.
    ///
    /// Printed times are at the network's own rates [default: the most that this machine carries, with
    /// compute times of at least 0.4 s].
    #[arg(long)]
    scale: Option<Scale>,
    /// Values per frame: 32, 64 or 256.
    #[arg(long, default_value_t = ValuesPerFrame::N64)]
    values: ValuesPerFrame,
    /// Chunks in flight per worker and server: a power of two.
    #[arg(long, value_name = "CHUNKS", default_value_t = 64)]
    window: u32,
    /// Share of frames that every link drops, such as 1%.
    #[arg(long, default_value = "0")]
    drop: DropRate,
    /// End the training after this long without frames from a worker that others wait for.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    peer_timeout: Duration,
    /// Random seed of data, weights and compute times.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &GROUPS;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, network, invocation)
    }
}

fn run(args: &Args, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    args.no_plan.refuse(true)?;
    args.check()?;
    let cluster = network.training().with_context(|| invocation.path.display().to_string())?;
    let topology = network.topology;
    let job = training_job(&cluster, args.job.as_deref())?;
    ensure!(
        job.kind == Kind::Workers,
        "job {}: groups (--aggregated-groups) are of workers, and it has clients",
        job.name
    );
    let workers = job.participants.len();
    ensure!(
        workers <= MOST_WORKERS,
        "job {}: {workers} workers are more processes than one machine runs, {MOST_WORKERS}; name some of \
         them in `workers`, or run `inart simulate`",
        job.name
    );
    let planned = topology.job_named(&job.name).context("the planner knows every job that trains")?.clone();
    ensure!(
        !planned.elastic,
        "job {}: it is elastic, and groups (--aggregated-groups) keep their workers; leave `elastic` out",
        job.name
    );
    let all = args.divisions(&topology, &planned, job)?;
    let own_bytes = job.bits / 8.0;
    let setting = args.setting((topology, planned), job, &all)?;
    let bar = ProgressBar::new(1);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} turns, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let table = emulate_racks(&setting, &all, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let Measured { report: table, problem } = table?;
    print(&match json {
        true => serde_json::to_string(&table)? + "\n",
        false => text_of(&table, own_bytes),
    })?;
    problem.map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

impl Args {
    fn check(&self) -> anyhow::Result<()> {
        ensure!(self.sync == "r2sp", "--aggregated-groups: it is for --sync r2sp only; leave it out");
        ensure!(
            (3..=MOST_ITERATIONS).contains(&self.iterations),
            "--iterations {}: give a number from 3 to {MOST_ITERATIONS}",
            self.iterations
        );
        ensure!(
            self.step.is_finite() && self.step > 0.0,
            "--learning-rate {}: give a number above 0",
            self.step
        );
        Ok(())
    }

    /// Returns the job in each requested number of groups, without repetitions.
    fn divisions(
        &self,
        topology: &Topology,
        planned: &inart_topologies::switched::Job,
        job: &Job,
    ) -> anyhow::Result<Vec<Racks>> {
        let mut all: Vec<Racks> = Vec::new();
        for groups in &self.racks {
            let racks = if groups == BY_RULE {
                let candidates = candidate_racks(topology, planned)?;
                choose_racks(&candidates, job).context("a job has workers")?.racks.clone()
            } else {
                let wrong = || {
                    anyhow!("--aggregated-groups={groups}: give numbers of groups from 1 on, or {BY_RULE}")
                };
                let number: usize = groups.parse().map_err(|_| wrong())?;
                Racks::plan(topology, planned, number).map_err(|error| match error {
                    RackError::Groups { .. } => anyhow!("--aggregated-groups={groups}: {error}"),
                    other => other.into(),
                })?
            };
            if all.iter().all(|other| other.groups.len() != racks.groups.len()) {
                all.push(racks);
            }
        }
        Ok(all)
    }

    fn setting(
        &self,
        (topology, planned): (Topology, inart_topologies::switched::Job),
        job: &Job,
        all: &[Racks],
    ) -> anyhow::Result<RackSetting> {
        let bits = 32.0 * PARAMETERS as f64;
        let mean_s = job.participants.iter().map(|one| one.compute.mean_s).sum::<f64>()
            / job.participants.len() as f64;
        let scale = match self.scale {
            Some(scale) => scale,
            None => {
                let carried = fitting_scale(all, self.values)?;
                let slow = Scale::fitting(1.0, mean_s * bits / job.bits / LEAST_COMPUTE_S);
                // Processes do not compute here: only the machine's capacity counts.
                let is_slower = mean_s > 0.0 && 1.0 / slow.factor() > 1.0 / carried.factor();
                if is_slower { slow } else { carried }
            }
        };
        check_slowest(topology.links().iter().flat_map(|link| link.rates_bps), scale.factor())
            .map_err(|problem| anyhow!("--scale: {problem}"))?;
        let (job, times) = scaled(job, bits, Some(self.batch), scale.factor());
        Ok(RackSetting {
            topology,
            planned,
            job,
            scale,
            times,
            iterations: self.iterations,
            batch: self.batch as usize,
            step: self.step,
            seed: self.seed,
            values: self.values,
            window_chunks: self.window,
            drop: self.drop,
            peer_timeout: self.peer_timeout,
            program: std::env::current_exe().context("this program's own file")?,
        })
    }
}

fn text_of(table: &RackTable, own_bytes: f64) -> String {
    let mut out = format!(
        "{}: {}; {}, with a model of {}\n\
         Times are the network's own: at its rates, with its model of {}, which takes {:.3} s to compute.\n\
         groups  at once  iteration  simulated s  waiting  simulated s  pushing  staleness  most  90% after  \
         accuracy\n",
        table.network,
        counted(table.workers, "worker"),
        table.scale,
        display_size(table.model_bytes),
        display_size(own_bytes),
        table.compute_s,
    );
    for one in &table.divisions {
        let to_90 = one.to_90_s.map_or("-".to_owned(), |seconds| format!("{seconds:.1} s"));
        let _ = writeln!(
            out,
            "{:>6}  {:>7}  {:>9.3}  {:>11.3}  {:>7.3}  {:>11.3}  {:>6.1}%  {:>9.2}  {:>4}  {to_90:>9}  \
             {:>7.1}%",
            one.groups.len(),
            one.concurrent_groups,
            one.iteration_s,
            one.simulated.iteration_s,
            one.waiting_s,
            one.simulated.waiting_s,
            one.busy * 100.0,
            one.staleness_mean,
            one.staleness_max,
            one.accuracy * 100.0,
        );
    }
    for one in table.divisions.iter().filter(|one| one.groups.len() > 1) {
        let groups: Vec<_> = one.groups.iter().map(|workers| workers.join(" ")).collect();
        let _ = writeln!(out, "{}: {}", counted(groups.len(), "group"), groups.join(", "));
    }
    let turns: u64 = table.divisions.iter().map(|one| one.turns_checked).sum();
    let summed: u64 = table.divisions.iter().map(|one| one.summed_in_switches).sum();
    let _ = writeln!(
        out,
        "{turns} computed again and compared bit for bit; switches have summed {summed}",
        turns = counted(turns, "turn"),
        summed = counted(summed, "gradient")
    );
    let alone = table.divisions.iter().find(|one| one.groups.len() == 1);
    for one in table.divisions.iter().filter(|one| one.groups.len() > 1) {
        let Some(alone) = alone else { continue };
        let (ratio, predicted) =
            (alone.iteration_s / one.iteration_s, alone.simulated.iteration_s / one.simulated.iteration_s);
        let _ = writeln!(
            out,
            "{} groups are {ratio:.2} times as fast per iteration as InArt alone (simulated: {predicted:.2})",
            one.groups.len()
        );
    }
    out
}
