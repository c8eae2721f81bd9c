//! Every order of arrivals with a lost chunk and a restarted site: all sites end with the right sums of every
//! round, because they send requests. docs/protocol/sites.md, S9.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_protocol_sites::{
    Ask, ChunkNo, ChunkTransfer, Direction, Output, Sending, Site, SiteNo, TransmissionPolicy, Tree, TreeNo,
};
use stateright::{Checker, HasDiscoveries, Model, Property};

const SITES: u16 = 3;
const ROUNDS: u32 = 2;

type Sum = [i64; 1];

/// Possible mistakes of an implementation; the checker must detect each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// Restarted site that contributes another gradient than before.
    NewGradient,
    /// Sites that send no requests.
    NoRequests,
    /// Site that answers with its pushed sum as if it were complete.
    PartialAnswer,
    /// Restarted site that joins the latest round of the others.
    JoinsLatest,
    /// Site that discards the sums of a round when it starts the next one.
    Forgets,
}

struct Repair {
    root: u16,
    mistake: Option<Mistake>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    sites: Vec<Site<Sum>>,
    transfers: Vec<ChunkTransfer<Sum>>,
    asks: Vec<Ask>,
    complete: BTreeSet<(u16, u32, i64)>,
    losses_left: u32,
    restarts_left: u32,
    asks_left: u32,
    /// Version of each site's gradients; a restart may change it.
    incarnations: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Action {
    Arrives(usize),
    Lost(usize),
    Asked(usize),
    Restarts(u16),
    Begins(u16),
    /// Requests of all sites with missing chunks, when nothing is in flight.
    Ask(usize),
}

impl Repair {
    /// Returns the policy of the line 0-1-2.
    fn policy(&self) -> Arc<TransmissionPolicy> {
        let towards = |at: u16| match at.cmp(&self.root) {
            std::cmp::Ordering::Less => Some(SiteNo(at + 1)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(SiteNo(at - 1)),
        };
        let parents: Vec<_> = (0..SITES).map(towards).collect();
        Arc::new(TransmissionPolicy {
            version: 0,
            sites: (0..SITES).map(SiteNo).collect(),
            trees: vec![Tree { root: SiteNo(self.root), up: parents.clone(), down: parents }],
            chunk_trees: vec![TreeNo(0)],
            routes: BTreeMap::new(),
            auxiliary: BTreeMap::new(),
        })
    }

    fn own(site: u16, round: u32, incarnation: u32) -> Sum {
        [10i64.pow(site.into()) * i64::from(1 + round + incarnation)]
    }

    fn begin(&self, state: &mut State, site: u16, round: u32) {
        let at = usize::from(site);
        if self.mistake == Some(Mistake::Forgets) {
            let mut fresh = Site::new(SiteNo(site), Sending::AtOnce);
            fresh.begin(round, self.policy()).unwrap();
            state.sites[at] = fresh;
        } else {
            state.sites[at].begin(round, self.policy()).unwrap();
        }
        state.sites[at].contribute(ChunkNo(0), Self::own(site, round, state.incarnations[at]));
        self.take_outputs(state, site);
    }

    fn take_outputs(&self, state: &mut State, site: u16) {
        let at = usize::from(site);
        while let Some(output) = state.sites[at].next_output() {
            match output {
                Output::Send { next, transfer } => {
                    state.transfers.push(transfer);
                    state.sites[at].sent(next);
                }
                Output::Ask { ask, .. } => state.asks.push(ask),
                Output::Complete { data, .. } => {
                    state.complete.insert((site, state.sites[at].round().unwrap(), data[0]));
                }
            }
        }
        state.transfers.sort_unstable();
        state.asks.sort_unstable();
    }

    fn restart(&self, state: &mut State, site: u16) {
        let others = (0..SITES).filter(|&other| other != site);
        let rounds = others.map(|other| state.sites[usize::from(other)].round().unwrap());
        let round = match self.mistake {
            Some(Mistake::JoinsLatest) => rounds.max(),
            _ => rounds.min(),
        };
        let at = usize::from(site);
        state.sites[at] = Site::new(SiteNo(site), Sending::AtOnce);
        state.incarnations[at] += u32::from(self.mistake == Some(Mistake::NewGradient));
        // Its connections have closed: messages in flight to it are lost.
        state.transfers.retain(|transfer| transfer.to.0 != site);
        state.asks.retain(|ask| ask.to.0 != site);
        self.begin(state, site, round.unwrap());
    }

    fn may_ask(&self, state: &State) -> bool {
        let quiet = state.transfers.is_empty() && state.asks.is_empty();
        let some = state.sites.iter().any(|site| !site.is_complete());
        quiet && some && self.mistake != Some(Mistake::NoRequests)
    }

    /// Answers a request.
    fn asked(&self, state: &mut State, ask: Ask) {
        let at = usize::from(ask.to.0);
        let (to, from) = (ask.to, ask.from);
        let before = state.transfers.len();
        state.sites[at].asked(ask);
        self.take_outputs(state, to.0);
        if self.mistake == Some(Mistake::PartialAnswer) && state.transfers.len() > before {
            let mut answers = state.transfers.iter_mut();
            if let Some(answer) = answers.find(|p| (p.from, p.to, p.direction) == (to, from, Direction::Push))
            {
                (answer.direction, answer.policies) = (Direction::Answer, vec![0]);
            }
        }
    }
}

impl Model for Repair {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State {
            sites: (0..SITES).map(|at| Site::new(SiteNo(at), Sending::AtOnce)).collect(),
            transfers: Vec::new(),
            asks: Vec::new(),
            complete: BTreeSet::new(),
            losses_left: 1,
            restarts_left: 1,
            asks_left: 2,
            incarnations: vec![0; SITES.into()],
        };
        (0..SITES).for_each(|site| self.begin(&mut state, site, 0));
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend((0..state.transfers.len()).map(Action::Arrives));
        actions.extend((0..state.asks.len()).map(Action::Asked));
        if state.losses_left > 0 {
            actions.extend((0..state.transfers.len()).map(Action::Lost));
        }
        if state.restarts_left > 0 {
            actions.extend((0..SITES).map(Action::Restarts));
        }
        let ready = |site: &u16| {
            let site = &state.sites[usize::from(*site)];
            site.is_complete() && site.round().unwrap() + 1 < ROUNDS
        };
        actions.extend((0..SITES).filter(ready).map(Action::Begins));
        if self.may_ask(state) && state.asks_left > 0 {
            actions.extend((0..2).map(Action::Ask));
        }
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
            Action::Lost(at) => {
                state.transfers.remove(at);
                state.losses_left -= 1;
            }
            Action::Asked(at) => {
                let ask = state.asks.remove(at);
                self.asked(&mut state, ask);
            }
            Action::Restarts(site) => {
                state.restarts_left -= 1;
                self.restart(&mut state, site);
            }
            Action::Begins(site) => {
                let round = state.sites[usize::from(site)].round().unwrap() + 1;
                self.begin(&mut state, site, round);
            }
            Action::Ask(attempt) => {
                state.asks_left -= 1;
                for site in 0..SITES {
                    state.sites[usize::from(site)].ask(attempt, &neighbors(site));
                    self.take_outputs(&mut state, site);
                }
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every sum is that of all sites", |_, state: &State| {
                let sum = |round| (0..SITES).map(|site| Repair::own(site, round, 0)[0]).sum::<i64>();
                state.complete.iter().all(|&(_, round, is)| is == sum(round))
            }),
            Property::always("no site waits forever", |model: &Repair, state: &State| {
                let is_done =
                    state.sites.iter().all(|site| site.is_complete() && site.round() == Some(ROUNDS - 1));
                is_done || model.ends(state)
            }),
        ]
    }
}

impl Repair {
    /// Whether requests advance the round, in a state where nothing is in flight and no site can start one.
    /// Other states advance without requests.
    fn ends(&self, state: &State) -> bool {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        if actions.iter().any(|action| !matches!(action, Action::Ask(_) | Action::Restarts(_))) {
            return true;
        }
        // The owner repeats requests with a rising attempt until a chunk arrives.
        (0..4).any(|attempt| {
            let mut state = state.clone();
            for site in 0..SITES {
                if self.may_ask(&state) || site > 0 {
                    state.sites[usize::from(site)].ask(attempt, &neighbors(site));
                    self.take_outputs(&mut state, site);
                }
            }
            let before: Vec<_> = state.sites.iter().map(held).collect();
            while let Some(ask) = state.asks.pop() {
                self.asked(&mut state, ask);
            }
            while let Some(transfer) = state.transfers.pop() {
                let site = transfer.to.0;
                state.sites[usize::from(site)].receive(transfer);
                self.take_outputs(&mut state, site);
            }
            self.mistake != Some(Mistake::NoRequests)
                && before != state.sites.iter().map(held).collect::<Vec<_>>()
        })
    }
}

/// Returns the neighbors of a site on the line.
fn neighbors(site: u16) -> Vec<SiteNo> {
    (0..SITES).filter(|other| other.abs_diff(site) == 1).map(SiteNo).collect()
}

/// Returns the state that changes when a missing chunk arrives.
fn held(site: &Site<Sum>) -> (Option<u32>, bool, u64) {
    let seen = site.counters();
    (site.round(), site.is_complete(), seen.early)
}

/// Returns the violated properties, up to the first one found, and the number of visited states.
fn broken(root: u16, mistake: Option<Mistake>) -> (Vec<&'static str>, usize) {
    let checker = Repair { root, mistake }.checker().threads(2).finish_when(HasDiscoveries::Any);
    let checker = checker.spawn_bfs().join();
    (checker.discoveries().into_keys().collect(), checker.unique_state_count())
}

#[test]
fn in_every_order_a_loss_and_a_restart_are_repaired() {
    for root in 0..SITES {
        let (found, states) = broken(root, None);
        assert_eq!(found, Vec::<&str>::new(), "root {root}");
        assert!(states > 1_000, "{states} states");
    }
}

#[test]
fn each_mistake_is_noticed() {
    for mistake in [
        Mistake::NewGradient,
        Mistake::NoRequests,
        Mistake::PartialAnswer,
        Mistake::JoinsLatest,
        Mistake::Forgets,
    ] {
        let is_noticed = (0..SITES).any(|root| !broken(root, Some(mistake)).0.is_empty());
        assert!(is_noticed, "{mistake:?}");
    }
}

#[test]
fn a_detour_avoids_a_failed_link() {
    let repair = Repair { root: 2, mistake: None };
    let mut site = Site::<Sum>::new(SiteNo(1), Sending::InOrder { on_link: 1 });
    site.begin(0, repair.policy()).unwrap();
    site.contribute(ChunkNo(0), [1]);
    let push = ChunkTransfer {
        round: 0,
        version: 0,
        chunk: ChunkNo(0),
        direction: Direction::Push,
        from: SiteNo(0),
        to: SiteNo(1),
        path: 0,
        route: Vec::new(),
        policies: Vec::new(),
        data: [2],
    };
    site.receive(push.clone());
    let Some(Output::Send { next: SiteNo(2), transfer }) = site.next_output() else { panic!("no push") };
    // The link to 2 fails while the chunk is on it; 0 is on a detour.
    site.link_down(SiteNo(2), Some(vec![SiteNo(1), SiteNo(0), SiteNo(7), SiteNo(2)]));
    site.failed(SiteNo(2), transfer);
    let Some(Output::Send { next, transfer }) = site.next_output() else { panic!("no detour") };
    assert_eq!((next, &*transfer.route), (SiteNo(0), &[SiteNo(7), SiteNo(2)][..]));
    // Forwarded chunks take no detour, and own requests do.
    site.receive(ChunkTransfer { from: SiteNo(9), to: SiteNo(2), route: vec![SiteNo(2)], ..push.clone() });
    assert_eq!((site.next_output(), site.counters().lost), (None, 1));
    site.ask(0, &[]);
    let asked = Ask {
        round: 0,
        from: SiteNo(1),
        to: SiteNo(2),
        route: vec![SiteNo(7), SiteNo(2)],
        chunks: vec![ChunkNo(0)],
    };
    assert_eq!(site.next_output(), Some(Output::Ask { next: SiteNo(0), ask: asked }));
    // Without a path the chunk is lost; after the link has recovered it is requested.
    site.link_down(SiteNo(2), None);
    site.failed(SiteNo(0), transfer);
    assert!(matches!(site.next_output(), Some(Output::Send { next: SiteNo(0), .. })), "the detour's own");
    site.link_up(SiteNo(2));
    site.sent(SiteNo(0));
    site.asked(Ask { round: 0, from: SiteNo(2), to: SiteNo(1), route: Vec::new(), chunks: vec![ChunkNo(0)] });
    assert!(matches!(site.next_output(), Some(Output::Send { next: SiteNo(2), .. })));
    site.asked(Ask { round: 5, from: SiteNo(2), to: SiteNo(1), route: Vec::new(), chunks: vec![ChunkNo(0)] });
    site.asked(Ask {
        round: 0,
        from: SiteNo(44),
        to: SiteNo(1),
        route: Vec::new(),
        chunks: vec![ChunkNo(0)],
    });
    assert_eq!((site.counters().unanswerable, site.counters().answered), (2, 1));
}
