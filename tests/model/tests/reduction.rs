//! The states that the model leaves out are those it documents: random walks that take every step separately,
//! with frames sent one by one, lost and duplicated, never bring the hosts and switches into a state that the
//! exploration has not reached.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test prints what it found, and may panic")]

use std::collections::HashSet;

use inart_model::{Config, Frame, Marks, Node, Onward, Peer, Server, Slots, State, System, Worker};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use stateright::Model;

type AllNodes = ([Worker; 3], [Slots; 2], Server, Vec<Onward>);

fn all_workers(state: &State) -> AllNodes {
    let mut state = state.clone();
    state.forget_askers();
    (state.workers, state.switches, state.server, state.onward)
}

fn explored(system: &System) -> HashSet<AllNodes> {
    let mut pending = system.init_states();
    let mut states: HashSet<State> = pending.iter().cloned().collect();
    while let Some(state) = pending.pop() {
        for next in system.next_states(&state) {
            if states.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    states.iter().map(all_workers).collect()
}

/// Frames, each at every node it arrives at.
fn all_nodes(system: &System, frames: &[(Node, Frame)]) -> Vec<(Node, Frame)> {
    frames.iter().flat_map(|(to, frame)| system.nodes(*to).map(|node| (node, *frame))).collect()
}

/// Walks `steps` steps. Returns the different states of hosts and switches on the walk.
fn walk(system: &System, steps: usize, random: &mut ChaCha8Rng) -> HashSet<AllNodes> {
    let config = system.config;
    let mut state = State::new(&config);
    let mut under_way: Vec<(Node, Frame)> = Vec::new();
    let mut seen = HashSet::from([all_workers(&state)]);
    under_way.extend(all_nodes(system, &system.before()));
    for _ in 0..steps {
        if config.reborn && state.reborn.is_none() && random.random_ratio(1, 100) {
            let host = random.random_range(0..=config.workers);
            let peer = if host == config.workers { Peer::Server } else { Peer::Worker(host) };
            system.restart_host(&mut state, peer);
        } else if config.restart && random.random_ratio(1, 40) {
            state.switches[random.random_range(0..usize::from(config.switches))] = Slots::default();
        } else if config.moves && random.random_ratio(1, 30) {
            match system.movable(&state).choose(random) {
                Some(peer) => system.move_host(&mut state, peer),
                None if system.may_close(&state) => state.server.close(),
                None => {}
            }
        } else if config.onward && random.random_ratio(1, 10) {
            let Some(sequence) = system.out(&state).choose(random) else { continue };
            let results = system.receive_onward(&mut state, sequence);
            under_way.extend(all_nodes(system, &results));
        } else if random.random_ratio(1, 3) || under_way.is_empty() {
            let rank = random.random_range(0..config.workers);
            let worker = state.workers[usize::from(rank)];
            under_way.extend(system.keepalive(&worker));
            let Some(sequence) = state.outstanding(&config, None, rank).choose(random) else {
                continue;
            };
            let gradient = worker.gradient(&config, None, sequence, random.random(), random.random());
            under_way.push((Node::Switch(config.switch_of(rank)), Frame::Contribution(gradient)));
        } else {
            let place = random.random_range(0..under_way.len());
            let (to, frame) = match random.random_ratio(1, 4) {
                true => under_way[place],
                false => under_way.swap_remove(place),
            };
            if random.random_ratio(1, 8) {
                continue;
            }
            let arrival = system.arrival(&state, to, &frame);
            arrival.apply(&mut state);
            under_way.extend(all_nodes(system, &arrival.outgoing));
        }
        seen.insert(all_workers(&state));
    }
    seen
}

#[test]
fn walks_without_reduction_stay_where_the_exploration_has_been() {
    let networks = networks().into_iter().filter(|(is_large, _)| !is_large);
    stay_where_the_exploration_has_been(networks.map(|(_, config)| config), 60);
}

#[test]
#[ignore = "soak: about 60 s"]
fn four_hundred_walks_stay_where_the_exploration_has_been() {
    stay_where_the_exploration_has_been(networks().into_iter().map(|(_, config)| config), 400);
}

/// Returns whether a network has more than a hundred thousand states; by default those are left out.
fn networks() -> Vec<(bool, Config)> {
    let two = Config { chunks: 2, restart: true, ..Config::default() };
    let three = Config { workers: 3, ..two };
    vec![
        (false, two),
        (false, three),
        (false, Config { switches: 2, ..three }),
        (false, Config { window: 2, chunks: 3, ..two }),
        (false, Config { old_plan_version: true, ..two }),
        (false, Config { saturation: true, ..three }),
        (false, Config { scaled: 1, chunks: 3, ..two }),
        (false, Config { scaled: 2, chunks: 4, window: 2, restart: false, ..two }),
        (false, Config { rerun: true, ..two }),
        (false, Config { reborn: true, restart: false, ..two }),
        (false, Config { shorter: true, ..three }),
        (true, Config { moves: true, restart: false, ..two }),
        (false, Config { moves: true, chunks: 1, restart: false, ..three }),
        (false, Config { moves: true, undo: true, chunks: 1, ..two }),
        (false, Config { onward: true, window: 2, chunks: 3, ..two }),
        (false, Config { onward: true, ..three }),
        (false, Config { onward: true, scaled: 1, ..two }),
        (false, Config { onward: true, reborn: true, restart: false, ..two }),
        (false, Config { onward: true, moves: true, chunks: 1, restart: false, ..two }),
        (false, Config { tofino: Some(Marks::Alike), ..three }),
        (false, Config { tofino: Some(Marks::Zero), switches: 2, ..three }),
        (false, Config { tofino: Some(Marks::Zero), saturation: true, ..three }),
        (
            false,
            Config {
                tofino: Some(Marks::Alike),
                halves: true,
                old_plan_version: true,
                restart: false,
                ..two
            },
        ),
    ]
}

fn stay_where_the_exploration_has_been(networks: impl Iterator<Item = Config>, walks: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for config in networks {
        let system = System::new(config, None);
        let explored = explored(&system);
        let walked: HashSet<_> = (0..walks).flat_map(|_| walk(&system, 300, &mut random)).collect();
        println!("{} of {} states walked: {config:?}", walked.len(), explored.len());
        let strange = walked.iter().find(|state| !explored.contains(*state));
        assert!(strange.is_none(), "{config:?}: the exploration has not been to {strange:?}");
    }
}
