//! `inart server`.

use std::process::ExitCode;

use std::time::Duration;

use inart_core::ServerCounters;
use inart_elastic::ElasticServer;
use inart_host_agent::report::{Report, Role};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch, awaited_workers};
use inart_host_agent::{Error, Server};
use inart_wire::ShardId;

use super::host::{HostArgs, Output, parse_seconds};

/// Arguments of `inart server`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    host: HostArgs,
    /// The shard to serve, counted from 0. In an elastic job, its place in the topology's list of the job's
    /// servers.
    #[arg(long)]
    shard: ShardId,
    /// End if no worker has joined for this long; not in an elastic job.
    #[arg(long, value_name = "DURATION", default_value = "600s", value_parser = parse_seconds)]
    join_patience: Duration,
}

/// Progress is printed this often.
const PROGRESS: Duration = Duration::from_secs(10);

/// Runs the command: serves until its job's workers have left, or until SIGTERM or SIGINT; then tells what
/// was counted.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    args.host.run(json, |assignment, mut options, output| {
        let role = Role::Server(assignment.job, args.shard);
        if args.host.is_elastic()? {
            let host = args.host.elastic(format!("server-{}", args.shard), options.status)?;
            let mut server = ElasticServer::new(host);
            output.hello(role)?;
            let result = server.run(|_, _| ());
            end(&args, server.counters(), &[], output)?;
            return Ok(result?);
        }
        let life = options.incarnation;
        assignment.validate().map_err(Error::from)?;
        assignment.shard(args.shard).map_err(Error::from)?;
        let port = args.host.open_port()?;
        let watch = options.status.get_or_insert_with(StatusSocket::quiet).watch();
        let server = Server::with_transport(assignment.clone(), args.shard, port, options)?;
        // Who reads reports ends it as well.
        let mut server = match output.is_audited() {
            true => server,
            false => server.ends_with_job().with_patience(args.join_patience),
        };
        let who = format!("server-{}", args.shard);
        args.host.claim(&assignment, &who, life)?;
        let _following = args.host.follow(&assignment, &who, life, server.mover())?;
        let _reporting = args.host.report_to_controller(&assignment, &who, life, Some(watch.clone()))?;
        output.hello(role)?;
        if !output.is_audited() {
            let workers = assignment.workers.iter().map(|worker| worker.name.clone()).collect();
            print_progress(watch, workers);
        }
        let result = server.run();
        end(&args, server.counters(), &server.never_heard(), output)?;
        Ok(result?)
    })
}

/// Tells what was counted.
fn end(args: &Args, counters: ServerCounters, absent: &[String], output: &mut Output) -> anyhow::Result<()> {
    output.report(|| Report::Server(counters))?;
    output.summary(&counters, || {
        let absent = match absent {
            [] => String::new(),
            names => format!("; never heard from: {}", names.join(", ")),
        };
        format!(
            "shard {}: {} chunks summed from {} partials of {} workers and {} single gradients; {} bytes received{absent}",
            args.shard,
            counters.chunks,
            counters.partials,
            counters.summed_in_network,
            counters.gradients,
            counters.bytes_received
        )
    })
}

/// Prints now and then how far the server is, for as long as the process runs.
fn print_progress(watch: StatusWatch, workers: Vec<String>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(PROGRESS);
            if let Some(HostStatus::Server(status)) = watch.latest() {
                let heard = status.heard_seconds.iter().flatten().count();
                let waits = awaited_workers(&status, &workers, 0.0);
                let waits = waits.iter().filter(|wait| status.in_flight > 0 || wait.disconnected);
                let waits: Vec<_> = waits.map(|wait| format!("{} ({})", wait.on, wait.why)).collect();
                let waits = match waits.is_empty() {
                    true => String::new(),
                    false => format!("; waiting for {}", waits.join(", ")),
                };
                eprintln!(
                    "shard {}: {} chunks summed, {heard} of {} workers heard from{waits}",
                    status.shard,
                    status.completed,
                    status.heard_seconds.len()
                );
            }
        }
    });
}
