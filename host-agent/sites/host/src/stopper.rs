//! Stops a site from another thread.

use tokio::sync::mpsc::WeakUnboundedSender;

use crate::site_loop::Command;

/// Stops a site from any thread, such as one that waits for signals.
#[derive(Debug, Clone)]
pub struct Stopper {
    commands: WeakUnboundedSender<Command>,
}

impl Stopper {
    pub(crate) fn new(commands: WeakUnboundedSender<Command>) -> Self {
        Stopper { commands }
    }

    /// Ends the job at all sites, with the name of this one; the training loop's next call, or the one it is
    /// in, returns the error. Returns whether the site was still running.
    pub fn stop(&self) -> bool {
        self.commands.upgrade().is_some_and(|commands| commands.send(Command::Stop).is_ok())
    }
}
