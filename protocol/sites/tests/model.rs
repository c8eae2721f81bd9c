//! Every order in which chunks of two rounds can arrive at three sites: one of them twice, some in the round
//! before theirs. The policy changes between the rounds. docs/protocol/sites.md.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_protocol_sites::{
    ChunkNo, ChunkTransfer, Output, Sending, Site, SiteNo, TransmissionPolicy, Tree, TreeNo,
};
use stateright::{Checker, Model, Property};

const SITES: u16 = 3;
const ROUNDS: u32 = 2;
const CHUNKS: u32 = 2;

type Sum = [i64; 1];

/// Possible mistakes of an implementation; the checker must detect each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// Chunk that is dropped because it arrives before its round, as in the NETSTORM paper's released code.
    EarlyDropped,
    /// Chunk that arrives before its round and is added to the active round.
    EarlyAdded,
    /// Site that starts the second round by the first policy.
    PoliciesDiffer,
    /// Site that starts the next round before it has all sums.
    BegunTooEarly,
    /// Site that sends its gradient of the previous round.
    OldGradient,
}

/// Line of three sites: one tree goes up it, one down.
struct Line(Option<Mistake>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    sites: Vec<Site<Sum>>,
    rounds: Vec<u32>,
    /// Chunks in flight, sorted: they arrive in any order.
    transfers: Vec<ChunkTransfer<Sum>>,
    /// Completed sums that sites reported: site, round, chunk, sum.
    complete: Vec<(u16, u32, u32, i64)>,
    repeats_left: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Action {
    Arrives(usize),
    /// Arrival of a chunk that is resent: the connection failed before the acknowledgement.
    ArrivesAndStays(usize),
    Begins(u16),
}

fn policy(version: u64) -> Arc<TransmissionPolicy> {
    let line = [Some(SiteNo(1)), Some(SiteNo(2)), None];
    let back = [None, Some(SiteNo(0)), Some(SiteNo(1))];
    let tree = |root: u16, parents: [Option<SiteNo>; 3]| Tree {
        root: SiteNo(root),
        up: parents.to_vec(),
        down: parents.to_vec(),
    };
    Arc::new(TransmissionPolicy {
        version,
        sites: (0..SITES).map(SiteNo).collect(),
        trees: vec![tree(2, line), tree(0, back)],
        // The policy changes the trees of chunks.
        chunk_trees: (0..CHUNKS).map(|chunk| TreeNo(((u64::from(chunk) + version) % 2) as u16)).collect(),
        routes: BTreeMap::new(),
        auxiliary: BTreeMap::new(),
    })
}

fn own(site: u16, round: u32, chunk: u32) -> Sum {
    [10i64.pow(u32::from(site)) * i64::from(1 + round * CHUNKS + chunk)]
}

impl Line {
    fn begin(&self, state: &mut State, site: u16, round: u32) {
        let late = self.0 == Some(Mistake::PoliciesDiffer) && site == 0;
        let version = if late { 0 } else { round.into() };
        let at = usize::from(site);
        state.sites[at].begin(round, policy(version)).unwrap();
        state.rounds[at] = round;
        let of = if self.0 == Some(Mistake::OldGradient) && site == 1 { 0 } else { round };
        for chunk in 0..CHUNKS {
            state.sites[at].contribute(ChunkNo(chunk), own(site, of, chunk));
        }
        self.take_outputs(state, site);
    }

    fn take_outputs(&self, state: &mut State, site: u16) {
        let (at, round) = (usize::from(site), state.rounds[usize::from(site)]);
        while let Some(output) = state.sites[at].next_output() {
            match output {
                Output::Send { next, transfer } => {
                    assert_eq!(next, transfer.to);
                    state.transfers.push(transfer);
                    state.sites[at].sent(next);
                }
                Output::Complete { chunk, data } => state.complete.push((site, round, chunk.0, data[0])),
                Output::Ask { .. } => panic!("no site asks here"),
            }
        }
        state.transfers.sort_unstable();
        state.complete.sort_unstable();
    }

    fn arrive(&self, state: &mut State, mut transfer: ChunkTransfer<Sum>) {
        let site = transfer.to.0;
        let current = state.rounds[usize::from(site)];
        if transfer.round > current {
            match self.0 {
                Some(Mistake::EarlyDropped) => return,
                Some(Mistake::EarlyAdded) => (transfer.round, transfer.version) = (current, current.into()),
                _ => {}
            }
        }
        state.sites[usize::from(site)].receive(transfer);
        self.take_outputs(state, site);
    }

    fn may_begin(&self, state: &State, site: usize) -> bool {
        let whole = state.sites[site].is_complete() || self.0 == Some(Mistake::BegunTooEarly);
        whole && state.rounds[site] + 1 < ROUNDS
    }
}

impl Model for Line {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State {
            sites: (0..SITES).map(|at| Site::new(SiteNo(at), Sending::AtOnce)).collect(),
            rounds: vec![0; SITES.into()],
            transfers: Vec::new(),
            complete: Vec::new(),
            repeats_left: 1,
        };
        (0..SITES).for_each(|site| self.begin(&mut state, site, 0));
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend((0..state.transfers.len()).map(Action::Arrives));
        if state.repeats_left > 0 {
            actions.extend((0..state.transfers.len()).map(Action::ArrivesAndStays));
        }
        let ready = (0..SITES).filter(|&site| self.may_begin(state, site.into()));
        actions.extend(ready.map(Action::Begins));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Arrives(at) => {
                let transfer = state.transfers.remove(at);
                self.arrive(&mut state, transfer);
            }
            Action::ArrivesAndStays(at) => {
                state.repeats_left -= 1;
                let transfer = state.transfers[at].clone();
                self.arrive(&mut state, transfer);
            }
            Action::Begins(site) => self.begin(&mut state, site, last.rounds[usize::from(site)] + 1),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every sum is that of all sites", |_, state: &State| {
                let sum = |round, chunk| (0..SITES).map(|site| own(site, round, chunk)[0]).sum::<i64>();
                state.complete.iter().all(|&(_, round, chunk, is)| is == sum(round, chunk))
            }),
            Property::always("a site reports a chunk once", |_, state: &State| {
                state.complete.windows(2).all(|two| two[0].0 != two[1].0 || two[0] != two[1])
            }),
            Property::always("no site waits forever", |line: &Line, state: &State| {
                let mut actions = Vec::new();
                line.actions(state, &mut actions);
                let all = usize::from(SITES) * (ROUNDS * CHUNKS) as usize;
                !actions.is_empty() || state.complete.len() == all
            }),
            Property::sometimes("a site is a round ahead of another", |_, state: &State| {
                state.rounds.iter().max() != state.rounds.iter().min()
            }),
        ]
    }
}

fn broken(mistake: Option<Mistake>) -> Vec<&'static str> {
    let checker = Line(mistake).checker().threads(2).spawn_bfs().join();
    if mistake.is_none() {
        assert!(checker.unique_state_count() > 1_000, "{} states", checker.unique_state_count());
    }
    let found: Vec<_> = checker.discoveries().into_keys().collect();
    found.into_iter().filter(|name| *name != "a site is a round ahead of another").collect()
}

#[test]
fn in_every_order_every_site_has_every_sum_once() {
    assert_eq!(broken(None), Vec::<&str>::new());
    Line(None).checker().spawn_bfs().join().assert_any_discovery("a site is a round ahead of another");
}

#[test]
fn each_mistake_is_noticed() {
    for (mistake, property) in [
        (Mistake::EarlyDropped, "no site waits forever"),
        (Mistake::EarlyAdded, "no site waits forever"),
        (Mistake::PoliciesDiffer, "no site waits forever"),
        (Mistake::BegunTooEarly, "no site waits forever"),
        (Mistake::OldGradient, "every sum is that of all sites"),
    ] {
        let found = broken(Some(mistake));
        assert!(found.contains(&property), "{mistake:?}: {found:?}");
    }
}
