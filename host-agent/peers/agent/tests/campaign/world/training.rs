//! What peers compute, and how far ahead of each other they are.

use inart_peers_agent::Start;
use rand::Rng;

use super::{Event, World};
use crate::campaign::trial::Fault;

impl World {
    pub(super) fn compute(&mut self, at: usize, start: Start) {
        let host = self.hosts[at].as_mut().unwrap();
        let (incarnation, model) = ((at, host.incarnation), host.model.clone());
        // Whoever begins behind the first round goes on from others' updates, unless there are none.
        let is_known = start.average.is_some() || host.peer.counters().0.restarted_from_init > 0;
        assert!(start.round == 1 || is_known, "{incarnation:?} begins round {} from nothing", start.round);
        self.notice_who_is_gone();
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
        // Multiples of 2^-16 below 2^8, so that sums of them are exact.
        let draws = &mut self.draws;
        host.model =
            (0..values).map(|_| draws.random_range(-(1i32 << 23)..1 << 23) as f32 / 65536.0).collect();
        let model = host.model.clone();
        self.audit.sends((at, incarnation), host.round, &model);
        self.with(at, |peer, now| peer.computed(model, now).unwrap());
    }

    /// Hosts' counters are added up when they end; the audit has to know before.
    pub(super) fn notice_who_is_gone(&mut self) {
        let mut hosts = self.hosts.iter().flatten();
        self.audit.is_anybody_gone |= hosts.any(|host| host.peer.counters().0.gone > 0);
    }

    /// Nobody who lives is too far behind, if nobody was ever taken for gone or has begun anew.
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

    /// Its process ends. There is nobody to train with, or nobody who says who trains.
    pub(super) fn stays_out(&mut self, at: usize) {
        self.audit.seen.rejected += 1;
        self.done[at] = true;
        let others = self.hosts.iter().zip(&self.done).any(|(host, done)| host.is_some() && !done);
        let is_led = self.coordinators.iter().any(Option::is_some);
        assert!(!others || !is_led, "peer {at} is not taken in, and others train: {:?}", self.trial);
    }
}
