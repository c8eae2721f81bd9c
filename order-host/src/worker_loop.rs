//! The network side of a worker.

use std::sync::mpsc::Sender;
use std::time::Instant;

use inart_order_agent::{Start, WorkerAgent, WorkerOutput};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::ending::Ending;
use crate::error::HostError;
use crate::sleep::next_look;
use crate::transport::{Event, Next, Transport};

/// What the training program says.
#[derive(Debug)]
pub(crate) enum Command {
    Computed { ticket: u64, update: Vec<f32> },
}

/// What it is told.
#[derive(Debug)]
pub(crate) enum News {
    Compute(Start),
    Pushed { iteration: u64, refusal: Option<String> },
    Failed(HostError),
    Over(Ending),
}

pub(crate) struct WorkerLoop {
    me: String,
    server: String,
    agent: WorkerAgent,
    transport: Transport,
    told: Sender<News>,
    start: Instant,
    /// The model's last version, once the training is over.
    last: Option<u64>,
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
        Self { me, server, agent, transport, told, start: Instant::now(), last: None, is_over: false }
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
                    None => break,
                },
            }
            self.carry_out();
            look_at = look_at.min(next_look(self.start, self.agent.wake_at()));
        }
        let counters = self.agent.counters();
        let connections = self.transport.close().await;
        if let Some(version) = self.last {
            // A program that is gone does not need it.
            let _ = self.told.send(News::Over(Ending { version, counters, connections }));
        }
    }

    fn computed(&mut self, ticket: u64, update: Vec<f32>) {
        if let Err(error) = self.agent.computed(ticket, update) {
            self.fail(HostError::Worker { name: self.me.clone(), error });
        }
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        match event {
            Event::Up { .. } => {
                tracing::info!("{} is connected", self.server);
                self.agent.up(now);
            }
            Event::Down { reason, .. } => {
                tracing::warn!("the connection to {} has ended: {reason}", self.server);
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
                WorkerOutput::Compute(start) => self.tell(News::Compute(start)),
                WorkerOutput::Pushed { iteration, refusal } => self.tell(News::Pushed { iteration, refusal }),
                WorkerOutput::Over { version } => {
                    (self.last, self.is_over) = (Some(version), true);
                }
                WorkerOutput::Failed(error) => self.fail(HostError::Worker { name: self.me.clone(), error }),
            }
        }
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
