//! Clients that use the server in groups.

use std::collections::VecDeque;
use std::time::Duration;

use inart_protocol_ps::{
    Arrival, Client, ClientNo, ClientStep, GroupOptions, GroupOutput, GroupServer, OutlierRule, fraction_of,
    relaxation_of,
};
use inart_topologies::ps::{Job, Kind};
use inart_virtual::{FlowId, Port, Seconds, SplitMix64, Timeline};

use super::absence::Absence;
use super::client_report::{ClientRun, Record};
use super::clock::{duration, seconds};
use super::error::RunError;
use super::usage::Usage;

/// Options of a job of clients.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientOptions {
    /// M, the number of groups.
    pub groups: usize,
    /// C, above 0 and at most 1.
    pub fraction: f64,
    /// r, from 0 to 1.
    pub relaxation: f64,
    /// Aggregations of every group after which the run ends.
    pub rounds: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Longest wait of the server for a client before it times out, in seconds; `None` for no limit.
    pub patience_s: Option<f64>,
    /// Absences of clients.
    pub absences: Vec<Absence>,
    /// Length of the windows in which the server's port utilization is noted, in seconds; `None` for none.
    pub usage_s: Option<f64>,
}

impl ClientOptions {
    fn server(&self, clients: usize, outliers: Option<OutlierRule>) -> Result<GroupOptions, RunError> {
        let options = GroupOptions {
            clients,
            groups: self.groups,
            fraction: fraction_of(self.fraction)?,
            relaxation: relaxation_of(self.relaxation)?,
            patience: self.patience_s.map(duration),
            outliers,
        };
        options.check()?;
        Ok(options)
    }
}

/// Event for observers.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientEvent {
    /// A client starts to pull a version of the model. All start with version 0, which is not pulled.
    Pull {
        /// Position of the client.
        client: usize,
        /// Version.
        version: u64,
    },
    /// A complete push has arrived.
    Push {
        /// Position of the client.
        client: usize,
        /// Round of the push.
        round: u64,
        /// Outcome of the push.
        arrival: Arrival,
    },
    /// A group is aggregated.
    Aggregate {
        /// Number of the group.
        group: usize,
        /// Round of the group.
        round: u64,
        /// Version of the model afterwards.
        version: u64,
        /// Positions of the clients whose updates are in it.
        clients: Vec<usize>,
    },
    /// The server excludes a client for its data from now on.
    LeftOut {
        /// Position of the client.
        client: usize,
    },
    /// The server has removed a client that timed out.
    Gone {
        /// Position of the client.
        client: usize,
    },
}

/// Runs a job of clients.
///
/// # Errors
/// The job has workers, the options contradict each other, or the run does not end.
pub fn run_clients(job: &Job, options: &ClientOptions) -> Result<ClientRun, RunError> {
    run_clients_watched(job, options, &mut |_, _| ())
}

/// Runs a job of clients, and reports each event with its time in seconds.
///
/// # Errors
/// As for [`run_clients`].
pub fn run_clients_watched(
    job: &Job,
    options: &ClientOptions,
    watch: &mut dyn FnMut(f64, ClientEvent),
) -> Result<ClientRun, RunError> {
    run_clients_judged(job, options, None, &mut |at_s, event| {
        watch(at_s, event);
        Vec::new()
    })
}

/// Runs a job of clients whose models the caller computes, so that clients may be excluded for their data.
/// `judge` receives each event; it answers an aggregation with the similarity of each client's update to the
/// reference (positions and cosines). Its other answers are ignored.
///
/// # Errors
/// As for [`run_clients`]; the rule is invalid.
pub fn run_clients_judged(
    job: &Job,
    options: &ClientOptions,
    outliers: Option<OutlierRule>,
    judge: &mut Judge<'_>,
) -> Result<ClientRun, RunError> {
    if job.kind != Kind::Clients {
        let (has, wanted) = (job.kind.name(), Kind::Clients.name());
        return Err(RunError::Kind { job: job.name.clone(), has, wanted });
    }
    if options.rounds < 4 {
        return Err(RunError::Rounds(options.rounds));
    }
    let mut world = World::new(job, options, outliers, judge)?;
    world.start();
    while !world.is_over() {
        world.step()?;
    }
    Ok(world.report())
}

/// Receives each event with its time in seconds.
pub type Judge<'j> = dyn FnMut(f64, ClientEvent) -> Vec<(usize, f64)> + 'j;

#[derive(Debug, Clone, Copy)]
enum Event {
    PullArrived {
        client: usize,
        incarnation: u32,
    },
    Computed {
        client: usize,
        incarnation: u32,
    },
    PushArrived {
        client: usize,
        incarnation: u32,
    },
    /// Arrival of the server's permission at the client.
    Answer {
        client: usize,
        incarnation: u32,
        round: u64,
    },
    /// Arrival of the client's pull request at the server.
    Pull {
        client: usize,
        incarnation: u32,
    },
    Leaves {
        absence: usize,
    },
    Returns {
        absence: usize,
    },
}

/// A client's process.
struct Actor {
    machine: Client,
    /// Number of starts: events of earlier incarnations are void.
    incarnation: u32,
    is_away: bool,
    /// Flow into the server, or out of it.
    flow: Option<(bool, FlowId)>,
    round: u64,
}

struct World<'r> {
    job: &'r Job,
    options: &'r ClientOptions,
    server: GroupServer,
    actors: Vec<Actor>,
    into: Port<(usize, u32)>,
    out: Port<(usize, u32)>,
    timers: Timeline<Event, Seconds>,
    steps: VecDeque<(usize, ClientStep)>,
    /// Random numbers for times, in the order in which clients start to compute.
    random: SplitMix64,
    now_s: f64,
    record: Record,
    usage: Option<Usage>,
    judge: &'r mut Judge<'r>,
}

impl<'r> World<'r> {
    fn new(
        job: &'r Job,
        options: &'r ClientOptions,
        outliers: Option<OutlierRule>,
        judge: &'r mut Judge<'r>,
    ) -> Result<Self, RunError> {
        let clients = job.participants.len();
        let actor =
            |_| Actor { machine: Client::new(), incarnation: 0, is_away: false, flow: None, round: 0 };
        Ok(World {
            server: GroupServer::new(options.server(clients, outliers)?, Duration::ZERO)?,
            actors: (0..clients).map(actor).collect(),
            into: Port::new(job.server.in_bps),
            out: Port::new(job.server.out_bps),
            timers: Timeline::new(),
            steps: VecDeque::new(),
            random: SplitMix64::new(options.seed),
            now_s: 0.0,
            record: Record::new(clients, options.groups),
            usage: options.usage_s.map(Usage::new),
            job,
            options,
            judge,
        })
    }

    fn now(&self) -> Duration {
        duration(self.now_s)
    }

    fn start(&mut self) {
        for (at, absence) in self.options.absences.iter().enumerate() {
            self.timers.at(Seconds(absence.from_s), Event::Leaves { absence: at });
            if let Some(until_s) = absence.until_s {
                self.timers.at(Seconds(until_s), Event::Returns { absence: at });
            }
        }
        for client in 0..self.actors.len() {
            self.server.join(number(client), Duration::ZERO);
        }
        // All start with the model.
        while self.server.next_output().is_some() {}
        for client in 0..self.actors.len() {
            let step = self.actors[client].machine.start_with(0);
            self.steps.push_back((client, step));
        }
        self.settle();
    }

    /// Returns whether every group with present or returning clients has done its rounds.
    fn is_over(&self) -> bool {
        let rounds = u64::from(self.options.rounds);
        let is_empty = |group: usize| {
            let is_gone = |client: usize| {
                let mut absences = self.options.absences.iter();
                absences.any(|absence| absence.participant == client && absence.until_s.is_none())
            };
            (group..self.actors.len()).step_by(self.options.groups).all(is_gone)
        };
        let mut groups = 0..self.options.groups;
        groups.all(|group| self.server.round(group).is_some_and(|round| round >= rounds) || is_empty(group))
    }

    /// Handles the next event.
    fn step(&mut self) -> Result<(), RunError> {
        let wake_s = self.server.wake_at().map(seconds);
        let ends =
            [self.into.next_end_s(), self.out.next_end_s(), self.timers.next_at().map(|at| at.0), wake_s];
        let next = ends.iter().enumerate().filter_map(|(which, at_s)| Some((which, (*at_s)?)));
        let Some((which, at_s)) = next.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))) else {
            let away = self.actors.iter().position(|actor| actor.is_away).unwrap_or(0);
            let waited_for = self.job.participants[away].name.clone();
            return Err(RunError::Stalled { at_s: self.now_s, waited_for });
        };
        if let Some(usage) = &mut self.usage {
            usage.until(at_s, &mut self.into, &mut self.out);
        }
        self.now_s = self.now_s.max(at_s);
        match which {
            0 => self.ended(true),
            1 => self.ended(false),
            2 => {
                if let Some((_, event)) = self.timers.take() {
                    self.happen(event);
                }
            }
            _ => self.server.tick(self.now()),
        }
        self.settle();
        Ok(())
    }

    /// Handles the end of a transfer at its sender.
    fn ended(&mut self, is_push: bool) {
        let port = if is_push { &mut self.into } else { &mut self.out };
        let Some((_, (client, incarnation))) = port.end() else { return };
        self.actors[client].flow = None;
        let event = match is_push {
            true => Event::PushArrived { client, incarnation },
            false => Event::PullArrived { client, incarnation },
        };
        self.delayed(client, event);
    }

    /// Delays an event by the client's link; without a delay it occurs at once.
    fn delayed(&mut self, client: usize, event: Event) {
        match self.job.participants[client].delay_s {
            0.0 => self.happen(event),
            delay_s => self.timers.at(Seconds(self.now_s + delay_s), event),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::PullArrived { client, incarnation } if self.actors[client].incarnation == incarnation => {
                self.record.pulled(client, client % self.options.groups, self.now_s);
                let step = self.actors[client].machine.pulled();
                self.steps.extend(step.map(|step| (client, step)));
            }
            Event::Computed { client, incarnation } if self.actors[client].incarnation == incarnation => {
                let step = self.actors[client].machine.computed();
                self.steps.extend(step.map(|step| (client, step)));
            }
            Event::PushArrived { client, incarnation } if self.actors[client].incarnation == incarnation => {
                self.record.pushed(client, client % self.options.groups, self.now_s);
                let round = self.actors[client].round;
                let arrival = self.server.push(number(client), round, Ok(()), self.now());
                (self.judge)(self.now_s, ClientEvent::Push { client, round, arrival });
                if arrival == Arrival::Barred {
                    // The client timed out while it computed.
                    let step = self.actors[client].machine.start();
                    self.steps.push_back((client, step));
                }
            }
            Event::Answer { client, incarnation, round }
                if self.actors[client].incarnation == incarnation =>
            {
                let step = self.actors[client].machine.answered(round);
                self.steps.extend(step.map(|step| (client, step)));
            }
            Event::Pull { client, incarnation } if self.actors[client].incarnation == incarnation => {
                self.pull(client)
            }
            // Events of an earlier incarnation are void.
            Event::PullArrived { .. } | Event::Computed { .. } | Event::PushArrived { .. } => {}
            Event::Answer { .. } | Event::Pull { .. } => {}
            Event::Leaves { absence } => self.leaves(self.options.absences[absence]),
            Event::Returns { absence } => {
                let client = self.options.absences[absence].participant;
                let actor = &mut self.actors[client];
                // Another absence may have ended before.
                if std::mem::take(&mut actor.is_away) {
                    let step = actor.machine.start();
                    self.steps.push_back((client, step));
                }
            }
        }
    }

    fn leaves(&mut self, absence: Absence) {
        let client = absence.participant;
        let actor = &mut self.actors[client];
        (actor.is_away, actor.incarnation) = (true, actor.incarnation + 1);
        self.record.vanished(client);
        if let Some((is_push, flow)) = actor.flow.take() {
            let port = if is_push { &mut self.into } else { &mut self.out };
            port.give_up(self.now_s, flow);
        }
        if absence.is_noticed {
            self.server.leave(number(client), self.now());
        }
    }

    /// Carries out the machines' outputs until there are none.
    fn settle(&mut self) {
        loop {
            if let Some(output) = self.server.next_output() {
                self.take(output);
            } else if let Some((client, step)) = self.steps.pop_front() {
                if !self.actors[client].is_away {
                    self.take_step(client, step);
                }
            } else {
                return;
            }
        }
    }

    fn take(&mut self, output: GroupOutput) {
        match output {
            GroupOutput::Aggregate { group, round, version, clients } => {
                self.record.aggregated(group, self.now_s);
                let clients = clients.into_iter().map(ClientNo::index).collect();
                let event = ClientEvent::Aggregate { group, round, version, clients };
                let alike = (self.judge)(self.now_s, event).into_iter();
                let cosines: Vec<_> = alike.map(|(client, cosine)| (number(client), cosine)).collect();
                for client in self.server.judge(group, &cosines, duration(self.now_s)) {
                    (self.judge)(self.now_s, ClientEvent::LeftOut { client: client.index() });
                }
            }
            GroupOutput::Answer { client, round } => {
                let client = client.index();
                // Messages to an absent client are lost.
                if !self.actors[client].is_away {
                    let incarnation = self.actors[client].incarnation;
                    self.delayed(client, Event::Answer { client, incarnation, round });
                }
            }
            GroupOutput::Gone { client } => {
                (self.judge)(self.now_s, ClientEvent::Gone { client: client.index() });
            }
        }
    }

    fn pull(&mut self, client: usize) {
        self.record.pulls(client, client % self.options.groups, self.now_s);
        (self.judge)(self.now_s, ClientEvent::Pull { client, version: self.server.version() });
        let (incarnation, in_bps) =
            (self.actors[client].incarnation, self.job.participants[client].nic.in_bps);
        let flow = self.out.begin(self.now_s, in_bps, self.job.bits, (client, incarnation));
        self.actors[client].flow = Some((false, flow));
    }

    fn take_step(&mut self, client: usize, step: ClientStep) {
        let incarnation = self.actors[client].incarnation;
        let participant = &self.job.participants[client];
        match step {
            ClientStep::Join => self.server.join(number(client), self.now()),
            ClientStep::Pull => self.delayed(client, Event::Pull { client, incarnation }),
            ClientStep::Compute => {
                let random = &mut self.random;
                let took_s = participant.compute.draw(random) + self.job.pause.draw(random);
                self.timers.at(Seconds(self.now_s + took_s), Event::Computed { client, incarnation });
            }
            ClientStep::Push { round } => {
                self.actors[client].round = round;
                self.record.pushes(client, self.now_s);
                let flow = self.into.begin(
                    self.now_s,
                    participant.nic.out_bps,
                    self.job.bits,
                    (client, incarnation),
                );
                self.actors[client].flow = Some((true, flow));
            }
        }
    }

    fn report(mut self) -> ClientRun {
        let bits = self.out.passed(self.now_s);
        let utilization_out =
            if self.now_s > 0.0 { bits / self.job.server.out_bps / self.now_s } else { 0.0 };
        let usage = self.usage.map(Usage::into_rates).unwrap_or_default();
        self.record.report(self.server.counters(), self.now_s, utilization_out, usage)
    }
}

fn number(client: usize) -> ClientNo {
    ClientNo(client as u32)
}
