//! Stops a site in order when the process gets SIGTERM or SIGINT.

use std::time::Duration;

use anyhow::Context;
use inart_host_agent::StopSignal;
use inart_sites_host::Stopper;

/// How often the thread looks for a signal.
const LOOK: Duration = Duration::from_millis(100);
/// Longest time from a signal until the training loop returns; then the process ends all the same.
const LONGEST: Duration = Duration::from_secs(15);

/// Waits for a signal on a thread of its own, and then stops the site: all sites of the job end by its name.
///
/// # Errors
/// If the thread cannot be started.
pub fn stop_by_signal(mut signal: StopSignal, site: Stopper, name: &str) -> anyhow::Result<()> {
    let name = name.to_owned();
    let wait = move || {
        while matches!(signal.next_signal(), Ok(None)) {
            std::thread::sleep(LOOK);
        }
        if site.stop() {
            std::thread::sleep(LONGEST);
        }
        eprintln!("error: site {name} was stopped");
        std::process::exit(2);
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(wait)
        .context("starting a thread for signals")?;
    Ok(())
}
