//! The sequencer of clients in groups (FL-R²SP), with the model. A client pushes the complete model that it
//! has trained, not a change.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use inart_protocol_ps::{
    Arrival, ClientNo, GroupError, GroupOptions, GroupOutput, GroupServer, Refusal, Store, Update, WorkerNo,
    cosine, mean, merge,
};

use crate::sequencer::{Applied, Checkpoint, Decision, Sequencer, Verdict};

/// The server of groups, and its model.
#[derive(Debug, Clone)]
pub struct InGroups {
    server: GroupServer,
    groups: usize,
    is_judged: bool,
    /// Version at the start of this incarnation, and the current version.
    first_version: u64,
    version: u64,
    store: Store,
    model: u64,
    values: Vec<f32>,
    /// By group: the model after its last aggregation, from which its clients started.
    starts: Vec<Arc<Vec<f32>>>,
    /// Models of open rounds, and the versions from which they were trained.
    held: BTreeMap<WorkerNo, (u64, Vec<f32>)>,
    /// Members, and those of them that have requested an iteration.
    members: BTreeSet<WorkerNo>,
    asked: BTreeSet<WorkerNo>,
    /// By client: the version that it pulled last, and the number of its aggregated models.
    bases: Vec<u64>,
    done: Vec<u64>,
    batches: Vec<u32>,
    decisions: VecDeque<Decision>,
    /// Clients excluded for their data.
    left_out: Vec<WorkerNo>,
}

impl InGroups {
    /// Creates a sequencer with the first model and its fingerprint.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn new(
        options: GroupOptions,
        batches: Vec<u32>,
        model: u64,
        values: Vec<f32>,
    ) -> Result<Self, GroupError> {
        let kept = Checkpoint { version: 0, done: vec![0; options.clients], members: Vec::new(), values };
        Self::restored(options, batches, model, kept)
    }

    /// Restores a sequencer from a checkpoint. Rounds count from the start again.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn restored(
        options: GroupOptions,
        mut batches: Vec<u32>,
        model: u64,
        kept: Checkpoint,
    ) -> Result<Self, GroupError> {
        let Checkpoint { version, mut done, values, .. } = kept;
        let (clients, groups) = (options.clients, options.groups);
        let start = Arc::new(values.clone());
        batches.resize(clients, 1);
        done.resize(clients, 0);
        Ok(InGroups {
            is_judged: options.outliers.is_some(),
            server: GroupServer::new(options, Duration::ZERO)?,
            groups,
            first_version: version,
            version,
            store: Store::new(model, values.clone()),
            model,
            starts: (0..groups).map(|_| start.clone()).collect(),
            values,
            held: BTreeMap::new(),
            members: BTreeSet::new(),
            asked: BTreeSet::new(),
            bases: vec![version; clients],
            done,
            batches,
            decisions: VecDeque::new(),
            left_out: Vec::new(),
        })
    }

    /// Returns the state machine.
    pub fn server(&self) -> &GroupServer {
        &self.server
    }

    /// Returns the clients excluded for their data, in the order of exclusion.
    pub fn left_out(&self) -> &[WorkerNo] {
        &self.left_out
    }

    fn aggregate(&mut self, group: usize, round: u64, clients: &[ClientNo], now: Duration) {
        let version = self.version;
        let of = |client: &ClientNo| WorkerNo(client.0);
        let held: Vec<_> = clients.iter().filter_map(|client| self.held.remove(&of(client))).collect();
        let models: Vec<_> = held.iter().map(|(_, values)| values.as_slice()).collect();
        let group_mean = mean(models.iter().copied());
        let start = &self.starts[group];
        let alike = clients.iter().zip(&models).map(|(client, model)| {
            // A client without a change counts as similar.
            (*client, cosine(start, model, &group_mean).unwrap_or(1.0))
        });
        let alike: Vec<_> = if self.is_judged { alike.collect() } else { Vec::new() };
        merge(&mut self.values, &group_mean, self.groups);
        self.starts[group] = Arc::new(self.values.clone());
        let update = |(client, (base, _)): (&ClientNo, &(u64, Vec<f32>))| {
            let (worker, batch) = (of(client), self.batches[client.index()]);
            let staleness = version.saturating_sub(1 + base);
            Update { worker, iteration: round, staleness, batch, first_batch: batch }
        };
        let updates = clients.iter().zip(&held).map(update).collect();
        for client in clients {
            self.done[client.index()] += 1;
        }
        self.decisions.push_back(Decision::Applied(Applied { version, updates }));
        if self.is_judged {
            let out = self.server.judge(group, &alike, now);
            for who in out.iter().map(|client| WorkerNo(client.0)) {
                self.left_out.push(who);
                self.members.remove(&who);
                self.asked.remove(&who);
                self.decisions.push_back(Decision::LeftOut { who });
            }
        }
    }

    /// Carries out the machine's outputs.
    fn settle(&mut self, now: Duration) {
        while let Some(output) = self.server.next_output() {
            match output {
                GroupOutput::Aggregate { group, round, version, clients } => {
                    self.version = self.first_version + version;
                    self.aggregate(group, round, &clients, now);
                }
                // The client was answered before its exclusion.
                GroupOutput::Answer { client, .. } if self.is_left_out(WorkerNo(client.0)) => {}
                GroupOutput::Answer { client, round } => {
                    let (who, batch) = (WorkerNo(client.0), self.batches[client.index()]);
                    self.decisions.push_back(Decision::Permit { who, iteration: round, batch });
                }
                GroupOutput::Gone { client } => {
                    let who = WorkerNo(client.0);
                    self.members.remove(&who);
                    self.asked.remove(&who);
                    self.decisions.push_back(Decision::Gone { who });
                }
            }
        }
    }
}

impl Sequencer for InGroups {
    /// Joins a client. It counts for its group once it has requested an iteration, so that groups are
    /// complete at the start.
    fn join(&mut self, who: WorkerNo, now: Duration) {
        if who.index() < self.done.len() && !self.is_left_out(who) {
            self.leave(who, now);
            self.members.insert(who);
        }
    }

    fn leave(&mut self, who: WorkerNo, now: Duration) {
        self.members.remove(&who);
        if self.asked.remove(&who) {
            self.server.leave(ClientNo(who.0), now);
            self.settle(now);
        }
    }

    fn is_away(&self, who: WorkerNo) -> bool {
        !self.members.contains(&who)
    }

    /// Returns false: at the end the server does not wait for open rounds.
    fn is_working(&self, _: WorkerNo) -> bool {
        false
    }

    fn is_left_out(&self, who: WorkerNo) -> bool {
        self.left_out.contains(&who)
    }

    fn request(&mut self, who: WorkerNo, now: Duration) {
        if self.is_left_out(who) {
            return;
        }
        self.members.insert(who);
        // A client that has pushed and waits for the aggregation is answered then; one that was answered and
        // requests again has lost the answer.
        if !self.server.is_waiting(ClientNo(who.0)) {
            self.asked.insert(who);
            self.server.join(ClientNo(who.0), now);
            self.settle(now);
        }
    }

    fn pull(&mut self, who: WorkerNo, _: Duration) -> Option<u64> {
        if !self.asked.contains(&who) {
            return None;
        }
        *self.bases.get_mut(who.index())? = self.version;
        Some(self.version)
    }

    fn push(&mut self, who: WorkerNo, iteration: u64, values: Vec<f32>, now: Duration) -> Verdict {
        let checked: Result<(), Refusal> = self.store.check(self.model, &values);
        let refusal = checked.err();
        // Must precede the machine's aggregation.
        let base = self.bases.get(who.index()).copied().unwrap_or_default();
        let before = if refusal.is_none() { self.held.insert(who, (base, values)) } else { None };
        let arrival = self.server.push(ClientNo(who.0), iteration, checked, now);
        if arrival != Arrival::Collected && refusal.is_none() {
            self.held.remove(&who);
            self.held.extend(before.map(|before| (who, before)));
        }
        self.settle(now);
        Verdict { is_taken: matches!(arrival, Arrival::Collected | Arrival::Refused), refusal }
    }

    fn tick(&mut self, now: Duration) {
        self.server.tick(now);
        self.settle(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        self.server.wake_at()
    }

    fn next_decision(&mut self) -> Option<Decision> {
        self.decisions.pop_front()
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn values(&self) -> &[f32] {
        &self.values
    }

    fn have_done(&self, rounds: u64) -> bool {
        let mut there = (0..self.groups).filter(|group| self.server.size(*group) > 0).peekable();
        there.peek().is_some()
            && there.all(|group| self.server.round(group).is_some_and(|round| round >= rounds))
    }

    fn kept(&self) -> Checkpoint {
        let members = (0..self.done.len() as u32).map(|client| self.members.contains(&WorkerNo(client)));
        Checkpoint {
            version: self.version,
            done: self.done.clone(),
            members: members.collect(),
            values: self.values.clone(),
        }
    }
}
