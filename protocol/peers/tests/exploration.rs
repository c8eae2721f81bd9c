//! Every order in which chunks and messages of two multicasts can arrive, be lost, be duplicated or be late,
//! while a receiver or the sender crashes or a receiver is withdrawn. docs/protocol/peers.md, "Multicast".
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Duration;

use inart_protocol_peers::{
    Copies, Cut, Message, Outcome, Receiver, ReceiverOptions, ReceiverOutput, Receivers, Sender,
    SenderOptions, SenderOutput, Task,
};
use inart_wire::Rank;
use stateright::{Checker, Model, Property};

const CHUNKS: u32 = 2;
const ROUNDS: u32 = 2;
/// Peers 1 and 2 receive, peer 0 sends.
const RECEIVERS: u16 = 2;
/// More ticks than a multicast may need.
const MOST_TICKS: u32 = 14;

/// Deliberate mistake that the checker must detect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// The sender does not retransmit requested chunks.
    NoRepairs,
    /// The sender never polls.
    NoPolls,
    /// A receiver takes chunks of an older round for those of the current round.
    RoundsMixed,
    /// A receiver places chunks in the order of their arrival.
    PlacedByArrival,
    /// A receiver reports completion when the last chunk arrives.
    CompleteByLast,
    /// The sender takes a report about the previous round for this one.
    OldComplete,
    /// A withdrawn receiver is not notified.
    SilentWithdrawal,
    /// A receiver hands an update over again after a second report of completion.
    HandedOverTwice,
}

/// Faults.
#[derive(Debug, Clone, Copy)]
struct Faults {
    losses: u32,
    repeats: u32,
    early_ticks: u32,
    deaths: &'static [u16],
    withdrawals: u32,
}

struct System {
    copies: Copies,
    faults: Faults,
    /// In ticks of the sender's first poll.
    patience: u32,
    mistake: Option<Mistake>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Packet {
    Chunk { round: u32, chunk: u32, to: u16 },
    Message { from: u16, to: u16, words: Vec<u32> },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    sender: Option<Sender>,
    receivers: Vec<Option<Receiver>>,
    /// In flight, sorted: they arrive in any order.
    packets: Vec<Packet>,
    now: Duration,
    ticks: u32,
    /// Receiver, round, words.
    received: Vec<(u16, u32, Vec<u32>)>,
    abandoned: Vec<(u16, u32)>,
    /// Receiver and round of each chunk, for mistakes that use them.
    arrived: Vec<(u16, u32)>,
    outcomes: Vec<Outcome>,
    /// Receivers to be notified of the sender's failure.
    unnotified: Vec<u16>,
    losses: u32,
    repeats: u32,
    early_ticks: u32,
    deaths: u32,
    withdrawals: u32,
    /// Receivers that were withdrawn, by round.
    withdrawn: Vec<(u16, u32)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Action {
    Begins,
    Sends,
    Arrives(usize),
    Lost(usize),
    Repeated(usize),
    Dies(u16),
    SenderGone(u16),
    Withdrawn(u16),
    Tick,
}

fn rank(number: u16) -> Rank {
    Rank::try_from(number).unwrap()
}

fn word(round: u32, chunk: u32) -> u32 {
    10 * round + chunk
}

fn words_of(message: &Message) -> Vec<u32> {
    let between = inart_protocol_peers::Envelope {
        from: rank(0),
        incarnation: 1.into(),
        to: rank(0),
        to_incarnation: 1.into(),
    };
    message.words(&between)
}

impl System {
    fn queue(&self, state: &mut State, from: u16, to: Rank, message: &Message) {
        let is_mistaken = match message {
            Message::Poll { .. } => self.mistake == Some(Mistake::NoPolls),
            Message::Withdrawn { .. } => self.mistake == Some(Mistake::SilentWithdrawal),
            _ => false,
        };
        if !is_mistaken {
            state.packets.push(Packet::Message { from, to: to.get(), words: words_of(message) });
        }
    }

    fn take_outputs(&self, state: &mut State) {
        while let Some(output) = state.sender.as_mut().and_then(Sender::next_output) {
            match output {
                SenderOutput::Send { to, message } => self.queue(state, 0, to, &message),
                SenderOutput::Ended(outcome) => {
                    state.outcomes.push(without_times(outcome));
                }
            }
        }
        for at in 1..=RECEIVERS {
            let next = |state: &mut State| state.receivers[usize::from(at)].as_mut()?.next_output();
            while let Some(output) = next(state) {
                match output {
                    ReceiverOutput::Send { to, message } => self.queue(state, at, to, &message),
                    ReceiverOutput::Received { round, words, .. } => state.received.push((at, round, words)),
                    ReceiverOutput::Abandoned { round, .. } => state.abandoned.push((at, round)),
                }
            }
        }
        state.packets.sort_unstable();
        state.received.sort_unstable();
        state.abandoned.sort_unstable();
    }

    fn arrive(&self, state: &mut State, packet: Packet) {
        let now = state.now;
        match packet {
            Packet::Chunk { round, chunk, to } => self.arrive_chunk(state, round, chunk, to),
            Packet::Message { from, to, words } => {
                let (_, message) = Message::parse(&words).unwrap();
                if to > 0 {
                    let Some(receiver) = &mut state.receivers[usize::from(to)] else { return };
                    let before = receiver.counters().complete;
                    receiver.message(rank(from), &message, now);
                    let poll = matches!(message, Message::Poll { .. });
                    if self.mistake == Some(Mistake::HandedOverTwice) && poll && before > 0 {
                        let (again, round) = (state.received.clone(), message.round());
                        state.received.extend(again.into_iter().filter(|at| at.0 == to && at.1 == round));
                    }
                    return;
                }
                let Some(sender) = &mut state.sender else { return };
                let message = match (self.mistake, message, sender.open_round()) {
                    (Some(Mistake::NoRepairs), Message::Missing { .. }, _) => return,
                    (Some(Mistake::OldComplete), Message::Complete { .. }, Some(round)) => {
                        Message::Complete { round }
                    }
                    (_, message, _) => message,
                };
                sender.message(rank(from), &message, now);
            }
        }
    }

    fn arrive_chunk(&self, state: &mut State, mut round: u32, chunk: u32, to: u16) {
        let value = word(round, chunk);
        let newest = state.received.iter().filter(|at| at.0 == to).map(|at| at.1).max();
        let Some(receiver) = &mut state.receivers[usize::from(to)] else { return };
        let mut place = chunk;
        match self.mistake {
            Some(Mistake::RoundsMixed) if newest == Some(1) && round == 1 => round = 2,
            Some(Mistake::PlacedByArrival) => {
                place = state.arrived.iter().filter(|&&at| at == (to, round)).count() as u32 % CHUNKS;
            }
            _ => {}
        }
        receiver.chunk(rank(0), round, place, [value].into_iter(), state.now);
        if self.mistake == Some(Mistake::PlacedByArrival) {
            state.arrived.push((to, round));
        }
        if self.mistake == Some(Mistake::CompleteByLast) && chunk + 1 == CHUNKS {
            self.queue(state, to, rank(0), &Message::Complete { round });
        }
    }

    fn send(&self, state: &mut State) {
        let now = state.now;
        let Some(sent) = state.sender.as_mut().and_then(|sender| sender.next_transmission(now)) else {
            return;
        };
        for at in sent.to.iter() {
            let (round, chunk, to) = (sent.round, sent.chunk, at.get());
            state.packets.push(Packet::Chunk { round, chunk, to });
            if let Copies::Sender { .. } = self.copies {
                // A connection accepts the chunk, and delivers it or breaks.
                state.sender.as_mut().unwrap().delivered(round, at, now);
            }
        }
        state.packets.sort_unstable();
    }

    fn can_send(&self, state: &State) -> bool {
        let mut sender = state.sender.clone();
        sender.as_mut().is_some_and(|sender| sender.next_transmission(state.now).is_some())
    }

    fn wake(&self, state: &State) -> Option<Duration> {
        let receivers = state.receivers.iter().flatten().filter_map(Receiver::wake_at);
        state.sender.as_ref().and_then(Sender::wake_at).into_iter().chain(receivers).min()
    }

    fn next_round(&self, state: &State) -> Option<u32> {
        let next = state.outcomes.len() as u32 + 1;
        let idle = state.sender.as_ref().is_some_and(|sender| sender.open_round().is_none());
        (idle && next <= ROUNDS).then_some(next)
    }

    /// Returns whether no further event is pending.
    fn is_over(&self, state: &State) -> bool {
        let sender_done = state.sender.is_none() || state.outcomes.len() as u32 == ROUNDS;
        sender_done && state.packets.is_empty() && state.unnotified.is_empty() && self.wake(state).is_none()
    }
}

impl Model for System {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let unit = Duration::from_secs(1);
        let options =
            SenderOptions { poll: unit, patience: unit * self.patience, ..SenderOptions::new(self.copies) };
        let cut = Cut::new(CHUNKS as usize, 1).unwrap();
        let asks =
            ReceiverOptions { reorder: unit, quiet: Some(unit * 2), asks_at_once: 1, ranges_per_ask: 4 };
        let receiver = |at| (at > 0).then(|| Receiver::new(vec![Some(cut), None, None], asks.clone()));
        vec![State {
            sender: Some(Sender::new(rank(0), 3, options)),
            receivers: (0..=RECEIVERS).map(receiver).collect(),
            packets: Vec::new(),
            now: Duration::ZERO,
            ticks: 0,
            received: Vec::new(),
            abandoned: Vec::new(),
            arrived: Vec::new(),
            outcomes: Vec::new(),
            unnotified: Vec::new(),
            losses: self.faults.losses,
            repeats: self.faults.repeats,
            early_ticks: self.faults.early_ticks,
            deaths: 1,
            withdrawals: self.faults.withdrawals,
            withdrawn: Vec::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if self.next_round(state).is_some() {
            actions.push(Action::Begins);
        }
        let can_send = self.can_send(state);
        if can_send {
            actions.push(Action::Sends);
        }
        let distinct = |at: &usize| *at == 0 || state.packets[at - 1] != state.packets[*at];
        let packets = || (0..state.packets.len()).filter(distinct);
        actions.extend(packets().map(Action::Arrives));
        if state.losses > 0 {
            actions.extend(packets().map(Action::Lost));
        }
        if state.repeats > 0 {
            actions.extend(packets().map(Action::Repeated));
        }
        if state.deaths > 0 {
            actions.extend(self.faults.deaths.iter().map(|&at| Action::Dies(at)));
        }
        actions.extend(state.unnotified.iter().map(|&at| Action::SenderGone(at)));
        if state.withdrawals > 0 {
            let waited = state.sender.as_ref().map(Sender::waited).unwrap_or_default();
            actions.extend(waited.iter().map(|at| Action::Withdrawn(at.get())));
        }
        let is_quiet = state.packets.is_empty() && !can_send && state.unnotified.is_empty();
        let due = is_quiet && self.next_round(state).is_none() || state.early_ticks > 0;
        if due && self.wake(state).is_some() && state.ticks < MOST_TICKS {
            actions.push(Action::Tick);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let now = state.now;
        match action {
            Action::Begins => {
                let round = self.next_round(last)?;
                let receivers = (1..=RECEIVERS).map(rank).collect();
                let task = Task { round, chunks: CHUNKS, receivers, rate_bps: f64::INFINITY };
                state.sender.as_mut()?.begin(&task, now).unwrap();
            }
            Action::Sends => self.send(&mut state),
            Action::Arrives(at) => {
                let packet = state.packets.remove(at);
                self.arrive(&mut state, packet);
            }
            Action::Lost(at) => {
                state.losses -= 1;
                state.packets.remove(at);
            }
            Action::Repeated(at) => {
                state.repeats -= 1;
                let packet = state.packets[at].clone();
                self.arrive(&mut state, packet);
            }
            Action::Dies(0) => {
                state.deaths -= 1;
                state.sender = None;
                state.unnotified = (1..=RECEIVERS).collect();
            }
            Action::Dies(at) => {
                state.deaths -= 1;
                state.receivers[usize::from(at)] = None;
            }
            Action::SenderGone(at) => {
                state.unnotified.retain(|&unnotified| unnotified != at);
                state.receivers[usize::from(at)].as_mut()?.peer_failed(rank(0));
            }
            Action::Withdrawn(at) => {
                state.withdrawals -= 1;
                let sender = state.sender.as_mut()?;
                state.withdrawn.push((at, sender.open_round()?));
                let left = sender.waited().iter().filter(|other| other.get() != at).collect();
                assert_eq!(sender.retain(&left, now), Receivers::default());
            }
            Action::Tick => {
                let is_quiet = state.packets.is_empty() && !self.can_send(&state);
                state.early_ticks -=
                    u32::from(!is_quiet || self.next_round(last).is_some()).min(state.early_ticks);
                state.ticks += 1;
                state.now = self.wake(last)?.max(now);
                let now = state.now;
                if let Some(sender) = &mut state.sender {
                    sender.tick(now);
                }
                state.receivers.iter_mut().flatten().for_each(|receiver| receiver.tick(now));
            }
        }
        self.take_outputs(&mut state);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a received update is complete and correct", |_, state: &State| {
                let update = |round| (0..CHUNKS).map(|chunk| word(round, chunk)).collect::<Vec<_>>();
                state.received.iter().all(|(_, round, words)| *words == update(*round))
            }),
            Property::always("each update is received once", |_, state: &State| {
                state.received.windows(2).all(|two| (two[0].0, two[0].1) != (two[1].0, two[1].1))
            }),
            Property::always("receivers reported as complete are complete", |_, state: &State| {
                let has = |at: Rank, round| state.received.iter().any(|is| (is.0, is.1) == (at.get(), round));
                state.outcomes.iter().all(|outcome| outcome.complete.iter().all(|at| has(at, outcome.round)))
            }),
            Property::always("each receiver is in one part of the outcome", |_, state: &State| {
                state.outcomes.iter().all(|outcome| {
                    let parts = [&outcome.complete, &outcome.withdrawn, &outcome.given_up];
                    (1..=RECEIVERS).all(|at| parts.iter().filter(|part| part.contains(rank(at))).count() == 1)
                })
            }),
            Property::always("only crashed receivers time out", |system: &System, state: &State| {
                let incarnations = |at: Rank| state.receivers[at.index()].is_some();
                system.patience == 1
                    || state.outcomes.iter().all(|outcome| !outcome.given_up.iter().any(incarnations))
            }),
            Property::always("only withdrawn receivers are reported as withdrawn", |_, state: &State| {
                let was = |at: Rank, round| state.withdrawn.contains(&(at.get(), round));
                state.outcomes.iter().all(|outcome| outcome.withdrawn.iter().all(|at| was(at, outcome.round)))
            }),
            Property::always("the multicast ends", |system: &System, state: &State| {
                let mut actions = Vec::new();
                system.actions(state, &mut actions);
                let can_proceed = actions.iter().any(|action| *action != Action::Tick);
                can_proceed || !actions.is_empty() && state.ticks < MOST_TICKS || system.is_over(state)
            }),
            Property::sometimes("something is asked for", |_, state: &State| {
                state.receivers.iter().flatten().any(|receiver| receiver.counters().asks > 0)
            }),
        ]
    }
}

const SWITCH: Copies = Copies::Switch { frame_bytes: 172 };
const NOTHING: Faults = Faults { losses: 0, repeats: 0, early_ticks: 0, deaths: &[], withdrawals: 0 };

fn broken(system: System) -> (Vec<&'static str>, usize) {
    let checker = system.checker().threads(2).spawn_bfs().join();
    let found: Vec<_> = checker.discoveries().into_keys().collect();
    let found = found.into_iter().filter(|name| *name != "something is asked for").collect();
    (found, checker.unique_state_count())
}

fn right(faults: Faults, patience: u32, copies: Copies, least: usize) {
    let (found, states) = broken(System { copies, faults, patience, mistake: None });
    eprintln!("{faults:?}, patience {patience}, {copies:?}: {states} states");
    assert_eq!(found, Vec::<&str>::new(), "{faults:?}, patience {patience}, {copies:?}");
    assert!(states >= least, "{states} states with {faults:?}");
}

#[test]
fn with_losses_and_repeats_every_receiver_has_every_update_once() {
    right(Faults { losses: 2, repeats: 0, ..NOTHING }, 30, SWITCH, 1_000);
    right(Faults { losses: 1, repeats: 1, ..NOTHING }, 30, SWITCH, 1_000);
}

#[test]
fn crashes_and_withdrawals_do_not_stop_the_others() {
    right(Faults { losses: 1, deaths: &[2], ..NOTHING }, 30, SWITCH, 1_000);
    right(Faults { losses: 1, deaths: &[0], ..NOTHING }, 30, SWITCH, 1_000);
    right(Faults { losses: 1, withdrawals: 1, ..NOTHING }, 30, SWITCH, 1_000);
}

#[test]
fn timers_that_end_early_break_nothing() {
    right(Faults { losses: 0, early_ticks: 1, ..NOTHING }, 30, SWITCH, 1_000);
    // Live receivers time out; the outcome lists them, and lists no wrong ones.
    right(Faults { losses: 0, early_ticks: 1, ..NOTHING }, 1, SWITCH, 1_000);
}

#[test]
fn copies_by_the_sender_end_the_same() {
    let copies = Copies::Sender { window: 1, chunk_bytes: 0 };
    right(Faults { losses: 1, withdrawals: 1, ..NOTHING }, 30, copies, 1_000);
    right(Faults { losses: 0, deaths: &[0, 2], ..NOTHING }, 30, copies, 500);
}

#[test]
fn each_mistake_is_noticed() {
    let lossy = Faults { losses: 1, ..NOTHING };
    let repeats = Faults { repeats: 1, ..NOTHING };
    let withdrawn = Faults { losses: 1, withdrawals: 1, ..NOTHING };
    let early = Faults { early_ticks: 1, ..NOTHING };
    let all_lost = Faults { losses: 2, ..NOTHING };
    for (mistake, faults, property) in [
        (Mistake::NoRepairs, lossy, "only crashed receivers time out"),
        (Mistake::NoPolls, all_lost, "only crashed receivers time out"),
        (Mistake::RoundsMixed, repeats, "a received update is complete and correct"),
        (Mistake::PlacedByArrival, NOTHING, "a received update is complete and correct"),
        (Mistake::CompleteByLast, lossy, "receivers reported as complete are complete"),
        (Mistake::OldComplete, repeats, "receivers reported as complete are complete"),
        (Mistake::SilentWithdrawal, withdrawn, "the multicast ends"),
        (Mistake::HandedOverTwice, early, "each update is received once"),
    ] {
        let (found, _) = broken(System { copies: SWITCH, faults, patience: 30, mistake: Some(mistake) });
        assert!(found.contains(&property), "{mistake:?}: {found:?}");
    }
}

/// Returns the outcome without its times.
fn without_times(outcome: Outcome) -> Outcome {
    Outcome { took: Duration::ZERO, passed: Duration::ZERO, times: BTreeMap::new(), ..outcome }
}
