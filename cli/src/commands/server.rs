//! `inart server`.

use std::process::ExitCode;

use inart_core::ServerCounters;
use inart_elastic::ElasticServer;
use inart_host_agent::report::{Report, Role};
use inart_host_agent::status::StatusSocket;
use inart_host_agent::{Error, Server};
use inart_wire::ShardId;

use super::host::{HostArgs, Output};

/// Arguments of `inart server`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    host: HostArgs,
    /// The shard to serve, counted from 0. In an elastic job, its place in the topology's list of the job's
    /// servers.
    #[arg(long)]
    shard: ShardId,
}

/// Runs the command: serves until SIGTERM or SIGINT, then tells what was counted.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    args.host.run(json, |assignment, options, output| {
        let role = Role::Server(assignment.job, args.shard);
        if args.host.is_elastic()? {
            let host = args.host.elastic(format!("server-{}", args.shard), options.status)?;
            let mut server = ElasticServer::new(host);
            output.hello(role)?;
            let result = server.run(|_, _| ());
            end(&args, server.counters(), output)?;
            return Ok(result?);
        }
        let life = options.incarnation;
        assignment.validate().map_err(Error::from)?;
        assignment.shard(args.shard).map_err(Error::from)?;
        let port = args.host.open_port()?;
        let watch = options.status.as_ref().map(StatusSocket::watch);
        let mut server = Server::with_transport(assignment.clone(), args.shard, port, options)?;
        let who = format!("server-{}", args.shard);
        args.host.claim(&assignment, &who, life)?;
        let _following = args.host.follow(&assignment, &who, life, server.mover())?;
        let _reporting = args.host.report_to_controller(&assignment, &who, life, watch)?;
        output.hello(role)?;
        let result = server.run();
        end(&args, server.counters(), output)?;
        Ok(result?)
    })
}

/// Tells what was counted.
fn end(args: &Args, counters: ServerCounters, output: &mut Output) -> anyhow::Result<()> {
    output.report(|| Report::Server(counters))?;
    output.summary(&counters, || {
        format!(
            "shard {}: {} chunks summed from {} partials of {} workers and {} single gradients; {} bytes received",
            args.shard,
            counters.chunks,
            counters.partials,
            counters.summed_in_network,
            counters.gradients,
            counters.bytes_received
        )
    })
}
