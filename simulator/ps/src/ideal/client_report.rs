//! Report of a run of clients.

use inart_protocol_ps::GroupCounters;
use serde::Serialize;

use crate::statistics::mean;

/// Rounds of each group that are not counted, at the start.
const DROPPED: u64 = 3;

/// A run of clients. The first three rounds of each group are not counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientRun {
    /// Always `fl-r2sp`.
    pub sync: &'static str,
    /// Mean time between a group's aggregations, in seconds.
    pub round_s: f64,
    /// Mean time of a push, in seconds.
    pub push_s: f64,
    /// Mean time of a pull, in seconds.
    pub pull_s: f64,
    /// Mean time from the arrival of a push to the pull, in seconds.
    pub wait_s: f64,
    /// Utilization of the rate out of the server, from 0 to 1.
    pub utilization_out: f64,
    /// Length of the run in virtual time, in seconds.
    pub seconds: f64,
    /// Number of aggregations.
    pub rounds: u64,
    /// Updates that were aggregated.
    pub aggregated: u64,
    /// Pushes that arrived after their round.
    pub late: u64,
    /// Clients that timed out.
    pub given_up: u64,
    /// Rates at the server's port over time, in bit/s: into it and out of it; empty unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usage_bps: Vec<[f64; 2]>,
}

/// Start of a client's activities, in seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    push: Option<f64>,
    /// Arrival of its push.
    wait: Option<f64>,
    pull: Option<f64>,
}

/// Notes during a run.
pub struct Record {
    clients: Vec<Times>,
    /// By group: aggregations, and the time of the last one.
    groups: Vec<(u64, f64)>,
    rounds_s: Vec<f64>,
    pushes_s: Vec<f64>,
    pulls_s: Vec<f64>,
    waits_s: Vec<f64>,
}

impl Record {
    pub fn new(clients: usize, groups: usize) -> Self {
        Record {
            clients: vec![Times::default(); clients],
            groups: vec![(0, 0.0); groups],
            rounds_s: Vec::new(),
            pushes_s: Vec::new(),
            pulls_s: Vec::new(),
            waits_s: Vec::new(),
        }
    }

    pub fn aggregated(&mut self, group: usize, now_s: f64) {
        let (count, last_s) = &mut self.groups[group];
        if *count >= DROPPED {
            self.rounds_s.push(now_s - *last_s);
        }
        (*count, *last_s) = (*count + 1, now_s);
    }

    /// Returns whether an event counts: its group has had its first rounds.
    fn counts(&self, group: usize) -> bool {
        self.groups[group].0 >= DROPPED
    }

    pub fn pushes(&mut self, client: usize, now_s: f64) {
        self.clients[client].push = Some(now_s);
    }

    pub fn pushed(&mut self, client: usize, group: usize, now_s: f64) {
        let from_s = self.clients[client].push.take().filter(|_| self.counts(group));
        self.pushes_s.extend(from_s.map(|from_s| now_s - from_s));
        self.clients[client].wait = Some(now_s);
    }

    pub fn pulls(&mut self, client: usize, group: usize, now_s: f64) {
        let from_s = self.clients[client].wait.take().filter(|_| self.counts(group));
        self.waits_s.extend(from_s.map(|from_s| now_s - from_s));
        self.clients[client].pull = Some(now_s);
    }

    pub fn pulled(&mut self, client: usize, group: usize, now_s: f64) {
        let from_s = self.clients[client].pull.take().filter(|_| self.counts(group));
        self.pulls_s.extend(from_s.map(|from_s| now_s - from_s));
    }

    pub fn vanished(&mut self, client: usize) {
        self.clients[client] = Times::default();
    }

    pub fn report(
        self,
        counters: GroupCounters,
        seconds: f64,
        utilization_out: f64,
        usage_bps: Vec<[f64; 2]>,
    ) -> ClientRun {
        ClientRun {
            sync: "fl-r2sp",
            round_s: mean(&self.rounds_s),
            push_s: mean(&self.pushes_s),
            pull_s: mean(&self.pulls_s),
            wait_s: mean(&self.waits_s),
            utilization_out,
            seconds,
            rounds: self.groups.iter().map(|(count, _)| count).sum(),
            aggregated: counters.aggregated,
            late: counters.late,
            given_up: counters.silent,
            usage_bps,
        }
    }
}
