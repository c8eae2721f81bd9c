//! Every order in which policies can reach three sites during rounds: all sites follow one policy in each
//! round, and no site waits for a policy. docs/protocol/sites.md, S8.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_protocol_sites::{
    BeginError, ChunkNo, ChunkTransfer, Direction, MOST_OFFERS, Output, Sending, Site, SiteNo,
    TransmissionPolicy, Tree, TreeNo,
};
use stateright::{Checker, Model, Property};

const SITES: u16 = 3;
const ROUNDS: u32 = 4;
const NEWEST: u64 = 2;

type Sum = [i64; 1];

/// Possible mistakes of an implementation; the checker must detect each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// Site that follows the newest policy that it holds.
    OwnNewest,
    /// Root that decides for the newest policy that it holds.
    RootsNewest,
}

/// Events that must happen in some order.
const REACHED: [&str; 3] =
    ["a newer policy is followed", "policies follow each other", "a policy is passed over"];

struct Offering(Option<Mistake>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    sites: Vec<Site<Sum>>,
    rounds: Vec<u32>,
    /// Newest version that was offered to each site.
    newest: Vec<u64>,
    transfers: Vec<ChunkTransfer<Sum>>,
    /// Offers in flight: version, site.
    offers: Vec<(u64, u16)>,
    /// Version that each site followed, by round and site.
    followed: Vec<(u32, u16, u64)>,
    complete: Vec<(u16, u32, i64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Action {
    Arrives(usize),
    Offered(usize),
    Begins(u16),
}

/// A chain towards a root that changes with the version.
fn policy(version: u64) -> Arc<TransmissionPolicy> {
    let root = (version % u64::from(SITES)) as u16;
    let next = |at: u16| (at != root).then_some(SiteNo((at + 1) % SITES));
    let parents: Vec<_> = (0..SITES).map(next).collect();
    Arc::new(TransmissionPolicy {
        version,
        sites: (0..SITES).map(SiteNo).collect(),
        trees: vec![Tree { root: SiteNo(root), up: parents.clone(), down: parents }],
        chunk_trees: vec![TreeNo(0)],
        routes: BTreeMap::new(),
        auxiliary: BTreeMap::new(),
    })
}

fn own(site: u16, round: u32) -> Sum {
    [10i64.pow(site.into()) * i64::from(1 + round)]
}

impl Offering {
    fn begun(&self, state: &mut State, site: u16, round: u32) {
        let at = usize::from(site);
        state.rounds[at] = round;
        state.followed.push((round, site, state.sites[at].policy_version()));
        state.followed.sort_unstable();
        state.sites[at].contribute(ChunkNo(0), own(site, round));
        self.take_outputs(state, site);
    }

    fn begin_next(&self, state: &mut State, site: u16) -> Option<()> {
        let at = usize::from(site);
        let round = match self.0 {
            Some(Mistake::OwnNewest) => {
                let round = state.rounds[at] + 1;
                state.sites[at].begin(round, policy(state.newest[at])).ok()?;
                round
            }
            _ => state.sites[at].begin_next().ok()?,
        };
        self.begun(state, site, round);
        Some(())
    }

    fn take_outputs(&self, state: &mut State, site: u16) {
        let at = usize::from(site);
        while let Some(output) = state.sites[at].next_output() {
            match output {
                Output::Send { next, mut transfer } => {
                    if self.0 == Some(Mistake::RootsNewest) && transfer.direction == Direction::Pull {
                        let is_root = policy(transfer.version).trees[0].root.0 == site;
                        transfer.policies = if is_root { vec![state.newest[at]] } else { transfer.policies };
                    }
                    state.transfers.push(transfer);
                    state.sites[at].sent(next);
                }
                Output::Complete { data, .. } => state.complete.push((site, state.rounds[at], data[0])),
                Output::Ask { .. } => panic!("no site asks here"),
            }
        }
        state.transfers.sort_unstable();
        state.complete.sort_unstable();
    }
}

impl Model for Offering {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State {
            sites: (0..SITES).map(|at| Site::new(SiteNo(at), Sending::AtOnce)).collect(),
            rounds: vec![0; SITES.into()],
            newest: vec![0; SITES.into()],
            transfers: Vec::new(),
            offers: (1..=NEWEST).flat_map(|version| (0..SITES).map(move |site| (version, site))).collect(),
            followed: Vec::new(),
            complete: Vec::new(),
        };
        for site in 0..SITES {
            state.sites[usize::from(site)].begin(0, policy(0)).unwrap();
            self.begun(&mut state, site, 0);
        }
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend((0..state.transfers.len()).map(Action::Arrives));
        actions.extend((0..state.offers.len()).map(Action::Offered));
        let ready = |site: &u16| {
            let at = usize::from(*site);
            state.sites[at].is_complete() && state.rounds[at] + 1 < ROUNDS
        };
        actions.extend((0..SITES).filter(ready).map(Action::Begins));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Arrives(at) => {
                let transfer = state.transfers.remove(at);
                let site = transfer.to.0;
                state.sites[usize::from(site)].receive(transfer);
                self.take_outputs(&mut state, site);
            }
            Action::Offered(at) => {
                // A policy older than the active one is refused without other effects.
                let (version, site) = state.offers.remove(at);
                let taken = state.sites[usize::from(site)].offer(policy(version)).is_ok();
                let newest = &mut state.newest[usize::from(site)];
                *newest = if taken { version.max(*newest) } else { *newest };
            }
            Action::Begins(site) => self.begin_next(&mut state, site)?,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a round has one policy", |_, state: &State| {
                state.followed.windows(2).all(|two| two[0].0 != two[1].0 || two[0].2 == two[1].2)
            }),
            Property::always("every sum is that of all sites", |_, state: &State| {
                let sum = |round| (0..SITES).map(|site| own(site, round)[0]).sum::<i64>();
                state.complete.iter().all(|&(_, round, is)| is == sum(round))
            }),
            // This also holds if offers are never delivered: a round needs none.
            Property::always("no site waits forever", |model: &Offering, state: &State| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                let makes_progress = |action: Action| match action {
                    Action::Offered(_) => false,
                    Action::Arrives(_) => true,
                    Action::Begins(site) => model.begin_next(&mut state.clone(), site).is_some(),
                };
                state.complete.len() == usize::from(SITES) * ROUNDS as usize
                    || actions.into_iter().any(makes_progress)
            }),
            Property::sometimes("a newer policy is followed", |_, state: &State| {
                state.followed.iter().any(|followed| followed.2 == NEWEST)
            }),
            Property::sometimes("policies follow each other", |_, state: &State| {
                let version = |round| state.followed.iter().find(|f| f.0 == round).map(|f| f.2);
                version(2) == Some(1) && version(3) == Some(NEWEST)
            }),
            Property::sometimes("a policy is passed over", |_, state: &State| {
                let version = |round| state.followed.iter().find(|f| f.0 == round).map(|f| f.2);
                version(1) == Some(0) && version(2) == Some(NEWEST)
            }),
        ]
    }
}

fn broken(mistake: Option<Mistake>) -> Vec<&'static str> {
    let checker = Offering(mistake).checker().threads(2).spawn_bfs().join();
    if mistake.is_none() {
        assert!(checker.unique_state_count() > 1_000, "{} states", checker.unique_state_count());
        REACHED.iter().for_each(|name| drop(checker.assert_any_discovery(name)));
    }
    checker.discoveries().into_keys().filter(|name| !REACHED.contains(name)).collect()
}

#[test]
fn in_every_order_of_offers_all_sites_follow_the_same_policy() {
    assert_eq!(broken(None), Vec::<&str>::new());
}

#[test]
fn each_mistake_is_noticed() {
    for mistake in [Mistake::OwnNewest, Mistake::RootsNewest] {
        let found = broken(Some(mistake));
        assert!(!found.is_empty(), "{mistake:?}");
    }
}

/// Returns a policy of only this site.
fn alone(version: u64) -> Arc<TransmissionPolicy> {
    let mut policy = TransmissionPolicy::clone(&policy(version));
    policy.sites = vec![SiteNo(0)];
    policy.trees = vec![Tree { root: SiteNo(0), up: vec![None], down: vec![None] }];
    Arc::new(policy)
}

#[test]
fn advertised_policies_are_held_until_the_round_is_decided() {
    // Site 0 is a leaf below site 1, by policy 2.
    let mut site = Site::<Sum>::new(SiteNo(0), Sending::AtOnce);
    site.begin(0, policy(2)).unwrap();
    site.offer(policy(3)).unwrap();
    site.contribute(ChunkNo(0), [1]);
    let Some(Output::Send { mut transfer, .. }) = site.next_output() else { panic!("nothing is pushed") };
    assert_eq!(transfer.policies, [3]);
    // More offers than a site holds arrive before the decision, which is for the advertised one.
    (4..10 + MOST_OFFERS as u64).for_each(|version| site.offer(policy(version)).unwrap());
    (transfer.direction, transfer.from, transfer.to) = (Direction::Pull, SiteNo(1), SiteNo(0));
    site.receive(transfer);
    assert_eq!(site.begin_next(), Ok(1));
    assert_eq!(site.policy_version(), 3);
}

#[test]
fn refused_offers_and_rounds_name_the_reason() {
    let mut site = Site::<Sum>::new(SiteNo(0), Sending::AtOnce);
    assert_eq!(site.begin_next(), Err(BeginError::NotBegun));
    site.begin(0, alone(5)).unwrap();
    assert_eq!(site.begin_next(), Err(BeginError::GoesOn { round: 0 }));
    assert_eq!(site.offer(alone(5)), Err(BeginError::Older { asked: 5, current: 5 }));
    let mut other = TransmissionPolicy::clone(&policy(6));
    other.sites = vec![SiteNo(1), SiteNo(2)];
    other.trees[0].up = vec![None, Some(SiteNo(2)), None];
    other.trees[0].down = other.trees[0].up.clone();
    other.trees[0].root = SiteNo(2);
    assert_eq!(site.offer(Arc::new(other)), Err(BeginError::Absent { version: 6, site: 0 }));
    site.contribute(ChunkNo(0), [1]);
    assert_eq!(site.begin_next(), Ok(1));
    assert_eq!(site.policy_version(), 5);
}

#[test]
fn a_decision_for_a_policy_that_was_never_offered_is_an_error() {
    let mut site = Site::<Sum>::new(SiteNo(0), Sending::AtOnce);
    site.begin(0, policy(2)).unwrap();
    site.contribute(ChunkNo(0), [1]);
    let Some(Output::Send { mut transfer, .. }) = site.next_output() else { panic!("nothing is pushed") };
    (transfer.direction, transfer.from, transfer.to) = (Direction::Pull, SiteNo(1), SiteNo(0));
    transfer.policies.clear();
    site.receive(transfer.clone());
    assert_eq!((site.counters().strange, site.is_complete()), (1, false));
    transfer.policies = vec![7];
    site.receive(transfer);
    assert_eq!(site.begin_next(), Err(BeginError::NotHeld { version: 7, site: 0 }));
}
