//! Finds full ports from the durations of copies that senders make.
//!
//! A copy that took longer than planned crossed two ports, and either may have been full. A full port delays
//! all its copies. So the late copies are explained by the ports most of whose copies were late. A full port
//! carried its copies in the time of the longest.

use inart_topologies::peers::Ports;

use crate::message::Sample;

/// A copy is late if it took this many times its planned duration.
const LATE: f64 = 1.15;
/// A port is full if this part of its copies is late.
const SHARE: f64 = 0.75;

/// A copy that arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Copy {
    pub from: usize,
    pub to: usize,
    pub bits: f64,
    pub seconds: f64,
    /// Planned duration in seconds.
    pub planned_s: f64,
}

impl Copy {
    fn is_late(&self) -> bool {
        self.seconds > LATE * self.planned_s
    }

    fn passes(&self, port: Port) -> bool {
        if port.is_up { self.from == port.peer } else { self.to == port.peer }
    }
}

/// One of a peer's two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Port {
    pub peer: usize,
    pub is_up: bool,
}

/// Returns what the copies of one round show of each port that carried some. `believed`: the rates used for
/// planning.
pub(super) fn samples(copies: &[Copy], believed: &Ports) -> Vec<(usize, Sample)> {
    let ports = (0..believed.up_bps.len()).flat_map(|peer| [true, false].map(|is_up| Port { peer, is_up }));
    let used: Vec<Port> = ports.filter(|&port| copies.iter().any(|copy| copy.passes(port))).collect();
    let full = full(copies, &used, believed);
    let sample = |&port: &Port| {
        let of_port = || copies.iter().filter(move |copy| copy.passes(port));
        let seconds = of_port().map(|copy| copy.seconds.max(copy.planned_s)).fold(0.0, f64::max);
        let bits = of_port().map(|copy| copy.bits).sum();
        (port.peer, Sample { is_up: port.is_up, bits, seconds, is_full: full.contains(&port) })
    };
    used.iter().map(sample).collect()
}

/// Returns the ports that explain the late copies: repeatedly the port that most of the unexplained late
/// copies crossed; among equal ones, the port that was planned to be fuller.
fn full(copies: &[Copy], used: &[Port], believed: &Ports) -> Vec<Port> {
    let mut late: Vec<&Copy> = copies.iter().filter(|copy| copy.is_late()).collect();
    let mut full = Vec::new();
    let load = |port: &Port| {
        let bits: f64 = copies.iter().filter(|copy| copy.passes(*port)).map(|copy| copy.bits).sum();
        bits / if port.is_up { believed.up_bps[port.peer] } else { believed.down_bps[port.peer] }
    };
    let is_candidate = |port: &&Port| {
        let of_port = || copies.iter().filter(|copy| copy.passes(**port));
        of_port().filter(|copy| copy.is_late()).count() as f64 >= SHARE * of_port().count() as f64
    };
    let candidates: Vec<(Port, f64)> =
        used.iter().filter(is_candidate).map(|port| (*port, load(port))).collect();
    while !late.is_empty() {
        let explained = |port: Port| late.iter().filter(|copy| copy.passes(port)).count();
        let most = candidates.iter().max_by(|(a, load_a), (b, load_b)| {
            explained(*a).cmp(&explained(*b)).then(load_a.total_cmp(load_b))
        });
        let Some(&(port, _)) = most.filter(|(port, _)| explained(*port) > 0) else { break };
        late.retain(|copy| !copy.passes(port));
        full.push(port);
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 6;

    /// Every peer sends to every other; a copy takes as long as on the slower of its two ports. `slower`:
    /// ports, and how many times slower they are than believed.
    fn copies(slower: &[(Port, f64)]) -> Vec<Copy> {
        let pairs = (0..N).flat_map(|from| (0..N).filter(move |&to| to != from).map(move |to| (from, to)));
        let copy = |(from, to)| {
            let planned_s = 1.0;
            let mut copy = Copy { from, to, bits: 1e6, seconds: planned_s, planned_s };
            for &(port, times) in slower {
                if copy.passes(port) {
                    copy.seconds = copy.seconds.max(planned_s * times);
                }
            }
            copy
        };
        pairs.map(copy).collect()
    }

    fn believed() -> Ports {
        Ports { up_bps: vec![5e6; N], down_bps: vec![5e6; N] }
    }

    fn found(copies: &[Copy]) -> Vec<(Port, f64)> {
        let samples = samples(copies, &believed());
        let full = samples.into_iter().filter(|(_, sample)| sample.is_full);
        full.map(|(peer, sample)| (Port { peer, is_up: sample.is_up }, sample.bits / sample.seconds))
            .collect()
    }

    #[test]
    fn every_port_that_was_full_is_named_and_no_other() {
        let [up, down] = [true, false].map(|is_up| move |peer| Port { peer, is_up });
        for case in [vec![], vec![(down(2), 4.0)], vec![(up(3), 2.0)], vec![(up(0), 3.0), (down(0), 1.5)]] {
            let mut expected: Vec<(Port, f64)> =
                case.iter().map(|&(port, times)| (port, 5e6 / times)).collect();
            let mut found = found(&copies(&case));
            let key = |(port, _): &(Port, f64)| (port.peer, port.is_up);
            expected.sort_by_key(key);
            found.sort_by_key(key);
            assert_eq!(
                found.iter().map(key).collect::<Vec<_>>(),
                expected.iter().map(key).collect::<Vec<_>>()
            );
            for ((_, bps), (_, of)) in found.iter().zip(&expected) {
                assert!((bps - of).abs() < 1.0, "{bps} {of}");
            }
        }
    }

    #[test]
    fn one_late_copy_names_no_port() {
        let mut copies = copies(&[]);
        copies[7].seconds = 3.0;
        assert_eq!(found(&copies), []);
        // The port's only copy counts.
        let lone = Copy { from: 1, to: 0, bits: 1e6, seconds: 3.0, planned_s: 1.0 };
        let others = [2, 3].map(|from| Copy { from, seconds: 1.0, ..lone });
        let found = found(&[&others[..], &[lone]].concat());
        assert_eq!(found.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [Port { peer: 1, is_up: true }]);
    }
}
