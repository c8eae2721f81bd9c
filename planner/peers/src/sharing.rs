//! Shares of ports among active multicasts.

use inart_topologies::peers::Ports;

/// Rule of sharing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Every port divides its rate equally among its multicasts. Each runs at the rate of its slowest
    /// receiver and at most its sender's; unused shares are lost.
    Split,
    /// Max-min fair: others take unused shares.
    Fair,
}

/// Traffic at one rate: a multicast, or one copy of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Sender.
    pub from: usize,
    /// Number of copies through the sender's port.
    pub copies: usize,
    /// Receivers.
    pub to: Vec<usize>,
    /// Pace in bit/s, the upper limit of the rate. Infinite without a pace.
    pub pace_bps: f64,
}

/// Returns the sessions' rates in bit/s.
pub fn rates(sharing: Sharing, ports: &Ports, sessions: &[Session]) -> Vec<f64> {
    match sharing {
        Sharing::Split => split(ports, sessions),
        Sharing::Fair => max_min(ports, sessions),
    }
}

fn split(ports: &Ports, sessions: &[Session]) -> Vec<f64> {
    let (mut sent, mut received) = (vec![0usize; ports.up_bps.len()], vec![0usize; ports.down_bps.len()]);
    for session in sessions {
        sent[session.from] += session.copies;
        session.to.iter().for_each(|&to| received[to] += 1);
    }
    let rate = |session: &Session| {
        let up = ports.up_bps[session.from] / sent[session.from] as f64;
        let down = session.to.iter().map(|&to| ports.down_bps[to] / received[to] as f64);
        down.fold(up.min(session.pace_bps), f64::min)
    };
    sessions.iter().map(rate).collect()
}

/// Progressive filling: all rates grow together until a port is full, whose sessions then keep their rates. A
/// pace counts as a port.
fn max_min(ports: &Ports, sessions: &[Session]) -> Vec<f64> {
    let n = ports.up_bps.len();
    // Outgoing ports first, then incoming ones, then paces.
    let uses = |(at, session): (usize, &Session)| {
        let mut uses = vec![(session.from, session.copies as f64)];
        uses.extend(session.to.iter().map(|&to| (n + to, 1.0)));
        uses.extend(session.pace_bps.is_finite().then_some((2 * n + at, 1.0)));
        uses
    };
    let uses: Vec<Vec<(usize, f64)>> = sessions.iter().enumerate().map(uses).collect();
    let paces = sessions.iter().map(|session| session.pace_bps);
    let mut left: Vec<f64> = ports.up_bps.iter().chain(&ports.down_bps).copied().chain(paces).collect();
    let mut weights = vec![0.0; left.len()];
    let mut at_port: Vec<Vec<usize>> = vec![Vec::new(); left.len()];
    for (at, uses) in uses.iter().enumerate() {
        for &(port, weight) in uses {
            weights[port] += weight;
            at_port[port].push(at);
        }
    }
    let mut rates = vec![f64::NAN; sessions.len()];
    let mut busy: Vec<usize> = (0..left.len()).filter(|&port| !at_port[port].is_empty()).collect();
    loop {
        busy.retain(|&port| weights[port] > 0.5);
        let share = |port: &usize| left[*port] / weights[*port];
        let Some(full) = busy.iter().copied().min_by(|a, b| share(a).total_cmp(&share(b))) else { break };
        let rate = share(&full).max(0.0);
        for at in std::mem::take(&mut at_port[full]) {
            if rates[at].is_nan() {
                rates[at] = rate;
                for &(port, weight) in &uses[at] {
                    left[port] -= weight * rate;
                    weights[port] -= weight;
                }
            }
        }
        weights[full] = 0.0;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four multicasts of the reference computation.
    #[test]
    fn rates_of_the_reference() {
        let ports = Ports { up_bps: vec![10.0, 4.0, 10.0, 10.0], down_bps: vec![8.0, 9.0, 6.0, 12.0] };
        let receivers = [vec![1, 2], vec![2, 3], vec![3], vec![0, 1, 2]];
        let session =
            |(from, to): (usize, Vec<usize>)| Session { from, copies: 1, to, pace_bps: f64::INFINITY };
        let sessions: Vec<Session> = receivers.into_iter().enumerate().map(session).collect();
        assert_eq!(rates(Sharing::Fair, &ports, &sessions), [2.0, 2.0, 10.0, 2.0]);
        assert_eq!(rates(Sharing::Split, &ports, &sessions), [2.0, 2.0, 6.0, 2.0]);
    }

    #[test]
    fn copies_go_up_one_by_one() {
        let ports = Ports { up_bps: vec![6.0, 6.0, 6.0], down_bps: vec![9.0, 9.0, 9.0] };
        let session = |from, pace_bps| Session { from, copies: 2, to: vec![1, 2], pace_bps };
        for sharing in [Sharing::Fair, Sharing::Split] {
            assert_eq!(rates(sharing, &ports, &[session(0, f64::INFINITY)]), [3.0]);
            assert_eq!(rates(sharing, &ports, &[session(0, 1.5)]), [1.5]);
        }
    }
}
