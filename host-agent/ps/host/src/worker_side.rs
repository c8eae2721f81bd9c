//! The part of a worker that reports to its program, logs and publishes its status, next to its machine.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use inart_connections::{Host, Names, PeerNo, Transport, WaitWatch};
use inart_host_agent::status::{ProcessStatus, ProcessWait, StatusPublisher};
use inart_ps_agent::{Start, WorkerAgent, WorkerReport};

use crate::ending::Ending;
use crate::error::HostError;

/// Number of the worker's only connection.
pub(crate) const SERVER: PeerNo = PeerNo(0);

/// Event for the training program.
#[derive(Debug)]
pub(crate) enum ThreadEvent {
    Compute(Start),
    Pushed { iteration: u64, refusal: Option<String> },
    Ended(Result<Ending, HostError>),
}

/// Activity of the worker, for its status.
#[derive(Debug)]
struct Activity {
    computes: bool,
    since: Instant,
    /// Updates that have arrived at the server.
    pushed: u64,
}

/// A worker's reports, log and status, next to its machine.
pub(crate) struct WorkerSide {
    names: Names,
    events: Sender<ThreadEvent>,
    activity: Activity,
    watch: WaitWatch<()>,
    status: StatusPublisher,
    /// Last version of the model, and the reason of an exclusion.
    pub last: Option<(u64, Option<String>)>,
}

impl WorkerSide {
    pub fn new(names: Names, events: Sender<ThreadEvent>, status: StatusPublisher) -> Self {
        let activity = Activity { computes: false, since: Instant::now(), pushed: 0 };
        WorkerSide { names, events, activity, watch: WaitWatch::default(), status, last: None }
    }

    /// Sends an event to the program. An ended program is detected by its orders.
    fn send(&self, event: ThreadEvent) {
        let _ = self.events.send(event);
    }

    fn publish(&mut self, is_up: bool, network: &Transport) {
        let seconds = self.activity.since.elapsed().as_secs_f64();
        let computes = self.activity.computes;
        let why = match is_up {
            true => "no model for the next iteration".to_owned(),
            false => network.why_not(SERVER),
        };
        let on = self.names.of(SERVER).to_owned();
        let wait = ProcessWait { on, why, seconds, disconnected: !is_up };
        self.status.take(ProcessStatus {
            name: self.names.me.clone(),
            role: "order-worker".to_owned(),
            progress: self.activity.pushed,
            waits: if computes { Vec::new() } else { vec![wait] },
            computing_seconds: computes.then_some(seconds),
            inside: Vec::new(),
        });
    }
}

impl Host<WorkerAgent> for WorkerSide {
    type Error = HostError;

    fn report(&mut self, report: WorkerReport, worker: &mut WorkerAgent) -> Result<(), HostError> {
        let server = self.names.of(SERVER);
        match report {
            WorkerReport::Compute(start) => {
                (self.activity.computes, self.activity.since) = (true, Instant::now());
                self.send(ThreadEvent::Compute(start));
            }
            WorkerReport::Pushed { iteration, refusal } => {
                self.activity.pushed += 1;
                self.send(ThreadEvent::Pushed { iteration, refusal });
            }
            WorkerReport::Over { version } => self.last = Some((version, None)),
            WorkerReport::LeftOut { why } => {
                tracing::warn!("{server} leaves {} out for {why}", self.names.me);
                self.last = Some((worker.version(), Some(why)));
            }
            WorkerReport::Waiting { why } => tracing::warn!("{server} waits: {why}"),
            WorkerReport::Failed(error) => {
                return Err(HostError::Worker { name: self.names.me.clone(), error });
            }
        }
        Ok(())
    }

    fn ordered(&mut self) {
        (self.activity.computes, self.activity.since) = (false, Instant::now());
    }

    /// Logs that the server is not connected: after two seconds, and then every few seconds.
    fn look(
        &mut self,
        worker: &mut WorkerAgent,
        network: &Transport,
        _now: Duration,
    ) -> Result<(), HostError> {
        let is_up = worker.is_up();
        if self.status.is_due() {
            self.publish(is_up, network);
        }
        let waits = (!is_up && !worker.is_over()).then_some(());
        if let Some(waited) = self.watch.due(waits, true) {
            let why = network.trouble(SERVER).map_or_else(String::new, |why| format!(" ({why})"));
            let server = self.names.of(SERVER);
            tracing::warn!("waiting for {server}: not connected for {} s{why}", waited.as_secs());
        }
        Ok(())
    }
}
