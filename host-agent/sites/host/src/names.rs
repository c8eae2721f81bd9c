//! Sites by name and number.

use inart_overlay::Overlay;
use inart_site_agent::Peer;
use inart_sites::SiteNo;

/// The names of all sites, and the scheduler's.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub sites: Vec<String>,
    pub scheduler: Option<String>,
}

impl Names {
    pub fn new(overlay: &Overlay, scheduler: Option<String>) -> Self {
        Names { sites: overlay.sites().to_vec(), scheduler }
    }

    pub fn peer(&self, name: &str) -> Option<Peer> {
        if self.scheduler.as_deref() == Some(name) {
            return Some(Peer::Scheduler);
        }
        let at = self.sites.iter().position(|site| site == name)?;
        Some(Peer::Site(SiteNo(at as u16)))
    }

    pub fn name(&self, peer: Peer) -> Option<&str> {
        match peer {
            Peer::Scheduler => self.scheduler.as_deref(),
            Peer::Site(site) => self.sites.get(site.index()).map(String::as_str),
        }
    }
}
