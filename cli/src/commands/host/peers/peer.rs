//! The process of a peer in decentralized training.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use inart_peers_agent::{Received, Setup};
use inart_peers_host::{Ending, Job, Patience, PeerHost, Start, Training};
use inart_planner_peers::SplitMix64;
use inart_protocol_peers::{Outcome, Receivers};
use inart_report::{
    Averaged, Line, MulticastEnd, PeerEnd, PeerSent, Received as ReceivedLine, digest, monotonic_ns,
    random_gradient,
};
use inart_terms::{Terms, digest_of_values};
use inart_topologies::peers::{Compute, Mesh};
use inart_topologies::units::counted;
use inart_training::{Config, Trainer};

use crate::commands::host::connections::place;
use crate::commands::host::peers::connections::Connections;
use crate::commands::host::peers::schedule::JobArgs;
use crate::commands::host::role::PEER;
use crate::commands::host::stopping;
use crate::commands::output::{print_event, print_line};
use crate::commands::status_socket::StatusArgs;
use crate::commands::values::duration;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Longest time from a signal until the training returns.
const LONGEST_STOP: Duration = Duration::from_secs(2);

/// Arguments of `inart host` for a peer.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    connections: Connections,
    /// Address of a coordinator; of several, the one that started last is in charge.
    #[arg(long = "coordinator", value_name = "NAME=HOST:PORT", value_parser = place, required = true)]
    coordinators: Vec<(String, SocketAddr)>,
    /// With --multicast switch: network interface to the switch.
    #[arg(long)]
    interface: Option<String>,
    /// Rounds to train, the same number at all peers.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Images per round; the job's update must have the size of the model.
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Send random numbers, as many as the job's update has, in place of training.
    #[arg(long = "synthetic", conflicts_with = "batch")]
    random: bool,
    /// Compute for as long as the document's `compute` states, drawn for each round.
    #[arg(long = "simulate-compute")]
    stated_compute: bool,
    /// Random seed of data, first weights and compute times, the same at all peers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Declare a peer failed after this long without a message from it.
    #[arg(long, default_value = "5s", value_name = "TIME", value_parser = duration)]
    peer_timeout: Duration,
    /// Reuse the last receivers if the coordinator has not chosen new ones after this long.
    #[arg(long = "selection-timeout", default_value = "2s", value_name = "TIME", value_parser = duration)]
    choice_patience: Duration,
    /// Exit if no coordinator admits this peer within this time; longer than --join-timeout.
    #[arg(long = "connect-timeout", default_value = "300s", value_name = "TIME", value_parser = duration)]
    meeting_patience: Duration,
    /// Longest wait for connected peers to finish a round; then the peer exits.
    #[arg(long = "progress-timeout", default_value = "600s", value_name = "TIME", value_parser = duration)]
    round_patience: Duration,
    #[command(flatten)]
    status: StatusArgs,
}

impl OnNetwork for Args {
    type Network = Mesh;
    const SECTION: &'static Section = &PEER;

    fn run(self, network: Mesh, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation.json)
    }
}

fn run(args: &Args, mesh: &Mesh, json: bool) -> anyhow::Result<ExitCode> {
    ensure!(args.rounds > 0, "--rounds 0: give at least 1");
    let signal = stopping::catch()?;
    let job = args.job.job(mesh, args.rounds)?;
    let name = &args.connections.name;
    let patience = Patience {
        choice: args.choice_patience,
        peer_timeout: args.peer_timeout,
        meeting: args.meeting_patience,
    };
    let mut setup = job.setup(name, &patience)?;
    let rank = setup.me.index();
    setup.program = args.terms(&job)?;
    setup.round_patience = args.round_patience;
    let work = args.work(&job, rank)?;
    let stated = args.stated_compute.then(|| args.job.compute(mesh, rank)).transpose()?;
    let stated = stated.map(|compute| (compute, SplitMix64::stream(args.seed, rank as u64)));
    let status = args.status.listen()?;
    let host = args.open(mesh, &job, setup)?;
    status.into_iter().for_each(|socket| host.publish(socket));
    let mut program = Program { work, stated, names: job.peers().to_vec(), json, printed: Ok(()) };
    let stopper = host.stopper();
    let stop = move || {
        stopper.stop();
        true
    };
    stopping::on_signal(signal, name.clone(), LONGEST_STOP, stop)?;
    let ending = host.run(&mut program)?;
    program.printed?;
    let accuracy = program.work.accuracy();
    match json {
        true => print_event(&Line::PeerEnded(Box::new(peer_end(accuracy, &ending))))?,
        false => print_line(&last_words(accuracy, &ending))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn open(&self, mesh: &Mesh, job: &Job, setup: Setup) -> anyhow::Result<PeerHost> {
        let options = self.connections.options(&self.coordinators)?;
        let is_by_switch = self.job.is_by_switch();
        ensure!(
            !is_by_switch || options.peers.is_empty(),
            "--peer: with --multicast switch peers reach each other by the switch; leave it out"
        );
        Ok(match (&self.interface, is_by_switch) {
            (Some(name), true) => {
                PeerHost::open_on(job, setup, &self.job.interface(mesh, name, job)?, options)?
            }
            (None, false) => PeerHost::open(job, setup, options)?,
            (None, true) => bail!("--multicast switch: name the interface to the switch with --interface"),
            (Some(name), false) => {
                bail!("--interface {name}: hosts make the copies; leave it out, or give --multicast switch")
            }
        })
    }

    /// Returns the terms that all peers must share and the coordinator does not know.
    fn terms(&self, job: &Job) -> anyhow::Result<Terms> {
        let workers = job.peers().len();
        let mut all = vec![("seed", self.seed.to_string())];
        if self.random {
            all.push(("program", "random numbers".to_owned()));
            return Ok(Terms::new(all)?);
        }
        let first = Trainer::new(Config { seed: self.seed, rank: 0, workers, batch: 1 })?;
        all.push(("program", "digits (inart-training)".to_owned()));
        all.push(("batch", self.batch.to_string()));
        all.push(("first weights (SHA-256)", digest_of_values(&first.state())));
        Ok(Terms::new(all)?)
    }

    fn work(&self, job: &Job, rank: usize) -> anyhow::Result<Work> {
        let (workers, values) = (job.peers().len(), job.values());
        if self.random {
            return Ok(Work::Random { seed: self.seed, rank, values });
        }
        let trainer = Trainer::new(Config { seed: self.seed, rank, workers, batch: self.batch })?;
        let own = trainer.gradient_len();
        ensure!(
            own == values,
            "job {}: its update has {values} values and the model {own}; set update: {} B, or use --synthetic",
            job.name(),
            4 * own
        );
        Ok(Work::Training(Box::new(trainer), workers))
    }
}

/// Computation of a peer: a trainer with the number of peers, or none.
enum Work {
    Training(Box<Trainer>, usize),
    Random { seed: u64, rank: usize, values: usize },
}

impl Work {
    /// Loads the weights of another peer before a round.
    fn load(&mut self, weights: &[f32], round: u32) {
        if let Work::Training(trainer, _) = self {
            let mut state = trainer.state();
            state[..weights.len()].copy_from_slice(weights);
            trainer.load(&state, u64::from(round.saturating_sub(1)));
        }
    }

    /// Takes a step on the peer's own images, and returns the weights.
    fn step(&mut self, round: u32) -> Vec<f32> {
        match self {
            Work::Training(trainer, workers) => {
                let mut gradient = vec![0.0; trainer.gradient_len()];
                trainer.gradient(&mut gradient);
                // It divides a sum over all by their number, and this is one's own.
                gradient.iter_mut().for_each(|value| *value *= *workers as f32);
                trainer.apply(&gradient);
                let mut state = trainer.state();
                state.truncate(gradient.len());
                state
            }
            Work::Random { seed, rank, values } => random_gradient(*seed, *rank, round, *values),
        }
    }

    fn accuracy(&mut self) -> Option<f64> {
        match self {
            Work::Training(trainer, _) => Some(trainer.evaluate().accuracy),
            Work::Random { .. } => None,
        }
    }
}

/// Trains, and prints the events.
struct Program {
    work: Work,
    /// Returns the distribution of a round's compute time and its random source; `None` without simulated
    /// times.
    stated: Option<(Compute, SplitMix64)>,
    names: Vec<String>,
    json: bool,
    printed: anyhow::Result<()>,
}

impl Program {
    fn print(&mut self, event: &Line) {
        if self.printed.is_ok() {
            self.printed = print_event(event);
        }
    }

    fn names(&self, receivers: &Receivers) -> Vec<String> {
        receivers.iter().map(|rank| self.names[rank.index()].clone()).collect()
    }

    fn averaged(&mut self, start: &Start) {
        let Some(average) = &start.average else { return };
        self.work.load(&average.values, start.round);
        if self.json {
            let of =
                average.of.iter().map(|(from, round)| (self.names[from.index()].clone(), *round)).collect();
            let averaged = digest(&average.values);
            self.print(&Line::Averaged(Averaged { averaged, round: start.round - 1, of }));
        }
    }
}

impl Training for Program {
    fn compute(&mut self, start: &Start) -> Vec<f32> {
        let (began, began_ns) = (Instant::now(), monotonic_ns());
        self.averaged(start);
        let update = self.work.step(start.round);
        let sent = self.json.then(|| digest(&update));
        if let Some((Compute { mean_seconds, cv }, random)) = &mut self.stated {
            let whole = Duration::from_secs_f64(random.log_normal(*mean_seconds, *cv));
            std::thread::sleep(whole.saturating_sub(began.elapsed()));
        }
        if let Some(sent) = sent {
            let (round, computed_ns) = (start.round, monotonic_ns());
            self.print(&Line::PeerSent(PeerSent { sent, round, began_ns, computed_ns }));
        }
        update
    }

    fn finish(&mut self, start: &Start) {
        self.averaged(start);
    }

    fn received(&mut self, update: &Received) {
        if self.json {
            let values: Vec<f32> = update.words.iter().map(|&word| f32::from_bits(word)).collect();
            let (from, round) = (self.names[update.from.index()].clone(), update.round);
            self.print(&Line::Received(ReceivedLine { received: digest(&values), from, round }));
        }
    }

    fn ended(&mut self, outcome: &Outcome, rounds_with_previous_receivers: bool) {
        let (round, seconds) = (outcome.round, outcome.took.as_secs_f64());
        let [complete, withdrawn, given_up] =
            [&outcome.complete, &outcome.withdrawn, &outcome.given_up].map(|all| self.names(all));
        if self.json {
            let ended_ns = monotonic_ns();
            let end = MulticastEnd {
                round,
                complete,
                withdrawn,
                given_up,
                seconds,
                ended_ns,
                rounds_with_previous_receivers,
            };
            return self.print(&Line::MulticastEnded(end));
        }
        let lacking = match given_up[..] {
            [] => String::new(),
            _ => format!(", timed out: {}", given_up.join(" ")),
        };
        let last = if rounds_with_previous_receivers { " (the last receivers)" } else { "" };
        if self.printed.is_ok() {
            let complete = complete.join(" ");
            self.printed =
                print_line(&format!("round {round}: to {complete}{last} in {seconds:.3} s{lacking}"));
        }
    }
}

fn peer_end(accuracy: Option<f64>, ending: &Ending) -> PeerEnd {
    let Ending { peer, sender, receiver, refused, connections, .. } = ending;
    PeerEnd {
        accuracy,
        complete: receiver.complete,
        abandoned: receiver.abandoned,
        given_up: sender.given_up,
        failed: sender.failed,
        gone: peer.gone,
        back: peer.back,
        rounds_with_previous_receivers: peer.rounds_with_previous_receivers,
        rounds_skipped: peer.passed,
        restarted_from_init: peer.restarted_from_init,
        forced: peer.forced,
        superseded: peer.superseded,
        stale_incarnation: refused.stale_incarnation,
        unknown_senders: connections.unknown_senders + connections.refused,
        asks: receiver.asks,
        repairs: sender.repairs,
        misdelivered: refused.misdelivered,
        other_job: refused.other_job,
        other_plan_version: refused.other_plan_version,
        unknown: refused.unknown_senders,
        malformed: refused.malformed,
    }
}

fn last_words(accuracy: Option<f64>, ending: &Ending) -> String {
    let Ending { peer, sender, receiver, .. } = ending;
    let learnt = accuracy.map_or(String::new(), |share| format!("accuracy {:.1}%; ", share * 100.0));
    let restarted = match peer.restarted_from_init {
        0 => "",
        _ => "restarted without a model from another peer, with the first weights; ",
    };
    format!(
        "{learnt}{restarted}{} received, {} to the last receivers, {} declared failed, {} retransmitted",
        counted(receiver.complete, "update"),
        counted(peer.rounds_with_previous_receivers, "round"),
        counted(peer.gone, "peer"),
        counted(sender.failed + sender.repairs, "chunk")
    )
}
