//! Workers that use the server by any synchronization model.

use std::collections::VecDeque;
use std::time::Duration;

use inart_protocol_ps::{
    Batch, BatchRule, Options, Output, PushOutcome, Server, Step, SyncModel, Update, Worker, WorkerNo,
};
use inart_topologies::ps::{Job, Kind};
use inart_virtual::{FlowId, Port, Seconds, SplitMix64, Timeline};

use super::absence::Absence;
use super::clock::{duration, seconds};
use super::error::RunError;
use super::usage::Usage;
use super::worker_report::{Record, WorkerRun};

/// Most pushes of a run.
const MOST_PUSHES: u64 = 20_000_000;

/// Options of a job of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerOptions {
    /// Synchronization model of the server.
    pub sync_model: SyncModel,
    /// Rule of batch tuning; `None` for fixed batches.
    pub tuning: Option<BatchRule>,
    /// Iterations of every worker after which the run ends.
    pub iterations: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Longest wait of the server for a worker before it times out, in seconds; `None` for no limit.
    pub patience_s: Option<f64>,
    /// Absences of workers.
    pub absences: Vec<Absence>,
    /// Length of the windows in which the server's port utilization is noted, in seconds; `None` for none.
    pub usage_s: Option<f64>,
}

impl WorkerOptions {
    /// Returns options for a number of iterations: seed 1, fixed batches, no absences.
    pub fn new(sync_model: SyncModel, iterations: u32) -> Self {
        let (tuning, patience_s, usage_s) = (None, None, None);
        WorkerOptions { sync_model, tuning, iterations, seed: 1, patience_s, absences: Vec::new(), usage_s }
    }
}

/// Event for observers.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerEvent {
    /// A worker starts to pull a version of the model.
    Pull {
        /// Position of the worker.
        worker: usize,
        /// Version.
        version: u64,
    },
    /// A complete push has arrived.
    Push {
        /// Position of the worker.
        worker: usize,
        /// Iteration of the push.
        iteration: u64,
        /// Outcome of the push.
        taken: PushOutcome,
    },
    /// Updates are applied together.
    Apply {
        /// Version of the model afterwards.
        version: u64,
        /// Updates.
        updates: Vec<Update>,
    },
    /// The server has removed a worker that timed out.
    Gone {
        /// Position of the worker.
        worker: usize,
    },
}

/// Runs a job of workers.
///
/// # Errors
/// The job has clients, too few iterations, or the run does not end.
pub fn run_workers(job: &Job, options: &WorkerOptions) -> Result<WorkerRun, RunError> {
    run_workers_watched(job, options, &mut |_, _| ())
}

/// Runs a job of workers, and reports each event with its time in seconds.
///
/// # Errors
/// As for [`run_workers`].
pub fn run_workers_watched(
    job: &Job,
    options: &WorkerOptions,
    watch: &mut dyn FnMut(f64, WorkerEvent),
) -> Result<WorkerRun, RunError> {
    if job.kind != Kind::Workers {
        let (has, wanted) = (job.kind.name(), Kind::Workers.name());
        return Err(RunError::Kind { job: job.name.clone(), has, wanted });
    }
    if options.iterations < 2 {
        return Err(RunError::Iterations(options.iterations));
    }
    let mut world = World::new(job, options, watch);
    world.start();
    while !world.is_over() {
        world.step()?;
    }
    Ok(world.report())
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// Event of a worker in one of its incarnations.
    Of {
        worker: usize,
        incarnation: u32,
        what: EventKind,
    },
    Leaves {
        absence: usize,
    },
    Returns {
        absence: usize,
    },
}

/// Event at a worker or the server. Messages take the link's delay, transfers that much longer.
#[derive(Debug, Clone, Copy)]
enum EventKind {
    PullArrived,
    Computed,
    PushArrived,
    /// Arrival of the server's answer to a push at the worker.
    Answer {
        iteration: u64,
        taken: PushOutcome,
    },
    /// Arrival of the worker's request at the server.
    Request,
    /// Arrival of the server's permission at the worker.
    Permit {
        iteration: u64,
        batch: u32,
    },
    /// Arrival of the worker's pull request at the server.
    Pull {
        iteration: u64,
    },
    /// Arrival of the server's refusal of a pull at the worker.
    NotPermitted {
        iteration: u64,
    },
}

/// A worker's process.
struct Actor {
    machine: Worker,
    /// Number of starts: events of earlier incarnations are void.
    incarnation: u32,
    is_away: bool,
    /// Flow into the server, or out of it.
    flow: Option<(bool, FlowId)>,
    iteration: u64,
}

struct World<'r> {
    job: &'r Job,
    options: &'r WorkerOptions,
    server: Server<SyncModel>,
    actors: Vec<Actor>,
    into: Port<(usize, u32)>,
    out: Port<(usize, u32)>,
    timers: Timeline<Event, Seconds>,
    steps: VecDeque<(usize, Step)>,
    /// Random numbers for times, in the order in which workers start to compute.
    random: SplitMix64,
    now_s: f64,
    record: Record,
    usage: Option<Usage>,
    watch: &'r mut dyn FnMut(f64, WorkerEvent),
}

impl<'r> World<'r> {
    fn new(job: &'r Job, options: &'r WorkerOptions, watch: &'r mut dyn FnMut(f64, WorkerEvent)) -> Self {
        let batches = job.participants.iter().map(|worker| Batch::new(worker.batch, worker.speed));
        let server = Options {
            batches: batches.collect(),
            tuning: options.tuning,
            patience: options.patience_s.map(duration),
        };
        let actor =
            |_| Actor { machine: Worker::new(), incarnation: 0, is_away: false, flow: None, iteration: 0 };
        World {
            server: Server::new(options.sync_model, server),
            actors: (0..job.participants.len()).map(actor).collect(),
            into: Port::new(job.server.in_bps),
            out: Port::new(job.server.out_bps),
            timers: Timeline::new(),
            steps: VecDeque::new(),
            random: SplitMix64::new(options.seed),
            now_s: 0.0,
            record: Record::new(job.participants.len(), options.iterations),
            usage: options.usage_s.map(Usage::new),
            job,
            options,
            watch,
        }
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
        // All have joined before the first one may pull.
        let all: Vec<_> = self.actors.iter_mut().map(|actor| actor.machine.start()).collect();
        for step in [0, 1] {
            self.steps.extend(all.iter().enumerate().map(|(worker, steps)| (worker, steps[step])));
        }
        self.settle();
    }

    /// Returns whether every present or returning worker has done its iterations.
    fn is_over(&self) -> bool {
        let is_gone = |worker: &usize| {
            let for_good = |absence: &&Absence| absence.participant == *worker && absence.until_s.is_none();
            self.options.absences.iter().any(|absence| for_good(&absence))
        };
        (0..self.actors.len()).all(|worker| self.record.is_done(worker) || is_gone(&worker))
    }

    /// Handles the next event.
    fn step(&mut self) -> Result<(), RunError> {
        let wake_s = self.server.wake_at().map(seconds);
        let ends =
            [self.into.next_end_s(), self.out.next_end_s(), self.timers.next_at().map(|at| at.0), wake_s];
        let next = ends.iter().enumerate().filter_map(|(which, at_s)| Some((which, (*at_s)?)));
        let Some((which, at_s)) = next.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))) else {
            return Err(RunError::Stalled { at_s: self.now_s, waited_for: self.absent() });
        };
        if self.record.pushes() > MOST_PUSHES {
            let last = (0..self.actors.len()).find(|worker| !self.record.is_done(*worker)).unwrap_or(0);
            let waited_for = self.job.participants[last].name.clone();
            return Err(RunError::TooLong { pushes: self.record.pushes(), waited_for });
        }
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

    fn absent(&self) -> String {
        let away = self.actors.iter().position(|actor| actor.is_away);
        self.job.participants[away.unwrap_or(0)].name.clone()
    }

    /// Handles the end of a transfer at its sender.
    fn ended(&mut self, is_push: bool) {
        let port = if is_push { &mut self.into } else { &mut self.out };
        let Some((_, (worker, incarnation))) = port.end() else { return };
        self.actors[worker].flow = None;
        let what = if is_push { EventKind::PushArrived } else { EventKind::PullArrived };
        self.delayed(worker, incarnation, what);
    }

    /// Delays an event by the worker's link; without a delay it occurs at once.
    fn delayed(&mut self, worker: usize, incarnation: u32, what: EventKind) {
        let event = Event::Of { worker, incarnation, what };
        match self.job.participants[worker].delay_s {
            0.0 => self.happen(event),
            delay_s => self.timers.at(Seconds(self.now_s + delay_s), event),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            // Events of an earlier incarnation are void.
            Event::Of { worker, incarnation, .. } if self.actors[worker].incarnation != incarnation => {}
            Event::Of { worker, what, .. } => self.happen_to(worker, what),
            Event::Leaves { absence } => self.leaves(self.options.absences[absence]),
            Event::Returns { absence } => {
                let worker = self.options.absences[absence].participant;
                let actor = &mut self.actors[worker];
                // Another absence may have ended before.
                if std::mem::take(&mut actor.is_away) {
                    let steps = actor.machine.start();
                    self.steps.extend(steps.map(|step| (worker, step)));
                }
            }
        }
    }

    fn happen_to(&mut self, worker: usize, what: EventKind) {
        let machine = &mut self.actors[worker].machine;
        let step = match what {
            EventKind::PullArrived => {
                self.record.arrived(worker, false, self.now_s);
                machine.pulled()
            }
            EventKind::Computed => machine.computed(),
            EventKind::Answer { iteration, taken } => machine.pushed(iteration, taken),
            EventKind::Permit { iteration, batch } => machine.permitted(iteration, batch),
            EventKind::NotPermitted { iteration } => machine.not_permitted(iteration),
            EventKind::PushArrived => return self.pushed(worker),
            EventKind::Request => return self.request(worker),
            EventKind::Pull { iteration } => return self.pull(worker, iteration),
        };
        self.steps.extend(step.map(|step| (worker, step)));
    }

    fn request(&mut self, worker: usize) {
        let now = self.now();
        if self.server.request(number(worker), now).is_err() {
            // The worker timed out while it computed.
            self.server.join(number(worker), now).expect("the job has this worker");
            self.steps.push_back((worker, Step::Request));
        }
    }

    fn pull(&mut self, worker: usize, iteration: u64) {
        self.actors[worker].iteration = iteration;
        let Ok(version) = self.server.pull(number(worker), self.now()) else {
            return self.delayed(
                worker,
                self.actors[worker].incarnation,
                EventKind::NotPermitted { iteration },
            );
        };
        (self.watch)(self.now_s, WorkerEvent::Pull { worker, version });
        self.record.begins(worker, self.now_s);
        let (incarnation, in_bps) =
            (self.actors[worker].incarnation, self.job.participants[worker].nic.in_bps);
        let flow = self.out.begin(self.now_s, in_bps, self.job.bits, (worker, incarnation));
        self.actors[worker].flow = Some((false, flow));
    }

    fn leaves(&mut self, absence: Absence) {
        let worker = absence.participant;
        let actor = &mut self.actors[worker];
        (actor.is_away, actor.incarnation) = (true, actor.incarnation + 1);
        if let Some((is_push, flow)) = actor.flow.take() {
            let port = if is_push { &mut self.into } else { &mut self.out };
            port.give_up(self.now_s, flow);
        }
        if absence.is_noticed {
            self.server.leave(number(worker), self.now()).expect("the job has this worker");
        }
    }

    fn pushed(&mut self, worker: usize) {
        self.record.arrived(worker, true, self.now_s);
        let iteration = self.actors[worker].iteration;
        let taken = self.server.push(number(worker), iteration, Ok(()), self.now());
        let taken = taken.expect("the job has this worker");
        if taken == PushOutcome::Held {
            self.record.push(self.now_s, worker);
        }
        (self.watch)(self.now_s, WorkerEvent::Push { worker, iteration, taken });
        self.delayed(worker, self.actors[worker].incarnation, EventKind::Answer { iteration, taken });
    }

    /// Carries out the machines' outputs until there are none.
    fn settle(&mut self) {
        loop {
            if let Some(output) = self.server.next_output() {
                self.take(output);
            } else if let Some((worker, step)) = self.steps.pop_front() {
                if !self.actors[worker].is_away {
                    self.take_step(worker, step);
                }
            } else {
                return;
            }
        }
    }

    fn take(&mut self, output: Output) {
        match output {
            Output::Permit { worker, iteration, batch } => {
                let worker = worker.index();
                // Messages to an absent worker are lost.
                if !self.actors[worker].is_away {
                    self.delayed(
                        worker,
                        self.actors[worker].incarnation,
                        EventKind::Permit { iteration, batch },
                    );
                }
            }
            Output::Apply { version, updates } => {
                updates.iter().for_each(|update| self.record.apply(update));
                (self.watch)(self.now_s, WorkerEvent::Apply { version, updates });
            }
            Output::Discard { .. } => {}
            Output::Gone { worker, .. } => {
                (self.watch)(self.now_s, WorkerEvent::Gone { worker: worker.index() });
            }
        }
    }

    fn take_step(&mut self, worker: usize, step: Step) {
        let (now, incarnation) = (self.now(), self.actors[worker].incarnation);
        let participant = &self.job.participants[worker];
        match step {
            Step::Join => self.server.join(number(worker), now).expect("the job has this worker"),
            Step::Request => self.delayed(worker, incarnation, EventKind::Request),
            Step::Pull { iteration } => self.delayed(worker, incarnation, EventKind::Pull { iteration }),
            Step::Compute { batch, .. } => {
                let drawn_s = participant.compute.draw(&mut self.random);
                let more = f64::from(batch) - f64::from(participant.batch);
                let at_s = self.now_s + drawn_s + more / participant.speed;
                self.timers.at(Seconds(at_s), Event::Of { worker, incarnation, what: EventKind::Computed });
            }
            Step::Push { iteration } => {
                self.actors[worker].iteration = iteration;
                self.record.begins(worker, self.now_s);
                let flow = self.into.begin(
                    self.now_s,
                    participant.nic.out_bps,
                    self.job.bits,
                    (worker, incarnation),
                );
                self.actors[worker].flow = Some((true, flow));
            }
        }
    }

    fn report(mut self) -> WorkerRun {
        let [in_bits, out_bits] = [self.into.passed(self.now_s), self.out.passed(self.now_s)];
        let part = |bits: f64, bps: f64| if self.now_s > 0.0 { bits / bps / self.now_s } else { 0.0 };
        let utilization = [part(in_bits, self.job.server.in_bps), part(out_bits, self.job.server.out_bps)];
        let sync = self.options.sync_model.name();
        let mut run = self.record.report(self.job, &self.server, sync, self.now_s, utilization);
        run.usage_bps = self.usage.map(Usage::into_rates).unwrap_or_default();
        run
    }
}

fn number(worker: usize) -> WorkerNo {
    WorkerNo(worker as u32)
}
