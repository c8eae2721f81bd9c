//! Peers and coordinators on a fabric, in virtual time.

mod coordinators;
mod odd;
mod sending;
mod training;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_peers_agent::Terms;
use inart_peers_agent::{Coordinator, Output, Peer, Schemes, Setup};
use inart_protocol_peers::{
    Copies, ReceiverOptions, Receivers, SenderOptions, message_packet, notice_packet,
};
use inart_virtual::Timeline;
use inart_wire::{Contributors, Incarnation, MacAddr, Rank};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sending::writer;

use super::audit::{Audit, Seen};
use super::fabric::Fabric;
use super::trial::{Fault, Odd, Trial};

/// Time in seconds by which every trial has ended.
const END_S: f64 = 2400.0;
const RESCUE_S: f64 = 10.0;
const MEETING_PATIENCE: Duration = Duration::from_secs(60);
/// Patience where a program hangs; other rounds take far less.
const ROUND_PATIENCE: Duration = Duration::from_secs(120);
const VALUES: usize = 32;
const FRAME_BYTES: usize = 172;

enum Event {
    Wake {
        peer: usize,
    },
    Frame {
        to: usize,
        bytes: Arc<[u8]>,
    },
    Packet {
        from: usize,
        to: usize,
        bytes: Vec<u8>,
        sent: Option<(u32, u32, u32)>,
    },
    /// Report to a coordinator.
    Report {
        from: usize,
        incarnation: u32,
        to: usize,
        data: Bytes,
    },
    /// Message from a coordinator.
    Word {
        to: usize,
        incarnation: u32,
        data: Bytes,
    },
    Computed {
        peer: usize,
        incarnation: u32,
    },
    WakeCoordinators,
    /// End of a peer's connections to coordinators.
    Breaks(usize),
    /// Recovery of a peer's connections to coordinators.
    Mends(usize),
    /// Start of a coordinator, if a peer waits for admission and no coordinator runs.
    Rescue,
    Fault(Fault),
    Start(usize),
}

struct Host {
    peer: Peer,
    incarnation: u32,
    model: Vec<f32>,
    round: u32,
    began_ns: u64,
}

pub struct World {
    trial: Trial,
    draws: ChaCha8Rng,
    now: u64,
    events: Timeline<Event, u64>,
    hosts: Vec<Option<Host>>,
    coordinators: Vec<Option<Coordinator<Schemes>>>,
    fabric: Fabric,
    incarnations: u32,
    /// Peers that have finished in their last incarnation.
    done: Vec<bool>,
    /// Next wake-up of each peer.
    wakes: Vec<Option<u64>>,
    /// Planned duration of multicasts, in seconds, by peer and round.
    planned: BTreeMap<(usize, u32), f64>,
    /// Whether the peer with other rounds has been corrected.
    is_corrected: bool,
    audit: Audit,
}

pub fn run(trial: Trial) -> Seen {
    World::new(trial).run()
}

fn rank(peer: usize) -> Rank {
    Rank::try_from(peer).unwrap()
}

impl World {
    fn new(trial: Trial) -> Self {
        let n = trial.peers;
        let mut world = World {
            draws: ChaCha8Rng::seed_from_u64(trial.seed.wrapping_mul(77)),
            now: 0,
            events: Timeline::new(),
            hosts: (0..n).map(|_| None).collect(),
            coordinators: Vec::new(),
            fabric: Fabric::new(&trial),
            incarnations: 0,
            done: vec![false; n],
            wakes: vec![None; n],
            planned: BTreeMap::new(),
            is_corrected: false,
            audit: Audit::new(&trial),
            trial,
        };
        world.start_coordinator();
        for peer in 0..n {
            let at = world.draws.random_range(0.0..0.2);
            world.at(at, Event::Start(peer));
        }
        for (at, fault) in world.trial.faults.clone() {
            world.at(at, Event::Fault(fault));
        }
        world.at(0.0, Event::WakeCoordinators);
        world.at(RESCUE_S, Event::Rescue);
        world
    }

    fn at(&mut self, in_seconds: f64, event: Event) {
        self.at_ns(self.now + (in_seconds * 1e9) as u64, event);
    }

    fn at_ns(&mut self, ns: u64, event: Event) {
        self.events.at(ns, event);
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    fn run(mut self) -> Seen {
        while !self.is_over() {
            let (at, event) = self.events.take().unwrap();
            self.now = at;
            if at as f64 * 1e-9 > END_S {
                self.complain();
            }
            self.take(event);
        }
        self.audit.seen.overflowed = self.fabric.overflowed;
        for peer in 0..self.trial.peers {
            self.count(peer);
        }
        self.audit.seen
    }

    /// Returns whether all live peers have finished and none will restart.
    fn is_over(&self) -> bool {
        let starts = self.events.events().any(|event| matches!(event, Event::Start(_) | Event::Fault(_)));
        let all = self.hosts.iter().zip(&self.done).all(|(host, done)| host.is_none() || *done);
        all && !starts
    }

    fn complain(&self) -> ! {
        let states: Vec<String> = self.hosts.iter().flatten().map(|host| host.peer.describe()).collect();
        panic!("the trial does not end: {:?}\n{}", self.trial, states.join("\n"));
    }

    /// Counts what an ended peer has dropped.
    fn count(&mut self, peer: usize) {
        let Some(host) = &self.hosts[peer] else { return };
        let (own, sender, receiver) = host.peer.counters();
        let seen = &mut self.audit.seen;
        seen.gone += own.gone;
        seen.back += own.back;
        seen.rounds_with_previous_receivers += own.rounds_with_previous_receivers;
        seen.forced += own.forced;
        seen.old_term += own.old_term;
        seen.superseded_updates += own.superseded;
        seen.passed += own.passed;
        seen.restarted_from_init += own.restarted_from_init;
        seen.repairs += sender.repairs;
        seen.failed += sender.failed;
        seen.repeated += receiver.repeated;
        seen.late += receiver.late;
        seen.stale_incarnation += host.peer.members().refused().stale_incarnation;
        let may = |odd: fn(&Odd) -> bool| self.trial.odd.as_ref().is_some_and(odd);
        let malformed = if may(|odd| *odd == Odd::WildChoices) { 0 } else { own.malformed };
        let unknown = if may(|odd| matches!(odd, Odd::Hostile { .. })) { 0 } else { own.unknown_notices };
        let dropped = (malformed, own.unfit, unknown);
        // A peer declared failed is no receiver, and may be chosen again meanwhile.
        let is_added = own.added > 0 && own.gone == 0;
        assert_eq!((dropped, is_added), ((0, 0, 0), false), "{}: {:?}", host.peer.describe(), self.trial);
    }

    fn take(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Wake { peer } => {
                if self.wakes[peer].is_some_and(|at| at <= self.now) {
                    self.wakes[peer] = None;
                    self.with(peer, |peer, now| peer.tick(now));
                }
            }
            Event::Frame { to, bytes } => self.with(to, |peer, now| peer.frame(&bytes, now)),
            Event::Packet { from, to, bytes, sent } => {
                self.with(to, |peer, now| peer.packet(rank(from), &bytes, now));
                if let Some((incarnation, round, _)) = sent {
                    self.with_incarnation(from, incarnation, |peer, now| {
                        peer.delivered(round, rank(to), now)
                    });
                }
            }
            Event::Report { from, incarnation, to, data } => {
                let is_alive = self.hosts[from].as_ref().is_some_and(|host| host.incarnation == incarnation);
                if let Some(coordinator) = self.coordinators[to].as_mut().filter(|_| is_alive) {
                    coordinator.message(rank(from), data, now);
                    self.carry_out_coordinator(to);
                }
            }
            Event::Word { to, incarnation, data } => {
                if let Some(wild) = self.wild_word(&data) {
                    self.with_incarnation(to, incarnation, |peer, now| peer.coordinator(wild, now));
                }
                self.with_incarnation(to, incarnation, |peer, now| peer.coordinator(data, now))
            }
            Event::Computed { peer, incarnation } => self.computed(peer, incarnation),
            Event::WakeCoordinators => {
                self.notify_coordinators(Coordinator::tick);
                self.at(0.1, Event::WakeCoordinators);
            }
            Event::Breaks(peer) => {
                self.notify_coordinators(|coordinator, now| coordinator.down(rank(peer), now));
                self.with(peer, |peer, now| peer.coordinator_down(now));
                let mends = self.draws.random_range(0.01..0.5);
                self.at(mends, Event::Mends(peer));
            }
            Event::Mends(peer) => {
                if self.coordinators.iter().any(Option::is_some) {
                    self.with(peer, |peer, now| peer.coordinator_up(now));
                }
            }
            Event::Rescue => {
                let waits = self.hosts.iter().flatten().any(|host| host.round == 0);
                if waits && self.coordinators.iter().all(Option::is_none) {
                    self.fault(Fault::CoordinatorBegins);
                }
            }
            Event::Fault(fault) => self.fault(fault),
            Event::Start(peer) => self.start(peer),
        }
    }

    fn with(&mut self, peer: usize, call: impl FnOnce(&mut Peer, Duration)) {
        let now = self.now();
        if let Some(host) = &mut self.hosts[peer] {
            call(&mut host.peer, now);
            self.carry_out(peer);
        }
    }

    fn with_incarnation(&mut self, peer: usize, incarnation: u32, call: impl FnOnce(&mut Peer, Duration)) {
        if self.hosts[peer].as_ref().is_some_and(|host| host.incarnation == incarnation) {
            self.with(peer, call);
        }
    }

    fn start(&mut self, peer: usize) {
        if self.hosts[peer].is_some() {
            return;
        }
        self.incarnations += 1;
        self.audit.seen.restarts += u64::from(self.incarnations as usize > self.trial.peers);
        let trial = &self.trial;
        let copies = match trial.by_switch {
            true => Copies::Switch { frame_bytes: FRAME_BYTES },
            false => Copies::Sender { window: 2, chunk_bytes: 4 * VALUES },
        };
        let limit = self.draws.random_bool(0.2).then(|| Duration::from_secs(20));
        let setup = Setup {
            program: Terms::default(),
            round_patience: match trial.odd {
                Some(Odd::Hangs { .. }) => ROUND_PATIENCE,
                _ => Duration::MAX,
            },
            me: rank(peer),
            incarnation: Incarnation::new(self.incarnations),
            job: 3.into(),
            names: Vec::new(),
            plan_version: 1.into(),
            update_values: vec![self.values(); trial.peers],
            chunk_values: VALUES,
            receivers: trial.receivers,
            sync: trial.sync,
            force_after: trial.force_after,
            rounds: match trial.odd {
                Some(Odd::OtherTerms { peer: odd }) if odd == peer && !self.is_corrected => trial.rounds + 1,
                _ => trial.rounds,
            },
            sender: SenderOptions { limit, ..SenderOptions::new(copies) },
            receiver: match trial.by_switch {
                true => ReceiverOptions::frames(VALUES),
                false => ReceiverOptions::connections(),
            },
            rate_bps: trial.rates[peer][0],
            choice_patience: Duration::from_millis(300),
            peer_timeout: Duration::from_millis(2500),
            meeting_patience: MEETING_PATIENCE,
        };
        let host = Host {
            peer: Peer::new(Arc::new(setup)).unwrap(),
            incarnation: self.incarnations,
            model: Vec::new(),
            round: 0,
            began_ns: 0,
        };
        (self.hosts[peer], self.done[peer], self.wakes[peer]) = (Some(host), false, None);
        if self.coordinators.iter().any(Option::is_some) {
            self.with(peer, |peer, now| peer.coordinator_up(now));
        }
        self.carry_out(peer);
    }

    fn values(&self) -> usize {
        // The last chunk is shorter than the others.
        (VALUES * self.trial.chunks).saturating_sub(5).max(1)
    }

    /// Carries out a peer's outputs.
    fn carry_out(&mut self, at: usize) {
        let now = self.now();
        loop {
            let Some(host) = &mut self.hosts[at] else { return };
            if let Some(output) = host.peer.next_output() {
                self.carry_out_one(at, output);
                continue;
            }
            let Some(sent) = host.peer.next_transmission(now) else { break };
            let (words, cut) = host.peer.update();
            if self.trial.by_switch {
                for block in sent.to.blocks() {
                    let host = self.hosts[at].as_ref().unwrap();
                    let mut buffer = vec![0; FRAME_BYTES];
                    writer().chunk(host.peer.members(), &sent, block, &words, cut, &mut buffer).unwrap();
                    self.send_frame(at, block, buffer);
                }
            } else {
                self.send_chunk(at, &sent, &words, cut);
            }
        }
        let Some(host) = &self.hosts[at] else { return };
        self.done[at] |= host.peer.is_done();
        let wake = host.peer.wake_at().map(|at| (at.as_nanos() as u64).max(self.now + 1));
        if let Some(wake) = wake.filter(|&wake| self.wakes[at].is_none_or(|known| wake < known)) {
            self.wakes[at] = Some(wake);
            self.at_ns(wake, Event::Wake { peer: at });
        }
    }

    fn carry_out_one(&mut self, at: usize, output: Output) {
        let host = self.hosts[at].as_mut().unwrap();
        let incarnation = (at, host.incarnation);
        match output {
            Output::Send { to, message } if self.trial.by_switch => {
                let mut buffer = vec![0; FRAME_BYTES];
                writer().message(host.peer.members(), to, MacAddr([2; 6]), &message, &mut buffer).unwrap();
                self.send_frame(at, Contributors::one(to.bitmap_index()), buffer);
            }
            Output::Send { to, message } => {
                let bytes = message_packet(host.peer.members(), to, &message);
                self.send_packet(at, to.index(), bytes);
            }
            Output::Notify { to, notice } => {
                for block in to.blocks() {
                    let host = self.hosts[at].as_ref().unwrap();
                    let mut buffer = vec![0; FRAME_BYTES];
                    writer().notice(host.peer.members(), block, &notice.words(), &mut buffer).unwrap();
                    let packet = notice_packet(host.peer.members(), &notice.words());
                    if self.trial.by_switch {
                        self.send_frame(at, block, buffer);
                    } else {
                        let ranks: Vec<Rank> = Receivers::of_block(block).iter().collect();
                        ranks.into_iter().for_each(|to| self.send_packet(at, to.index(), packet.clone()));
                    }
                }
            }
            Output::Report(data) => {
                if self.draws.random_bool(self.trial.breaks) {
                    return self.at(0.0, Event::Breaks(at));
                }
                let data = self.wild_report(at, data);
                for to in 0..self.coordinators.len() {
                    let (incarnation, data) = (incarnation.1, data.clone());
                    self.at(0.001, Event::Report { from: at, incarnation, to, data });
                }
            }
            Output::Received(update) => self.audit.receives(incarnation, &update),
            Output::Ended { outcome, rounds_with_previous_receivers } => {
                self.record_failures();
                if let Some(planned) =
                    self.planned.get(&(at, outcome.round)).filter(|_| !rounds_with_previous_receivers)
                {
                    let over = outcome.took.as_secs_f64() / planned;
                    let seen = &mut self.audit.seen;
                    seen.over_plan_least = seen.over_plan_least.min(over);
                    seen.over_plan_most = seen.over_plan_most.max(over);
                }
                let current: Vec<_> =
                    self.hosts.iter().map(|host| Some(host.as_ref()?.incarnation)).collect();
                self.audit.ends(incarnation, &outcome, &current);
            }
            Output::Compute(start) => self.compute(at, start),
            Output::Finished(start) => {
                self.record_failures();
                self.audit.averages(incarnation, &self.hosts[at].as_ref().unwrap().model.clone(), &start)
            }
            Output::Rejected(why) => self.ends(at, &why),
        }
    }
}
