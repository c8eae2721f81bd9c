//! Processes, their links and the faults, in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_connections::{Machine, Output, PeerNo};
use inart_virtual::Timeline;

use crate::connections::Connections;
use crate::fault::Fault;
use crate::later::Later;
use crate::links::{LinkEvent, Links, Transfer};
use crate::program::Program;

/// Least time between two wakes of a process without an arrival.
const LEAST_SLEEP: Duration = Duration::from_micros(20);
/// Outputs of a machine at one time beyond which it is considered stuck in a loop.
const MOST_OUTPUTS: usize = 1_000_000;

/// Times of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Duration of a connection attempt.
    pub connect: Duration,
    /// Silence of the other end after which a connection has ended.
    pub idle: Duration,
    /// Time without a report after the last fault after which a run is stuck.
    pub stuck: Duration,
}

/// A run that does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// No event remains.
    #[error("no event remains after {:.3} s", .0.as_secs_f64())]
    Over(Duration),
    /// No process has reported for too long.
    #[error("no process has had an event since {:.3} s", .0.as_secs_f64())]
    Silent(Duration),
    /// A process is never idle.
    #[error("process {} never has nothing to do", .0.0)]
    Busy(PeerNo),
}

enum Event<C, F, L> {
    Fault(Fault<F>),
    Link(L),
    Connect { pair: usize },
    Silent { pair: usize, connection: u64 },
    Wake { who: PeerNo, generation: u32 },
    Command { who: PeerNo, generation: u32, command: C },
}

#[derive(Clone, Copy, Default)]
struct Generation {
    /// Starts and crashes of the process so far: events for an earlier generation are void.
    number: u32,
    wakes_at: Option<Duration>,
}

/// Messages of a process without a known end, by number, with their connections.
type Open = BTreeMap<u64, u64>;

/// Events of a world.
type Events<M, L> = Timeline<Event<<M as Machine>::Command, <L as Links>::Change, <L as Links>::Event>>;

/// Machines `M` on links `L`, with a program `P`.
pub struct World<M: Machine, L: Links, P: Program<M>> {
    /// `None` while a process is dead.
    machines: Vec<Option<M>>,
    generations: Vec<Generation>,
    open: Vec<Open>,
    connections: Connections,
    links: L,
    program: P,
    timeline: Events<M, L>,
    timing: Timing,
    now: Duration,
    /// Pending commands: a program that computes is active.
    commands: usize,
    news_at: Duration,
    last_fault: Duration,
}

impl<M: Machine, L: Links, P: Program<M>> World<M, L, P>
where
    P::Error: From<Stuck>,
{
    /// Creates a world of `count` processes, all of which start at 0; `pairs` connect whenever they can.
    /// Faults of one time occur in the order given.
    ///
    /// # Errors
    /// A process cannot start.
    pub fn new(
        count: u32,
        pairs: impl IntoIterator<Item = [PeerNo; 2]>,
        links: L,
        program: P,
        timing: Timing,
    ) -> Result<Self, P::Error> {
        let mut world = World {
            machines: (0..count).map(|_| None).collect(),
            generations: vec![Generation::default(); count as usize],
            open: vec![Open::new(); count as usize],
            connections: Connections::new(pairs),
            links,
            program,
            timeline: Timeline::new(),
            timing,
            now: Duration::ZERO,
            commands: 0,
            news_at: Duration::ZERO,
            last_fault: Duration::ZERO,
        };
        for who in 0..count {
            world.start(PeerNo(who))?;
        }
        Ok(world)
    }

    /// Adds a fault.
    pub fn plan(&mut self, at: Duration, fault: Fault<L::Change>) {
        self.last_fault = self.last_fault.max(at);
        self.timeline.at(at, Event::Fault(fault));
    }

    /// Returns the time.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Returns the program.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// Returns the program, for changes.
    pub fn program_mut(&mut self) -> &mut P {
        &mut self.program
    }

    /// Returns the parts: links, program, and the machines of running processes.
    pub fn into_parts(self) -> (L, P, Vec<Option<M>>) {
        (self.links, self.program, self.machines)
    }

    /// Runs until the program's run is over.
    ///
    /// # Errors
    /// A finding of the audit; a run that does not end.
    pub fn run(&mut self) -> Result<(), P::Error> {
        while !self.program.is_over(&self.machines) {
            self.step()?;
        }
        Ok(())
    }

    /// Runs until the program's run is over, or until a time, without events at that time.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_until(&mut self, end: Duration) -> Result<(), P::Error> {
        while !self.program.is_over(&self.machines) {
            if self.next_at().is_some_and(|(at, _)| at >= end) {
                self.now = end;
                return Ok(());
            }
            self.step()?;
        }
        Ok(())
    }

    /// Returns the time of the next event. At one time, events of links outside the timeline come first:
    /// `true` for these.
    fn next_at(&self) -> Option<(Duration, bool)> {
        match (self.links.next_at(), self.timeline.next_at()) {
            (Some(link), other) if other.is_none_or(|other| link <= other) => Some((link, true)),
            (_, other) => Some((other?, false)),
        }
    }

    fn step(&mut self) -> Result<(), P::Error> {
        let (next, is_of_links) = self.next_at().ok_or(Stuck::Over(self.now))?;
        self.now = self.now.max(next);
        let quiet_at = self.news_at.max(self.last_fault).saturating_add(self.timing.stuck);
        if self.commands == 0 && self.now > quiet_at {
            return Err(Stuck::Silent(self.news_at).into());
        }
        if is_of_links {
            match self.with_links(L::next) {
                Some(link_event) => self.link_event(link_event),
                None => Ok(()),
            }
        } else {
            match self.timeline.take() {
                Some((_, event)) => self.take(event),
                None => Ok(()),
            }
        }
    }

    fn take(&mut self, event: Event<M::Command, L::Change, L::Event>) -> Result<(), P::Error> {
        match event {
            Event::Fault(fault) => self.fault(fault),
            Event::Link(event) => match self.with_links(|links, now, later| links.due(event, now, later)) {
                Some(link_event) => self.link_event(link_event),
                None => Ok(()),
            },
            Event::Connect { pair } => self.connect(pair),
            Event::Silent { pair, connection } => {
                let is_up = self.connections.pair(pair).number() == Some(connection);
                if is_up && self.is_cut(pair) { self.disconnect(pair) } else { Ok(()) }
            }
            Event::Wake { who, generation } => {
                let now = self.now;
                let own = &mut self.generations[who.index()];
                if own.number != generation || own.wakes_at.take_if(|at| *at <= now).is_none() {
                    return Ok(());
                }
                self.with(who, |machine, now| machine.tick(now))
            }
            Event::Command { who, generation, command } => {
                self.commands -= 1;
                self.news_at = self.now;
                if self.generations[who.index()].number != generation {
                    return Ok(());
                }
                self.with(who, |machine, now| machine.command(command, now))
            }
        }
    }

    fn link_event(&mut self, link_event: LinkEvent) -> Result<(), P::Error> {
        match link_event {
            LinkEvent::Arrived { transfer, seen } => {
                let Transfer { from, to, connection, .. } = transfer;
                if !self.is_reachable(to, from, connection) {
                    return Ok(());
                }
                if let Some(machine) = &self.machines[to.index()]
                    && !self.program.arrives(&transfer, machine, self.now)
                {
                    return Ok(());
                }
                self.with_links(|links, now, later| links.answer(&transfer, now, later));
                let World { machines, program, now, .. } = self;
                if let Some(machine) = &mut machines[to.index()] {
                    machine.received(from, &transfer.data, seen, *now);
                    program.taken(&transfer, machine);
                }
                self.carry_out(to)
            }
            LinkEvent::Frame { to, frame } => self.with(to, |machine, now| machine.frame(&frame, now)),
            LinkEvent::Ended { sender, receiver, connection, id, is_taken } => {
                if !self.is_reachable(sender, receiver, connection) {
                    return Ok(());
                }
                self.open[sender.index()].remove(&id);
                self.with(sender, |machine, now| machine.ended(id, is_taken, now))
            }
        }
    }

    fn fault(&mut self, fault: Fault<L::Change>) -> Result<(), P::Error> {
        match fault {
            Fault::Kill(who) => {
                if let Some(machine) = self.machines[who.index()].take() {
                    self.generations[who.index()].number += 1;
                    self.open[who.index()].clear();
                    self.program.killed(who, machine);
                    let pairs = self.connections.of(who);
                    self.fall_silent(&pairs);
                }
                Ok(())
            }
            Fault::Start(who) => {
                if self.generations(who) {
                    Ok(())
                } else {
                    self.start(who)
                }
            }
            Fault::Disconnect(who) => {
                for pair in self.connections.of(who) {
                    self.disconnect(pair)?;
                }
                Ok(())
            }
            Fault::Links(change) => {
                self.links.change(&change, self.now);
                let all: Vec<usize> = (0..self.connections.len()).collect();
                self.fall_silent(&all);
                all.into_iter().for_each(|pair| self.attempt(pair));
                Ok(())
            }
        }
    }

    fn start(&mut self, who: PeerNo) -> Result<(), P::Error> {
        let machine = self.program.start(who, self.now)?;
        self.machines[who.index()] = Some(machine);
        let own = &mut self.generations[who.index()];
        *own = Generation { number: own.number + 1, wakes_at: None };
        for pair in self.connections.of(who) {
            self.attempt(pair);
        }
        self.carry_out(who)
    }

    fn generations(&self, who: PeerNo) -> bool {
        self.machines[who.index()].is_some()
    }

    /// Returns whether a process is still an end of a connection.
    fn is_reachable(&self, who: PeerNo, other: PeerNo, connection: u64) -> bool {
        let generation = self.generations[who.index()].number;
        self.generations(who) && self.connections.number(who, other, generation) == Some(connection)
    }

    fn is_cut(&self, pair: usize) -> bool {
        let [a, b] = self.connections.ends(pair);
        !self.generations(a) || !self.generations(b) || self.links.is_cut(a, b)
    }

    /// Ends connections whose ends cannot reach each other, after a while.
    fn fall_silent(&mut self, pairs: &[usize]) {
        for &pair in pairs {
            if let Some(connection) = self.connections.pair(pair).number()
                && self.is_cut(pair)
            {
                self.timeline.at(self.now + self.timing.idle, Event::Silent { pair, connection });
            }
        }
    }

    /// Starts to connect two running processes.
    fn attempt(&mut self, pair: usize) {
        if !self.is_cut(pair) && !std::mem::replace(&mut self.connections.pair(pair).is_connecting, true) {
            self.timeline.at(self.now + self.timing.connect, Event::Connect { pair });
        }
    }

    /// Connects two processes, unless their connection is up. A new process ends the connection of the
    /// previous one.
    fn connect(&mut self, pair: usize) -> Result<(), P::Error> {
        self.connections.pair(pair).is_connecting = false;
        let [a, b] = self.connections.ends(pair);
        let generations = [a, b].map(|who| self.generations[who.index()].number);
        if self.is_cut(pair) || self.connections.pair(pair).is_of(generations) {
            return Ok(());
        }
        self.end(pair)?;
        self.connections.make(pair, generations);
        self.with(a, |machine, now| machine.up(b, now))?;
        self.with(b, |machine, now| machine.up(a, now))
    }

    /// Ends a connection; both processes connect again.
    fn disconnect(&mut self, pair: usize) -> Result<(), P::Error> {
        self.end(pair)?;
        self.attempt(pair);
        Ok(())
    }

    fn end(&mut self, pair: usize) -> Result<(), P::Error> {
        let Some(up) = self.connections.pair(pair).up.take() else { return Ok(()) };
        self.links.clear(up.number, self.now);
        let [a, b] = self.connections.ends(pair);
        for (who, other, generation) in [(a, b, up.generations[0]), (b, a, up.generations[1])] {
            self.program.disconnected([who, other], &self.machines, self.now);
            if self.generations[who.index()].number == generation {
                let lost = self.lost(who, up.number);
                self.with(who, |machine, now| {
                    machine.down(other, now);
                    lost.into_iter().for_each(|id| machine.ended(id, false, now));
                })?;
            }
        }
        Ok(())
    }

    /// Takes the messages of a process that end with a connection.
    fn lost(&mut self, who: PeerNo, connection: u64) -> Vec<u64> {
        let mut lost = Vec::new();
        self.open[who.index()].retain(|id, of| {
            let stays = *of != connection;
            if !stays {
                lost.push(*id);
            }
            stays
        });
        lost
    }

    /// Calls the links, and schedules their later events.
    fn with_links<T>(&mut self, call: impl FnOnce(&mut L, Duration, &mut Later<L::Event>) -> T) -> T {
        let mut later = Later::new();
        let result = call(&mut self.links, self.now, &mut later);
        plan(&mut self.timeline, self.now, later, Event::Link);
        result
    }

    /// Calls a running process, and carries out its outputs.
    fn with(&mut self, who: PeerNo, call: impl FnOnce(&mut M, Duration)) -> Result<(), P::Error> {
        let Some(machine) = &mut self.machines[who.index()] else { return Ok(()) };
        call(machine, self.now);
        self.carry_out(who)
    }

    fn carry_out(&mut self, who: PeerNo) -> Result<(), P::Error> {
        let World { machines, generations, open, connections, links, program, timeline, commands, .. } = self;
        let (now, news_at) = (&self.now, &mut self.news_at);
        let (now, own) = (*now, &mut generations[who.index()]);
        let Some(machine) = &mut machines[who.index()] else { return Ok(()) };
        let mut outputs = 0;
        while let Some(output) = machine.next(now) {
            outputs += 1;
            if outputs > MOST_OUTPUTS {
                return Err(Stuck::Busy(who).into());
            }
            match output {
                Output::Send { to, id, data, priority } => match connections.number(who, to, own.number) {
                    Some(connection) => {
                        let mut later = Later::new();
                        let transfer = Transfer { from: who, to, connection, id, data, priority };
                        links.send(transfer, now, &mut later);
                        plan(timeline, now, later, Event::Link);
                        match links.is_sure(who, to) {
                            true => machine.ended(id, true, now),
                            false => drop(open[who.index()].insert(id, connection)),
                        }
                    }
                    None => machine.ended(id, false, now),
                },
                Output::Copy(frame) => {
                    let mut later = Later::new();
                    links.copy(who, frame, now, &mut later);
                    plan(timeline, now, later, Event::Link);
                }
                // Work takes no virtual time.
                Output::Work(work) => machine.done(work.run(), now),
                // A process that has ended stays connected: others may still need its answers.
                Output::Over => {}
                Output::Report(report) => {
                    *news_at = now;
                    let mut later = Later::new();
                    program.report(who, machine, report, now, &mut later)?;
                    let generation = own.number;
                    *commands += later.len();
                    plan(timeline, now, later, |command| Event::Command { who, generation, command });
                }
            }
        }
        if let Some(due) = machine.wake_at() {
            let at = due.max(now + LEAST_SLEEP);
            if own.wakes_at.is_none_or(|known| at < known) {
                own.wakes_at = Some(at);
                timeline.at(at, Event::Wake { who, generation: own.number });
            }
        }
        Ok(())
    }
}

/// Adds events, each after its time, in the order given.
fn plan<E, C>(timeline: &mut Timeline<E>, now: Duration, later: Later<C>, event: impl Fn(C) -> E) {
    for (wait, command) in later {
        timeline.at(now.saturating_add(wait), event(command));
    }
}
