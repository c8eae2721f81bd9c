//! A network made smaller, so that one machine carries it and another update takes about as many rounds.

use super::network::{Compute, Mesh, PeerJob};

impl Mesh {
    /// Returns the network with one job with updates of `update_bytes`, and the factor of time. Rates are
    /// multiplied by `rate`; a multicast then takes `update / (job's update · rate)` of its time, so traces
    /// are that much faster, and compute times and delays that much shorter. Losses do not change.
    pub fn scaled(&self, job: &PeerJob, update_bytes: f64, rate: f64) -> (Mesh, f64) {
        let time = update_bytes / job.update_bytes[0] / rate;
        let mut scaled = self.with_rates_times(rate);
        for peer in &mut scaled.peers {
            let traces = peer.up_trace.iter_mut().chain(&mut peer.down_trace);
            traces.for_each(|trace| trace.every_seconds *= time);
            peer.delay_seconds *= time;
        }
        scaled.trunks.iter_mut().for_each(|trunk| trunk.delay_seconds *= time);
        let shorter =
            |compute: &Compute| Compute { mean_seconds: compute.mean_seconds * time, cv: compute.cv };
        scaled.jobs = vec![PeerJob {
            update_bytes: vec![update_bytes; job.peers.len()],
            computes: job.computes.iter().map(shorter).collect(),
            ..job.clone()
        }];
        (scaled, time)
    }

    /// Returns the network with constant background traffic on every peer's port, up and down, in bit/s; at
    /// least `least` of each rate remains.
    pub fn with_rates_less(&self, up_bps: f64, down_bps: f64, least: f64) -> Mesh {
        let mut lesser = self.clone();
        for peer in &mut lesser.peers {
            let up = (&mut peer.up_bps, &mut peer.up_trace, up_bps);
            let down = (&mut peer.down_bps, &mut peer.down_trace, down_bps);
            for (rate_bps, trace, taken_bps) in [up, down] {
                let traced = trace.iter_mut().flat_map(|trace| &mut trace.rates_bps);
                let all = std::iter::once(rate_bps).chain(traced);
                all.for_each(|bps| *bps = (*bps - taken_bps).max(*bps * least));
            }
        }
        lesser
    }

    /// Returns the network with all rates multiplied by `factor`, and nothing else changed.
    pub fn with_rates_times(&self, factor: f64) -> Mesh {
        let mut scaled = self.clone();
        for peer in &mut scaled.peers {
            let traces = peer.up_trace.iter_mut().chain(&mut peer.down_trace);
            let traced = traces.flat_map(|trace| &mut trace.rates_bps);
            let ports = [&mut peer.up_bps, &mut peer.down_bps];
            ports.into_iter().chain(traced).for_each(|bps| *bps *= factor);
        }
        for trunk in &mut scaled.trunks {
            trunk.rates_bps.iter_mut().for_each(|bps| *bps *= factor);
        }
        scaled
    }
}
