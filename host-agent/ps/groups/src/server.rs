//! A parameter server of all groups.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_host_agent::{Migrator, OnwardEvent, OnwardServer, Options, Transport};
use inart_protocol_aggregation::{Assignment, Failure, ServerCounters};
use inart_wire::ShardId;

use crate::agreed::Agreed;
use crate::error::RackError;
use crate::group_state::GroupState;
use crate::part::{Part, TurnEvent};
use crate::shape::Shape;
use crate::waits::{self, PATIENCE, Watch};

/// Interval of checks for silent workers.
const LOOK: Duration = Duration::from_millis(200);
/// Peer timeouts after which a worker that no worker of its group waits for counts as failed; the job's
/// server reports awaited ones after one.
const SILENT_TIMEOUTS: u32 = 2;

/// A group of workers: its InArt job, and the server's access to it.
pub struct RackGroup {
    /// The job of the group.
    pub assignment: Assignment,
    /// Interface, or another transport.
    pub transport: Box<dyn Transport>,
    /// Timeouts and limits of the server.
    pub options: Options,
}

/// Final counters, by group.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// Counters of each job's server.
    pub servers: Vec<ServerCounters>,
    /// This server's part of the model.
    pub model: Vec<f32>,
}

enum GroupEvent {
    Onward(OnwardEvent),
    Ended(Result<ServerCounters, inart_host_agent::Error>),
}

/// A parameter server of all groups: its part of the model, and their jobs' servers.
pub struct RackServer {
    name: String,
    part: Part,
    iterations: u32,
    silent: Duration,
    group_states: Vec<GroupState>,
    servers: Vec<OnwardServer>,
    error: Option<RackError>,
    start: Instant,
    patience: Duration,
    log: Watch,
    status: StatusPublisher,
}

impl RackServer {
    /// Creates the server of one shard of all groups' jobs, in the order of turns; `concurrent_groups` of
    /// them push at once. It ends after `iterations` of each.
    ///
    /// # Errors
    /// Groups have different shares, the model has another length, the numbers are invalid, or an assignment
    /// or a transport is invalid.
    pub fn new(
        shard: ShardId,
        groups: Vec<RackGroup>,
        concurrent_groups: usize,
        model: &[f32],
        iterations: u32,
    ) -> Result<Self, RackError> {
        let number = groups.len();
        let mut part: Option<(Part, Shape, String)> = None;
        let (mut group_states, mut servers) = (Vec::new(), Vec::new());
        let (mut name, mut silent) = (String::new(), Duration::ZERO);
        for RackGroup { assignment, transport, options } in groups {
            assignment.validate().map_err(inart_host_agent::Error::from)?;
            let own = assignment.shard(shard).map_err(inart_host_agent::Error::from)?;
            let shape = Shape::new(&assignment, model.len(), number)?;
            let server = own.server.clone();
            match &part {
                Some((_, first, job)) if !first.has_same_frames(&shape, shard) => {
                    let (job, first) = (assignment.name.clone(), job.clone());
                    return Err(RackError::OtherPart { job, server, first });
                }
                Some(_) => {}
                None => {
                    let own = Part::new((&shape, shard), model, number, concurrent_groups)?;
                    part = Some((own, shape, assignment.name.clone()));
                }
            }
            name = server;
            silent = options.peer_timeout * SILENT_TIMEOUTS;
            let status = options.status.clone().unwrap_or_else(StatusSocket::quiet);
            let watch = status.watch();
            let options = Options { status: Some(status), ..options };
            let workers = assignment.workers.iter().map(|worker| worker.name.clone()).collect();
            let job = assignment.name.clone();
            let server = OnwardServer::of_shard(assignment, shard, transport, options)?;
            let back = server.sums_back();
            group_states.push(GroupState { job, workers, back, watch, ended: None, has_ended: false });
            servers.push(server);
        }
        let Some((part, shape, _)) = part else {
            return Err(
                inart_protocol_ps::TurnError::Numbers { groups: 0, concurrent_groups, chunks: 0 }.into()
            );
        };
        let jobs: Vec<_> =
            group_states.iter().map(|group_state: &GroupState| group_state.job.clone()).collect();
        let agreed = Agreed::new(number, model, Some((&jobs, concurrent_groups)));
        let workers = group_states.iter().map(|group_state| group_state.workers.len()).collect();
        let part = part.with_terms((&shape, shard), agreed, workers);
        Ok(RackServer {
            name,
            part,
            iterations,
            silent,
            group_states,
            servers,
            error: None,
            start: Instant::now(),
            patience: PATIENCE,
            log: Watch::default(),
            status: StatusPublisher::default(),
        })
    }

    /// Publishes the server's status through this socket.
    #[must_use]
    pub fn with_status(self, socket: StatusSocket<AnyStatus>) -> Self {
        self.status.set(socket);
        self
    }

    /// Sets how long a group may be without workers before the server ends; 600 s by default.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Adds a setting that all must share, such as the seed; without a value if this server does not know it:
    /// then the groups are compared with the first one. Workers must add the same settings in the same order.
    #[must_use]
    pub fn with_term(mut self, name: &str, value: Option<String>) -> Self {
        self.part.add_term(name, value);
        self
    }

    /// Returns, by group, the handle that migrates the server to another plan of the group's job.
    pub fn migrators(&self) -> Vec<Migrator> {
        self.servers.iter().map(OnwardServer::migrator).collect()
    }

    /// Returns this server's part of the model.
    pub fn model(&self) -> &[f32] {
        self.part.model()
    }

    /// Serves until every group has done its iterations; calls `on_event` for each event, with the part of
    /// the model as of the group's last turn.
    ///
    /// # Errors
    /// A group's job has ended, or its workers' sums are wrong. The workers of all groups have received the
    /// reason.
    pub fn run(mut self, on_event: &mut dyn FnMut(&TurnEvent, &[f32])) -> Result<Ending, RackError> {
        let (sender, events) = channel();
        let mut threads = Vec::new();
        for (group, mut server) in std::mem::take(&mut self.servers).into_iter().enumerate() {
            let sender = sender.clone();
            let run = move || {
                let ended = server.run(&mut |event| drop(sender.send((group, GroupEvent::Onward(event)))));
                let _ = sender.send((group, GroupEvent::Ended(ended.map(|()| server.counters()))));
            };
            threads.push(Builder::new().name(format!("group-{}", group + 1)).spawn(run)?);
        }
        drop(sender);
        self.listen(&events, on_event);
        threads.into_iter().map(JoinHandle::join).for_each(drop); // a panic there has been printed already
        match self.error {
            Some(error) => Err(error),
            None => {
                let servers = self.group_states.iter().filter_map(|group_state| group_state.ended).collect();
                Ok(Ending { servers, model: self.part.model().to_vec() })
            }
        }
    }

    fn listen(
        &mut self,
        events: &Receiver<(usize, GroupEvent)>,
        on_event: &mut dyn FnMut(&TurnEvent, &[f32]),
    ) {
        while self.group_states.iter().any(|group_state| !group_state.has_ended) {
            match events.recv_timeout(LOOK) {
                Ok((group, event)) => self.handle(group, event, on_event),
                Err(RecvTimeoutError::Timeout) => {
                    self.look();
                    self.log_waits();
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.status.is_due() {
                let waits = waits::awaited(&self.part, &self.group_states, self.iterations);
                self.status.take(waits::status(&self.name, &self.part, &self.group_states, waits));
            }
        }
    }

    fn handle(&mut self, group: usize, event: GroupEvent, on_event: &mut dyn FnMut(&TurnEvent, &[f32])) {
        let job = self.group_states[group].job.clone();
        match event {
            GroupEvent::Onward(OnwardEvent::Started) => {}
            GroupEvent::Onward(OnwardEvent::Sum { .. }) if self.error.is_some() => {}
            GroupEvent::Onward(OnwardEvent::Sum { sum, .. }) => {
                if let Err(error) = self.part.take(group, sum) {
                    let error = RackError::Part { job, error };
                    return self.end(error);
                }
                self.pass_on(on_event);
            }
            GroupEvent::Onward(OnwardEvent::Aborted(failure)) => {
                self.end(RackError::Group { job, error: Box::new(failure.into()) });
            }
            GroupEvent::Onward(OnwardEvent::Stopped) => self.end(RackError::Stopped(self.name.clone())),
            GroupEvent::Ended(ended) => {
                self.group_states[group].has_ended = true;
                match ended {
                    Ok(counters) => self.group_states[group].ended = Some(counters),
                    Err(error) => self.end(RackError::Group { job, error: Box::new(error) }),
                }
            }
        }
    }

    fn pass_on(&mut self, on_event: &mut dyn FnMut(&TurnEvent, &[f32])) {
        for (group, answer) in self.part.answers() {
            self.group_states[group].back.give(answer);
        }
        for event in self.part.events() {
            let (TurnEvent::Ready { group }
            | TurnEvent::Begins { group, .. }
            | TurnEvent::Ends { group, .. }) = event;
            on_event(&event, self.part.version(group));
            if matches!(event, TurnEvent::Ends { .. }) && self.part.iterations(group) == self.iterations {
                self.group_states[group].back.finish(self.part.end(group));
            }
        }
    }

    /// Logs the groups that the turns wait for, and ends the training if a group stays without workers.
    fn log_waits(&mut self) {
        if self.error.is_some() {
            return;
        }
        let waits = waits::awaited(&self.part, &self.group_states, self.iterations);
        waits::log(&mut self.log, &waits, self.part.turns() > 0);
        let waited = self.start.elapsed();
        if waited < self.patience {
            return;
        }
        if let Some(group_state) = self.group_states.iter().find(|group_state| group_state.is_empty()) {
            let (job, workers) = (group_state.job.clone(), group_state.workers.clone());
            self.end(RackError::NoWorkers { job, seconds: waited.as_secs_f64(), workers });
        }
    }

    /// Ends the training if a worker is silent that its own group does not wait for: otherwise the other
    /// groups would wait for its turn without end.
    fn look(&mut self) {
        if self.error.is_some() {
            return;
        }
        let over = |group: usize| self.part.iterations(group) >= self.iterations;
        let silent = self.group_states.iter().enumerate().filter(|(group, _)| !over(*group)).find_map(
            |(_, group_state)| {
                let (status, age) = group_state.status()?;
                let ages = status.heard_seconds.iter().zip(&group_state.workers);
                let silent = ages.filter_map(|(seconds, worker)| Some((seconds.as_ref()? + age, worker)));
                let (seconds, worker) = silent.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
                let is_gone = seconds > self.silent.as_secs_f64();
                is_gone.then(|| RackError::Silent {
                    job: group_state.job.clone(),
                    worker: worker.clone(),
                    seconds,
                })
            },
        );
        if let Some(error) = silent {
            self.end(error);
        }
    }

    /// Ends all groups' jobs, and sends the reason to their workers.
    fn end(&mut self, error: RackError) {
        if self.error.is_some() {
            return;
        }
        let reason = match &error {
            RackError::Group { job, error } => match &**error {
                inart_host_agent::Error::Failure(Failure::Aborted { name, reason, .. }) => {
                    format!("job {job}: worker {name} {reason}")
                }
                inart_host_agent::Error::Failure(Failure::Elsewhere { reason }) => reason.to_string(),
                other => format!("job {job}: {other}"),
            },
            other => other.to_string(),
        };
        self.group_states.iter().for_each(|group_state| group_state.back.abort(reason.clone()));
        self.error = Some(error);
    }
}
