//! A network of sites as the entries of its document.

use super::network::{Overlay, SiteId, SiteJob};
use crate::document::{At, Document, JobEntry, LinkEntry, NodeEntry, TraceEntry, section};
use crate::units::Size;

impl Overlay {
    /// Returns the document that reads back to the same network.
    pub(crate) fn document(&self) -> Document {
        let name = |site: SiteId| self.site_name(site).to_owned();
        let links = self.links.iter().map(|link| {
            let entry = LinkEntry::new(link.ends.map(name), link.rates_bps);
            entry.with_delay(link.delay_seconds).with_loss(link.loss)
        });
        let traces = self.arcs().filter_map(|arc| {
            let trace = self.links[arc.index() / 2].traces[arc.index() % 2].as_ref()?;
            let (from, to) = self.ends(arc);
            Some(TraceEntry::new([name(from), name(to)], trace))
        });
        let traces: Vec<_> = traces.collect();
        Document {
            name: Some(At::new(self.name.clone())),
            nodes: section(self.sites.iter().map(|site| NodeEntry::new(site, "site"))),
            links: section(links),
            traces: if traces.is_empty() { None } else { section(traces) },
            jobs: section(self.jobs.iter().map(|job| self.job_entry(job))),
            ..Document::default()
        }
    }

    fn job_entry(&self, job: &SiteJob) -> JobEntry {
        let size = |bytes: &u64| Size(*bytes as f64);
        JobEntry {
            name: Some(At::new(job.name.clone())),
            sites: Some(At::new(job.sites.iter().map(|&site| self.site_name(site).to_owned()).collect())),
            tensors: Some(At::new(job.tensors_bytes.iter().map(size).collect())),
            chunk: Some(At::new(size(&job.chunk_bytes))),
            ..JobEntry::default()
        }
    }
}
