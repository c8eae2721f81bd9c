//! Links between peers and switches, and how their rates change.

use super::fabric;
use super::network::{Peer, TrunkLink};
use super::nodes::{Node, Nodes};
use crate::document::{At, LinkEntry, TraceEntry, required, trace};
use crate::error::{NetworkError, Result};

/// The slowest rate that is read, in bit/s: times stay finite.
const LEAST_BPS: f64 = 1e-3;
/// The fastest rate that is read, 1 Ebit/s.
const MOST_BPS: f64 = 1e18;
/// The longest delay of a link that is read, an hour.
const MOST_SECONDS: f64 = 3600.0;

pub(super) struct Links<'n> {
    nodes: &'n Nodes,
    peers: Vec<Option<Peer>>,
    trunks: Vec<(u64, TrunkLink)>,
}

impl<'n> Links<'n> {
    pub fn new(nodes: &'n Nodes) -> Self {
        Links { nodes, peers: vec![None; nodes.peers.len()], trunks: Vec::new() }
    }

    pub fn add(&mut self, entry: At<LinkEntry>) -> Result<()> {
        let (at, place) = (entry.line, entry.value.place());
        let LinkEntry { ends, rate, delay, loss, .. } = entry.value;
        let [a, b] = required(at, &place, "ends", ends)?;
        let wrong = |problem: String, fix: &str| Err(NetworkError::new(at, place.clone(), problem, fix));
        let ends = [self.nodes.known(at, &place, &a)?, self.nodes.known(at, &place, &b)?];
        let rates_bps = required(at, &place, "rate", rate)?.0.map(|rate| rate.0);
        for bps in rates_bps {
            in_range(at, &place, bps)?;
        }
        let delay_seconds = delay.map_or(0.0, |delay| delay.value.0);
        if !(0.0..=MOST_SECONDS).contains(&delay_seconds) {
            let problem = format!("delay is {delay_seconds}");
            return wrong(problem, "give a duration like \"5 us\", at most an hour");
        }
        let loss = loss.map_or(0.0, |part| part.value.0);
        if !(0.0..1.0).contains(&loss) {
            return wrong(
                "loss is not a part from 0% to below 100%".to_owned(),
                "write it like `loss: 0.02%`",
            );
        }
        let [there, back] = rates_bps;
        let (peer, switch, up_bps, down_bps) = match ends {
            [Node::Peer(peer), Node::Switch(switch)] => (peer, switch, there, back),
            [Node::Switch(switch), Node::Peer(peer)] => (peer, switch, back, there),
            [Node::Switch(from), Node::Switch(to)] => {
                if from == to {
                    return wrong("both ends are the same switch".to_owned(), "name two different switches");
                }
                let trunk = TrunkLink { ends: [from, to], rates_bps, delay_seconds, loss };
                self.trunks.push((at, trunk));
                return Ok(());
            }
            [Node::Peer(_), Node::Peer(_)] => {
                let fix = "link each peer to a switch: peers send through it";
                return wrong("both ends are peers".to_owned(), fix);
            }
        };
        let name = &self.nodes.peers[peer].0;
        if self.peers[peer].is_some() {
            let fix = "keep one: a peer has one port";
            return wrong(format!("peer {name} is linked already"), fix);
        }
        self.peers[peer] = Some(Peer {
            name: name.clone(),
            switch,
            up_bps,
            down_bps,
            delay_seconds,
            loss,
            up_trace: None,
            down_trace: None,
        });
        Ok(())
    }

    pub fn add_trace(&mut self, entry: At<TraceEntry>) -> Result<()> {
        let at = entry.line;
        let TraceEntry { link, every, rates } = entry.value;
        let [a, b] = required(at, "trace", "link", link)?;
        let place = format!("trace of {a} to {b}");
        let wrong = |problem: String, fix: &str| Err(NetworkError::new(at, place.clone(), problem, fix));
        let (peer, switch, is_up) =
            match (self.nodes.known(at, &place, &a)?, self.nodes.known(at, &place, &b)?) {
                (Node::Peer(peer), Node::Switch(switch)) => (peer, switch, true),
                (Node::Switch(switch), Node::Peer(peer)) => (peer, switch, false),
                (Node::Switch(_), Node::Switch(_)) => {
                    let fix = "leave it out: only the ports of peers change";
                    return wrong("both ends are switches".to_owned(), fix);
                }
                (Node::Peer(_), Node::Peer(_)) => {
                    return wrong("there is no such link".to_owned(), "name a peer and its switch");
                }
            };
        let Some(peer) = self.peers[peer].as_mut().filter(|peer| peer.switch == switch) else {
            return wrong("there is no such link".to_owned(), "add it under links");
        };
        let trace = trace(at, &place, every, rates, in_range)?;
        let of_port = if is_up { &mut peer.up_trace } else { &mut peer.down_trace };
        if of_port.is_some() {
            let fix = "keep one; each direction has its own";
            return wrong("this direction has a trace already".to_owned(), fix);
        }
        *of_port = Some(trace);
        Ok(())
    }

    /// Peers at their ports, and the links between switches.
    pub fn finish(self) -> Result<(Vec<Peer>, Vec<TrunkLink>)> {
        let mut peers = Vec::with_capacity(self.peers.len());
        for (peer, (name, at)) in self.peers.into_iter().zip(&self.nodes.peers) {
            let fix = format!("link it to a switch: `{{ends: [{name}, s1], rate: [10 Gbps, 10 Gbps]}}`");
            let place = format!("peer {name}");
            peers.push(peer.ok_or_else(|| NetworkError::new(*at, place, "it has no link", fix))?);
        }
        fabric::check(&self.nodes.switches, &peers, &self.trunks)?;
        Ok((peers, self.trunks.into_iter().map(|(_, trunk)| trunk).collect()))
    }
}

fn in_range(at: u64, place: &str, bps: f64) -> Result<()> {
    if (LEAST_BPS..=MOST_BPS).contains(&bps) {
        return Ok(());
    }
    let fix = match bps > MOST_BPS {
        true => "rates go up to 1e18 bit/s",
        false => "give both directions of a port a rate above 0, like \"10 Gbps\"",
    };
    Err(NetworkError::new(at, place, format!("a rate is {bps}"), fix))
}
