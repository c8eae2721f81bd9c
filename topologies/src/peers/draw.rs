//! Networks of peers with random port rates, as in SELMCAST's evaluation.

use std::collections::HashMap;

use inart_virtual::SplitMix64;

use super::network::{Compute, Mesh, Peer, PeerId, PeerJob, Ports};
use crate::trace::Trace;

/// Parameters of a draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The network's name.
    pub name: String,
    /// Number of peers; at least 2.
    pub peers: usize,
    /// The fewest receivers of an update; below the number of peers.
    pub receivers: usize,
    /// Relative distance of rates from their mean: 0 to below 1.
    pub lambda: f64,
    /// Mean rate up over mean rate down; above 0.
    pub mu: f64,
    /// Mean rate down, in bit/s.
    pub rate_bps: f64,
    /// The size of each update in bytes.
    pub update_bytes: f64,
    /// Change of the rates over time, if any.
    pub changes: Option<Changes>,
    /// Compute time of peers, if stated.
    pub compute: Option<Compute>,
    /// Seed of the draw.
    pub seed: u64,
}

/// Rates that are drawn again and again: each is 1−γ parts of the first draw and γ parts of the newest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changes {
    /// γ, from 0 to 1.
    pub gamma: f64,
    /// Duration of each rate, in seconds; above 0.
    pub every_seconds: f64,
    /// Number of draws, the first included; at least 1.
    pub draws: usize,
}

/// Rates of all ports, first those down, then those up, in bit/s: mean · (1 + λx), x uniform from −1 to 1.
pub fn draw_ports(peers: usize, lambda: f64, mu: f64, rate_bps: f64, random: &mut SplitMix64) -> Ports {
    let mut rates = |mean: f64| -> Vec<f64> {
        (0..peers).map(|_| mean * (1.0 + lambda * random.uniform(-1.0, 1.0))).collect()
    };
    let down_bps = rates(rate_bps);
    let up_bps = rates(rate_bps * mu);
    Ports { up_bps, down_bps }
}

/// Returns the network: peers p1 to pn at one switch, with one job.
pub fn draw(drawn: &Drawn) -> Mesh {
    let n = drawn.peers;
    let ports = draw_ports(n, drawn.lambda, drawn.mu, drawn.rate_bps, &mut SplitMix64::new(drawn.seed));
    let traces = drawn.changes.map(|changes| traces(drawn, &ports, changes));
    let peer = |at: usize| Peer {
        name: format!("p{}", at + 1),
        switch: 0,
        up_bps: ports.up_bps[at],
        down_bps: ports.down_bps[at],
        delay_seconds: 0.0,
        loss: 0.0,
        up_trace: traces.as_ref().map(|(up, _)| up[at].clone()),
        down_trace: traces.as_ref().map(|(_, down)| down[at].clone()),
    };
    let peers: Vec<Peer> = (0..n).map(peer).collect();
    let ids = || (0..n as u32).map(PeerId);
    let by_name: HashMap<_, _> = peers.iter().map(|peer| peer.name.clone()).zip(ids()).collect();
    let job = PeerJob {
        name: "job".to_owned(),
        peers: ids().collect(),
        receivers: drawn.receivers,
        update_bytes: vec![drawn.update_bytes; n],
        required: Vec::new(),
        waited: Vec::new(),
        computes: drawn.compute.map(|compute| vec![compute; n]).unwrap_or_default(),
    };
    let switches = vec!["s1".to_owned()];
    Mesh { name: drawn.name.clone(), peers, switches, trunks: Vec::new(), jobs: vec![job], by_name }
}

/// Returns the rates up and down of each peer over time.
fn traces(drawn: &Drawn, first: &Ports, changes: Changes) -> (Vec<Trace>, Vec<Trace>) {
    let Changes { gamma, every_seconds, draws } = changes;
    let start = |bps: &[f64]| -> Vec<Trace> {
        bps.iter().map(|&bps| Trace { every_seconds, rates_bps: vec![bps] }).collect()
    };
    let (mut up, mut down) = (start(&first.up_bps), start(&first.down_bps));
    // A stream of its own, so that the seed alone determines the first draw.
    let mut random = SplitMix64::stream(drawn.seed, 1);
    for _ in 1..draws {
        let newest = draw_ports(drawn.peers, drawn.lambda, drawn.mu, drawn.rate_bps, &mut random);
        let mixed = |trace: &mut Trace, bps: f64| {
            let mixed = trace.rates_bps[0] * (1.0 - gamma) + bps * gamma;
            trace.rates_bps.push(mixed);
        };
        up.iter_mut().zip(newest.up_bps).for_each(|(trace, bps)| mixed(trace, bps));
        down.iter_mut().zip(newest.down_bps).for_each(|(trace, bps)| mixed(trace, bps));
    }
    (up, down)
}
