//! Possible steps: the model that stateright explores.

use std::sync::atomic::AtomicU64;

use stateright::{Model, Property};

use crate::config::Config;
use crate::frame::{Contribution, Frame, Peer, Talk};
use crate::invariant::Invariant;
use crate::mutant::Mutant;
use crate::node::Node;
use crate::onward::Onward;
use crate::run::{Generation, MigrationPhase, Run};
use crate::server::{Outgoing, Server, Verdict};
use crate::slot::Slots;
use crate::state::State;
use crate::sum::Sum;
use crate::worker::Worker;
use inart_p4::Outcome;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Arrival of a frame in flight, which changes the receiver.
    Deliver(Node, Frame),
    /// Arrival of a frame whose completed partial is lost inside the switch, between ingress and egress.
    LoseInside(Node, Frame),
    /// A switch loses its registers.
    Restart(u8),
    /// Permanent failure of a host.
    Crash(Peer),
    /// A host is restarted.
    Reborn(Peer),
    /// Abort by the server because of that worker: it failed or aborted, or its gradient has another length.
    ServerPatience(u8),
    /// Peer timeout of that worker for the server, which failed.
    WorkerPatience(u8),
    /// A host moves to the other plan version, or back.
    Move(Peer),
    /// A worker learns of the other plan version, to follow the server.
    Prepare(u8),
    /// The server moves there when all workers know of it.
    Lead,
    /// All hosts have moved: the first plan version is closed.
    Close,
    /// Arrival of the larger job's sum for a chunk.
    Back(u8),
    /// Notice to the server that the larger job has ended.
    Elsewhere,
}

/// Number of uses of each rule: the switches' outcomes, the server's verdicts.
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
    /// Participants and possible faults.
    pub config: Config,
    /// The mistake.
    pub mutant: Option<Mutant>,
    /// Rules applied so far.
    pub rules: Rules,
}

impl System {
    /// Returns the protocol as it is, or with a mistake.
    pub fn new(config: Config, mutant: Option<Mutant>) -> Self {
        Self { config, mutant, rules: Rules::default() }
    }

    /// Returns a worker's frame of an outstanding chunk, on its way to the worker's switch.
    pub(crate) fn gradient(
        &self,
        worker: &Worker,
        sequence: u8,
        resend: bool,
        bypass: bool,
    ) -> (Node, Frame) {
        let bypass = bypass && self.mutant != Some(Mutant::NoBypass);
        let gradient = worker.gradient(&self.config, self.mutant, sequence, resend, bypass);
        (Node::Switch(self.config.switch_of(worker.rank)), Frame::Contribution(gradient))
    }

    /// Returns a worker's keep-alive.
    pub fn keepalive(&self, worker: &Worker) -> Option<(Node, Frame)> {
        let Worker { rank, generation, run, .. } = *worker;
        let speaks = self.config.handshake() && worker.failed.is_none();
        speaks.then_some((Node::Server, Frame::KeepAlive { worker: rank, generation, run }))
    }

    /// Restarts a host, which loses its state.
    pub fn restart_host(&self, state: &mut State, peer: Peer) {
        state.reborn = Some(peer);
        match peer {
            Peer::Worker(rank) => {
                state.workers[usize::from(rank)] = Worker::new(&self.config, rank, Generation::Second);
            }
            Peer::Server => {
                state.ended_before = state.server.ended;
                state.server = Server::new(&self.config, Run::Second);
                state.onward.fill(Onward::Here);
            }
            Peer::Elsewhere => {}
        }
    }

    /// Returns the hosts that may migrate now.
    pub fn movable(&self, state: &State) -> impl Iterator<Item = Peer> {
        let hosts = (0..self.config.workers).map(Peer::Worker).chain([Peer::Server]);
        let (moves, undo, closed) = (self.config.moves, self.config.undo, state.server.closed);
        hosts.filter(move |host| moves && !closed && (undo || state.place(*host) == MigrationPhase::Before))
    }

    /// Returns whether the first plan version may be closed.
    pub fn may_close(&self, state: &State) -> bool {
        let mut hosts = (0..self.config.workers).map(Peer::Worker).chain([Peer::Server]);
        !state.server.closed && hosts.all(|host| state.place(host) == MigrationPhase::After)
    }

    /// Returns the workers that may be notified of the other plan version, to watch the server.
    pub fn preparable(&self, state: &State) -> impl Iterator<Item = u8> {
        let before = |rank: &u8| state.workers[usize::from(*rank)].place == MigrationPhase::Before;
        (0..self.config.workers).filter(move |rank| self.config.moves && self.config.led && before(rank))
    }

    /// Returns whether the server may move and be followed.
    pub fn may_lead(&self, state: &State) -> bool {
        let workers = &state.workers[..self.config.workers.into()];
        let all_know = workers.iter().all(|worker| worker.place.knows());
        self.config.led && state.server.place == MigrationPhase::Before && all_know
    }

    /// Lets a host migrate.
    pub fn move_host(&self, state: &mut State, peer: Peer) {
        match peer {
            Peer::Worker(rank) => {
                let place = &mut state.workers[usize::from(rank)].place;
                *place = place.next();
            }
            Peer::Server | Peer::Elsewhere => state.server.move_on(self.mutant),
        }
    }

    /// Returns the frames of a previous plan version or run that are still in flight.
    pub fn before(&self) -> Outgoing {
        let config = &self.config;
        let run = match (config.old_plan_version, config.rerun) {
            (true, _) => Run::OldPlanVersion,
            (_, true) => Run::Former,
            _ => return Vec::new(),
        };
        let mut frames = Vec::new();
        for sequence in 0..config.chunks {
            let gradients =
                (0..config.workers).map(|worker| Contribution::before(run, config, worker, sequence));
            let sum = gradients
                .clone()
                .fold(Sum::default(), |sum, gradient| gradient.exponent.combined(sum, gradient.sum));
            let switch = |worker| Node::Switch(config.switch_of(worker));
            frames.extend(gradients.map(|frame| (switch(frame.worker), Frame::Contribution(frame))));
            if config.rerun {
                frames.push((Node::Workers, Frame::Result { run, sequence, sum, other: false }));
            }
        }
        let (generation, to) = (Generation::Former, Talk { generation: Generation::Former, run });
        for worker in (0..config.workers).filter(|_| config.rerun) {
            let keepalive = [None, Some(run)].map(|run| Frame::KeepAlive { worker, generation, run });
            frames.extend(keepalive.map(|frame| (Node::Server, frame)));
            let said = [Frame::Answer { to, bound: true }, Frame::Abort { to, culprit: Peer::Server }];
            frames.extend(said.map(|said| (Node::Worker(worker), said)));
        }
        frames
    }

    /// Returns all that a worker sends, sooner or later, until its window goes on.
    fn sends(&self, state: &State, rank: u8) -> Outgoing {
        let worker = &state.workers[usize::from(rank)];
        let outstanding = state.outstanding(&self.config, self.mutant, rank);
        // Flag resend only decides which workers count as having repeated.
        let waves = self.config.waves;
        let ways = [(false, false), (waves, false), (waves, true)];
        let all = |sequence| ways.map(|(resend, bypass)| self.gradient(worker, sequence, resend, bypass));
        match state.is_live(Peer::Worker(rank)) {
            true => outstanding.flat_map(all).chain(self.keepalive(worker)).collect(),
            false => Vec::new(),
        }
    }

    /// Returns the nodes that a frame arrives at.
    pub fn nodes(&self, node: Node) -> impl Iterator<Item = Node> {
        let (one, all) = match node {
            Node::Workers => (None, 0..self.config.workers),
            node => (Some(node), 0..0),
        };
        one.into_iter().chain(all.map(Node::Worker))
    }

    /// Puts frames in flight, with all further frames that they and the frames to `touched`, whose state has
    /// changed, cause without changing a node.
    fn settle(&self, state: &mut State, touched: Option<Node>, frames: Outgoing) {
        // Workers know which chunks have ended at the server.
        let knows = |node: Node| matches!((touched, node), (Some(Node::Server), Node::Worker(_)));
        let once = |node| if let Node::Again(switch) = node { Node::Switch(switch) } else { node };
        let is_touched = |to: &Node| self.nodes(*to).any(|node| touched == Some(once(node)) || knows(node));
        let mut pending: Outgoing = state.network.iter().filter(|(to, _)| is_touched(to)).copied().collect();
        pending.extend(frames.into_iter().filter(|(to, frame)| self.put(state, *to, *frame)));
        while let Some((to, frame)) = pending.pop() {
            for node in self.nodes(to) {
                let arrival = self.arrival(state, node, &frame);
                if !arrival.changes() {
                    arrival.apply(state);
                    pending.extend(
                        arrival.outgoing.into_iter().filter(|(to, frame)| self.put(state, *to, *frame)),
                    );
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

    /// Puts a frame in flight. Returns whether it is new there. Only a Tofino switch reads whose frame
    /// completed a partial: this decides which repeats were received.
    fn put(&self, state: &mut State, node: Node, frame: Frame) -> bool {
        let forgets_completer = !self.config.waves || self.config.tofino.is_none();
        state.put(node, if forgets_completer { frame.without_completer() } else { frame })
    }

    /// Returns whether the server, which has seen the frame, can make nothing of it ever again.
    fn is_spent(&self, server: &Server, frame: &Frame) -> bool {
        let Frame::Contribution(frame) = frame else { return false };
        if self.config.moves {
            // A server that moves answers repeats in another plan version, too.
            return server.closed && frame.run != Run::Moved;
        }
        frame.run != server.run || server.has_ended(frame.sequence) && !self.config.waves
    }
}

impl Model for System {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State::new(&self.config);
        let ranks = 0..self.config.workers;
        let mut frames: Outgoing = ranks.clone().flat_map(|rank| self.sends(&state, rank)).collect();
        frames.extend(self.before());
        self.settle(&mut state, None, frames);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (to, frame) in &state.network {
            let changed = self.nodes(*to).filter(|node| self.arrival(state, *node, frame).changes());
            actions.extend(changed.map(|node| Action::Deliver(node, *frame)));
            let lost = self.lost_inside(state, *to, frame);
            actions.extend(lost.map(|_| Action::LoseInside(*to, *frame)));
        }
        if self.config.restart {
            let used = (0..self.config.switches)
                .filter(|switch| state.switches[usize::from(*switch)] != Slots::default());
            actions.extend(used.map(Action::Restart));
        }
        let hosts = (0..self.config.workers).map(Peer::Worker).chain([Peer::Server]);
        match state.gone {
            None if self.config.crash => {
                actions.extend(hosts.clone().map(Action::Crash));
                actions.extend(self.config.onward.then_some(Action::Crash(Peer::Elsewhere)));
            }
            Some(Peer::Elsewhere) => {
                actions.extend(self.may_learn_of_end(state).then_some(Action::Elsewhere));
            }
            Some(Peer::Server) => actions.extend(self.waiting_workers(state).map(Action::WorkerPatience)),
            _ => {}
        }
        if self.config.reborn && state.reborn.is_none() {
            actions.extend(hosts.map(Action::Reborn));
        }
        actions.extend(self.movable(state).map(Action::Move));
        actions.extend(self.preparable(state).map(Action::Prepare));
        actions.extend(self.may_lead(state).then_some(Action::Lead));
        actions.extend(self.may_close(state).then_some(Action::Close));
        actions.extend(self.blames(state).map(Action::ServerPatience));
        actions.extend(self.out(state).map(Action::Back));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let (touched, mut frames) = match action {
            Action::Deliver(node, frame) => {
                let arrival = self.arrival(state, node, &frame);
                arrival.apply(&mut next);
                (Some(node), arrival.outgoing)
            }
            Action::LoseInside(node, frame) => {
                self.lost_inside(state, node, &frame)?.apply(&mut next);
                (Some(node), Vec::new())
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
            Action::Reborn(peer) => {
                self.restart_host(&mut next, peer);
                (Some(peer.node()), Vec::new())
            }
            Action::Move(peer) => {
                self.move_host(&mut next, peer);
                (Some(peer.node()), Vec::new())
            }
            Action::Prepare(rank) => {
                next.workers[usize::from(rank)].place = MigrationPhase::Ready;
                (Some(Node::Worker(rank)), Vec::new())
            }
            Action::Lead => {
                next.server.lead(&self.config);
                (Some(Node::Server), Vec::new())
            }
            Action::Close => {
                next.server.close();
                (Some(Node::Server), Vec::new())
            }
            Action::ServerPatience(rank) => (Some(Node::Server), next.server.give_up(Peer::Worker(rank))),
            Action::Back(sequence) => (Some(Node::Server), self.receive_onward(&mut next, sequence)),
            Action::Elsewhere => (Some(Node::Server), self.learn_of_end(&mut next.server)),
            Action::WorkerPatience(rank) => {
                next.workers[usize::from(rank)].failed = Some(Peer::Server);
                (None, Vec::new())
            }
        };
        let senders = match touched {
            Some(Node::Worker(rank)) => rank..rank + 1,
            Some(Node::Server)
                if next.ended(Run::First) != state.ended(Run::First)
                    || next.server.ended != state.server.ended =>
            {
                0..self.config.workers
            }
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
        let mut properties = unbroken!(Once, Disjoint, OwnSlot, NewerWins, RepeatsHeal, Onward);
        properties.push(Property::always(Invariant::Ends.words(), Self::ends));
        properties
    }
}
