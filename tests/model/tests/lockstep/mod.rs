//! The model and the real code in step: both send the same frames, at every step of random walks. So neither
//! can change without the other.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and prints what it did")]

mod codec;
mod halves;
mod hosts;
mod numbers;
mod onward;
mod registers;
mod switch;

use std::collections::{BTreeMap, BTreeSet};

use inart_model::{
    Action, BEFORE, Config, Contribution, Exponent, Frame, Generation, Marks, MigrationPhase, Node, Onward,
    Peer, Run, Slots, State, Sum, System, Worker, one, ranks, step,
};
use inart_p4::Outcome;
use inart_protocol_aggregation::WorkerFlow;
use inart_protocol_aggregation::completion_rule::OwnSum;
use inart_wire::Flags;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use stateright::Model;

use self::codec::{Codec, Seen};
use self::hosts::{Host, RealServer};
use self::numbers::{bits, has_scaled_workers};
use self::switch::RealSwitch;

fn networks() -> Vec<Config> {
    let two = Config { restart: true, waves: true, ..Config::default() };
    let three = Config { workers: 3, window: 2, chunks: 4, ..two };
    let v1model = [
        two,
        Config { window: 2, chunks: 5, ..two },
        three,
        Config { window: 4, chunks: 5, ..three },
        Config { switches: 2, ..three },
        Config { alone: true, ..three },
        Config { alone: true, switches: 2, old_plan_version: true, ..three },
        Config { switches: 2, old_plan_version: true, ..three },
        Config { saturation: true, ..three },
        Config { saturation: true, switches: 2, ..three },
        Config { floats: true, ..two },
        Config { floats: true, switches: 2, old_plan_version: true, ..three },
        Config { floats: true, moves: true, undo: true, ..three },
        Config { scaled: 1, ..two },
        Config { scaled: 2, switches: 2, ..three },
        Config { scaled: 2, not_finite: true, ..three },
        Config { rerun: true, ..two },
        Config { rerun: true, scaled: 2, switches: 2, ..three },
        Config { reborn: true, ..two },
        Config { reborn: true, rerun: true, switches: 2, ..three },
        Config { shorter: true, ..three },
        Config { shorter: true, window: 2, chunks: 3, ..two },
        Config { shorter: true, switches: 2, alone: true, ..three },
        Config { moves: true, ..two },
        Config { moves: true, led: true, ..two },
        Config { moves: true, led: true, undo: true, switches: 2, ..three },
        Config { moves: true, undo: true, window: 2, chunks: 5, ..two },
        Config { moves: true, undo: true, ..three },
        Config { moves: true, switches: 2, ..three },
        Config { moves: true, undo: true, alone: true, switches: 2, ..three },
        Config { moves: true, undo: true, scaled: 2, ..three },
        Config { onward: true, window: 2, chunks: 5, ..two },
        Config { onward: true, switches: 2, ..three },
        Config { onward: true, old_plan_version: true, ..two },
        Config { onward: true, saturation: true, ..three },
        Config { onward: true, floats: true, ..three },
        Config { onward: true, scaled: 2, ..three },
        Config { onward: true, scaled: 2, not_finite: true, ..three },
        Config { onward: true, reborn: true, ..two },
        Config { onward: true, moves: true, undo: true, window: 2, chunks: 5, ..two },
    ];
    // Different tags of these networks have different marks, except for those of two plan versions if marks
    // are equal.
    let tofino = v1model.map(|config| Config { tofino: Some(Marks::Apart), ..config });
    let old_plan_version = tofino.into_iter().filter(|config| config.old_plan_version);
    let alike = old_plan_version.map(|config| Config { tofino: Some(Marks::Alike), ..config });
    v1model.into_iter().chain(tofino).chain(alike).collect()
}

/// Returns those that real workers take part in.
fn of_real_workers() -> impl Iterator<Item = Config> {
    networks().into_iter().filter(|config| config.scaled == 0 || has_scaled_workers(config))
}

/// Returns any gradient or partial that a switch may see, most often one that fits the others.
fn any_contribution(config: &Config, switch: u8, random: &mut ChaCha8Rng) -> Contribution {
    let first = (0..config.workers).filter(|worker| config.switch_of(*worker) <= switch);
    let worker = first.choose(random).unwrap();
    let below = (0..config.workers).filter(|other| config.switch_of(*other) < switch);
    let mut contributors = one(worker);
    if config.switch_of(worker) < switch && random.random() {
        contributors |= below.filter(|_| random.random()).fold(0, |bitmap, other| bitmap | 1 << other);
    }
    let partial = contributors.count_ones() > 1 || random.random_ratio(1, 4);
    let sequence = random.random_range(0..config.chunks);
    let of_maxima = config.is_of_maxima(sequence);
    let other = !of_maxima && random.random_ratio(1, 10);
    let exponent = config.exponent(sequence);
    let exponent = if other { Exponent::Scaled(random.random_range(0..3)) } else { exponent };
    let before = [Run::OldPlanVersion, Run::Former, Run::Second].choose(random).copied();
    // Incarnations of one plan version never have the same mark.
    let before = before.filter(|run| config.tofino != Some(Marks::Alike) || *run == Run::OldPlanVersion);
    let before = before.filter(|_| !config.moves && !config.not_finite && random.random_ratio(1, 10));
    let moved = Some(Run::Moved).filter(|_| config.moves && random.random());
    let run = before.or(moved).unwrap_or_default();
    let generation = if before.is_some() { BEFORE } else { config.maximum(sequence) };
    let terms = ranks(contributors).map(|worker| config.term(generation, sequence, worker));
    let sizes = ranks(contributors).map(|worker| config.size(run, sequence, worker));
    let sum = match of_maxima {
        true => Sum::of_size(sequence, sizes.max().unwrap_or(0)),
        false => terms.reduce(|sum, term| sum.plus_within_limits(term, true)).unwrap_or_default(),
    };
    Contribution {
        partial,
        run,
        sequence,
        worker: config.bitmap_index_of(run, worker),
        contributors: config.bitmap_indices_of(run, contributors),
        exponent,
        resend: random.random(),
        bypass: exponent == Exponent::Floats || random.random_ratio(1, 10),
        last: config.is_last(0, sequence) != random.random_ratio(1, 10),
        // A partial has the flag if one of its values saturated.
        overflow: sum.is_at_limit() || random.random_ratio(1, 20),
        sum,
    }
}

/// Flags that the rules do not read.
fn any_flags(random: &mut ChaCha8Rng) -> Flags {
    Flags::NONE.with_if(Flags::CONGESTION, random.random())
}

/// Returns the compared part of a frame that leaves a switch.
///
/// The greatest value of a real register is 4 steps of the model's less 1, and the model's is 3 steps. So
/// where a value at that limit was added to one below 0, the sums differ. Such a partial has flag overflow,
/// and the PS reads none of its values.
fn compared(mut seen: Seen) -> Seen {
    if let Seen::Contribution { partial: true, overflow: true, numbers, .. } = &mut seen {
        numbers.pop();
    }
    seen
}

/// Delivers the frame to both switches and compares. Returns the frame that left.
fn at_switch(
    codec: &Codec,
    real: &mut RealSwitch,
    number: u8,
    slots: &mut Slots,
    frame: &Contribution,
    flags: Flags,
) -> Outcome {
    let (outcome, out) = step(&codec.config, None, number, slots, frame);
    let worker = codec.config.bitmap_index_of(frame.run, frame.worker);
    let (counted, left) = real.step(worker, &codec.contribution(frame, flags));
    assert_eq!(counted, outcome, "{frame:?}");
    let left: Vec<_> = left.iter().map(|frame| compared(codec.read(frame).1)).collect();
    let expected: Vec<_> = out.iter().map(|out| compared(codec.seen(&Frame::Contribution(*out)))).collect();
    assert_eq!(left, expected, "{frame:?}");
    real.check(slots);
    outcome
}

#[test]
fn the_switch_program_follows_the_model_on_any_frames() {
    the_switch_program_follows(500);
}

#[test]
#[ignore = "soak: about 15 s"]
fn the_switch_program_follows_the_model_on_two_thousand_frames_of_each_switch() {
    the_switch_program_follows(2000);
}

/// Sends `frames` frames to each switch of each network.
fn the_switch_program_follows(frames: u32) {
    let mut outcomes = BTreeSet::new();
    for (seed, config) in networks().into_iter().enumerate() {
        let codec = Codec::new(config);
        let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
        for number in 0..config.switches {
            let mut real = RealSwitch::new(config, number);
            let mut slots = Slots::default();
            for _ in 0..frames {
                if random.random_ratio(1, 50) {
                    real.restart();
                    slots = Slots::default();
                }
                let frame = any_contribution(&config, number, &mut random);
                let flags = any_flags(&mut random);
                outcomes.insert(at_switch(&codec, &mut real, number, &mut slots, &frame, flags).index());
            }
        }
    }
    assert_eq!(outcomes.len(), Outcome::ALL.len(), "every rule is followed");
}

/// The real hosts and switches of a network.
struct Real {
    switches: Vec<RealSwitch>,
    server: RealServer,
    /// Sums at the larger job whose result is missing, by chunk.
    sums: BTreeMap<u8, OwnSum>,
    workers: Vec<Host<WorkerFlow>>,
}

impl Real {
    /// Lets a host migrate as the model's does, or closes the plan version that all have left.
    fn follow(&mut self, codec: &Codec, state: &State, action: &Action) {
        let assignment_of = |peer| match state.place(peer).next() {
            MigrationPhase::After => &codec.moved,
            _ => &codec.assignment,
        };
        match *action {
            Action::Move(peer @ Peer::Worker(rank)) => {
                self.workers[usize::from(rank)].reroute(assignment_of(peer))
            }
            Action::Move(Peer::Server) => {
                self.server.reroute(assignment_of(Peer::Server));
            }
            Action::Prepare(rank) => {
                let worker = &mut self.workers[usize::from(rank)].state_machine;
                worker.prepare(codec.moved.clone()).expect("the worker may migrate");
            }
            Action::Lead => {
                self.server.lead(&codec.moved);
            }
            _ => self.server.close_old_plan_version(),
        }
    }
}

/// Checks that a worker sends only what the model's would.
fn check_sends(codec: &Codec, system: &System, state: &State, rank: u8, sent: &[(Node, Seen)]) {
    let worker = &state.workers[usize::from(rank)];
    for (_, seen) in sent {
        let expected = match *seen {
            Seen::Contribution { sequence, resend, bypass, .. } => {
                let mut outstanding = state.outstanding(&codec.config, system.mutant, rank);
                assert!(
                    outstanding.any(|chunk| chunk == sequence),
                    "worker {rank} sends chunk {sequence} as {worker:?}"
                );
                // A worker that watches the server continues in the previous plan version with that version's
                // chunks.
                let old = worker.place == MigrationPhase::After && codec.config.led;
                let old = old && matches!(*seen, Seen::Contribution { run: Run::First, .. });
                let before = if old { MigrationPhase::Before } else { worker.place };
                let worker = Worker { place: before, ..*worker };
                let gradient = worker.gradient(&codec.config, None, sequence, resend, bypass);
                // Values that no worker may send arise on the way.
                Frame::Contribution(Contribution { sum: gradient.sum.with_value(0), ..gradient })
            }
            Seen::GivesUp => {
                assert!(worker.failed.is_some(), "worker {rank} gives up as {worker:?}");
                continue;
            }
            _ => {
                system
                    .keepalive(worker)
                    .unwrap_or_else(|| panic!("worker {rank} sends {seen:?} as {worker:?}"))
                    .1
            }
        };
        assert_eq!(*seen, codec.seen(&expected));
    }
}

/// One step of the walk: any frame that was ever sent arrives, if it does no harm to do so in the model.
fn deliver(
    codec: &Codec,
    system: &System,
    state: &State,
    real: &mut Real,
    node: Node,
    frame: &Frame,
    flags: Flags,
) {
    let arrival = system.arrival(state, node, frame);
    match (node, frame) {
        (Node::Switch(number), Frame::Contribution(frame)) => {
            let mut slots = state.switches[usize::from(number)];
            at_switch(codec, &mut real.switches[usize::from(number)], number, &mut slots, frame, flags);
        }
        (Node::Server, frame) => {
            real.server.receive(&match frame {
                Frame::Contribution(frame) => codec.contribution(frame, flags),
                &Frame::KeepAlive { worker, generation, run } => codec.keepalive(worker, generation, run),
                _ => panic!("{frame:?} does not go to a server"),
            });
            let mut sent = real.server.send(codec);
            let mut expected: Vec<_> =
                arrival.outgoing.iter().map(|(to, frame)| (*to, codec.seen(frame))).collect();
            sent.sort();
            expected.sort();
            assert_eq!(sent, expected, "the server on {frame:?} as {:?}", state.server);
            let sent_onward: Vec<_> = std::iter::from_fn(|| real.server.next_sum()).collect();
            let expected: Vec<_> =
                arrival.sent_onward.iter().map(|(chunk, sum)| codec.own_sum(*chunk, *sum)).collect();
            let seen: Vec<_> = sent_onward.iter().map(|own| codec.read_own_sum(own)).collect();
            assert_eq!(seen, expected, "sums for the larger job after {frame:?}");
            real.sums.extend(sent_onward.into_iter().map(|own| (own.sequence.get() as u8, own)));
        }
        (Node::Worker(rank), frame) => {
            real.workers[usize::from(rank)].receive(&codec.to_worker(rank, frame));
        }
        _ => panic!("{frame:?} does not go to {node:?}"),
    }
}

/// Every frame that was ever sent, whether or not it can still do anything, and the nodes it arrives at.
fn remember(system: &System, bag: &mut BTreeSet<(Node, Frame)>, frames: &[(Node, Frame)]) {
    bag.extend(frames.iter().flat_map(|(to, frame)| system.nodes(*to).map(|node| (node, *frame))));
}

/// Delivers the larger job's sum for a chunk, at the real server, too.
fn receive_onward(
    codec: &Codec,
    system: &System,
    state: &State,
    real: &mut Real,
    bag: &mut BTreeSet<(Node, Frame)>,
    chunk: u8,
) -> State {
    let mut next = state.clone();
    let results = system.receive_onward(&mut next, chunk);
    let Onward::Back(sum) = next.onward[usize::from(chunk)] else { panic!("chunk {chunk} has returned") };
    let answer = codec.back(&real.sums.remove(&chunk).expect("the sum was sent to the larger job"), sum);
    assert!(real.server.sum_is_back(answer.clone()));
    assert!(!real.server.sum_is_back(answer), "it has its result");
    let mut sent = real.server.send(codec);
    let mut expected: Vec<_> = results.iter().map(|(to, frame)| (*to, codec.seen(frame))).collect();
    sent.sort();
    expected.sort();
    assert_eq!(sent, expected, "the server when chunk {chunk} has returned");
    remember(system, bag, &results);
    report_ended(codec, real, state.server.ended, &next);
    system.next_state(state, Action::Back(chunk)).unwrap()
}

/// The model's workers know at once which chunks have ended.
fn report_ended(codec: &Codec, real: &mut Real, before: u8, state: &State) {
    for chunk in ranks(state.server.ended & !before) {
        let frame = codec.reporting_ended(state.server.run, chunk);
        real.workers.iter_mut().for_each(|worker| worker.receive(&frame));
    }
}

/// Checks that the real workers end as the model's do.
fn check_ends(codec: &Codec, state: &State, real: &mut Real) {
    let config = codec.config;
    for (model, worker) in state.workers.iter().zip(&mut real.workers) {
        if model.failed.is_some() {
            worker.finish().expect_err("the real worker has given up, too");
        } else if model.is_done(&config) {
            let sums = worker.finish().expect("the real worker has all results, too");
            // A later generation, whose values differ, has no sum if an earlier one was in it.
            let right = codec.sums();
            assert!(config.reborn || sums.iter().map(|sum| bits(sum)).eq(right.iter().map(|sum| bits(sum))));
        }
    }
}

fn walk(config: Config, seed: u64) -> usize {
    let codec = Codec::new(config);
    let system = System::new(config, None);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut real = Real {
        switches: (0..config.switches).map(|number| RealSwitch::new(config, number)).collect(),
        server: RealServer::new(&codec, Run::First),
        sums: BTreeMap::new(),
        workers: (0..config.workers).map(|rank| hosts::worker(&codec, rank, Generation::First)).collect(),
    };
    let mut state = system.init_states().remove(0);
    let mut bag = BTreeSet::new();
    let mut steps = 0;
    let done =
        |state: &State| state.workers[..config.workers.into()].iter().all(|worker| worker.is_done(&config));
    // If a host aborts, the peer timeout would end the others' wait; here it is endless.
    let ends = !config.reborn && !config.shorter && !config.saturation;
    while if ends { !done(&state) || steps < 200 } else { steps < 600 } {
        steps += 1;
        assert!(steps < 100_000, "the walk does not end");
        remember(&system, &mut bag, &state.network);
        if config.restart && random.random_ratio(1, 60) {
            let switch = random.random_range(0..config.switches);
            real.switches[usize::from(switch)].restart();
            state = system.next_state(&state, Action::Restart(switch)).unwrap();
            continue;
        }
        if config.reborn && state.reborn.is_none() && random.random_ratio(1, 60) {
            let peers = (0..config.workers).map(Peer::Worker).chain([Peer::Server]);
            let peer = peers.choose(&mut random).expect("the network has hosts");
            match peer {
                Peer::Worker(rank) => {
                    real.workers[usize::from(rank)] = hosts::worker(&codec, rank, Generation::Second);
                }
                Peer::Server | Peer::Elsewhere => {
                    (real.server, real.sums) = (RealServer::new(&codec, Run::Second), BTreeMap::new());
                }
            }
            state = system.next_state(&state, Action::Reborn(peer)).unwrap();
            continue;
        }
        if config.moves && random.random_ratio(1, 60) {
            let mut moves = Vec::new();
            system.actions(&state, &mut moves);
            moves.retain(|action| {
                matches!(action, Action::Move(_) | Action::Prepare(_) | Action::Lead | Action::Close)
            });
            let Some(action) = moves.into_iter().choose(&mut random) else { continue };
            real.follow(&codec, &state, &action);
            state = system.next_state(&state, action).unwrap();
            continue;
        }
        if config.onward
            && random.random_ratio(1, 20)
            && let Some(chunk) = system.out(&state).choose(&mut random)
        {
            state = receive_onward(&codec, &system, &state, &mut real, &mut bag, chunk);
            continue;
        }
        let (node, frame) = *bag.iter().choose(&mut random).expect("workers send immediately");
        let flags = any_flags(&mut random);
        deliver(&codec, &system, &state, &mut real, node, &frame, flags);
        let sent = system.arrival(&state, node, &frame).outgoing;
        remember(&system, &mut bag, &sent);
        let ended = state.server.ended;
        state = system.next_state(&state, Action::Deliver(node, frame)).unwrap();
        report_ended(&codec, &mut real, ended, &state);
        for (rank, worker) in (0..).zip(&mut real.workers) {
            check_sends(&codec, &system, &state, rank, &worker.send(&codec));
            if random.random_ratio(1, 10) {
                check_sends(&codec, &system, &state, rank, &worker.wait(&codec));
            }
        }
    }
    check_ends(&codec, &state, &mut real);
    steps
}

#[test]
fn hosts_and_switches_follow_the_model_on_random_walks() {
    follow_the_model(4);
}

#[test]
#[ignore = "soak: about 60 s"]
fn hosts_and_switches_follow_the_model_on_twenty_random_walks_of_each_network() {
    follow_the_model(20);
}

/// Walks each network with that many seeds.
fn follow_the_model(seeds: u64) {
    let mut steps = 0;
    for (network, config) in (0..).zip(of_real_workers()) {
        for seed in 0..seeds {
            steps += walk(config, network * 1000 + seed);
        }
    }
    println!("{steps} steps");
}

#[test]
fn a_worker_sends_what_is_outstanding_and_after_some_timeouts_by_bypass() {
    for config in of_real_workers() {
        let codec = Codec::new(config);
        let state = State::new(&config);
        for rank in 0..config.workers {
            if config.handshake() {
                continue;
            }
            let mut real = hosts::worker(&codec, rank, Generation::First);
            let (mut sent, mut bypassed) = (BTreeSet::new(), BTreeSet::new());
            for timeout in 0..20 {
                let frames = if timeout == 0 { real.send(&codec) } else { real.wait(&codec) };
                check_sends(&codec, &System::new(config, None), &state, rank, &frames);
                for (_, seen) in frames {
                    let Seen::Contribution { sequence, bypass, .. } = seen else { continue };
                    sent.insert(sequence);
                    bypassed.extend(bypass.then_some(sequence));
                }
            }
            let outstanding: BTreeSet<_> = state.outstanding(&config, None, rank).collect();
            assert_eq!(sent, outstanding);
            assert_eq!(bypassed.first(), outstanding.first());
        }
    }
}
