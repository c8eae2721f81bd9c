//! Ends a host's process on SIGTERM or SIGINT: the host closes its connections first.

use std::time::Duration;

use anyhow::Context;
use inart_host_agent::StopSignal;

/// How often the thread looks for a signal.
const LOOK: Duration = Duration::from_millis(100);

/// Catches signals from now on. Call this before the process starts threads.
pub fn catch() -> anyhow::Result<StopSignal> {
    StopSignal::catch().context("catching signals")
}

/// Calls `stop` on a signal, and ends the process if its program still computes `longest` after that; at once
/// if `stop` returns that the host was not running any more.
pub fn on_signal(
    mut signal: StopSignal,
    name: String,
    longest: Duration,
    stop: impl FnOnce() -> bool + Send + 'static,
) -> anyhow::Result<()> {
    let wait = move || {
        // Signals that cannot be read would keep the process alive.
        while !signal.is_received().unwrap_or(true) {
            std::thread::sleep(LOOK);
        }
        if stop() {
            std::thread::sleep(longest);
        }
        eprintln!("error: {name} was stopped");
        std::process::exit(2);
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(wait)
        .context("starting a thread for signals")?;
    Ok(())
}
