//! Starts and crashes of coordinators, and other faults.

use std::time::Duration;

use inart_peers_agent::{Body, Coordinator, CoordinatorOutput, CoordinatorSetup, Schemes, Term, encode};
use inart_planner_peers::{Multicast, Reading};
use inart_topologies::peers::Ports;
use rand::Rng;

use super::{Event, FRAME_BYTES, VALUES, World, rank};
use crate::campaign::trial::{Fault, Odd};

impl World {
    pub(super) fn fault(&mut self, fault: Fault) {
        match fault {
            Fault::Peer { peer, back } => {
                self.count(peer);
                self.hosts[peer] = None;
                self.notify_coordinators(|coordinator, now| coordinator.down(rank(peer), now));
                if let Some(back) = back {
                    self.at(back, Event::Start(peer));
                }
            }
            Fault::CoordinatorDies => {
                if let Some(last) = self.coordinators.iter().rposition(Option::is_some) {
                    self.end_coordinator(last);
                }
            }
            Fault::CoordinatorBegins => {
                self.start_coordinator();
                (0..self.trial.peers).for_each(|peer| self.with(peer, |peer, now| peer.coordinator_up(now)));
            }
            Fault::Cut { peer, seconds } => self.fabric.cut[peer] = self.now + (seconds * 1e9) as u64,
        }
    }

    fn end_coordinator(&mut self, at: usize) {
        self.coordinators[at] = None;
        if self.coordinators.iter().all(Option::is_none) {
            (0..self.trial.peers).for_each(|peer| self.with(peer, |peer, now| peer.coordinator_down(now)));
        }
    }

    pub(super) fn start_coordinator(&mut self) {
        let trial = &self.trial;
        let n = trial.peers;
        let chunks = trial.chunks as f64;
        let multicast = if trial.by_switch { Multicast::Switch } else { Multicast::Hosts };
        let setup = CoordinatorSetup {
            job: 3.into(),
            names: Vec::new(),
            update_values: vec![self.values(); n],
            chunk_values: VALUES,
            update_bits: vec![8.0 * FRAME_BYTES as f64 * chunks; n],
            receivers: trial.receivers,
            sync: trial.sync,
            force_after: trial.force_after,
            multicast,
            rounds: trial.rounds,
            ports: Ports {
                up_bps: trial.rates.iter().map(|rates| rates[0]).collect(),
                down_bps: trial.rates.iter().map(|rates| rates[1]).collect(),
            },
            gather: Duration::from_secs(1),
            holder: self.draws.random(),
        };
        let schemes = Schemes::new(trial.scheme, Reading::default(), trial.seed, "campaign");
        self.coordinators.push(Some(Coordinator::new(setup, schemes)));
    }

    pub(super) fn notify_coordinators(&mut self, call: impl Fn(&mut Coordinator<Schemes>, Duration)) {
        let now = self.now();
        for at in 0..self.coordinators.len() {
            if let Some(coordinator) = &mut self.coordinators[at] {
                call(coordinator, now);
                self.carry_out_coordinator(at);
            }
        }
    }

    pub(super) fn carry_out_coordinator(&mut self, at: usize) {
        while let Some(output) = self.coordinators[at].as_mut().and_then(Coordinator::next_output) {
            match output {
                CoordinatorOutput::Send { to, body } => {
                    let to = to.index();
                    if let Body::Choice(choice) = &body {
                        let is_rate = choice.rate_bps > 0.0 && choice.rate_bps.is_finite();
                        assert!(is_rate, "{} bit/s for peer {to}: {:?}", choice.rate_bps, self.trial);
                        let bits = 8.0 * FRAME_BYTES as f64 * self.trial.chunks as f64;
                        self.planned.insert((to, choice.round), bits / choice.rate_bps);
                    }
                    let Some(incarnation) = self.hosts[to].as_ref().map(|host| host.incarnation) else {
                        continue;
                    };
                    if self.draws.random_bool(self.trial.breaks) {
                        self.at(0.0, Event::Breaks(to));
                    } else {
                        // Messages arrive in order, as on a connection.
                        self.at(0.001, Event::Word { to, incarnation, data: encode(body) });
                    }
                }
                CoordinatorOutput::Over => {}
                CoordinatorOutput::OtherJob { peer } => {
                    let is_odd = self.trial.odd == Some(Odd::OtherTerms { peer: peer.index() });
                    assert!(is_odd && !self.is_corrected, "peer {peer} has the same job");
                }
                CoordinatorOutput::NotChosen { why } => panic!("{why}"),
                CoordinatorOutput::Superseded { by } => {
                    // The coordinator's process ends.
                    assert!(by > Term::default());
                    self.audit.seen.superseded_coordinators += 1;
                    self.end_coordinator(at);
                }
            }
        }
    }
}
