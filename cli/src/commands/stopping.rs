//! Ends a process on SIGTERM or SIGINT: it closes its connections first.

use std::time::Duration;

use anyhow::Context;
use inart_host_agent::StopSignal;

/// How often it is looked for a signal.
const LOOK: Duration = Duration::from_millis(100);
/// A program that computes for longer is not waited for.
const LONGEST: Duration = Duration::from_secs(2);

/// Signals that are caught from now on; to be called before the process starts threads.
pub fn catch() -> anyhow::Result<StopSignal> {
    StopSignal::catch().context("catching signals")
}

/// Calls `stop` on a signal, and ends the process if its program is still computing two seconds later.
pub fn on_signal(
    mut signal: StopSignal,
    name: &str,
    stop: impl FnOnce() + Send + 'static,
) -> anyhow::Result<()> {
    let name = name.to_owned();
    let wait = move || {
        while !signal.is_received().unwrap_or_default() {
            std::thread::sleep(LOOK);
        }
        stop();
        std::thread::sleep(LONGEST);
        eprintln!("error: {name} was stopped");
        std::process::exit(2);
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).context("starting a thread")?;
    Ok(())
}
