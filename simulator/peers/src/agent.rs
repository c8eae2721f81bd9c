//! The processes of a job, as their hosts run them.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo, Seen};
use inart_peers_agent::{CoordinatorProcess, CoordinatorReport, PeerProcess, PeerReport, Schemes};

/// A process.
#[derive(Debug)]
pub(crate) enum Agent {
    /// Process of a peer.
    Peer(Box<PeerProcess>),
    /// Process of the coordinator.
    Coordinator(Box<CoordinatorProcess<Schemes>>),
}

/// Report of a process.
#[derive(Debug)]
pub(crate) enum Report {
    /// Report of a peer.
    Peer(PeerReport),
    /// Report of the coordinator.
    Coordinator(CoordinatorReport),
}

impl Machine for Agent {
    type Command = Vec<f32>;
    type Report = Report;
    type Done = ();

    fn up(&mut self, other: PeerNo, now: Duration) {
        match self {
            Agent::Peer(peer) => peer.up(other, now),
            Agent::Coordinator(own) => own.up(other, now),
        }
    }

    fn down(&mut self, other: PeerNo, now: Duration) {
        match self {
            Agent::Peer(peer) => peer.down(other, now),
            Agent::Coordinator(own) => own.down(other, now),
        }
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, seen: Option<Seen>, now: Duration) {
        match self {
            Agent::Peer(peer) => peer.received(from, data, seen, now),
            Agent::Coordinator(own) => own.received(from, data, seen, now),
        }
    }

    fn frame(&mut self, bytes: &[u8], now: Duration) {
        match self {
            Agent::Peer(peer) => peer.frame(bytes, now),
            Agent::Coordinator(own) => own.frame(bytes, now),
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        match self {
            Agent::Peer(peer) => peer.ended(id, is_taken, now),
            Agent::Coordinator(own) => own.ended(id, is_taken, now),
        }
    }

    /// Takes an update of a peer; the coordinator has no program.
    fn command(&mut self, update: Vec<f32>, now: Duration) {
        if let Agent::Peer(peer) = self {
            peer.command(update, now);
        }
    }

    fn stop(&mut self, why: &str, now: Duration) {
        match self {
            Agent::Peer(peer) => peer.stop(why, now),
            Agent::Coordinator(own) => own.stop(why, now),
        }
    }

    fn tick(&mut self, now: Duration) {
        match self {
            Agent::Peer(peer) => peer.tick(now),
            Agent::Coordinator(own) => own.tick(now),
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        match self {
            Agent::Peer(peer) => peer.wake_at(),
            Agent::Coordinator(own) => own.wake_at(),
        }
    }

    fn next(&mut self, now: Duration) -> Option<Output<Report>> {
        match self {
            Agent::Peer(peer) => peer.next(now).map(|output| with_report(output, Report::Peer)),
            Agent::Coordinator(own) => own.next(now).map(|output| with_report(output, Report::Coordinator)),
        }
    }

    fn may_end(&self, other: PeerNo) -> bool {
        match self {
            Agent::Peer(peer) => peer.may_end(other),
            Agent::Coordinator(own) => own.may_end(other),
        }
    }
}

/// Wraps the reports in an output.
fn with_report<N>(output: Output<N>, wrap: fn(N) -> Report) -> Output<Report> {
    match output {
        Output::Send { to, id, data, priority } => Output::Send { to, id, data, priority },
        Output::Copy(frame) => Output::Copy(frame),
        Output::Work(work) => Output::Work(work),
        Output::Report(own) => Output::Report(wrap(own)),
        Output::Over => Output::Over,
    }
}
