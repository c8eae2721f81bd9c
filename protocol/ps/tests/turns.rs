//! Every order in which groups can be ready and chunks of their sums can arrive at two servers, which do not
//! communicate: turns of groups (`docs/protocol/ps.md`, T1 to T6), and two mistakes that this detects.
#![allow(clippy::print_stdout, reason = "a test prints what it found")]
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use inart_protocol_ps::{TurnError, TurnOutput, Turns};
use stateright::{Checker, Model, Property};

const SERVERS: usize = 2;

/// A server's turns, right or wrong.
trait Machine: Clone + Debug + PartialEq + Eq + Hash + Send + Sync + 'static {
    fn new(groups: usize, concurrent_groups: usize, chunks: usize) -> Self;
    fn ready(&mut self, group: usize);
    fn chunk(&mut self, group: usize, chunk: usize);
    fn next_output(&mut self) -> Option<TurnOutput>;
}

impl Machine for Turns {
    fn new(groups: usize, concurrent_groups: usize, chunks: usize) -> Self {
        Turns::new(groups, concurrent_groups, chunks).unwrap()
    }

    fn ready(&mut self, group: usize) {
        Turns::ready(self, group).unwrap();
    }

    fn chunk(&mut self, group: usize, chunk: usize) {
        Turns::chunk(self, group, chunk).unwrap();
    }

    fn next_output(&mut self) -> Option<TurnOutput> {
        Turns::next_output(self)
    }
}

/// A turn ends with its first chunk.
const EARLY: u8 = 1;
/// Chunks are applied on arrival.
const OUT_OF_TURN: u8 = 2;

/// An independent implementation of turns, with mistakes. A turn is removed when it is completely applied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Loose<const MISTAKE: u8> {
    concurrent_groups: usize,
    chunks: usize,
    ready: Vec<bool>,
    last: Vec<u64>,
    begun: u64,
    /// By turn: which chunks have arrived, and which are applied.
    open: BTreeMap<u64, (Vec<bool>, Vec<bool>)>,
    outputs: VecDeque<TurnOutput>,
}

impl<const MISTAKE: u8> Loose<MISTAKE> {
    fn begin(&mut self) {
        loop {
            let group = (self.begun % self.ready.len() as u64) as usize;
            let waits = |here: &Vec<bool>| match MISTAKE {
                EARLY => here.iter().all(|here| !here),
                _ => here.iter().any(|here| !here),
            };
            let pushing = self.open.values().filter(|(here, _)| waits(here)).count();
            if !self.ready[group] || pushing >= self.concurrent_groups {
                return;
            }
            self.ready[group] = false;
            self.open.insert(self.begun, (vec![false; self.chunks], vec![false; self.chunks]));
            self.outputs.push_back(TurnOutput::Begin { group, turn: self.begun });
            self.begun += 1;
        }
    }

    /// Applies the first chunk that may be, if any.
    fn apply(&mut self) -> bool {
        let groups = self.ready.len() as u64;
        for turn in self.open.keys().copied().collect::<Vec<_>>() {
            for chunk in 0..self.chunks {
                let (here, applied) = &self.open[&turn];
                let is_next =
                    MISTAKE == OUT_OF_TURN || self.open.range(..turn).all(|(_, (_, applied))| applied[chunk]);
                if !here[chunk] || applied[chunk] || !is_next {
                    continue;
                }
                let group = (turn % groups) as usize;
                self.open.get_mut(&turn).unwrap().1[chunk] = true;
                self.outputs.push_back(TurnOutput::Apply { group, chunk });
                if self.open[&turn].1.iter().all(|applied| *applied) {
                    self.open.remove(&turn);
                    let staleness = turn - self.last[group];
                    self.last[group] = turn + 1;
                    self.outputs.push_back(TurnOutput::End { group, turn, staleness });
                }
                return true;
            }
        }
        false
    }
}

impl<const MISTAKE: u8> Machine for Loose<MISTAKE> {
    fn new(groups: usize, concurrent_groups: usize, chunks: usize) -> Self {
        let (ready, last) = (vec![false; groups], vec![0; groups]);
        Loose {
            concurrent_groups,
            chunks,
            ready,
            last,
            begun: 0,
            open: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    fn ready(&mut self, group: usize) {
        self.ready[group] = true;
        self.begin();
    }

    fn chunk(&mut self, group: usize, chunk: usize) {
        let groups = self.ready.len() as u64;
        let of = self.open.iter_mut().find(|(turn, _)| **turn % groups == group as u64);
        of.unwrap().1.0[chunk] = true;
        while self.apply() {}
        self.begin();
    }

    fn next_output(&mut self) -> Option<TurnOutput> {
        self.outputs.pop_front()
    }
}

/// State of a group at a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct GroupAtServer {
    has_sent_ready: bool,
    is_begun: bool,
    sent: Vec<bool>,
    answered: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Group {
    iteration: u64,
    is_computing: bool,
    at: Vec<GroupAtServer>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State<M> {
    servers: Vec<M>,
    groups: Vec<Group>,
    /// By server and chunk: the groups whose chunk was applied, in order.
    applied: Vec<Vec<Vec<usize>>>,
    /// By server, chunk and group: how many were applied at the group's last answer.
    has: Vec<Vec<Vec<usize>>>,
    stalest: u64,
    wrong: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Computes(usize),
    IsReady(usize, usize),
    Arrives(usize, usize, usize),
}

struct Job<M> {
    groups: usize,
    concurrent_groups: usize,
    chunks: usize,
    iterations: u64,
    machine: PhantomData<M>,
}

impl<M: Machine> Job<M> {
    fn place(&self) -> GroupAtServer {
        let none = vec![false; self.chunks];
        GroupAtServer { sent: none.clone(), answered: none, ..GroupAtServer::default() }
    }

    fn settle(&self, state: &mut State<M>, server: usize) {
        while let Some(output) = state.servers[server].next_output() {
            match output {
                TurnOutput::Begin { group, .. } => {
                    let place = &mut state.groups[group].at[server];
                    if !place.has_sent_ready || std::mem::replace(&mut place.is_begun, true) {
                        state.wrong = Some("a turn of a group that is not ready");
                    }
                }
                TurnOutput::Apply { group, chunk } => {
                    let log = &mut state.applied[server][chunk];
                    let has = &mut state.has[server][chunk][group];
                    state.stalest = state.stalest.max((log.len() - *has) as u64);
                    log.push(group);
                    *has = log.len();
                    let place = &mut state.groups[group].at[server];
                    if !place.sent[chunk] || std::mem::replace(&mut place.answered[chunk], true) {
                        state.wrong = Some("a chunk is applied twice, or before it arrives");
                    }
                }
                TurnOutput::End { group, staleness, .. } => {
                    state.stalest = state.stalest.max(staleness);
                    if state.groups[group].at[server].answered.contains(&false) {
                        state.wrong = Some("a turn that ends before all is applied");
                    }
                }
            }
        }
        for group in &mut state.groups {
            if group.at.iter().all(|place| place.answered.iter().all(|answered| *answered)) {
                group.iteration += 1;
                group.is_computing = true;
                group.at = vec![self.place(); SERVERS];
            }
        }
    }

    /// Returns whether a server waits for chunks of `concurrent_groups` groups.
    fn pushing(state: &State<M>, server: usize) -> usize {
        let waits = |group: &&Group| group.at[server].is_begun && group.at[server].sent.contains(&false);
        state.groups.iter().filter(waits).count()
    }
}

impl<M: Machine> Model for Job<M> {
    type State = State<M>;
    type Action = Action;

    fn init_states(&self) -> Vec<State<M>> {
        let group = Group { iteration: 0, is_computing: true, at: vec![self.place(); SERVERS] };
        vec![State {
            servers: vec![M::new(self.groups, self.concurrent_groups, self.chunks); SERVERS],
            groups: vec![group; self.groups],
            applied: vec![vec![Vec::new(); self.chunks]; SERVERS],
            has: vec![vec![vec![0; self.groups]; self.chunks]; SERVERS],
            stalest: 0,
            wrong: None,
        }]
    }

    fn actions(&self, state: &State<M>, actions: &mut Vec<Action>) {
        for (number, group) in state.groups.iter().enumerate() {
            if group.iteration == self.iterations {
                continue;
            }
            if group.is_computing {
                actions.push(Action::Computes(number));
                continue;
            }
            // A group's workers have the sum of *ready* when all servers have answered.
            let may_push = group.at.iter().all(|place| place.is_begun);
            for (server, place) in group.at.iter().enumerate() {
                if !place.has_sent_ready {
                    actions.push(Action::IsReady(number, server));
                }
                let missing = (0..self.chunks).filter(|chunk| may_push && !place.sent[*chunk]);
                actions.extend(missing.map(|chunk| Action::Arrives(number, server, chunk)));
            }
        }
    }

    fn next_state(&self, last: &State<M>, action: Action) -> Option<State<M>> {
        let mut state = last.clone();
        match action {
            Action::Computes(group) => state.groups[group].is_computing = false,
            Action::IsReady(group, server) => {
                state.groups[group].at[server].has_sent_ready = true;
                state.servers[server].ready(group);
                self.settle(&mut state, server);
            }
            Action::Arrives(group, server, chunk) => {
                state.groups[group].at[server].sent[chunk] = true;
                state.servers[server].chunk(group, chunk);
                self.settle(&mut state, server);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("each is applied once, in its turn", |_, state: &State<M>| {
                state.wrong.is_none()
            }),
            Property::always("no more push at once", |job: &Job<M>, state: &State<M>| {
                (0..SERVERS).all(|server| Self::pushing(state, server) <= job.concurrent_groups)
            }),
            Property::always("all chunks at all servers have one sequence", |_, state: &State<M>| {
                let all = || state.applied.iter().flatten();
                let longest = all().max_by_key(|log| log.len()).unwrap();
                all().all(|log| longest.starts_with(log))
            }),
            Property::always("no sum is staler", |job: &Job<M>, state: &State<M>| {
                state.stalest < job.groups as u64
            }),
            Property::sometimes("a sum is as stale", |job: &Job<M>, state: &State<M>| {
                state.stalest == job.groups as u64 - 1
            }),
            Property::always("no group waits forever", |job: &Job<M>, state: &State<M>| {
                let mut actions = Vec::new();
                job.actions(state, &mut actions);
                !actions.is_empty() || state.groups.iter().all(|group| group.iteration == job.iterations)
            }),
        ]
    }
}

fn job<M: Machine>(groups: usize, concurrent_groups: usize, iterations: u64) -> Job<M> {
    Job { groups, concurrent_groups, chunks: 2, iterations, machine: PhantomData }
}

/// Returns the names of violated properties.
fn broken<M: Machine>(groups: usize, concurrent_groups: usize) -> Vec<&'static str> {
    let checker = job::<M>(groups, concurrent_groups, 2).checker().threads(2).spawn_bfs().join();
    let found = checker.discoveries().into_keys();
    found.filter(|name| *name != "a sum is as stale").collect()
}

#[test]
fn turns_are_in_order_at_all_servers_in_any_order_of_arrival() {
    for (groups, concurrent_groups, iterations) in [(1, 1, 3), (2, 1, 3), (2, 2, 3), (3, 1, 2), (3, 2, 2)] {
        let checker =
            job::<Turns>(groups, concurrent_groups, iterations).checker().threads(2).spawn_bfs().join();
        checker.assert_properties();
        println!("{groups} groups, {concurrent_groups} at once: {} states", checker.unique_state_count());
    }
}

#[test]
fn mistakes_are_noticed() {
    assert_eq!(broken::<Loose<0>>(3, 2), [""; 0], "without a mistake, the other code is right, too");
    assert_eq!(broken::<Loose<EARLY>>(2, 1), ["no more push at once"]);
    assert!(broken::<Loose<OUT_OF_TURN>>(2, 2).contains(&"all chunks at all servers have one sequence"));
}

#[test]
fn invalid_calls_are_named() {
    for (groups, concurrent_groups, chunks) in [(0, 1, 1), (2, 0, 1), (2, 3, 1), (2, 1, 0)] {
        assert_eq!(
            Turns::new(groups, concurrent_groups, chunks),
            Err(TurnError::Numbers { groups, concurrent_groups, chunks })
        );
    }
    let mut turns = Turns::new(2, 1, 2).unwrap();
    assert_eq!(turns.ready(2), Err(TurnError::NoGroup { group: 2, groups: 2 }));
    assert_eq!(turns.chunk(0, 0), Err(TurnError::OutOfTurn(0)));
    turns.ready(1).unwrap();
    assert_eq!(turns.ready(1), Err(TurnError::Twice(1)));
    assert_eq!(turns.chunk(1, 0), Err(TurnError::OutOfTurn(1)), "the first turn is the other group's");
    turns.ready(0).unwrap();
    assert_eq!(turns.ready(0), Err(TurnError::Twice(0)), "its turn is open");
    assert_eq!(turns.chunk(0, 2), Err(TurnError::Chunk { group: 0, chunk: 2 }));
    turns.chunk(0, 1).unwrap();
    assert_eq!(turns.chunk(0, 1), Err(TurnError::Chunk { group: 0, chunk: 1 }));
    assert_eq!((turns.version(), turns.pushing(), turns.next_group()), (0, 1, 1));
    turns.chunk(0, 0).unwrap();
    assert_eq!((turns.version(), turns.pushing(), turns.next_group()), (1, 1, 0), "group 1 pushes now");
}

#[test]
fn turns_wait_for_groups_that_push_and_the_next_one() {
    let mut turns = Turns::new(3, 2, 1).unwrap();
    assert_eq!(turns.awaited(), [0], "group 0 has the first turn");
    turns.ready(2).unwrap();
    assert_eq!(turns.awaited(), [0]);
    turns.ready(0).unwrap();
    assert_eq!(turns.awaited(), [0, 1], "two may push at once");
    turns.ready(1).unwrap();
    assert_eq!(turns.awaited(), [0, 1], "both push");
    turns.chunk(1, 0).unwrap();
    assert_eq!(turns.awaited(), [0, 2], "the third one pushes");
    turns.chunk(0, 0).unwrap();
    assert_eq!(turns.awaited(), [2, 0]);
}
