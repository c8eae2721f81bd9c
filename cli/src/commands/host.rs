//! What `inart worker` and `inart server` have in common.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use inart_core::Assignment;
use inart_host_agent::report::{Report, Reporter, Role};
use inart_host_agent::{Options, StopSignal};

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
            let _ = reporter.send(&Report::Failed { error: format!("{error:#}") });
        }
        result.map(|()| ExitCode::SUCCESS)
    }
}

fn read_assignment(file: &Path) -> anyhow::Result<Assignment> {
    let place = || format!("--assignment {}", file.display());
    let text = std::fs::read_to_string(file).with_context(place)?;
    serde_json::from_str(&text).with_context(place)
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
