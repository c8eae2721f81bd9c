//! The network side of a worker.

use std::sync::mpsc::Sender;
use std::time::Instant;

use inart_host_agent::WaitWatch;
use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, StatusSocket};
use inart_order_agent::{Start, WorkerAgent, WorkerOutput};
use inart_quic::{is_regular_end, names_another_process};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::ending::Ending;
use crate::error::HostError;
use crate::sleep::next_look;
use crate::transport::{Event, Next, Transport};

/// What the training program says.
#[derive(Debug)]
pub(crate) enum Command {
    Computed {
        ticket: u64,
        update: Vec<f32>,
    },
    Stop,
    /// Publishes through this socket what the worker does.
    Status(StatusSocket<AnyStatus>),
}

/// What it is told.
#[derive(Debug)]
pub(crate) enum News {
    Compute(Start),
    Pushed { iteration: u64, refusal: Option<String> },
    Failed(HostError),
    Over(Ending),
}

/// Whether the training program computes, and since when it does or does not.
struct Doing {
    computes: bool,
    since: Instant,
    /// Updates that have arrived at the server.
    pushed: u64,
}

impl Doing {
    fn set(&mut self, computes: bool) {
        (self.computes, self.since) = (computes, Instant::now());
    }
}

pub(crate) struct WorkerLoop {
    me: String,
    server: String,
    agent: WorkerAgent,
    transport: Transport,
    told: Sender<News>,
    start: Instant,
    /// The model's last version, once the training is over, and why the worker is left out, if it is.
    last: Option<u64>,
    left_out: Option<String>,
    is_up: bool,
    watch: WaitWatch<()>,
    doing: Doing,
    status: StatusPublisher,
    is_over: bool,
}

impl WorkerLoop {
    pub fn new(
        me: String,
        server: String,
        agent: WorkerAgent,
        transport: Transport,
        told: Sender<News>,
    ) -> Self {
        let start = Instant::now();
        let (last, left_out, is_up, is_over) = (None, None, false, false);
        let doing = Doing { computes: false, since: start, pushed: 0 };
        let (watch, status) = (WaitWatch::default(), StatusPublisher::default());
        Self {
            me,
            server,
            agent,
            transport,
            told,
            start,
            last,
            left_out,
            is_up,
            watch,
            doing,
            status,
            is_over,
        }
    }

    /// Runs until the training is over, or the program is gone.
    pub async fn run(mut self, mut commands: UnboundedReceiver<Command>) {
        let mut look_at = next_look(self.start, self.agent.wake_at());
        while !self.is_over {
            tokio::select! {
                next = self.transport.next(look_at) => match next {
                    Ok(Next::Event(event)) => self.event(event),
                    Ok(Next::Due) => {
                        self.agent.tick(self.start.elapsed());
                        look_at = next_look(self.start, None);
                    }
                    Ok(Next::Closed) => break,
                    Err(error) => self.fail(error),
                },
                command = commands.recv() => match command {
                    Some(Command::Computed { ticket, update }) => self.computed(ticket, update),
                    Some(Command::Status(socket)) => self.status.set(socket),
                    Some(Command::Stop) => self.fail(HostError::Stopped { name: self.me.clone() }),
                    None => break,
                },
            }
            self.carry_out();
            self.look();
            self.publish();
            look_at = look_at.min(next_look(self.start, self.agent.wake_at()));
        }
        let counters = self.agent.counters();
        let connections = self.transport.close().await;
        if let Some(version) = self.last {
            let left_out = self.left_out;
            // A program that is gone does not need it.
            let _ = self.told.send(News::Over(Ending { version, left_out, counters, connections }));
        }
    }

    fn publish(&mut self) {
        if !self.status.is_due() {
            return;
        }
        let seconds = self.doing.since.elapsed().as_secs_f64();
        let (computes, is_up) = (self.doing.computes, self.is_up);
        let why = match is_up {
            true => "no model for the next iteration".to_owned(),
            false => self.transport.trouble(0).unwrap_or_else(|| "not connected yet".to_owned()),
        };
        let wait = ProcessWait { on: self.server.clone(), why, seconds, disconnected: !is_up };
        self.status.take(ProcessStatus {
            name: self.me.clone(),
            role: "order-worker".to_owned(),
            progress: self.doing.pushed,
            waits: if computes { Vec::new() } else { vec![wait] },
            computing_seconds: computes.then_some(seconds),
            inside: Vec::new(),
        });
    }

    fn computed(&mut self, ticket: u64, update: Vec<f32>) {
        self.doing.set(false);
        if let Err(error) = self.agent.computed(ticket, update) {
            self.fail(HostError::Worker { name: self.me.clone(), error });
        }
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        match event {
            Event::Up { .. } => {
                tracing::info!("{} is connected", self.server);
                self.is_up = true;
                self.agent.up(now);
            }
            Event::Down { reason, .. } => {
                if names_another_process(&reason) {
                    return self.fail(HostError::Duplicate { name: self.me.clone(), reason });
                }
                match is_regular_end(&reason) {
                    true => tracing::warn!("{} has stopped before the training is over", self.server),
                    false => tracing::warn!("the connection to {} has ended: {reason}", self.server),
                }
                self.is_up = false;
                self.agent.down(now);
            }
            Event::Received { data, .. } => self.agent.received(&data),
            Event::Ended { id, is_taken } => self.agent.ended(id, is_taken, now),
        }
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.agent.next_output(self.start.elapsed()) {
            match output {
                WorkerOutput::Send { id, data, priority } => {
                    if !self.transport.send(0, id, data, priority) {
                        self.agent.ended(id, false, self.start.elapsed());
                    }
                }
                WorkerOutput::Compute(start) => {
                    self.doing.set(true);
                    self.tell(News::Compute(start));
                }
                WorkerOutput::Pushed { iteration, refusal } => {
                    self.doing.pushed += 1;
                    self.tell(News::Pushed { iteration, refusal });
                }
                WorkerOutput::Over { version } => {
                    (self.last, self.is_over) = (Some(version), true);
                }
                WorkerOutput::LeftOut { why } => {
                    tracing::warn!("{} leaves {} out for {why}", self.server, self.me);
                    (self.last, self.left_out, self.is_over) = (Some(self.agent.version()), Some(why), true);
                }
                WorkerOutput::Waiting { why } => tracing::warn!("{} waits: {why}", self.server),
                WorkerOutput::Failed(error) => self.fail(HostError::Worker { name: self.me.clone(), error }),
            }
        }
    }

    /// Prints that the server is not connected: after two seconds, and then every few.
    fn look(&mut self) {
        let waits = (!self.is_up && !self.is_over).then_some(());
        let Some(waited) = self.watch.due(waits, true) else { return };
        let why = self.transport.trouble(0).map_or_else(String::new, |why| format!(" ({why})"));
        tracing::warn!("waiting for {}: not connected for {} s{why}", self.server, waited.as_secs());
    }

    fn fail(&mut self, error: HostError) {
        self.tell(News::Failed(error));
        self.is_over = true;
    }

    /// A program that is gone is noticed by its commands.
    fn tell(&self, news: News) {
        let _ = self.told.send(news);
    }
}
