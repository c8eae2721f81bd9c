//! Networks of sites written back as documents.

use std::fmt::Write as _;

use crate::network::Overlay;

impl Overlay {
    /// Writes the document that [`Overlay::from_yaml`] reads back to the same network: rates in bit/s, times
    /// in seconds, sizes in bytes.
    pub fn to_yaml(&self) -> String {
        let name = |id: crate::SiteId| serde_json::Value::from(self.site_name(id)).to_string();
        let mut out = format!("name: {}\nnodes:\n", serde_json::Value::from(&*self.name));
        for site in self.site_ids() {
            let _ = writeln!(out, "  - {{name: {}, kind: site}}", name(site));
        }
        out.push_str(if self.links.is_empty() { "links: []\n" } else { "links:\n" });
        for link in &self.links {
            let ([a, b], [there, back]) = (link.ends.map(name), link.rates_bps);
            let _ = write!(out, "  - {{ends: [{a}, {b}], rate: [{there} bps, {back} bps]");
            let _ = writeln!(out, ", delay: {} s, loss: {:?}}}", link.delay_seconds, link.loss);
        }
        let traced = self.links.iter().any(|link| link.traces.iter().any(Option::is_some));
        out.push_str(if traced { "traces:\n" } else { "" });
        for link in &self.links {
            let [a, b] = link.ends.map(name);
            for (ends, trace) in [([&a, &b], &link.traces[0]), ([&b, &a], &link.traces[1])] {
                let Some(trace) = trace else { continue };
                let [from, to] = ends;
                let rates: Vec<_> = trace.rates_bps.iter().map(|bps| format!("{bps} bps")).collect();
                let (every, rates) = (trace.every_seconds, rates.join(", "));
                let _ = writeln!(out, "  - {{link: [{from}, {to}], every: {every} s, rates: [{rates}]}}");
            }
        }
        out.push_str("jobs:\n");
        for job in &self.jobs {
            let sites: Vec<_> = job.sites.iter().map(|&site| name(site)).collect();
            let tensors: Vec<_> = job.tensors_bytes.iter().map(|bytes| format!("{bytes} B")).collect();
            let _ = writeln!(
                out,
                "  - {{name: {}, sites: [{}], tensors: [{}], chunk: {} B}}",
                serde_json::Value::from(&*job.name),
                sites.join(", "),
                tensors.join(", "),
                job.chunk_bytes
            );
        }
        out
    }
}
