//! Notification of the servers that the job is aborted.

use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{AbortReason, ControlMessage, Incarnation, Rank};

use crate::Instant;

/// Sends every server that the job is aborted, until the server reports so itself or was sent it often
/// enough. Of a shard that two servers run, both are sent it.
#[derive(Clone, Debug)]
pub(super) struct Abort {
    pub message: ControlMessage,
    servers: Vec<Server>,
}

/// Abort notifications to a shard's server.
#[derive(Clone, Debug)]
struct Server {
    /// The runs that this worker met last, the latest at the end; at most [`Abort::MOST_RUNS`].
    runs: Vec<Notice>,
    /// Number of transmissions left, for all runs together.
    left: u32,
}

/// Abort notification to the server of one run.
#[derive(Clone, Copy, Debug)]
struct Notice {
    run: Incarnation,
    /// Transmissions left, and the next one's time.
    tries: u32,
    at: Instant,
}

impl Notice {
    fn new(run: Incarnation, at: Instant) -> Self {
        Self { run, tries: Abort::TRIES, at }
    }
}

impl Abort {
    /// Number of transmissions in one run.
    const TRIES: u32 = 10;
    const INTERVAL: Duration = Duration::from_millis(50);
    /// Number of a shard's runs that receive it in turn: the previous and the latest.
    const MOST_RUNS: usize = 2;
    /// Number of transmissions to one shard, for all runs of its servers.
    const MOST_TRIES: u32 = 4 * Self::TRIES;

    /// `runs`: by shard, the run that this worker knows.
    pub(super) fn new(
        now: Instant,
        reason: AbortReason,
        culprit: Rank,
        runs: impl Iterator<Item = Incarnation>,
    ) -> Self {
        let message = ControlMessage::Abort { reason, culprit };
        let server = |run| Server { runs: alloc::vec![Notice::new(run, now)], left: Self::MOST_TRIES };
        Self { message, servers: runs.map(server).collect() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.servers.iter().all(|server| server.due_at().is_none())
    }

    /// Handles that the server of that shard reports the end of the job. With two servers for a shard, each
    /// also answers frames to the other one, so an answer does not show that it has ended.
    pub(super) fn acknowledge(&mut self, shard: usize) {
        if let [notice] = &mut self.servers[shard].runs[..] {
            notice.tries = 0;
        }
    }

    /// Handles an answer of the server of that run: it receives the message at once, unless this run is
    /// known.
    pub(super) fn meet(&mut self, now: Instant, shard: usize, run: Incarnation) {
        let runs = &mut self.servers[shard].runs;
        if runs.iter().any(|notice| notice.run == run) {
            return;
        }
        if let [notice] = &mut runs[..]
            && notice.run == Incarnation::UNKNOWN
        {
            (notice.run, notice.at) = (run, now);
            return;
        }
        if runs.len() == Self::MOST_RUNS {
            runs.remove(0);
        }
        runs.push(Notice::new(run, now));
    }

    /// Sends that shard's server the message again, at once.
    pub(super) fn repeat(&mut self, now: Instant, shard: usize) {
        self.servers[shard].runs.iter_mut().for_each(|notice| notice.at = now);
    }

    /// The shard, and the run of its server, to which the message is sent now.
    pub(super) fn poll(&mut self, now: Instant) -> Option<(usize, Incarnation)> {
        let is_due = |server: &Server| server.due_at().is_some_and(|at| at <= now);
        let shard = self.servers.iter().position(is_due)?;
        let server = &mut self.servers[shard];
        // Servers of two runs take turns.
        let waiting = server.runs.iter_mut().filter(|notice| notice.tries > 0);
        let notice = waiting.min_by_key(|notice| notice.at)?;
        notice.tries -= 1;
        notice.at = now + Self::INTERVAL;
        server.left -= 1;
        Some((shard, notice.run))
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.servers.iter().filter_map(Server::due_at).min()
    }
}

impl Server {
    /// Returns when the message is sent next; `None` if no transmission is left.
    fn due_at(&self) -> Option<Instant> {
        let waiting = self.runs.iter().filter(|notice| self.left > 0 && notice.tries > 0);
        waiting.map(|notice| notice.at).min()
    }
}
