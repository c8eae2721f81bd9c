//! The process of a site with workers inside: the parameter server of their job, and a site among
//! sites.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use inart_host_agent::status::StatusSocket;
use inart_host_agent::{OnwardServer, PortKind};
use inart_protocol_aggregation::Assignment;
use inart_sites_agent::Setup;
use inart_sites_host::{GatewayEnding, GatewayRound, SiteHost};
use inart_topologies::sites::Inside;

use crate::commands::host::attachment::{Attachment, HostArgs, parse_port};
use crate::commands::security::ClientArgs;
use crate::commands::status_socket;
use crate::commands::values::duration;

/// Where a site's workers are. Only for a site with an inside.
#[derive(clap::Args)]
pub struct InsideArgs {
    /// Network interface towards the site's workers.
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Assignment of the workers' job (JSON), as `inart apply --assignments` writes it.
    #[arg(long, value_name = "FILE", conflicts_with = "controller")]
    assignment: Option<PathBuf>,
    /// Controller of the site's switches (HOST:PORT or unix:/path) that sends the assignment.
    #[arg(long, value_name = "ADDRESS")]
    controller: Option<String>,
    /// Connect to the controller by TLS, with --tls-ca, --tls-cert and --tls-key.
    #[arg(long, requires = "controller")]
    controller_tls: bool,
    /// Packet I/O backend towards workers: batched, pnet or xdp.
    #[arg(long, value_name = "KIND", default_value = PortKind::default().name(), value_parser = parse_port)]
    port: PortKind,
    /// End the job at all sites after this long without frames from an expected worker.
    #[arg(long, value_name = "TIME", default_value = "2.5s", value_parser = duration)]
    peer_timeout: Duration,
    /// Address of the status socket: a path, or 127.0.0.1:PORT.
    ///
    /// `inart status --socket` and `inart doctor` read it.
    #[arg(long, value_name = "ADDRESS")]
    pub status: Option<String>,
}

impl InsideArgs {
    /// Checks that the flags fit a site with or without workers inside.
    pub fn check(&self, site: &str, inside: Option<&Inside>) -> anyhow::Result<()> {
        let given = [
            ("--interface", self.interface.is_some()),
            ("--assignment", self.assignment.is_some()),
            ("--controller", self.controller.is_some()),
        ];
        if inside.is_none() {
            let first = given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag);
            return match first {
                Some(flag) => {
                    Err(anyhow!("{flag}: nothing is inside site {site} in the network; leave it out"))
                }
                None => Ok(()),
            };
        }
        ensure!(
            self.interface.is_some(),
            "--interface: site {site} has workers inside; name the interface towards them"
        );
        ensure!(
            self.assignment.is_some() || self.controller.is_some(),
            "--assignment: site {site} has workers inside; name their job's assignment, or a --controller"
        );
        Ok(())
    }

    fn host(&self, inside: &Inside, tls: [&PathBuf; 3]) -> HostArgs {
        let [ca, certificate, key] = tls.map(PathBuf::clone);
        HostArgs::at(Attachment {
            assignment: self.assignment.clone(),
            controller: self.controller.clone(),
            job: self.controller.iter().map(|_| inside.topology.jobs()[0].name.clone()).collect(),
            security: match self.controller_tls {
                true => ClientArgs::by_tls(ca, certificate, key),
                false => ClientArgs::default(),
            },
            interface: self.interface.clone().unwrap_or_default(),
            port: self.port,
            peer_timeout: self.peer_timeout,
            status: None,
        })
    }

    /// Runs all rounds of the site.
    pub fn run(
        &self,
        inside: &Inside,
        tls: [&PathBuf; 3],
        setup: &Setup,
        open: impl FnOnce() -> anyhow::Result<SiteHost>,
        rounds: u32,
        on_round: &mut dyn FnMut(GatewayRound),
    ) -> anyhow::Result<GatewayEnding> {
        let mut ending = None;
        let host = self.host(inside, tls);
        let mut status = self.status.as_deref().map(status_socket::listen).transpose()?;
        host.run(false, |assignment, mut options, _| {
            is_of(&assignment, inside)?;
            let frames = inart_sites_agent::Inside::new(&setup.tensors, &setup.chunk_values, &assignment);
            let frames = frames.with_context(|| format!("inside site {}", inside.site))?;
            let port = host.open_port()?;
            let (who, incarnation) = ("server-0", options.incarnation);
            let watch = options.status.get_or_insert_with(StatusSocket::quiet).watch();
            let server = OnwardServer::with_transport(assignment.clone(), port, options)?;
            let site = open()?;
            let workers = assignment.workers.iter().map(|worker| worker.name.clone()).collect();
            site.watch_inside(workers, watch.clone());
            status.take().into_iter().for_each(|socket| site.publish(socket));
            if let Err(error) = host.claim(&assignment, who, incarnation) {
                // The site was restarted: the other sites would wait, and the site cannot repeat rounds with
                // its workers.
                site.end(format!("site {}: {error:#}", inside.site));
                return Err(error);
            }
            let _following = host.follow(&assignment, who, incarnation, server.migrator())?;
            let _reporting = host.report_to_controller(&assignment, who, incarnation, Some(watch))?;
            ending = Some(site.serve(frames, server, rounds, on_round)?);
            Ok(())
        })?;
        ending.context("the rounds have not ended")
    }
}

/// Checks that an assignment is that of the inside's job.
fn is_of(assignment: &Assignment, inside: &Inside) -> anyhow::Result<()> {
    assignment.validate().map_err(inart_host_agent::Error::from)?;
    let (site, topology) = (&inside.site, &inside.topology);
    let servers: Vec<&str> = assignment.shards.iter().map(|shard| shard.server.as_str()).collect();
    let job = &topology.jobs()[0];
    ensure!(
        servers == [site.as_str()],
        "the assignment of job {} has the servers {}, and the only one is to be site {site}; plan and push what \
         `inart topology inside` prints",
        assignment.name,
        servers.join(", ")
    );
    let given: Vec<&str> = assignment.workers.iter().map(|worker| worker.name.as_str()).collect();
    let workers: Vec<&str> = job.workers.iter().map(|&worker| &*topology.node(worker).name).collect();
    ensure!(
        given == workers,
        "the assignment of job {} has the workers {}, and inside site {site} are {}; give that of job {}",
        assignment.name,
        given.join(", "),
        workers.join(", "),
        job.name
    );
    ensure!(
        !assignment.exact_sums,
        "the assignment of job {} is of an exact-sum job, but sites round the sums that they exchange; leave \
         `sum: exact` out",
        assignment.name
    );
    Ok(())
}
