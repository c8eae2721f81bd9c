//! Every order in which packets of a small training may arrive, fail and arrive all the same, with a
//! connection that ends, a worker and a server that start again: an update is applied once, the model is the
//! sum of what was applied, and the training ends. Hosts that break the rules of docs/protocol.md ("Push and
//! pull") are noticed.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use bytes::Bytes;
use inart_order::{Options, Policy, WorkerNo};
use inart_order_agent::{
    InOrder, Kept, Precision, Sequencer, ServerAgent, ServerOutput, ServerSetup, WorkerAgent, WorkerOutput,
    WorkerSetup,
};

const VALUES: usize = 2;
const BEFORE: Duration = Duration::ZERO;
/// What failed may leave again.
const NOW: Duration = Duration::from_secs(1);
/// More states than there are.
const MOST: usize = 3_000_000;

/// A host that breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// A server that starts again has the life that it had (U1).
    ServersLife,
    /// A worker that starts again has the life that it had (U1).
    WorkersLife,
    /// What was lost is told to be taken.
    LostIsTaken,
    /// A server that starts again goes on from a model whose count of versions it has forgotten.
    Version,
    /// Ends of connections are not told to the server.
    NoDown,
}

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget {
    failures: u8,
    cuts: u8,
    server: u8,
    worker: u8,
}

#[derive(Debug, Clone)]
struct Packet {
    to_server: bool,
    /// Of which process of its receiver, and on which connection.
    process: u32,
    connection: u32,
    id: u64,
    data: Bytes,
}

#[derive(Debug, Clone)]
struct State {
    server: ServerAgent<InOrder<Policy>>,
    worker: WorkerAgent,
    processes: [u32; 2],
    connection: Option<u32>,
    connections: u32,
    net: Vec<Packet>,
    computing: Option<(u64, f32)>,
    computed: u32,
    kept: Kept,
    /// What is in the model of this life: the sum of updates, each of which is another power of two.
    applied: BTreeSet<u32>,
    arrived: BTreeSet<u32>,
    budget: Budget,
}

fn server(life: u32, kept: Kept) -> ServerAgent<InOrder<Policy>> {
    let setup = ServerSetup {
        life,
        model: 5,
        chunk_values: 1,
        precision: Precision::Single,
        window: 2,
        rates_bps: vec![None],
        gather: BEFORE,
        absence: Duration::from_secs(100),
        iterations: Some(2),
    };
    ServerAgent::new(setup, InOrder::restored(Policy::asp(), Options::fixed(1), 5, kept))
}

fn worker(life: u32) -> WorkerAgent {
    let patience = Duration::from_secs(100);
    WorkerAgent::new(WorkerSetup { life, model: 5, values: VALUES, window: 2, rate_bps: None, patience })
}

impl State {
    fn new(budget: Budget) -> State {
        let kept = Kept { version: 0, done: vec![0], values: vec![0.0; VALUES] };
        State {
            server: server(1, kept.clone()),
            worker: worker(1),
            processes: [1, 1],
            connection: None,
            connections: 0,
            net: Vec::new(),
            computing: None,
            computed: 0,
            kept,
            applied: BTreeSet::new(),
            arrived: BTreeSet::new(),
            budget,
        }
    }

    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{self:?}").hash(&mut hasher);
        hasher.finish()
    }

    /// Does what the machines say.
    fn settle(&mut self) -> Result<(), String> {
        while let Some(output) = self.server.next_output(NOW) {
            match output {
                ServerOutput::Send { id, data, .. } => self.send(false, id, data),
                ServerOutput::Pushed { values, .. } => {
                    let is_new = self.arrived.insert(values[0].log2() as u32);
                    is_new.then_some(()).ok_or("an update arrived twice")?;
                }
                ServerOutput::Applied(_) => {
                    self.applied = self.arrived.clone();
                    let sum: f32 = self.applied.iter().map(|power| f32::powi(2.0, *power as i32)).sum();
                    if self.server.sequencer().values() != [sum; VALUES] {
                        return Err(format!(
                            "the model is {:?} and not {sum}",
                            self.server.sequencer().values()
                        ));
                    }
                    self.kept = self.server.sequencer().kept();
                }
                _ => {}
            }
        }
        while let Some(output) = self.worker.next_output(NOW) {
            match output {
                WorkerOutput::Send { id, data, .. } => self.send(true, id, data),
                WorkerOutput::Compute(start) => {
                    self.computing = Some((start.ticket, f32::powi(2.0, self.computed as i32)));
                    self.computed += 1;
                    let sums: f32 = start.model[0];
                    if start.model[1].to_bits() != sums.to_bits() {
                        return Err("chunks of two versions are mixed".to_owned());
                    }
                }
                WorkerOutput::Failed(error) => return Err(error.to_string()),
                WorkerOutput::Pushed { .. } | WorkerOutput::Over { .. } => {}
            }
        }
        Ok(())
    }

    fn send(&mut self, to_server: bool, id: u64, data: Bytes) {
        if let Some(connection) = self.connection {
            let process = self.processes[usize::from(!to_server)];
            self.net.push(Packet { to_server, process, connection, id, data });
        }
    }

    fn arrive(&mut self, packet: &Packet) {
        if self.processes[usize::from(!packet.to_server)] != packet.process {
            return;
        }
        match packet.to_server {
            true => self.server.received(WorkerNo(0), &packet.data, BEFORE),
            false => self.worker.received(&packet.data),
        }
    }

    fn end(&mut self, packet: &Packet, is_taken: bool) {
        if self.connection == Some(packet.connection) {
            match packet.to_server {
                true => self.worker.ended(packet.id, is_taken, BEFORE),
                false => self.server.ended(packet.id, is_taken, BEFORE),
            }
        }
    }

    fn cut(&mut self, mistake: Mistake) {
        self.connection = None;
        if mistake != Mistake::NoDown {
            self.server.down(WorkerNo(0), BEFORE);
        }
        self.worker.down(BEFORE);
    }

    /// All that may come next.
    fn successors(&self, mistake: Mistake) -> Vec<State> {
        let mut all = Vec::new();
        for at in 0..self.net.len() {
            let mut arrives = self.clone();
            let packet = arrives.net.remove(at);
            let failing = arrives.clone();
            arrives.arrive(&packet);
            arrives.end(&packet, true);
            all.push(arrives);
            if self.connection != Some(packet.connection) {
                // It may never come.
                all.push(failing);
            } else if self.budget.failures > 0 {
                for arrives in [true, false] {
                    let mut next = failing.clone();
                    next.budget.failures -= 1;
                    if arrives {
                        next.arrive(&packet);
                    }
                    next.end(&packet, mistake == Mistake::LostIsTaken);
                    all.push(next);
                }
            }
        }
        if let Some((ticket, value)) = self.computing {
            let mut next = self.clone();
            next.computing = None;
            next.worker.computed(ticket, vec![value; VALUES]).unwrap();
            all.push(next);
        }
        match self.connection {
            None => {
                let mut next = self.clone();
                next.connections += 1;
                next.connection = Some(next.connections);
                if mistake != Mistake::NoDown || next.connections == 1 {
                    next.server.up(WorkerNo(0), BEFORE);
                }
                next.worker.up(BEFORE);
                all.push(next);
            }
            Some(_) if self.budget.cuts > 0 => {
                let mut next = self.clone();
                next.budget.cuts -= 1;
                next.cut(mistake);
                all.push(next);
            }
            Some(_) => {}
        }
        all.extend(self.restarts(mistake));
        all
    }

    fn restarts(&self, mistake: Mistake) -> Vec<State> {
        let mut all = Vec::new();
        if self.budget.server > 0 && self.connection.is_some() {
            let mut next = self.clone();
            next.budget.server -= 1;
            next.cut(mistake);
            next.processes[0] += 1;
            let life = if mistake == Mistake::ServersLife { 1 } else { next.processes[0] };
            let mut kept = next.kept.clone();
            if mistake == Mistake::Version {
                (kept.version, kept.done) = (0, vec![0]);
            }
            next.server = server(life, kept);
            next.arrived = next.applied.clone();
            all.push(next);
        }
        if self.budget.worker > 0 && self.connection.is_some() {
            let mut next = self.clone();
            next.budget.worker -= 1;
            next.cut(mistake);
            next.processes[1] += 1;
            next.worker = worker(if mistake == Mistake::WorkersLife { 1 } else { next.processes[1] });
            next.computing = None;
            all.push(next);
        }
        all
    }

    /// Nothing can happen any more: the training is over, with so many updates.
    fn is_right_at_the_end(&self) -> Result<(), String> {
        if !self.worker.is_over() || !self.server.is_over() {
            return Err(format!("nobody goes on: {self:?}"));
        }
        match self.applied.len() {
            2 => Ok(()),
            other => Err(format!("{other} updates were applied, of 2 iterations")),
        }
    }
}

/// Explores all; how many states there are, or what went wrong.
fn explore(budget: Budget, mistake: Mistake) -> Result<usize, String> {
    let mut first = State::new(budget);
    first.settle()?;
    let mut seen = HashSet::from([first.key()]);
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        let mut is_end = true;
        for mut next in state.successors(mistake) {
            next.settle()?;
            is_end = false;
            if seen.insert(next.key()) {
                open.push(next);
            }
        }
        // At the end a connection may still be cut; nothing has to follow.
        if is_end || state.net.is_empty() && state.computing.is_none() && state.connection.is_some() {
            state.is_right_at_the_end()?;
        }
        assert!(seen.len() < MOST, "{budget:?}: more than {MOST} states");
    }
    Ok(seen.len())
}

const NOTHING: Budget = Budget { failures: 0, cuts: 0, server: 0, worker: 0 };

#[test]
fn every_order_of_what_may_happen_ends_with_each_update_applied_once() {
    let budgets = [
        NOTHING,
        Budget { failures: 2, ..NOTHING },
        Budget { cuts: 1, ..NOTHING },
        Budget { failures: 1, cuts: 1, ..NOTHING },
        Budget { server: 1, ..NOTHING },
        Budget { worker: 1, ..NOTHING },
    ];
    for budget in budgets {
        let states = explore(budget, Mistake::None).unwrap_or_else(|why| panic!("{budget:?}: {why}"));
        eprintln!("{budget:?}: {states} states");
    }
}

#[test]
fn hosts_that_break_the_rules_are_noticed() {
    let mistakes = [
        (Mistake::ServersLife, Budget { server: 1, ..NOTHING }),
        (Mistake::WorkersLife, Budget { worker: 1, ..NOTHING }),
        (Mistake::LostIsTaken, Budget { failures: 1, ..NOTHING }),
        (Mistake::Version, Budget { server: 1, ..NOTHING }),
        (Mistake::NoDown, Budget { cuts: 1, ..NOTHING }),
    ];
    for (mistake, budget) in mistakes {
        let found = std::panic::catch_unwind(|| explore(budget, mistake));
        match found {
            Ok(Ok(states)) => panic!("{mistake:?} was not noticed in {states} states"),
            Ok(Err(why)) => eprintln!(
                "{mistake:?}: {}",
                why.lines().next().unwrap_or_default().chars().take(90).collect::<String>()
            ),
            Err(_) => eprintln!("{mistake:?}: a machine panicked"),
        }
    }
}
