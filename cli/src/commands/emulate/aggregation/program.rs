//! `inart emulate TOPOLOGY -- COMMAND`: a user's own program, once per worker.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use inart_emulator::aggregation::program::{Printer, Program, ProgramSummary, Stream};
use inart_emulator::{Error, Measured, Options, run_program};
use inart_host_agent::StopSignal;

use crate::commands::emulate::aggregation::progress::{progress_bar, show};
use crate::commands::emulate::aggregation::refused::with_flag;
use crate::commands::output::print;

/// Exit status of a process that a signal ended, as shells report it: this plus the signal's number.
const BY_SIGNAL: u8 = 128;

/// Runs the program. Its first rank that fails is the command's failure, with status 1.
pub fn run(
    options: &Options,
    command: Vec<OsString>,
    json: bool,
    faults_place: &str,
) -> anyhow::Result<ExitCode> {
    // Before there are threads.
    let stop = StopSignal::catch().context("catching signals")?;
    let mut program = Program { command, printer: printer(json), stop };
    let bar = progress_bar();
    let schemes: Vec<_> = options.schemes.iter().map(|scheme| scheme.name()).collect();
    let result =
        run_program(options, &mut program, &mut |progress| match schemes.contains(&progress.stage) {
            // From now on the ranks print.
            true => bar.finish_and_clear(),
            false => show(&bar, progress),
        });
    bar.finish_and_clear();
    match result {
        Ok(Measured { report, problem: None }) => tell(&report, json),
        Ok(Measured { report, problem: Some(error) }) => {
            // With JSON, the document has the failure.
            if !json {
                tell(&report, json)?;
            }
            failed(error, json, faults_place)
        }
        Err(error) => failed(error, json, faults_place),
    }
}

/// Lines go where the ranks printed them; all to standard error where a document is printed.
fn printer(json: bool) -> Printer {
    Arc::new(move |stream, line| {
        // Fails only if the reader has closed the pipe.
        let _ = match stream {
            Stream::Output if !json => {
                let mut out = std::io::stdout().lock();
                out.write_all(line).and_then(|()| out.flush())
            }
            Stream::Output | Stream::Errors => std::io::stderr().lock().write_all(line),
        };
    })
}

fn tell(summary: &ProgramSummary, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        print(&format!("{}\n", serde_json::to_string(summary)?))?;
    } else {
        print(&format!("\n{summary}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: Error, json: bool, faults_place: &str) -> anyhow::Result<ExitCode> {
    let status = match &error {
        Error::Interrupted(signal) => BY_SIGNAL.saturating_add(u8::try_from(*signal).unwrap_or_default()),
        error if error.is_failure() => 1,
        Error::Faults(_) => return Err(error).with_context(|| faults_place.to_owned()),
        _ => return Err(with_flag(error)),
    };
    eprintln!("error: {error}");
    if json {
        let mut document = serde_json::json!({ "error": error.to_string() });
        match &error {
            Error::Rank(end) => document["failed"] = serde_json::to_value(end)?,
            Error::Mismatch { .. } => document["bit_exact"] = false.into(),
            Error::Aborted(aborted) => {
                document["given_up"] = serde_json::to_value(aborted)?;
                document["as_promised"] = aborted.is_orderly().into();
            }
            _ => {}
        }
        print(&format!("{document}\n"))?;
    }
    Ok(ExitCode::from(status))
}
