//! Clients that meet the server in groups.

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

/// How a job of clients is run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientOptions {
    /// M.
    pub groups: usize,
    /// C, above 0 and at most 1.
    pub fraction: f64,
    /// r, from 0 to 1.
    pub relaxation: f64,
    /// The run ends when every group was aggregated so often.
    pub rounds: u32,
    /// Names the draws.
    pub seed: u64,
    /// How long the server waits for a client before it gives it up, in seconds; for ever unless told.
    pub patience_s: Option<f64>,
    /// Who is gone when.
    pub absences: Vec<Absence>,
    /// Over windows of how many seconds the use of the server's port is noted; not at all unless told.
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

/// What happens, for who watches.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientEvent {
    /// A client begins to pull a version of the model. All begin with version 0, which nobody pulls.
    Pull {
        /// The client's position.
        client: usize,
        /// Which version.
        version: u64,
    },
    /// A push has arrived whole.
    Push {
        /// The client's position.
        client: usize,
        /// The round that it is of.
        round: u64,
        /// What became of it.
        arrival: Arrival,
    },
    /// A group is aggregated.
    Aggregate {
        /// The group's number.
        group: usize,
        /// Its round.
        round: u64,
        /// The version that the model has then.
        version: u64,
        /// Positions of the clients whose updates are in it.
        clients: Vec<usize>,
    },
    /// The server leaves a client out for its data from now on.
    LeftOut {
        /// The client's position.
        client: usize,
    },
    /// The server has given a client up.
    Gone {
        /// The client's position.
        client: usize,
    },
}

/// Runs a job of clients.
///
/// # Errors
/// A job of workers, options that do not hold together, or a run that does not end.
pub fn run_clients(job: &Job, options: &ClientOptions) -> Result<ClientRun, RunError> {
    run_clients_watched(job, options, &mut |_, _| ())
}

/// Runs a job of clients, and tells everything that happens with its time in seconds.
///
/// # Errors
/// As [`run_clients`].
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

/// Runs a job of clients whose models somebody computes beside it, so that clients may be left out for their
/// data. `judge` is told everything that happens; it answers an aggregation with how alike each client's
/// update was to the reference (positions and cosines). Its other answers are not looked at.
///
/// # Errors
/// As [`run_clients`]; a rule that cannot be.
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

/// Who is told what happens, and when in seconds.
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
    /// The server's permission, at the client.
    Answer {
        client: usize,
        incarnation: u32,
        round: u64,
    },
    /// The client's wish to pull, at the server.
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
    /// How often it has been started: what earlier incarnations began is void.
    incarnation: u32,
    is_away: bool,
    /// Into the server, or out of it.
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
    /// Times are drawn in the order in which clients begin to compute.
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
        // All begin with the model.
        while self.server.next_output().is_some() {}
        for client in 0..self.actors.len() {
            let step = self.actors[client].machine.start_with(0);
            self.steps.push_back((client, step));
        }
        self.settle();
    }

    /// Whether every group that has clients, now or later, has done its rounds.
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

    /// The next event.
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

    /// A transfer's last bit has left its sender.
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

    /// It has left one end of the client's link; without a delay it is at the other one.
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
                    // It was given up while it computed.
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
            // What an earlier incarnation began is void.
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

    /// Does what the machines say, until they say nothing more.
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
                // Nobody hears what is said to one that is gone.
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
        let utilisation_out =
            if self.now_s > 0.0 { bits / self.job.server.out_bps / self.now_s } else { 0.0 };
        let usage = self.usage.map(Usage::into_rates).unwrap_or_default();
        self.record.report(self.server.counters(), self.now_s, utilisation_out, usage)
    }
}

fn number(client: usize) -> ClientNo {
    ClientNo(client as u32)
}
