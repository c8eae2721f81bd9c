//! The process of a worker or a client that trains at a parameter server.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use inart_planner_peers::SplitMix64;
use inart_ps_host::{Start, Training, WorkerHost};
use inart_report::{Line, PsWorkerEnd, WorkerSent, digest, monotonic_ns};
use inart_topologies::Switched;
use inart_topologies::ps::{Participant, Time};
use inart_topologies::units::counted;
use inart_training::{Config, PARAMETERS, Stepper};

use crate::commands::host::ps::connections::{Connections, ProcessAddress};
use crate::commands::host::ps::ended::connection_counts;
use crate::commands::host::ps::learner::{Learner, LearnerArgs};
use crate::commands::host::role::PS_WORKER;
use crate::commands::host::stopping;
use crate::commands::output::{print_event, print_line};
use crate::commands::status_socket::StatusArgs;
use crate::commands::values::duration;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Longest time from a signal until the training returns.
const LONGEST_STOP: Duration = Duration::from_secs(2);

/// Arguments of `inart host` for a worker or a client of a parameter server.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    connections: Connections,
    /// Address of the server: NAME=HOST:PORT, or NAME=MAC with --interface.
    #[arg(long, value_name = "NAME=ADDRESS")]
    server: ProcessAddress,
    #[command(flatten)]
    learner: LearnerArgs,
    /// With clients: send negated updates (simulates a malicious client).
    #[arg(long = "sign-flip")]
    opposite: bool,
    /// Compute for as long as the document states, drawn for each iteration.
    ///
    /// A client also pauses before its push for as long as the document states.
    #[arg(long = "simulate-compute")]
    stated_compute: bool,
    /// Exit after this long without a server connection.
    #[arg(long = "server-timeout", value_name = "TIME", default_value = "300s", value_parser = duration)]
    patience: Duration,
    #[command(flatten)]
    status: StatusArgs,
}

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &PS_WORKER;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, network: &Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    let Connections { name, seed, .. } = &args.connections;
    let signal = stopping::catch()?;
    let (cluster, job) = args.connections.read(network, &args.server.name, invocation)?;
    ensure!(
        job.values == PARAMETERS,
        "job {}: its model has {} values and the one that is trained {PARAMETERS}; set gradient: {} B",
        job.name,
        job.values,
        4 * PARAMETERS
    );
    let rank = job.number(name)? as usize;
    let own = cluster.participants.get(rank).context("the job has this worker")?;
    let mut program = Program {
        learner: args.learner.learner(&cluster, *seed, rank, args.opposite)?,
        stated: args
            .stated_compute
            .then(|| (own.clone(), cluster.pause, SplitMix64::stream(*seed, rank as u64))),
        iterations: 0,
        json,
        printed: Ok(()),
    };
    let server = std::slice::from_ref(&args.server);
    let options = args.connections.options("--server", server, (&job, &network.topology))?;
    let config = Config { seed: *seed, rank: 0, workers: job.workers.len(), batch: 1 };
    let first = Stepper::new(config, 0.0)?.first_model();
    let terms = job.terms(&args.learner.terms(&cluster, *seed, &first))?;
    let how = (args.connections.rate_bps(own.nic.out_bps), args.patience);
    let status = args.status.listen()?;
    let host = WorkerHost::open_with(&job, name, &terms, how, options)?;
    status.into_iter().for_each(|socket| host.publish(socket));
    let stopper = host.stopper();
    let stop = move || {
        stopper.stop();
        true
    };
    stopping::on_signal(signal, name.clone(), LONGEST_STOP, stop)?;
    let ending = host.run(&mut program)?;
    program.printed?;
    let counters = ending.counters;
    match json {
        true => print_event(&Line::PsWorkerEnded(Box::new(PsWorkerEnd {
            iterations: program.iterations,
            version: ending.version,
            sent_again: counters.sent_again,
            repeated: counters.repeated,
            superseded: counters.superseded,
            unasked: counters.unasked,
            malformed: counters.malformed,
            stale_incarnation: counters.stale_incarnation,
            left_out: ending.left_out,
            connections: connection_counts(&ending.connections),
        })))?,
        false => print_line(&format!(
            "{} at version {}: {}, {} retransmitted, {}",
            ending.left_out.as_ref().map_or_else(|| "over".to_owned(), |why| format!("left out for {why},")),
            ending.version,
            counted(program.iterations, "iteration"),
            counted(counters.sent_again, "chunk"),
            counted(counters.superseded + counters.unasked, "wasted update")
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Program {
    learner: Learner,
    /// Returns the distribution of the compute time and its random source; `None` without simulated times.
    stated: Option<(Participant, Time, SplitMix64)>,
    iterations: u64,
    json: bool,
    printed: anyhow::Result<()>,
}

impl Program {
    fn print(&mut self, print: impl FnOnce() -> anyhow::Result<()>) {
        if self.printed.is_ok() {
            self.printed = print();
        }
    }
}

impl Training for Program {
    fn compute(&mut self, start: &Start) -> Vec<f32> {
        let (began, began_ns) = (Instant::now(), monotonic_ns());
        let batch = start.batch.max(1) as usize;
        let update = self.learner.push(start);
        let event = self.json.then(|| {
            Line::WorkerSent(WorkerSent {
                sent: digest(&start.arriving(&update)),
                iteration: start.iteration,
                batch,
                base: start.version,
                model: digest(&start.model),
                began_ns,
            })
        });
        if let Some((own, pause, random)) = &mut self.stated {
            let more = f64::from(start.batch) - f64::from(own.batch);
            let whole = own.compute.draw(random) + more / own.speed + pause.draw(random);
            std::thread::sleep(Duration::from_secs_f64(whole.max(0.0)).saturating_sub(began.elapsed()));
        }
        if let Some(event) = event {
            self.print(|| print_event(&event));
        }
        update
    }

    fn pushed(&mut self, iteration: u64, refusal: Option<&str>) {
        self.iterations += 1;
        match refusal {
            Some(refusal) => tracing::warn!("iteration {iteration}: {refusal}"),
            None if !self.json => self.print(|| print_line(&format!("iteration {iteration} has arrived"))),
            None => {}
        }
    }
}
