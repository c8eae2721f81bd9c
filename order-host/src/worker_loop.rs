//! The network side of a worker.

use std::sync::mpsc::Sender;
use std::time::Instant;

use inart_order_agent::{Start, WorkerAgent, WorkerOutput};
use inart_quic::{Endpoint, Event, Events};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep_until;

use crate::ending::Ending;
use crate::error::HostError;
use crate::sleep::next_look;

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
    endpoint: Endpoint,
    told: Sender<News>,
    start: Instant,
    is_over: bool,
}

impl WorkerLoop {
    pub fn new(
        me: String,
        server: String,
        agent: WorkerAgent,
        endpoint: Endpoint,
        told: Sender<News>,
    ) -> Self {
        Self { me, server, agent, endpoint, told, start: Instant::now(), is_over: false }
    }

    /// Runs until the training is over, or the program is gone.
    pub async fn run(mut self, mut events: Events, mut commands: UnboundedReceiver<Command>) {
        while !self.is_over {
            let wake_at = next_look(self.start, self.agent.wake_at());
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.event(event),
                    None => break,
                },
                command = commands.recv() => match command {
                    Some(Command::Computed { ticket, update }) => self.computed(ticket, update),
                    None => break,
                },
                () = sleep_until(wake_at.into()) => self.agent.tick(self.start.elapsed()),
            }
            self.carry_out();
        }
        self.endpoint.close().await;
    }

    fn computed(&mut self, ticket: u64, update: Vec<f32>) {
        if let Err(error) = self.agent.computed(ticket, update) {
            self.fail(HostError::Worker { name: self.me.clone(), error });
        }
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        match event {
            Event::Up { peer } => {
                tracing::info!("{peer} is connected");
                self.agent.up(now);
            }
            Event::Down { peer, reason } => {
                tracing::warn!("the connection to {peer} has ended: {reason}");
                self.agent.down(now);
            }
            Event::Received { data, .. } => self.agent.received(&data),
            Event::Acknowledged { id, .. } => self.agent.ended(id, true, now),
            Event::Failed { id, .. } => self.agent.ended(id, false, now),
            Event::Stranger { address, names } => {
                tracing::warn!("{} at {address} is not the server", names.join(" or "));
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.agent.next_output(self.start.elapsed()) {
            match output {
                WorkerOutput::Send { id, data, priority } => {
                    if let Err(error) = self.endpoint.send(&self.server, id, data, priority) {
                        tracing::error!("a packet was not sent: {error}");
                        self.agent.ended(id, false, self.start.elapsed());
                    }
                }
                WorkerOutput::Compute(start) => self.tell(News::Compute(start)),
                WorkerOutput::Pushed { iteration, refusal } => self.tell(News::Pushed { iteration, refusal }),
                WorkerOutput::Over { version } => {
                    let (counters, connections) = (self.agent.counters(), self.endpoint.counters());
                    self.tell(News::Over(Ending { version, counters, connections }));
                    self.is_over = true;
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
