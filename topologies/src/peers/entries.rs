//! A network of peers as the entries of its document.

use super::network::{Mesh, PeerJob};
use crate::document::{
    At, Document, JobEntry, LinkEntry, NodeEntry, PerHost, TimeEntry, TraceEntry, section,
};
use crate::units::Size;

impl Mesh {
    /// Returns the document that reads back to the same network.
    pub(crate) fn document(&self) -> Document {
        let switch = |at: usize| self.switches[at].clone();
        let switches = self.switches.iter().map(|name| NodeEntry::new(name, "switch"));
        let peers = self.peers.iter().map(|peer| NodeEntry::new(&peer.name, "peer"));
        let ports = self.peers.iter().map(|peer| {
            let entry =
                LinkEntry::new([peer.name.clone(), switch(peer.switch)], [peer.up_bps, peer.down_bps]);
            entry.with_delay(peer.delay_seconds).with_loss(peer.loss)
        });
        let trunks = self.trunks.iter().map(|trunk| {
            let entry = LinkEntry::new(trunk.ends.map(switch), trunk.rates_bps);
            entry.with_delay(trunk.delay_seconds).with_loss(trunk.loss)
        });
        let traces = self.peers.iter().flat_map(|peer| {
            let [name, home] = [peer.name.clone(), switch(peer.switch)];
            let up = peer.up_trace.iter().map({
                let ends = [name.clone(), home.clone()];
                move |trace| TraceEntry::new(ends.clone(), trace)
            });
            let down =
                peer.down_trace.iter().map(move |trace| TraceEntry::new([home.clone(), name.clone()], trace));
            up.chain(down)
        });
        let traces: Vec<_> = traces.collect();
        Document {
            name: Some(At::new(self.name.clone())),
            nodes: section(switches.chain(peers)),
            links: section(ports.chain(trunks)),
            traces: if traces.is_empty() { None } else { section(traces) },
            jobs: section(self.jobs.iter().map(|job| self.job_entry(job))),
            ..Document::default()
        }
    }

    fn job_entry(&self, job: &PeerJob) -> JobEntry {
        let name = |rank: usize| self.name_of(job, rank).to_owned();
        let ranks = 0..job.peers.len();
        let mut entry = JobEntry {
            name: Some(At::new(job.name.clone())),
            peers: Some(At::new(ranks.clone().map(name).collect())),
            receivers: i64::try_from(job.receivers).ok().map(At::new),
            ..JobEntry::default()
        };
        let first = job.update_bytes[0];
        if job.update_bytes.iter().all(|bytes| *bytes == first) {
            entry.update = Some(At::new(PerHost::all(Size(first))));
        } else {
            let sizes = ranks.clone().map(|rank| (name(rank), Size(job.update_bytes[rank])));
            entry.update = Some(At::new(PerHost::each(sizes)));
        }
        if !job.required.is_empty() {
            let pairs = job.required.iter().map(|&(from, to)| [name(from), name(to)]);
            entry.required_pairs = Some(At::new(pairs.collect()));
        }
        if !job.waited.is_empty() {
            let waited = job.waited.iter().map(|&(from, to, rounds)| (name(from), name(to), rounds.into()));
            entry.rounds_since_contact = Some(At::new(waited.collect()));
        }
        if let Some(first) = job.computes.first() {
            if job.computes.iter().all(|compute| compute == first) {
                let all = TimeEntry::new(first.mean_seconds, first.cv);
                entry.compute = Some(At::new(PerHost::all(all)));
            } else {
                let each = ranks.zip(&job.computes);
                let each = each.map(|(rank, of)| (name(rank), TimeEntry::new(of.mean_seconds, of.cv)));
                entry.compute = Some(At::new(PerHost::each(each)));
            }
        }
        entry
    }
}
