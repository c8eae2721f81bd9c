//! Two peers in bulk synchronous rounds and their coordinator. Messages of each arrive in order, at any
//! relative speed. One peer restarts at any time: it resumes from the other's update, its first weights set
//! no other peer back, and both end (docs/protocol/peers.md, P11). Peers cannot be cloned, so a state is
//! reached again by the steps that led to it.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_peers_agent::Terms;
use inart_peers_agent::{Body, Output, Peer, Roster, Setup, Start, Sync, Term, encode};
use inart_protocol_peers::{
    Copies, ReceiverOptions, SenderOptions, chunk_packet, message_packet, notice_packet,
};
use inart_wire::{Incarnation, Rank};

const TIMEOUT: Duration = Duration::from_secs(3600);
const ROUNDS: u32 = 3;
/// Most waits with nothing in flight.
const MOST_WAITS: u32 = 40;
/// More states than exist.
const MOST: usize = 1_000_000;
/// The peer that restarts.
const NEWCOMER: usize = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// The program resumes from its first weights, not from the given model.
    FirstWeights,
    /// The peer takes messages to its previous incarnation for its own.
    SameIncarnation,
}

struct Packet {
    to: usize,
    bytes: Bytes,
    /// A chunk: incarnation of the sender, and round.
    chunk: Option<(u32, u32)>,
    is_roster: bool,
}

/// Whether an update derives from the common model, or from the first weights of a restarted peer.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Model {
    value: f32,
    is_ours: bool,
}

struct World {
    mistake: Mistake,
    peers: [Peer; 2],
    incarnations: [u32; 2],
    /// Pending computations, and whether each resumes from the common model.
    starts: [Option<bool>; 2],
    /// By incarnation: the update of each round, and its knowledge of the others'.
    models: [BTreeMap<u32, Model>; 2],
    received: [BTreeMap<u32, f32>; 2],
    all: Vec<Model>,
    net: Vec<Packet>,
    now: Duration,
    waits: u32,
    has_restarted: bool,
    /// Whether the other peer had ended a round by then.
    is_late: bool,
    is_finished: [bool; 2],
}

fn rank(peer: usize) -> Rank {
    Rank::try_from(peer).unwrap()
}

fn peer(me: usize, incarnation: u32) -> Peer {
    let sender = SenderOptions {
        patience: TIMEOUT,
        ..SenderOptions::new(Copies::Sender { window: 1, chunk_bytes: 4 })
    };
    Peer::new(Arc::new(Setup {
        program: Terms::default(),
        round_patience: Duration::MAX,
        me: rank(me),
        incarnation: Incarnation::new(incarnation),
        names: Vec::new(),
        job: 3.into(),
        plan_version: 1.into(),
        update_values: vec![1; 2],
        chunk_values: 1,
        receivers: 1,
        sync: Sync::Bsp,
        force_after: None,
        rounds: ROUNDS,
        sender,
        receiver: ReceiverOptions::connections(),
        rate_bps: 1e9,
        choice_patience: Duration::ZERO,
        peer_timeout: TIMEOUT,
        meeting_patience: TIMEOUT,
    }))
    .unwrap()
}

impl World {
    fn new(mistake: Mistake) -> World {
        let incarnations = [11, 21];
        let mut world = World {
            mistake,
            peers: [0, 1].map(|at| peer(at, incarnations[at])),
            incarnations,
            starts: [None; 2],
            models: [BTreeMap::new(), BTreeMap::new()],
            received: [BTreeMap::new(), BTreeMap::new()],
            all: Vec::new(),
            net: Vec::new(),
            now: Duration::ZERO,
            waits: 0,
            has_restarted: false,
            is_late: false,
            is_finished: [false; 2],
        };
        for at in [0, 1] {
            world.peers[at].coordinator(world.roster(), Duration::ZERO);
        }
        world
    }

    /// Returns the coordinator's roster; a newcomer starts where the other peer is.
    fn roster(&self) -> Bytes {
        let ended = self.peers[0].round() - 1;
        let term = Some(Term { number: 1, holder: 1 });
        encode(Body::Roster(Roster { term, incarnations: self.incarnations.to_vec(), ended: vec![ended; 2] }))
    }

    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let World { peers, starts, models, received, now, has_restarted, is_late, is_finished, .. } = self;
        format!(
            "{peers:?} {starts:?} {models:?} {received:?} {now:?} {has_restarted} {is_late} {is_finished:?}"
        )
        .hash(&mut hasher);
        // By receiver, in order of arrival.
        let mut packets: Vec<_> =
            self.net.iter().map(|packet| (packet.to, packet.is_roster, &packet.bytes)).collect();
        packets.sort_by_key(|(to, is_roster, _)| (*to, *is_roster));
        packets.hash(&mut hasher);
        hasher.finish()
    }

    fn is_over(&self) -> bool {
        self.is_finished == [true; 2] && self.peers.iter().all(Peer::is_done)
    }

    /// Returns the number of possible next steps.
    fn steps(&self) -> usize {
        let computing = self.starts.iter().flatten().count();
        let waits = usize::from(self.net.is_empty() && computing == 0 && !self.is_over());
        self.may_arrive().len() + computing + waits + usize::from(self.may_restart())
    }

    /// Returns the messages that may arrive next: those of one peer to the other in order, and the
    /// coordinator's.
    fn may_arrive(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        let way = |at: &usize| (self.net[*at].to, self.net[*at].is_roster);
        (0..self.net.len()).filter(|at| seen.insert(way(at))).collect()
    }

    fn may_restart(&self) -> bool {
        !self.has_restarted && !self.is_finished[NEWCOMER]
    }

    /// Takes one of the possible steps.
    fn step(&mut self, which: usize) -> Result<(), String> {
        let computing: Vec<usize> = (0..2).filter(|at| self.starts[*at].is_some()).collect();
        let arriving = self.may_arrive();
        if let Some(at) = arriving.get(which) {
            self.arrive(*at);
        } else if let Some(at) = computing.get(which - arriving.len()) {
            self.compute(*at);
        } else if self.may_restart() && which + 1 == self.steps() {
            self.restart();
        } else {
            self.waits += 1;
            let wakes = self.peers.iter().filter_map(Peer::wake_at).min();
            self.now = self.now.max(wakes.ok_or("nothing is due")?);
            self.peers.iter_mut().for_each(|peer| peer.tick(self.now));
            if self.waits > MOST_WAITS {
                let states = self.peers.each_ref().map(Peer::describe);
                return Err(format!("no peer proceeds: {states:?}"));
            }
        }
        self.settle()
    }

    fn arrive(&mut self, which: usize) {
        let Packet { to, bytes, chunk, is_roster } = self.net.remove(which);
        if is_roster {
            return self.peers[to].coordinator(bytes, self.now);
        }
        self.peers[to].packet(rank(1 - to), &bytes, self.now);
        if let Some((incarnation, round)) = chunk
            && incarnation == self.incarnations[1 - to]
        {
            self.peers[1 - to].delivered(round, rank(to), self.now);
        }
    }

    /// Computes an update with a new value, which does not depend on the model's.
    fn compute(&mut self, at: usize) {
        let is_ours = self.starts[at].take().unwrap();
        let model = Model { value: (1 << self.all.len()) as f32, is_ours };
        self.all.push(model);
        self.models[at].insert(self.peers[at].round(), model);
        self.peers[at].computed(vec![model.value], self.now).unwrap();
    }

    fn restart(&mut self) {
        (self.has_restarted, self.is_late) = (true, self.peers[0].round() > 1);
        let at = NEWCOMER;
        // Messages to the previous process are lost.
        self.net.retain(|packet| packet.to != at);
        self.incarnations[at] += u32::from(self.mistake != Mistake::SameIncarnation);
        self.peers[at] = peer(at, self.incarnations[at]);
        (self.starts[at], self.models[at], self.received[at]) = (None, BTreeMap::new(), BTreeMap::new());
        for to in [0, at] {
            self.net.push(Packet { to, bytes: self.roster(), chunk: None, is_roster: true });
        }
    }

    /// Carries out the peers' outputs.
    fn settle(&mut self) -> Result<(), String> {
        for at in [0, 1] {
            loop {
                if let Some(output) = self.peers[at].next_output() {
                    self.carry_out(at, output)?;
                } else if let Some(sent) = self.peers[at].next_transmission(self.now) {
                    let (words, cut) = self.peers[at].update();
                    let members = self.peers[at].members();
                    let bytes = chunk_packet(members, sent.round, sent.chunk, &words[cut.range(sent.chunk)]);
                    self.leave(at, bytes, Some((self.incarnations[at], sent.round)));
                } else {
                    break;
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self, from: usize, bytes: Vec<u8>, chunk: Option<(u32, u32)>) {
        self.net.push(Packet { to: 1 - from, bytes: bytes.into(), chunk, is_roster: false });
    }

    fn carry_out(&mut self, at: usize, output: Output) -> Result<(), String> {
        match output {
            Output::Send { to, message } => {
                let bytes = message_packet(self.peers[at].members(), to, &message);
                self.leave(at, bytes, None);
            }
            Output::Notify { notice, .. } => {
                let bytes = notice_packet(self.peers[at].members(), &notice.words());
                self.leave(at, bytes, None);
            }
            Output::Received(update) => {
                self.received[at].insert(update.round, f32::from_bits(update.words[0]));
            }
            Output::Compute(start) => self.starts[at] = Some(self.begins(at, &start)?),
            Output::Finished(start) => {
                self.begins(at, &start)?;
                self.is_finished[at] = true;
            }
            Output::Rejected(why) => return Err(format!("{why:?}")),
            Output::Report(_) | Output::Ended { .. } => {}
        }
        Ok(())
    }

    /// Checks that a round's model is the mean that it claims to be. Returns whether it derives from the
    /// common model.
    fn begins(&self, at: usize, start: &Start) -> Result<bool, String> {
        let is_new = at == NEWCOMER && self.has_restarted;
        let Some(average) = &start.average else {
            // In the first round no peer has a model; later, no other has sent one for as many rounds as
            // allowed.
            let counted = self.peers[at].counters().0.restarted_from_init;
            return match start.round > 1 && counted == 0 {
                true => Err(format!("peer {at} starts round {} without a model", start.round)),
                false => Ok(!is_new || !self.is_late),
            };
        };
        let own = self.models[at].last_key_value().map(|(_, model)| *model);
        if average.without_own != own.is_none() || own.is_none() && average.of.is_empty() {
            return Err(format!("peer {at} adopts {average:?}, and its own is {own:?}"));
        }
        let mut values: Vec<f64> = own.iter().map(|model| f64::from(model.value)).collect();
        for (_, round) in &average.of {
            let value = self.received[at].get(round).ok_or("an update that is not there is averaged")?;
            let model = self
                .all
                .iter()
                .find(|model| model.value == *value)
                .ok_or("an update of an unknown sender")?;
            if !is_new && !model.is_ours {
                return Err("first weights of a restarted peer are averaged".to_owned());
            }
            values.push(f64::from(*value));
        }
        let mean = (values.iter().sum::<f64>() / values.len() as f64) as f32;
        if average.values[0].to_bits() != mean.to_bits() {
            return Err(format!("the mean is {:?} and not {mean}", average.values));
        }
        Ok(!is_new || self.mistake != Mistake::FirstWeights)
    }
}

fn reach(mistake: Mistake, steps: &[u8]) -> Result<World, String> {
    let mut world = World::new(mistake);
    world.settle()?;
    steps.iter().try_for_each(|which| world.step((*which).into()))?;
    Ok(world)
}

/// Explores all states. Returns their number, or the failure and its steps.
fn explore(mistake: Mistake) -> Result<usize, String> {
    let mut seen = HashSet::new();
    let mut open: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(steps) = open.pop() {
        let count = reach(mistake, &steps)?.steps();
        for which in 0..count {
            let next: Vec<u8> = steps.iter().copied().chain([which as u8]).collect();
            let world = reach(mistake, &next).map_err(|why| format!("{why}, after {next:?}"))?;
            if seen.insert(world.key()) {
                open.push(next);
            }
        }
        assert!(seen.len() < MOST, "more than {MOST} states");
    }
    Ok(seen.len())
}

#[test]
fn a_restarted_peer_resumes_from_the_others_model() {
    let states = explore(Mistake::None).unwrap_or_else(|why| panic!("{why}"));
    eprintln!("{states} states");
}

#[test]
fn mistakes_are_noticed() {
    for mistake in [Mistake::FirstWeights, Mistake::SameIncarnation] {
        match explore(mistake) {
            Ok(states) => panic!("{mistake:?} was not noticed in {states} states"),
            Err(why) => eprintln!("{mistake:?}: {}", why.chars().take(120).collect::<String>()),
        }
    }
}
