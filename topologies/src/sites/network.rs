//! A network of sites: data centers, directed rates between them that may change, and the jobs that train on
//! all of them.

use std::collections::HashMap;

use crate::trace::Trace;

/// Longest chunk that sites exchange, in bytes of gradient. A sum of a chunk takes up to ten times as many
/// bytes where values of very different sizes meet, and a message has at most 1 GiB.
pub const MOST_CHUNK_BYTES: u64 = 100_000_000;

/// Most chunks of a gradient.
pub const MOST_CHUNKS: u64 = 1 << 20;

/// Index of a site in [`Overlay::sites`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub u32);

impl SiteId {
    /// Returns the position in [`Overlay::sites`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of a link: twice the link's position, plus one from its second end to its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArcId(pub u32);

impl ArcId {
    /// Returns the position among all directions of all links.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A full-duplex link between two sites.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteLink {
    /// Two sites, in the order in which the document names them.
    pub ends: [SiteId; 2],
    /// bit/s from the first end to the second, and from the second to the first; each above 0.
    pub rates_bps: [f64; 2],
    /// Propagation delay in seconds.
    pub delay_seconds: f64,
    /// The part of packets that is lost, from 0 to below 1.
    pub loss: f64,
    /// Replaces `rates_bps` over time, by direction.
    pub traces: [Option<Trace>; 2],
}

/// A job whose sites train one model on data of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteJob {
    /// Unique name.
    pub name: String,
    /// At least two, ascending; linked to each other.
    pub sites: Vec<SiteId>,
    /// Sizes of the model's tensors in bytes, in order; at least one, each at least 1 byte. A job that states
    /// only its gradient has one tensor of that size.
    pub tensors_bytes: Vec<u64>,
    /// Longest chunk in bytes; a positive multiple of 4.
    pub chunk_bytes: u64,
    /// Chunks are whole multiples of this number of bytes, except for a tensor's last one: 4, or more where
    /// frames of switches inside sites have to fit into chunks. `chunk_bytes` is a multiple of it.
    pub unit_bytes: u64,
}

impl SiteJob {
    /// Size of one gradient in bytes.
    pub fn gradient_bytes(&self) -> u64 {
        self.tensors_bytes.iter().sum()
    }
}

/// A validated network of sites with its jobs.
#[derive(Debug, Clone)]
pub struct Overlay {
    pub(crate) name: String,
    pub(crate) sites: Vec<String>,
    pub(crate) links: Vec<SiteLink>,
    pub(crate) jobs: Vec<SiteJob>,
    pub(crate) by_name: HashMap<String, SiteId>,
}

/// A rate for every direction of every link, in bit/s, by [`ArcId`].
#[derive(Debug, Clone, PartialEq)]
pub struct Rates(pub Vec<f64>);

impl Rates {
    /// Returns one direction's, in bit/s.
    pub fn of(&self, arc: ArcId) -> f64 {
        self.0[arc.index()]
    }
}

impl Overlay {
    /// Returns the document's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of all sites; [`SiteId`] is the position.
    pub fn sites(&self) -> &[String] {
        &self.sites
    }

    /// Returns one site's name.
    pub fn site_name(&self, site: SiteId) -> &str {
        &self.sites[site.index()]
    }

    /// Returns the site of that name.
    pub fn site_named(&self, name: &str) -> Option<SiteId> {
        self.by_name.get(name).copied()
    }

    /// Returns all sites, in order.
    pub fn site_ids(&self) -> impl Iterator<Item = SiteId> + use<> {
        (0..self.sites.len() as u32).map(SiteId)
    }

    /// Returns all links.
    pub fn links(&self) -> &[SiteLink] {
        &self.links
    }

    /// Returns all jobs, at least one.
    pub fn jobs(&self) -> &[SiteJob] {
        &self.jobs
    }

    /// Returns the job of that name.
    pub fn job_named(&self, name: &str) -> Option<&SiteJob> {
        self.jobs.iter().find(|job| job.name == name)
    }

    /// Returns all directions of all links.
    pub fn arcs(&self) -> impl Iterator<Item = ArcId> + use<> {
        (0..2 * self.links.len() as u32).map(ArcId)
    }

    /// Returns the source and the destination of a direction.
    pub fn ends(&self, arc: ArcId) -> (SiteId, SiteId) {
        let [a, b] = self.links[arc.index() / 2].ends;
        if arc.0 & 1 == 0 { (a, b) } else { (b, a) }
    }

    /// Propagation delay of a direction in seconds.
    pub fn delay_seconds(&self, arc: ArcId) -> f64 {
        self.links[arc.index() / 2].delay_seconds
    }

    /// Returns the direction from one site to a neighbor (two sites share at most one link).
    pub fn arc_between(&self, from: SiteId, to: SiteId) -> Option<ArcId> {
        self.arcs().find(|&arc| self.ends(arc) == (from, to))
    }

    /// Returns the rates that hold at a time, in seconds from the start.
    pub fn rates_at(&self, seconds: f64) -> Rates {
        let at = |arc: ArcId| {
            let (link, way) = (&self.links[arc.index() / 2], arc.index() % 2);
            link.traces[way].as_ref().map_or(link.rates_bps[way], |trace| trace.rate_at(seconds))
        };
        Rates(self.arcs().map(at).collect())
    }

    /// Returns the next time at which rates change, in seconds from the start; `None` if they never do again.
    pub fn next_change(&self, after_seconds: f64) -> Option<f64> {
        let traces = self.links.iter().flat_map(|link| link.traces.iter().flatten());
        traces.filter_map(|trace| trace.next_change(after_seconds)).min_by(f64::total_cmp)
    }
}
