//! What may happen next: the model that stateright explores.

use std::sync::atomic::AtomicU64;

use stateright::{Model, Property};

use crate::config::Config;
use crate::frame::{Contribution, Frame, Node, Peer};
use crate::invariant::Invariant;
use crate::mutant::Mutant;
use crate::server::{Outgoing, Server, Verdict};
use crate::state::State;
use crate::switch::Slots;
use crate::worker::Worker;
use inart_p4::Outcome;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A frame that is under way arrives, and changes who gets it.
    Deliver(Node, Frame),
    /// A switch loses its registers.
    Restart(u8),
    /// A host is gone for good.
    Crash(Peer),
    /// The server has waited long enough for the worker that is gone.
    ServerPatience,
    /// That worker has waited long enough for the server, which is gone.
    WorkerPatience(u8),
}

/// How often each rule was followed: the switches' outcomes, the server's verdicts.
#[derive(Debug, Default)]
pub struct Rules {
    /// By the outcome's number.
    pub outcomes: [AtomicU64; Outcome::ALL.len()],
    /// By the verdict's number.
    pub verdicts: [AtomicU64; Verdict::ALL.len()],
}

/// A network, right or with a mistake.
#[derive(Debug)]
pub struct System {
    /// Who takes part and what may go wrong.
    pub config: Config,
    /// The mistake.
    pub mutant: Option<Mutant>,
    /// What was done so far.
    pub rules: Rules,
}

impl System {
    /// The protocol as it is, or with a mistake.
    pub fn new(config: Config, mutant: Option<Mutant>) -> Self {
        Self { config, mutant, rules: Rules::default() }
    }

    /// A worker's frame of an outstanding chunk, on its way to the worker's switch.
    pub(crate) fn gradient(
        &self,
        worker: &Worker,
        rank: u8,
        sequence: u8,
        resend: bool,
        bypass: bool,
    ) -> (Node, Frame) {
        let bypass = bypass && self.mutant != Some(Mutant::NoBypass);
        let gradient = worker.gradient(&self.config, rank, sequence, resend, bypass);
        (Node::Switch(self.config.switch_of(rank)), Frame::Contribution(gradient))
    }

    /// All that a worker sends, sooner or later, until its window goes on.
    fn sends(&self, state: &State, rank: u8) -> Outgoing {
        let worker = &state.workers[usize::from(rank)];
        let outstanding = worker.outstanding(&self.config, self.mutant, state.server.ended);
        // Flag resend decides only who counts as having asked.
        let waves = self.config.waves;
        let ways = [(false, false), (waves, false), (waves, true)];
        let all =
            |sequence| ways.map(|(resend, bypass)| self.gradient(worker, rank, sequence, resend, bypass));
        if state.is_live(Peer::Worker(rank)) { outstanding.flat_map(all).collect() } else { Vec::new() }
    }

    /// The nodes that a frame arrives at.
    pub fn nodes(&self, node: Node) -> impl Iterator<Item = Node> {
        let (one, all) = match node {
            Node::Workers => (None, 0..self.config.workers),
            node => (Some(node), 0..0),
        };
        one.into_iter().chain(all.map(Node::Worker))
    }

    /// Puts frames under way, with all that they and those that were under way to `touched`, whose state has changed, lead to
    /// without changing anybody.
    fn settle(&self, state: &mut State, touched: Option<Node>, frames: Outgoing) {
        // What has ended at the server is known to the workers.
        let knows = |node: Node| matches!((touched, node), (Some(Node::Server), Node::Worker(_)));
        let is_touched = |to: &Node| self.nodes(*to).any(|node| touched == Some(node) || knows(node));
        let mut pending: Outgoing = state.network.iter().filter(|(to, _)| is_touched(to)).copied().collect();
        pending.extend(frames.into_iter().filter(|(to, frame)| state.put(*to, *frame)));
        while let Some((to, frame)) = pending.pop() {
            for node in self.nodes(to) {
                let arrival = self.arrival(state, node, &frame);
                if !arrival.changes() {
                    arrival.apply(state);
                    pending.extend(arrival.outgoing.into_iter().filter(|(to, frame)| state.put(*to, *frame)));
                }
            }
        }
        if !self.config.waves {
            state.forget_askers();
        }
        if self.mutant.is_none() {
            let server = state.server;
            state.network.retain(|(to, frame)| *to != Node::Server || !self.is_spent(&server, frame));
        }
    }

    /// Whether the server, which has seen the frame, can make nothing of it ever again.
    fn is_spent(&self, server: &Server, frame: &Frame) -> bool {
        let Frame::Contribution(frame) = frame else { return true };
        frame.old_epoch || server.has_ended(frame.sequence) && !self.config.waves
    }
}

impl Model for System {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State::new(&self.config);
        let ranks = 0..self.config.workers;
        let mut frames: Outgoing = ranks.clone().flat_map(|rank| self.sends(&state, rank)).collect();
        if self.config.old_epoch {
            let fresh = Worker::default();
            for (rank, sequence) in
                ranks.flat_map(|rank| (0..self.config.chunks).map(move |chunk| (rank, chunk)))
            {
                let (node, _) = self.gradient(&fresh, rank, sequence, false, false);
                frames.push((node, Frame::Contribution(Contribution::of_old_epoch(rank, sequence))));
            }
        }
        self.settle(&mut state, None, frames);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (to, frame) in &state.network {
            let changed = self.nodes(*to).filter(|node| self.arrival(state, *node, frame).changes());
            actions.extend(changed.map(|node| Action::Deliver(node, *frame)));
        }
        if self.config.restart {
            let used = (0..self.config.switches)
                .filter(|switch| state.switches[usize::from(*switch)] != Slots::default());
            actions.extend(used.map(Action::Restart));
        }
        match state.gone {
            None if self.config.crash => {
                actions.extend((0..self.config.workers).map(|rank| Action::Crash(Peer::Worker(rank))));
                actions.push(Action::Crash(Peer::Server));
            }
            None => {}
            Some(Peer::Worker(rank)) => {
                actions.extend(self.notices(state, rank).then_some(Action::ServerPatience));
            }
            Some(Peer::Server) => actions.extend(self.waiting_workers(state).map(Action::WorkerPatience)),
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let (touched, mut frames) = match action {
            Action::Deliver(node, frame) => {
                let arrival = self.arrival(state, node, &frame);
                arrival.apply(&mut next);
                (Some(node), arrival.outgoing)
            }
            Action::Restart(switch) => {
                next.switches[usize::from(switch)] = Default::default();
                next.completed[usize::from(switch)] = Default::default();
                (Some(Node::Switch(switch)), Vec::new())
            }
            Action::Crash(peer) => {
                next.gone = Some(peer);
                (None, Vec::new())
            }
            Action::ServerPatience => {
                let culprit = state.gone.expect("patience ends when somebody is gone");
                (Some(Node::Server), next.server.give_up(culprit))
            }
            Action::WorkerPatience(rank) => {
                next.workers[usize::from(rank)].failed = Some(Peer::Server);
                (None, Vec::new())
            }
        };
        let senders = match touched {
            Some(Node::Worker(rank)) => rank..rank + 1,
            Some(Node::Server) if next.server.ended != state.server.ended => 0..self.config.workers,
            _ => 0..0,
        };
        frames.extend(senders.flat_map(|rank| self.sends(&next, rank)));
        self.settle(&mut next, touched, frames);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! unbroken {
            ($($invariant:ident),*) => {
                vec![$(Property::always(Invariant::$invariant.words(), |_: &Self, state: &State| {
                    !state.broken.contains(Invariant::$invariant)
                }),)*]
            };
        }
        let mut properties = unbroken!(Once, Disjoint, OwnSlot, NewerWins, RepeatsHeal);
        properties.push(Property::always(Invariant::Ends.words(), Self::ends));
        properties
    }
}
