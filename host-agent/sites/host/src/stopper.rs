//! Stops a site from another thread.

use inart_sites_agent::SiteCommand;

/// Stops a site from any thread, such as one that waits for signals.
#[derive(Debug, Clone)]
pub struct Stopper(pub(crate) inart_connections::Stopper<SiteCommand>);

impl Stopper {
    /// Ends the job at all sites, with the name of this site as the cause. The training loop's current or
    /// next call returns the error. Returns whether the site was still running.
    pub fn stop(&self) -> bool {
        self.0.stop()
    }
}
