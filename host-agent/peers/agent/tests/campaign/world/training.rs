//! Computation of updates, and the lead of peers.

use inart_peers_agent::Start;
use rand::Rng;

use super::{Event, World};
use crate::campaign::trial::Fault;

impl World {
    pub(super) fn compute(&mut self, at: usize, start: Start) {
        let host = self.hosts[at].as_mut().unwrap();
        let (incarnation, model) = ((at, host.incarnation), host.model.clone());
        // A peer that starts behind the first round resumes from others' updates, if there are any.
        let is_known = start.average.is_some() || host.peer.counters().0.restarted_from_init > 0;
        assert!(start.round == 1 || is_known, "{incarnation:?} begins round {} from nothing", start.round);
        self.record_failures();
        self.audit.averages(incarnation, &model, &start);
        let host = self.hosts[at].as_mut().unwrap();
        (host.round, host.began_ns) = (start.round, self.now);
        self.check_gate(at);
        if self.hangs(at, start.round) {
            return;
        }
        let takes = self.draws.random_range(0.0..0.1);
        self.at(takes, Event::Computed { peer: at, incarnation: incarnation.1 });
    }

    pub(super) fn computed(&mut self, at: usize, incarnation: u32) {
        let values = self.values();
        let Some(host) = self.hosts[at].as_mut().filter(|host| host.incarnation == incarnation) else {
            return;
        };
        // Multiples of 2^-16 below 2^8 have exact sums.
        let draws = &mut self.draws;
        host.model =
            (0..values).map(|_| draws.random_range(-(1i32 << 23)..1 << 23) as f32 / 65536.0).collect();
        let model = host.model.clone();
        self.audit.sends((at, incarnation), host.round, &model);
        self.with(at, |peer, now| peer.computed(model, now).unwrap());
    }

    /// Declares failures to the audit, which needs them before hosts end and their counters are summed.
    pub(super) fn record_failures(&mut self) {
        let mut hosts = self.hosts.iter().flatten();
        self.audit.is_anybody_gone |= hosts.any(|host| host.peer.counters().0.gone > 0);
    }

    /// Checks that no live peer is too far behind, unless a peer was declared failed or has restarted.
    fn check_gate(&mut self, at: usize) {
        let round = self.hosts[at].as_ref().unwrap().round;
        let started = self.hosts.iter().flatten().filter(|host| host.round > 0);
        let least = started.map(|host| host.peer.round()).min().unwrap_or(round);
        let is_fault_free = self
            .trial
            .faults
            .iter()
            .all(|(_, fault)| !matches!(fault, Fault::Peer { .. } | Fault::Cut { .. }));
        let lost = self.hosts.iter().flatten().any(|host| host.peer.counters().0.gone > 0);
        let all = self.hosts.iter().all(Option::is_some);
        if is_fault_free && !lost && all {
            let ahead = round - least;
            assert!(
                ahead <= self.trial.sync.staleness(),
                "peer {at} is {ahead} rounds ahead: {:?}",
                self.trial
            );
        }
    }

    /// Ends a process without other peers, or without a coordinator.
    pub(super) fn rejected(&mut self, at: usize) {
        self.audit.seen.rejected += 1;
        self.done[at] = true;
        let others = self.hosts.iter().zip(&self.done).any(|(host, done)| host.is_some() && !done);
        let is_led = self.coordinators.iter().any(Option::is_some);
        assert!(!others || !is_led, "peer {at} is not admitted, and others train: {:?}", self.trial);
    }
}
