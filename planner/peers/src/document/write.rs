//! Networks of peers written back as documents.

use std::fmt::Write as _;

use crate::network::{Mesh, PeerJob};

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

impl Mesh {
    /// Writes the document that [`Mesh::from_yaml`] reads back to the same network: rates in bit/s, times in
    /// seconds, sizes in bytes.
    pub fn to_yaml(&self) -> String {
        let mut out = format!("name: {}\nnodes:\n", quoted(&self.name));
        for switch in &self.switches {
            let _ = writeln!(out, "  - {{name: {}, kind: switch}}", quoted(switch));
        }
        for peer in &self.peers {
            let _ = writeln!(out, "  - {{name: {}, kind: peer}}", quoted(&peer.name));
        }
        out.push_str("links:\n");
        for peer in &self.peers {
            let (name, switch) = (quoted(&peer.name), quoted(&self.switches[peer.switch]));
            let _ = write!(
                out,
                "  - {{ends: [{name}, {switch}], rate: [{} bps, {} bps]",
                peer.up_bps, peer.down_bps
            );
            let _ = writeln!(out, ", delay: {} s, loss: {:?}}}", peer.delay_seconds, peer.loss);
        }
        for trunk in &self.trunks {
            let ([a, b], [there, back]) =
                (trunk.ends.map(|end| quoted(&self.switches[end])), trunk.rates_bps);
            let _ = write!(out, "  - {{ends: [{a}, {b}], rate: [{there} bps, {back} bps]");
            let _ = writeln!(out, ", delay: {} s, loss: {:?}}}", trunk.delay_seconds, trunk.loss);
        }
        let traced = self.peers.iter().any(|peer| peer.up_trace.is_some() || peer.down_trace.is_some());
        out.push_str(if traced { "traces:\n" } else { "" });
        for peer in &self.peers {
            let (name, switch) = (quoted(&peer.name), quoted(&self.switches[peer.switch]));
            for (ends, trace) in [([&name, &switch], &peer.up_trace), ([&switch, &name], &peer.down_trace)] {
                let Some(trace) = trace else { continue };
                let [from, to] = ends;
                let rates: Vec<_> = trace.rates_bps.iter().map(|bps| format!("{bps} bps")).collect();
                let (every, rates) = (trace.every_seconds, rates.join(", "));
                let _ = writeln!(out, "  - {{link: [{from}, {to}], every: {every} s, rates: [{rates}]}}");
            }
        }
        out.push_str("jobs:\n");
        self.jobs.iter().for_each(|job| self.write_job(job, &mut out));
        out
    }

    fn write_job(&self, job: &PeerJob, out: &mut String) {
        let name = |rank: usize| quoted(self.name_of(job, rank));
        let all: Vec<_> = (0..job.peers.len()).collect();
        let list = |parts: Vec<String>| parts.join(", ");
        let peers = list(all.iter().map(|&rank| name(rank)).collect());
        let _ = writeln!(out, "  - name: {}\n    peers: [{peers}]", quoted(&job.name));
        let _ = writeln!(out, "    receivers: {}", job.receivers);
        let sizes =
            list(all.iter().map(|&rank| format!("{}: {} B", name(rank), job.update_bytes[rank])).collect());
        let first = job.update_bytes[0];
        let _ = match job.update_bytes.iter().all(|bytes| *bytes == first) {
            true => writeln!(out, "    update: {first} B"),
            false => writeln!(out, "    updates: {{{sizes}}}"),
        };
        if !job.required.is_empty() {
            let pairs = job.required.iter().map(|&(from, to)| format!("[{}, {}]", name(from), name(to)));
            let _ = writeln!(out, "    required: [{}]", list(pairs.collect()));
        }
        if !job.waited.is_empty() {
            let pairs = job.waited.iter();
            let pairs = pairs.map(|&(from, to, rounds)| format!("[{}, {}, {rounds}]", name(from), name(to)));
            let _ = writeln!(out, "    waited: [{}]", list(pairs.collect()));
        }
        let entry = |mean: f64, cv: f64| format!("{{mean: {mean} s, cv: {cv:?}}}");
        if let Some(first) = job.computes.first() {
            let each = all.iter().zip(&job.computes);
            let each = each.map(|(&rank, c)| format!("{}: {}", name(rank), entry(c.mean_seconds, c.cv)));
            let _ = match job.computes.iter().all(|compute| compute == first) {
                true => writeln!(out, "    compute: {}", entry(first.mean_seconds, first.cv)),
                false => writeln!(out, "    computes: {{{}}}", list(each.collect())),
            };
        }
    }
}
