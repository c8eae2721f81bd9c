//! A network made smaller, so that another gradient takes about as many rounds on it.

use super::network::{MOST_CHUNK_BYTES, Overlay, SiteJob};

impl Overlay {
    /// Returns the network with one job, whose gradient is one tensor of `gradient_bytes`, and the factor of
    /// time. Rates are multiplied by `rate`; rounds then take `gradient / (job's gradient · rate)` of their
    /// time, so traces are that much faster, delays that much shorter, and chunks are shorter by the ratio of
    /// the gradients. Losses do not change.
    pub fn scaled(&self, job: &SiteJob, gradient_bytes: u64, rate: f64) -> (Overlay, f64) {
        let size = gradient_bytes as f64 / job.gradient_bytes() as f64;
        let time = size / rate;
        let mut scaled = self.clone();
        for link in &mut scaled.links {
            link.rates_bps.iter_mut().for_each(|bps| *bps *= rate);
            link.delay_seconds *= time;
            for trace in link.traces.iter_mut().flatten() {
                trace.every_seconds *= time;
                trace.rates_bps.iter_mut().for_each(|bps| *bps *= rate);
            }
        }
        let chunk_bytes = (job.chunk_bytes as f64 * size) as u64;
        let most = MOST_CHUNK_BYTES / job.unit_bytes * job.unit_bytes;
        let chunk_bytes = chunk_bytes.max(1).next_multiple_of(job.unit_bytes).min(most);
        let tensors_bytes = vec![gradient_bytes];
        scaled.jobs = vec![SiteJob { tensors_bytes, chunk_bytes, ..job.clone() }];
        (scaled, time)
    }

    /// Makes all chunks whole multiples of `bytes` bytes, except for a tensor's last one.
    pub fn align_chunks(&mut self, unit_bytes: u64) {
        for job in &mut self.jobs {
            job.unit_bytes = unit_bytes;
            job.chunk_bytes = job.chunk_bytes.max(unit_bytes) / unit_bytes * unit_bytes;
        }
    }

    /// Returns the network with all rates multiplied by `factor`, and nothing else changed.
    pub fn with_rates_times(&self, factor: f64) -> Overlay {
        let mut scaled = self.clone();
        for link in &mut scaled.links {
            let traces = link.traces.iter_mut().flatten().flat_map(|trace| &mut trace.rates_bps);
            link.rates_bps.iter_mut().chain(traces).for_each(|bps| *bps *= factor);
        }
        scaled
    }
}
