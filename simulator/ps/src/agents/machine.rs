//! The agents that hosts run, as machines of one world: in a world every process has its own number, and an
//! agent numbers only its connections.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo, Seen};
use inart_ps_agent::{Computed, Sequencer, ServerAgent, ServerReport, WorkerAgent, WorkerReport};

/// The server's process; participants follow.
pub const SERVER: PeerNo = PeerNo(0);

/// An agent.
#[derive(Debug, Clone)]
pub enum Agent<S> {
    /// Agent of the server.
    Server(Box<ServerAgent<S>>),
    /// Agent of a participant.
    Worker(Box<WorkerAgent>),
}

/// Report of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// Report of the server.
    Server(ServerReport),
    /// Report of a participant.
    Worker(WorkerReport),
}

/// Returns the process of a participant.
pub fn peer(worker: usize) -> PeerNo {
    PeerNo(worker as u32 + 1)
}

/// Returns the participant of a process.
pub fn worker(peer: PeerNo) -> PeerNo {
    PeerNo(peer.0.saturating_sub(1))
}

impl<S: Sequencer> Machine for Agent<S> {
    type Command = Computed;
    type Report = Report;
    type Done = Result<(), String>;

    fn up(&mut self, other: PeerNo, now: Duration) {
        match self {
            Agent::Server(agent) => agent.up(worker(other), now),
            Agent::Worker(agent) => agent.up(other, now),
        }
    }

    fn down(&mut self, other: PeerNo, now: Duration) {
        match self {
            Agent::Server(agent) => agent.down(worker(other), now),
            Agent::Worker(agent) => agent.down(other, now),
        }
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, seen: Option<Seen>, now: Duration) {
        match self {
            Agent::Server(agent) => agent.received(worker(from), data, seen, now),
            Agent::Worker(agent) => agent.received(from, data, seen, now),
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        match self {
            Agent::Server(agent) => agent.ended(id, is_taken, now),
            Agent::Worker(agent) => agent.ended(id, is_taken, now),
        }
    }

    fn command(&mut self, command: Computed, now: Duration) {
        if let Agent::Worker(agent) = self {
            agent.command(command, now);
        }
    }

    fn done(&mut self, done: Result<(), String>, now: Duration) {
        if let Agent::Server(agent) = self {
            agent.done(done, now);
        }
    }

    fn stop(&mut self, why: &str, now: Duration) {
        match self {
            Agent::Server(agent) => agent.stop(why, now),
            Agent::Worker(agent) => agent.stop(why, now),
        }
    }

    fn tick(&mut self, now: Duration) {
        match self {
            Agent::Server(agent) => agent.tick(now),
            Agent::Worker(agent) => agent.tick(now),
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        match self {
            Agent::Server(agent) => agent.wake_at(),
            Agent::Worker(agent) => agent.wake_at(),
        }
    }

    fn next(&mut self, now: Duration) -> Option<Output<Report, Result<(), String>>> {
        Some(match self {
            Agent::Server(agent) => match agent.next(now)? {
                Output::Send { to, id, data, priority } => {
                    Output::Send { to: peer(to.index()), id, data, priority }
                }
                Output::Report(report) => Output::Report(Report::Server(report)),
                Output::Work(work) => Output::Work(work),
                Output::Copy(frame) => Output::Copy(frame),
                Output::Over => Output::Over,
            },
            Agent::Worker(agent) => match agent.next(now)? {
                Output::Send { to, id, data, priority } => Output::Send { to, id, data, priority },
                Output::Report(report) => Output::Report(Report::Worker(report)),
                // A worker has no work.
                Output::Work(_) | Output::Over => Output::Over,
                Output::Copy(frame) => Output::Copy(frame),
            },
        })
    }

    fn may_end(&self, other: PeerNo) -> bool {
        match self {
            Agent::Server(agent) => agent.may_end(worker(other)),
            Agent::Worker(agent) => agent.may_end(other),
        }
    }
}
