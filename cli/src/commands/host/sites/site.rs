//! A site's process, and `inart scheduler`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use bytes::Bytes;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use inart_planner_sites::AuxiliaryUse;
use inart_quic::{Congestion, PROTOCOL};
use inart_report::{Line, SiteEnd, SiteRound, digest, monotonic_ns, random_gradient};
use inart_sites_agent::{Scheduler, Setup};
use inart_sites_host::{
    Ending, GatewayEnding, GatewayRound, HostOptions, Next, Offered, Reduced, SchedulerHost, SiteHost,
};
use inart_terms::digest_of_values;
use inart_topologies::sites::{Hierarchy, Overlay, SiteJob};
use inart_topologies::units::{Rate, counted};
use inart_training::{Config, Trainer};

use crate::commands::host::connections::{TlsFiles, each_once, place};
use crate::commands::host::role::SITE;
use crate::commands::host::sites::inside::InsideArgs;
use crate::commands::host::stopping;
use crate::commands::network;
use crate::commands::output::{print_event, print_line};
use crate::commands::plan::sites::Trees;
use crate::commands::sites::own;
use crate::commands::sites::own::OwnArgs;
use crate::commands::status_socket::{self, StatusArgs};
use crate::commands::values::{duration, link_rate};
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Longest time from a signal until the training returns: the site first ends the job at its neighbors.
const LONGEST_STOP: Duration = Duration::from_secs(15);

/// Flags of the connections of a site and a scheduler.
#[derive(clap::Args)]
pub struct Connections {
    /// Name of the site or scheduler, as in the network and in its certificate (DNS name).
    #[arg(long)]
    name: String,
    /// UDP address to listen on.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Address of another process: each neighbor of a site, each site for the scheduler.
    #[arg(long = "peer", value_name = "NAME=HOST:PORT", value_parser = place, required = true)]
    peers: Vec<(String, SocketAddr)>,
    #[command(flatten)]
    tls: TlsFiles,
    /// Congestion control of QUIC: delivery-rate, bbr (both keep their rate) or cubic.
    ///
    /// delivery-rate and bbr keep the link's rate when packets are lost; cubic yields to other traffic.
    #[arg(long, default_value = "delivery-rate", value_parser = PossibleValuesParser::new(Congestion::NAMES).try_map(|name| name.parse::<Congestion>()))]
    congestion: Congestion,
}

/// Arguments of `inart host` for a site. The network document is the same at all sites.
#[derive(clap::Args)]
pub struct Args {
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    trees: Trees,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    connections: Connections,
    #[command(flatten)]
    inside: InsideArgs,
    /// Address of the scheduler; without one, all rounds use the plan of the document's rates.
    #[arg(long, value_name = "NAME=HOST:PORT", value_parser = place)]
    scheduler: Option<(String, SocketAddr)>,
    /// Rounds to train.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Images per round, at a site without workers; the job's gradient must have the model's size.
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Sum random numbers, as many as the job's gradient has, in place of training.
    #[arg(long = "synthetic", conflicts_with = "batch")]
    random: bool,
    /// Random seed of data and first weights, the same at all sites.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Exit if a neighbor is not connected within this time.
    #[arg(long = "connect-timeout", value_name = "TIME", default_value = "300s", value_parser = duration)]
    meeting_patience: Duration,
    /// Longest time without progress of a round; then all sites exit.
    #[arg(long = "progress-timeout", value_name = "TIME", default_value = "600s", value_parser = duration)]
    patience: Duration,
}

/// Arguments of `inart scheduler`.
#[derive(clap::Args)]
pub struct SchedulerArgs {
    /// Network (YAML or JSON), the same as at the sites.
    network: PathBuf,
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    trees: Trees,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    connections: Connections,
    /// Rate assumed for links that have not been measured yet.
    #[arg(long = "default-rate", default_value = "87.5Mbps", value_parser = link_rate)]
    default_rate: Rate,
    /// Knowledge of links: passive (measured by sites) or static (initial rates).
    ///
    /// With static the scheduler replans only when a link fails or recovers.
    #[arg(long, default_value = "passive", value_parser = ["passive", "static"])]
    knowledge: String,
    #[command(flatten)]
    status: StatusArgs,
}

impl Connections {
    fn options(&self, scheduler: Option<(String, SocketAddr)>) -> anyhow::Result<HostOptions> {
        Ok(HostOptions {
            listen: self.listen,
            tls: self.tls.load(PROTOCOL)?,
            peers: each_once("--peer", &self.peers)?,
            scheduler,
            congestion: self.congestion,
        })
    }
}

/// Computation of a site.
enum Work {
    Training(Box<Trainer>),
    Random { seed: u64, site: usize, values: usize },
}

impl Work {
    fn gradient(&mut self, round: u32) -> Vec<f32> {
        match self {
            Work::Training(trainer) => {
                let mut gradient = vec![0.0; trainer.gradient_len()];
                trainer.gradient(&mut gradient);
                gradient
            }
            Work::Random { seed, site, values } => random_gradient(*seed, *site, round, *values),
        }
    }

    fn state(&self) -> Bytes {
        match self {
            Work::Training(trainer) => trainer.state().iter().flat_map(|value| value.to_le_bytes()).collect(),
            Work::Random { .. } => Bytes::new(),
        }
    }

    /// Resumes from another site's state before a round.
    fn load(&mut self, state: &[u8], round: u32) -> anyhow::Result<()> {
        let Work::Training(trainer) = self else { return Ok(()) };
        let values: Vec<f32> =
            state.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let expected = trainer.state().len();
        ensure!(values.len() == expected, "a state of {} values, not {expected}", values.len());
        trainer.load(&values, u64::from(round.saturating_sub(1)));
        Ok(())
    }

    fn apply(&mut self, sum: &[f32]) {
        if let Work::Training(trainer) = self {
            trainer.apply(sum);
        }
    }
}

impl OnNetwork for Args {
    type Network = Hierarchy;
    const SECTION: &'static Section = &SITE;

    fn run(self, network: Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, network: &Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let (overlay, json) = (&network.overlay, invocation.json);
    let both = (!network.insides.is_empty()).then_some(network);
    let name = &args.connections.name;
    let job = network::site_job(overlay, args.job.as_deref())?;
    ensure!(args.rounds > 0, "--rounds 0: give at least 1");
    let given = args.own.read(&invocation.path, overlay, Some(&job.name))?;
    if both.is_some() {
        args.own.refuse_on_both_levels()?;
    }
    let options = own::options(given, args.trees.options(overlay)?)?;
    let mut setup = Setup::new(overlay, job, name, &options, AuxiliaryUse::default())?
        .with_training([("rounds", args.rounds)])?;
    setup.meeting_patience = args.meeting_patience;
    setup.patience = args.patience;
    let open = |setup: &Arc<Setup>| {
        let options = args.connections.options(args.scheduler.clone())?;
        Ok(SiteHost::open(overlay, Arc::clone(setup), options)?)
    };
    let inside = both.and_then(|hierarchy| hierarchy.inside_of(name));
    args.inside.check(name, inside)?;
    if let Some(hierarchy) = both {
        hierarchy.fits(job)?;
    }
    let Some(inside) = inside else {
        let signal = stopping::catch()?;
        let mut work = args.work(job, &rank_of(both, overlay, job, name)?, setup.values())?;
        // Workers inside sites have data and first weights of their own.
        let setup = if both.is_none() { setup.with_training(args.terms(&work))? } else { setup };
        let status = args.inside.status.as_deref().map(status_socket::listen).transpose()?;
        let host = open(&Arc::new(setup))?;
        status.into_iter().for_each(|socket| host.publish(socket));
        let stopper = host.stopper();
        stopping::on_signal(signal, format!("site {name}"), LONGEST_STOP, move || stopper.stop())?;
        return train(host, &mut work, args.rounds, json);
    };
    let setup = Arc::new(setup);
    let tls = args.connections.tls.paths();
    let mut printed = Ok(());
    let mut on_round = |round: GatewayRound| {
        if printed.is_ok() {
            printed = print_gateway(&round, json);
        }
    };
    let ending = args.inside.run(inside, tls, &setup, || open(&setup), args.rounds, &mut on_round)?;
    printed?;
    print_gateway_end(&ending, json)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a site's rank among all hosts that send gradients, and the number of these hosts.
fn rank_of(
    both: Option<&Hierarchy>,
    overlay: &Overlay,
    job: &SiteJob,
    name: &str,
) -> anyhow::Result<(usize, usize)> {
    let all: Vec<String> = match both {
        Some(hierarchy) => hierarchy.contributors(job).into_iter().map(|one| one.site).collect(),
        None => job.sites.iter().map(|&site| overlay.site_name(site).to_owned()).collect(),
    };
    let place = all.iter().position(|site| site == name);
    let place = place.ok_or_else(|| anyhow!("--name {name}: not in job {}", job.name))?;
    Ok((place, all.len()))
}

impl Args {
    /// Returns the terms that sites without workers must share.
    fn terms(&self, work: &Work) -> Vec<(&'static str, String)> {
        let program = match work {
            Work::Training(_) => "digits",
            Work::Random { .. } => "random numbers",
        };
        let mut terms = vec![("program", program.to_owned()), ("seed", self.seed.to_string())];
        if let Work::Training(trainer) = work {
            terms.push(("batch", self.batch.to_string()));
            terms.push(("first state (SHA-256)", digest_of_values(&trainer.state())));
        }
        terms
    }

    /// Returns the computation of a site without workers, with its rank and the number of workers.
    fn work(&self, job: &SiteJob, &(rank, workers): &(usize, usize), values: usize) -> anyhow::Result<Work> {
        if self.random {
            return Ok(Work::Random { seed: self.seed, site: rank, values });
        }
        let trainer = Trainer::new(Config { seed: self.seed, rank, workers, batch: self.batch })?;
        let own = trainer.gradient_len();
        ensure!(
            own == values,
            "job {}: its gradient has {values} values and the model {own}; set gradient: {} B, or use --synthetic",
            job.name,
            4 * own
        );
        Ok(Work::Training(Box::new(trainer)))
    }
}

fn train(mut host: SiteHost, work: &mut Work, rounds: u32, json: bool) -> anyhow::Result<ExitCode> {
    let mut next = host.start()?;
    loop {
        next = match next {
            Next::Ended { training } => {
                work.load(&training, u32::MAX)?;
                break;
            }
            Next::Round { round, .. } if round > rounds => break,
            Next::Round { round, training } => {
                if let Some(state) = training {
                    work.load(&state, round)?;
                }
                let reduced = host.all_reduce(work.gradient(round), &|| work.state())?;
                if let Some(sum) = &reduced.sum {
                    work.apply(sum);
                    print_round(round, &reduced, sum, json)?;
                }
                reduced.next
            }
        };
    }
    let ending = host.finish(work.state())?;
    print_end(work, &ending, json)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an instant on the clock of lines, in nanoseconds.
fn nanoseconds(at: Instant) -> u64 {
    monotonic_ns().saturating_sub(at.elapsed().as_nanos() as u64)
}

fn print_gateway(round: &GatewayRound, json: bool) -> anyhow::Result<()> {
    let GatewayRound { round: number, began, own, ended, version, sum } = round;
    if !json {
        let seconds = |from: &Instant, to: &Instant| to.saturating_duration_since(*from).as_secs_f64();
        return print_line(&format!(
            "round {number}: {:.3} s until all workers are in, {:.3} s until the sum of all sites, plan {}",
            seconds(began, own),
            seconds(own, ended),
            version >> 32
        ));
    }
    print_event(&Line::Round(SiteRound {
        round: *number,
        began_ns: nanoseconds(*began),
        own_ns: Some(nanoseconds(*own)),
        ended_ns: nanoseconds(*ended),
        version: *version,
        sum: digest(sum),
    }))
}

fn print_gateway_end(ending: &GatewayEnding, json: bool) -> anyhow::Result<()> {
    let GatewayEnding { site: ending @ Ending { site, agent, .. }, server } = ending;
    let summed = server.summed_in_network;
    if json {
        let end = SiteEnd { summed_in_switches: Some(summed), ..site_end(ending, None) };
        return print_event(&Line::SiteEnded(end));
    }
    print_line(&format!(
        "{} of workers, {} summed in switches and {} here; {} forwarded, {}, {} retransmitted{}",
        counted(server.chunks, "chunk"),
        counted(summed, "gradient"),
        server.gradients,
        counted(site.relayed, "chunk"),
        counted(agent.asks, "repair request"),
        counted(agent.failed, "message"),
        dropped_in_words(ending)
    ))
}

/// Returns the counts of a site.
fn site_end(ending: &Ending, accuracy: Option<f64>) -> SiteEnd {
    let Ending { site, agent, .. } = ending;
    SiteEnd {
        accuracy,
        relayed: site.relayed,
        asks: agent.asks,
        failed: agent.failed,
        dropped: ending.dropped().into_iter().map(|(what, count)| (what.to_owned(), count)).collect(),
        summed_in_switches: None,
    }
}

fn dropped_in_words(ending: &Ending) -> String {
    let all: Vec<_> = ending
        .dropped()
        .into_iter()
        .map(|(what, count)| format!("{count} {}", what.replace('_', " ")))
        .collect();
    if all.is_empty() { String::new() } else { format!("; dropped: {}", all.join(", ")) }
}

fn print_round(round: u32, reduced: &Reduced, sum: &[f32], json: bool) -> anyhow::Result<()> {
    if !json {
        let took = reduced.ended.saturating_duration_since(reduced.began).as_secs_f64();
        return print_line(&format!("round {round}: {took:.3} s, plan {}", reduced.version >> 32));
    }
    print_event(&Line::Round(SiteRound {
        round,
        began_ns: nanoseconds(reduced.began),
        own_ns: None,
        ended_ns: nanoseconds(reduced.ended),
        version: reduced.version,
        sum: digest(sum),
    }))
}

fn print_end(work: &mut Work, ending: &Ending, json: bool) -> anyhow::Result<()> {
    let accuracy = match work {
        Work::Training(trainer) => Some(trainer.evaluate().accuracy),
        Work::Random { .. } => None,
    };
    let (site, agent) = (ending.site, ending.agent);
    if json {
        return print_event(&Line::SiteEnded(site_end(ending, accuracy)));
    }
    let learnt = accuracy.map_or(String::new(), |share| format!("accuracy {:.1}%; ", share * 100.0));
    print_line(&format!(
        "{learnt}{} forwarded, {}, {} retransmitted{}",
        counted(site.relayed, "chunk"),
        counted(agent.asks, "repair request"),
        counted(agent.failed, "message"),
        dropped_in_words(ending)
    ))
}

/// Runs `inart scheduler`.
pub fn run_scheduler(args: &SchedulerArgs, json: bool) -> anyhow::Result<ExitCode> {
    let network = network::sites(&args.network)?;
    if !network.insides.is_empty() {
        args.own.refuse_on_both_levels()?;
    }
    let overlay = Arc::new(network.overlay);
    let job = network::site_job(&overlay, args.job.as_deref())?.clone();
    let given = args.own.read(&args.network, &overlay, Some(&job.name))?;
    let plan = own::options(given, args.trees.options(&overlay)?)?;
    let options = args.connections.options(None)?;
    let known = |name: &String| overlay.site_named(name).is_some();
    if let Some(unknown) = options.peers.keys().find(|name| !known(name)) {
        anyhow::bail!("--peer {unknown}: no such site; name some of {}", overlay.sites().join(", "));
    }
    let scheduler = match &*args.knowledge {
        "static" => Scheduler::knowing(overlay.clone(), job, plan, overlay.rates_at(0.0)),
        _ => Scheduler::new(overlay.clone(), job, plan, args.default_rate.0),
    };
    let status = args.status.listen()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let name = &args.connections.name;
        let mut host = SchedulerHost::open(&overlay, scheduler, name, options)?;
        if let Some(socket) = status {
            host = host.with_status(socket);
        }
        // Sites need the scheduler even after the reader of its output has closed the pipe.
        let on_offer = |Offered { version, trees }: Offered| {
            drop(match json {
                true => print_event(&Line::Offered { version, trees }),
                false => print_line(&format!("plan {} offered: {}", version >> 32, counted(trees, "tree"))),
            });
        };
        Ok::<_, anyhow::Error>(host.run(on_offer).await?)
    })?;
    Ok(ExitCode::SUCCESS)
}
