//! The process of a parameter server whose gradients switches sum.

use std::process::ExitCode;
use std::time::Duration;

use inart_elastic::ElasticServer;
use inart_host_agent::report::{Report, Role};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch, awaited_workers};
use inart_host_agent::{Error, Server};
use inart_protocol_aggregation::{Assignment, ServerCounters};
use inart_report::Line;
use inart_topologies::Network;
use inart_topologies::units::counted;
use inart_wire::ShardId;

use crate::commands::host::attachment::{HostArgs, Output};
use crate::commands::host::named;
use crate::commands::host::role::SERVER;
use crate::commands::values::duration;
use crate::line::section::Section;
use crate::line::{Invocation, OnNetwork};

/// Flags of a server's work.
#[derive(clap::Args)]
struct Work {
    #[command(flatten)]
    host: HostArgs,
    /// Exit if no worker has joined for this long; not for elastic jobs.
    #[arg(long = "join-timeout", value_name = "TIME", default_value = "600s", value_parser = duration)]
    join_patience: Duration,
}

/// Arguments of `inart server`.
#[derive(clap::Args)]
pub struct Args {
    /// Shard to serve, from 0; for an elastic job, index in the job's list of servers.
    #[arg(long)]
    shard: ShardId,
    #[command(flatten)]
    work: Work,
}

/// Arguments of `inart host` for a server.
#[derive(clap::Args)]
pub struct Named {
    /// The server's name in the network's document.
    #[arg(long)]
    name: String,
    #[command(flatten)]
    work: Work,
}

impl OnNetwork for Named {
    type Network = Network;
    const SECTION: &'static Section = &SERVER;

    fn run(self, network: Network, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        let shard = |assignment: &Assignment, is_elastic: bool| {
            let place = match is_elastic {
                true => named::server_of_document(&network, &self.name, &assignment.name),
                false => named::server_of_assignment(assignment, &self.name),
            }?;
            Ok(ShardId::from(place))
        };
        run_work(&self.work, shard, invocation.json)
    }
}

/// Progress is printed this often.
const PROGRESS: Duration = Duration::from_secs(10);

/// Runs `inart server`.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    run_work(&args.work, |_, _| Ok(args.shard), json)
}

/// Serves until the job's workers have left, or until SIGTERM or SIGINT; then prints the counters.
/// `shard` returns the server's shard by its assignment, and whether the job is elastic.
fn run_work(
    args: &Work,
    shard: impl FnOnce(&Assignment, bool) -> anyhow::Result<ShardId>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    args.host.run(json, |assignment, mut options, output| {
        let is_elastic = args.host.is_elastic()?;
        let shard = shard(&assignment, is_elastic)?;
        let role = Role::Server(assignment.job, shard);
        if is_elastic {
            let host = args.host.elastic(format!("server-{shard}"), options.status)?;
            let mut server = ElasticServer::new(host);
            output.hello(role)?;
            let result = server.run(|_, _| ());
            end(shard, server.counters(), &[], output)?;
            return Ok(result?);
        }
        let incarnation = options.incarnation;
        assignment.validate().map_err(Error::from)?;
        assignment.shard(shard).map_err(Error::from)?;
        let port = args.host.open_port()?;
        let watch = options.status.get_or_insert_with(StatusSocket::quiet).watch();
        let server = Server::with_transport(assignment.clone(), shard, port, options)?;
        // The reader of reports ends the server as well.
        let mut server = match output.is_audited() {
            true => server,
            false => server.ends_with_job().with_patience(args.join_patience),
        };
        let who = format!("server-{shard}");
        args.host.claim(&assignment, &who, incarnation)?;
        let _following = args.host.follow(&assignment, &who, incarnation, server.migrator())?;
        let _reporting =
            args.host.report_to_controller(&assignment, &who, incarnation, Some(watch.clone()))?;
        output.hello(role)?;
        if !output.is_audited() {
            let workers = assignment.workers.iter().map(|worker| worker.name.clone()).collect();
            print_progress(watch, workers);
        }
        let result = server.run();
        end(shard, server.counters(), &server.never_heard(), output)?;
        Ok(result?)
    })
}

/// Prints the counters.
fn end(
    shard: ShardId,
    counters: ServerCounters,
    absent: &[String],
    output: &mut Output,
) -> anyhow::Result<()> {
    output.report(|| Report::Server(counters))?;
    output.end(&Line::ServerEnded(Box::new(counters)), || {
        let absent = match absent {
            [] => String::new(),
            names => format!("; no frame from: {}", names.join(", ")),
        };
        format!(
            "shard {shard}: {} summed from {} of {} and {}; {} received{absent}",
            counted(counters.chunks, "chunk"),
            counted(counters.partials, "partial"),
            counted(counters.summed_in_network, "worker"),
            counted(counters.gradients, "single gradient"),
            counted(counters.bytes_received, "byte")
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
                    "shard {}: {} summed, {heard} of {} active{waits}",
                    status.shard,
                    counted(status.completed, "chunk"),
                    counted(status.heard_seconds.len(), "worker")
                );
            }
        }
    });
}
