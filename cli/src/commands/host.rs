//! What `inart worker` and `inart server` have in common.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use inart_core::Assignment;
use inart_host_agent::report::{Report, Reporter, Role};
use inart_host_agent::{Options, StopSignal};
use inart_wire::Epoch;

/// Arguments of every host.
#[derive(clap::Args)]
pub struct HostArgs {
    /// The job's assignment: a JSON file that the controller writes.
    #[arg(long, value_name = "FILE")]
    pub assignment: PathBuf,
    /// Network interface to send and receive on.
    #[arg(long, value_name = "NAME")]
    pub interface: String,
    /// Seconds for which a peer that is waited for may be silent before the job is given up.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_patience)]
    patience: Duration,
    /// Unix socket to report to, instead of printing.
    #[arg(long, value_name = "SOCKET")]
    report: Option<PathBuf>,
}

fn parse_patience(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|patience| !patience.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0".into())
}

impl HostArgs {
    /// Runs a host: reads its files, catches signals, and sees to it that whoever it reports to hears of its failure.
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
        let options = Options { patience: self.patience, stop: Some(stop) };
        let result = read_assignment(&self.assignment).and_then(|read| body(read, options, &mut output));
        if let (Err(error), Output::Report(reporter)) = (&result, &mut output) {
            // The error is printed too; whoever the report was for may be gone.
            let _ = reporter.send(&Report::Failed { error: super::output::one_line(error) });
        }
        result.map(|()| ExitCode::SUCCESS)
    }
}

impl HostArgs {
    /// Notes beside the assignment that `who` runs with it, and refuses a second run: sequences would start anew within
    /// the same epoch, and a switch that still holds a sum of the first run would answer with it.
    pub fn claim(&self, epoch: Epoch, who: &str) -> anyhow::Result<()> {
        let mut name = self.assignment.clone().into_os_string();
        name.push(format!(".epoch-{epoch}.{who}.used"));
        let place = || format!("--assignment {}", self.assignment.display());
        match File::create_new(&name) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => anyhow::bail!(
                "{}: {who} has run with it before, and switches may still hold sums of that run; \
                 push the plan with --new-epoch and start all hosts with the assignment it writes",
                place()
            ),
            Err(error) => Err(error)
                .with_context(|| format!("{}: cannot note beside it that {who} runs with it", place())),
        }
    }
}

fn read_assignment(file: &Path) -> anyhow::Result<Assignment> {
    let place = || format!("--assignment {}", file.display());
    let text = std::fs::read_to_string(file).with_context(place)?;
    serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{error}; `inart push --assignments DIR` writes one"))
        .with_context(place)
}

/// Where a host tells what it does.
pub enum Output {
    Report(Reporter),
    Json,
    Text,
}

impl Output {
    /// Says who is speaking.
    pub fn hello(&mut self, role: Role) -> anyhow::Result<()> {
        self.report(|| Report::Hello(role))
    }

    /// Sends a report, if reports are wanted.
    pub fn report(&mut self, report: impl FnOnce() -> Report) -> anyhow::Result<()> {
        match self {
            Self::Report(reporter) => reporter.send(&report()).context("--report: whoever reads it is gone"),
            Self::Json | Self::Text => Ok(()),
        }
    }

    /// Prints what came out, as JSON or as text, unless it goes to a report.
    pub fn summary(
        &mut self,
        json: &impl serde::Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let line = match self {
            Self::Report(_) => return Ok(()),
            Self::Json => serde_json::to_string(json)?,
            Self::Text => text(),
        };
        writeln!(std::io::stdout(), "{line}").context("standard output")
    }
}
