//! Networks of peers whose ports have rates drawn at random, as in SELMCAST's evaluation.

use std::collections::HashMap;

use crate::network::{Compute, Mesh, Peer, PeerId, PeerJob};
use inart_random::SplitMix64;

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The network's name.
    pub name: String,
    /// How many peers; at least 2.
    pub peers: usize,
    /// The fewest receivers of an update; below the number of peers.
    pub receivers: usize,
    /// How far rates lie around their mean, relatively: 0 to below 1.
    pub lambda: f64,
    /// Mean rate up over mean rate down; above 0.
    pub mu: f64,
    /// Mean rate down, in bit/s.
    pub rate_bps: f64,
    /// The size of each update in bytes.
    pub update_bytes: f64,
    /// How long peers compute, if that is to be stated.
    pub compute: Option<Compute>,
    /// What names the draw.
    pub seed: u64,
}

/// Rates of all ports, first those down, then those up, in bit/s: mean · (1 + λx), x uniform from −1 to 1.
pub fn draw_ports(
    peers: usize,
    lambda: f64,
    mu: f64,
    rate_bps: f64,
    random: &mut SplitMix64,
) -> crate::Ports {
    let mut rates = |mean: f64| -> Vec<f64> {
        (0..peers).map(|_| mean * (1.0 + lambda * random.uniform(-1.0, 1.0))).collect()
    };
    let down_bps = rates(rate_bps);
    let up_bps = rates(rate_bps * mu);
    crate::Ports { up_bps, down_bps }
}

/// The network: peers p1 to pn at one switch, with one job.
pub fn draw(drawn: &Drawn) -> Mesh {
    let n = drawn.peers;
    let ports = draw_ports(n, drawn.lambda, drawn.mu, drawn.rate_bps, &mut SplitMix64::new(drawn.seed));
    let peer = |at: usize| Peer {
        name: format!("p{}", at + 1),
        switch: 0,
        up_bps: ports.up_bps[at],
        down_bps: ports.down_bps[at],
        delay_seconds: 0.0,
        loss: 0.0,
        up_trace: None,
        down_trace: None,
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
