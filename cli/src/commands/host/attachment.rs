//! Shared by hosts of workers, servers and groups.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use inart_controller_api::{FileProblem, Following, HostReport, NotDone, Reporting, Source, SourceError};
use inart_elastic::Host;
use inart_host_agent::report::{Report, Reporter, Role};
use inart_host_agent::status::{HostStatus, StatusSocket, StatusWatch};
use inart_host_agent::{MigrationError, Migrator, Options, PortKind, StopSignal, Transport};
use inart_protocol_aggregation::Assignment;
use inart_report::Line;
use inart_wire::Incarnation;

use crate::commands::output::{print_event, print_line};
use crate::commands::security::ClientArgs;
use crate::commands::values::duration;

/// Arguments of every host.
#[derive(clap::Args)]
pub struct HostArgs {
    /// Assignment of the job (JSON), as `inart apply --assignments` writes it.
    #[arg(long, value_name = "FILE", required_unless_present = "controller", conflicts_with = "controller")]
    assignment: Option<PathBuf>,
    /// Controller (HOST:PORT or unix:/path) that sends the assignment and each new plan.
    ///
    /// The host waits until the plan is installed.
    #[arg(long, value_name = "ADDRESS")]
    controller: Option<String>,
    /// With --controller: name of the job; needed if the controller has several.
    #[arg(long, value_name = "NAME", requires = "controller", default_value = "", hide_default_value = true)]
    job: String,
    #[command(flatten)]
    security: ClientArgs,
    /// Network interface to send and receive on.
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// Packet I/O backend: batched, pnet or xdp.
    ///
    /// pnet makes one system call per frame. xdp (AF_XDP, for fast NICs) bypasses the kernel's queues and
    /// shapers; it needs a build with the feature.
    #[arg(long, value_name = "KIND", default_value = PortKind::default().name(), value_parser = parse_port)]
    port: PortKind,
    /// Abort the job after this long without frames from a host that this host waits for.
    #[arg(long, alias = "patience", value_name = "TIME", default_value = "2.5s", value_parser = duration)]
    peer_timeout: Duration,
    /// Address of the status socket: a path, or 127.0.0.1:PORT.
    ///
    /// `inart status --socket` and `inart doctor` read it.
    #[arg(long, value_name = "ADDRESS")]
    status: Option<String>,
    /// Unix socket to send reports to, in place of printing them.
    #[arg(long, value_name = "SOCKET")]
    report: Option<PathBuf>,
}

/// Reads a kind of port that this build has.
pub fn parse_port(text: &str) -> Result<PortKind, String> {
    if let Some(kind) = PortKind::ALL.iter().find(|kind| kind.name() == text) {
        return Ok(*kind);
    }
    if text == "xdp" {
        return Err("built without it; build with `cargo build --release -p inart-cli --features xdp`".into());
    }
    let names: Vec<_> = PortKind::ALL.iter().map(|kind| kind.name()).collect();
    Err(format!("expected one of {}", names.join(", ")))
}

/// How a host gets its assignment and sends frames.
pub struct Attachment {
    pub assignment: Option<PathBuf>,
    pub controller: Option<String>,
    pub job: String,
    pub security: ClientArgs,
    pub interface: String,
    pub port: PortKind,
    pub peer_timeout: Duration,
    pub status: Option<String>,
}

impl HostArgs {
    /// Returns the arguments of a host whose place comes from other arguments.
    pub fn at(place: Attachment) -> Self {
        let Attachment { assignment, controller, job, security, interface, port, peer_timeout, status } =
            place;
        let report = None;
        Self { assignment, controller, job, security, interface, port, peer_timeout, status, report }
    }

    /// Runs a host: reads its files, catches signals, and reports a failure to the reader of its reports.
    pub fn run(
        &self,
        json: bool,
        body: impl FnOnce(Assignment, Options, &mut Output) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExitCode> {
        let stop = StopSignal::catch().context("catching signals")?;
        let mut output = match &self.report {
            Some(socket) => Output::Report(
                Reporter::connect(socket)
                    .with_context(|| format!("--report {}: cannot connect to it", socket.display()))?,
            ),
            None if json => Output::Json,
            None => Output::Text,
        };
        let listen = |address: &String| {
            let socket = StatusSocket::listen(address);
            let socket = socket.with_context(|| format!("--status {address}: cannot listen there"))?;
            anyhow::Ok(socket.on_interface(&self.interface))
        };
        let status = self.status.as_ref().map(listen).transpose()?;
        // Reports to the controller are made from the status.
        let status = status.or_else(|| self.controller.is_some().then(StatusSocket::quiet));
        let options =
            Options { peer_timeout: self.peer_timeout, stop: Some(stop), status, ..Options::default() };
        let result = self.assignment().and_then(|read| body(read, options, &mut output));
        if let (Err(error), Output::Report(reporter)) = (&result, &mut output) {
            // The error is printed too; the reader may have closed the socket.
            let _ = reporter.send(&Report::Failed { error: crate::commands::output::one_line(error) });
        }
        result.map(|()| ExitCode::SUCCESS)
    }
}

impl HostArgs {
    /// Opens the interface.
    pub fn open_port(&self) -> anyhow::Result<Box<dyn Transport>> {
        Ok(self.port.open(&self.interface).map_err(inart_host_agent::Error::from)?)
    }

    /// Claims the role `who` of the assignment; a second run is refused ([`Source::claim`]).
    pub fn claim(&self, assignment: &Assignment, who: &str, incarnation: Incarnation) -> anyhow::Result<()> {
        let source = self.source()?;
        crate::commands::control::block_on(async {
            source.claim(assignment, who, incarnation).await.map_err(with_flag)
        })
    }

    /// Follows the controller to each new plan of the job, until that is dropped; a host with a file stays
    /// with its plan. The role `who` was claimed.
    pub fn follow(
        &self,
        assignment: &Assignment,
        who: &str,
        incarnation: Incarnation,
        migrator: Migrator,
    ) -> anyhow::Result<Option<Following>> {
        let follow = self.source()?.follow(assignment.job, who, incarnation, move |instruction| {
            migrator
                .take(instruction.step, instruction.assignment.clone(), instruction.previous_plan_version)
                .map_err(|error| match error {
                    MigrationError::Refused(why) => NotDone::Refused(why.to_string()),
                    MigrationError::Ended => NotDone::Ended,
                })
        });
        follow.context("a thread that follows the controller")
    }

    /// Whether the job is elastic: its hosts may join and leave.
    pub fn is_elastic(&self) -> anyhow::Result<bool> {
        let source = self.source()?;
        crate::commands::control::block_on(async { source.is_elastic().await.map_err(with_flag) })
    }

    /// Returns a host of an elastic job. `place`: name in the topology's list. `status` stays in use over all
    /// runs.
    pub fn elastic(&self, place: String, status: Option<StatusSocket>) -> anyhow::Result<Host> {
        let (port, interface, peer_timeout) = (self.port, self.interface.clone(), self.peer_timeout);
        let named = interface.clone();
        let options = move || {
            let failed = |source| inart_host_agent::Error::Io { interface: named.clone(), source };
            let stop = Some(StopSignal::catch().map_err(failed)?);
            Ok(Options { peer_timeout, stop, status: status.clone(), ..Options::default() })
        };
        // Signals are blocked in all threads, so none is lost between those that wait for them.
        let mut stop = StopSignal::catch().context("catching signals")?;
        let is_stopped = move || stop.is_received().unwrap_or(false);
        let host = Host::with_transport(self.source()?, &place, move || Ok(port.open(&interface)?));
        Ok(host.options(options).stopped_by(is_stopped))
    }

    /// Reports the status of the host in role `who`, which was claimed, to the controller. A host with an
    /// assignment file sends no reports.
    pub fn report_to_controller(
        &self,
        assignment: &Assignment,
        who: &str,
        incarnation: Incarnation,
        watch: Option<StatusWatch>,
    ) -> anyhow::Result<Option<Reporting>> {
        let Some(watch) = watch else { return Ok(None) };
        let report = move || {
            Some(match watch.latest()? {
                HostStatus::Worker(worker) => HostReport::from(&worker),
                HostStatus::Server(server) => HostReport::from(&server),
            })
        };
        let reporting = self.source()?.report(assignment.job, who, incarnation, report);
        reporting.context("a thread that reports to the controller")
    }

    /// Reads the assignment, or asks the controller for it.
    pub fn assignment(&self) -> anyhow::Result<Assignment> {
        let source = self.source()?;
        crate::commands::control::block_on(async { source.assignment().await.map_err(with_flag) })
    }

    fn source(&self) -> anyhow::Result<Source> {
        if let Some(file) = &self.assignment {
            return Ok(Source::File(file.clone()));
        }
        let address = self.controller.clone().context("--assignment or --controller is missing")?;
        Ok(Source::Controller { address, job: self.job.clone(), security: self.security.security()? })
    }
}

/// Adds the flag that named the source to an error.
fn with_flag(error: SourceError) -> anyhow::Error {
    let (file, problem) = match error {
        SourceError::File { file, problem } => (file, problem),
        SourceError::Controller(error) => return anyhow::Error::new(error).context("--controller"),
    };
    let problem = match problem {
        FileProblem::Malformed(error) => {
            anyhow::anyhow!("{error}; `inart apply --assignments DIR` writes one")
        }
        FileProblem::Used { who } => anyhow::anyhow!(
            "{who} has run with it before, and switches may still hold sums of that run; \
             apply the plan with --new-plan-version and start all hosts with the assignment it writes"
        ),
        problem => problem.into(),
    };
    problem.context(format!("--assignment {}", file.display()))
}

/// Destination of a host's reports.
pub enum Output {
    Report(Reporter),
    Json,
    Text,
}

impl Output {
    /// Sends the host's role.
    pub fn hello(&mut self, role: Role) -> anyhow::Result<()> {
        self.report(|| Report::Hello(role))
    }

    /// Waits until the reader of the reports lets this worker start.
    pub fn wait_for_start(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Report(reporter) => {
                reporter.wait_for_start().context("--report: its reader has closed the socket")
            }
            Self::Json | Self::Text => Ok(()),
        }
    }

    /// Whether reports are sent, whose reader verifies the sums.
    pub fn is_audited(&self) -> bool {
        matches!(self, Self::Report(_))
    }

    /// Sends a report, if reports are wanted.
    pub fn report(&mut self, report: impl FnOnce() -> Report) -> anyhow::Result<()> {
        match self {
            Self::Report(reporter) => {
                reporter.send(&report()).context("--report: its reader has closed the socket")
            }
            Self::Json | Self::Text => Ok(()),
        }
    }

    /// Prints the last event, or its text, unless the host sends reports.
    pub fn end(&mut self, event: &Line, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        match self {
            Self::Report(_) => Ok(()),
            Self::Json => print_event(event),
            Self::Text => print_line(&text()),
        }
    }
}
