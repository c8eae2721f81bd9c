//! The server of groups: decides when each round is aggregated.

use std::collections::VecDeque;
use std::time::Duration;

use super::client::ClientNo;
use super::group::Group;
use super::options::{GroupError, GroupOptions};
use super::outliers::Strikes;
use crate::part::{average, nanoseconds};
use crate::store::Refusal;

/// Outcome of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// Accepted for its group's round; the host keeps its values until the aggregation.
    Collected,
    /// Late: its round was aggregated without it. It counts nothing, and its client gets the newest model.
    Late,
    /// Refused because of its values: it counts nothing, and its client gets the newest model.
    Refused,
    /// Duplicate.
    Repeated,
    /// Sent by a client that is excluded, or takes no part.
    Barred,
}

/// Action for the host of a server of groups.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GroupOutput {
    /// Average these clients' models, merge the mean into the model, and report their cosines to the server
    /// ([`GroupServer::judge`]).
    Aggregate {
        /// Number of the group.
        group: usize,
        /// Round of the group.
        round: u64,
        /// Version of the model after the merge.
        version: u64,
        /// Clients of the models; at least one.
        clients: Vec<ClientNo>,
    },
    /// Send a client the current model.
    Answer {
        /// Client.
        client: ClientNo,
        /// Round that the client's next push must name.
        round: u64,
    },
    /// Remove a client that has timed out: it has pushed nothing for too long. It may join again.
    Gone {
        /// Client.
        client: ClientNo,
    },
}

/// Drop counters by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct GroupCounters {
    /// Updates that were aggregated.
    pub aggregated: u64,
    /// Pushes of past rounds.
    pub late: u64,
    /// Duplicate pushes.
    pub repeated: u64,
    /// Updates of another model.
    pub other_model: u64,
    /// Updates with a NaN or an infinity.
    pub not_finite: u64,
    /// Pushes of clients that are excluded, or take no part.
    pub excluded: u64,
    /// Clients that timed out.
    pub silent: u64,
    /// Rounds that did not count for exclusions, since most clients looked like outliers.
    pub rounds_unscored: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientPhase {
    Away,
    /// Training since this time.
    Training(Duration),
    Collected,
    Barred,
}

/// State machine of a server whose clients are in groups. Times count from a start that its host chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupServer {
    options: GroupOptions,
    groups: Vec<Group>,
    clients: Vec<ClientPhase>,
    strikes: Option<Strikes>,
    turn: usize,
    last: Option<Duration>,
    /// T: mean time from a group's last aggregation to its last needed arrival.
    round_time: Option<Duration>,
    version: u64,
    outputs: VecDeque<GroupOutput>,
    counters: GroupCounters,
}

impl GroupServer {
    /// Creates a server without clients.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(options: GroupOptions, now: Duration) -> Result<Self, GroupError> {
        options.check()?;
        Ok(GroupServer {
            groups: vec![Group::new(now); options.groups],
            clients: vec![ClientPhase::Away; options.clients],
            strikes: options.outliers.clone().map(|rule| Strikes::new(rule, options.clients)),
            turn: 0,
            last: None,
            round_time: None,
            version: 0,
            outputs: VecDeque::new(),
            counters: GroupCounters::default(),
            options,
        })
    }

    /// Adds a client, or restarts it: it gets the model. Excluded clients stay excluded; unknown numbers are
    /// ignored.
    pub fn join(&mut self, client: ClientNo, now: Duration) {
        match self.clients.get(client.index()) {
            None | Some(ClientPhase::Barred) => return,
            Some(ClientPhase::Away) => self.group_mut(client).size += 1,
            // Its update in the round stays there.
            Some(ClientPhase::Training(_) | ClientPhase::Collected) => {}
        }
        self.answer(client, now);
        self.settle(now);
    }

    /// Removes a client. Its update in a round stays there.
    pub fn leave(&mut self, client: ClientNo, now: Duration) {
        if let Some(ClientPhase::Training(_) | ClientPhase::Collected) = self.clients.get(client.index()) {
            self.clients[client.index()] = ClientPhase::Away;
            self.group_mut(client).size -= 1;
            self.settle(now);
        }
    }

    /// Takes a complete model of a client, with the round that it was sent and the defect of its values.
    pub fn push(
        &mut self,
        client: ClientNo,
        round: u64,
        values: Result<(), Refusal>,
        now: Duration,
    ) -> Arrival {
        let phase = self.clients.get(client.index()).copied().unwrap_or(ClientPhase::Away);
        if matches!(phase, ClientPhase::Away | ClientPhase::Barred) {
            self.counters.excluded += 1;
            return Arrival::Barred;
        }
        let group = &self.groups[self.group_of(client)];
        if group.round == round && group.collected.contains(&client.0) {
            self.counters.repeated += 1;
            // The client has restarted since; its earlier push is in the round, which answers it.
            self.clients[client.index()] = ClientPhase::Collected;
            return Arrival::Repeated;
        }
        let late = group.round != round;
        if late || values.is_err() {
            match values {
                Err(Refusal::NotFinite { .. }) => self.counters.not_finite += 1,
                Err(_) => self.counters.other_model += 1,
                Ok(()) => self.counters.late += 1,
            }
            self.answer(client, now);
            return if late { Arrival::Late } else { Arrival::Refused };
        }
        self.clients[client.index()] = ClientPhase::Collected;
        self.group_mut(client).collected.insert(client.0);
        self.settle(now);
        Arrival::Collected
    }

    /// Takes the cosines of an aggregation's clients with the reference. Returns the clients that are
    /// excluded from now on.
    pub fn judge(&mut self, group: usize, cosines: &[(ClientNo, f64)], now: Duration) -> Vec<ClientNo> {
        let Some(strikes) = &mut self.strikes else { return Vec::new() };
        let Some(of) = self.groups.get(group) else { return Vec::new() };
        let known = cosines.iter().filter(|(client, _)| client.index() % self.groups.len() == group);
        let known: Vec<_> =
            known.filter(|(client, _)| client.index() < self.clients.len()).copied().collect();
        let Some(out) = strikes.judge(&known, of.size + of.excluded, of.excluded) else {
            self.counters.rounds_unscored += 1;
            return Vec::new();
        };
        for client in &out {
            let phase = std::mem::replace(&mut self.clients[client.index()], ClientPhase::Barred);
            let group = &mut self.groups[group];
            group.excluded += 1;
            group.size -= usize::from(matches!(phase, ClientPhase::Training(_) | ClientPhase::Collected));
        }
        self.settle(now);
        out
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Duration) {
        if let Some(patience) = self.options.patience {
            for client in 0..self.clients.len() as u32 {
                let ClientPhase::Training(since) = self.clients[client as usize] else { continue };
                if now >= since + patience {
                    self.counters.silent += 1;
                    self.clients[client as usize] = ClientPhase::Away;
                    self.group_mut(ClientNo(client)).size -= 1;
                    self.outputs.push_back(GroupOutput::Gone { client: ClientNo(client) });
                }
            }
        }
        self.settle(now);
    }

    /// Returns the next action, in order; `None` until another call changes something.
    pub fn next_output(&mut self) -> Option<GroupOutput> {
        self.outputs.pop_front()
    }

    /// Returns when [`tick`](Self::tick) is due; `None` if nothing waits for time.
    pub fn wake_at(&self) -> Option<Duration> {
        let turn = self.groups[self.turn].full_at.and_then(|_| self.free_at());
        let given_up = self.options.patience.and_then(|patience| {
            let since = self.clients.iter().filter_map(|phase| match phase {
                ClientPhase::Training(since) => Some(*since),
                _ => None,
            });
            since.min().map(|since| since + patience)
        });
        [turn, given_up].into_iter().flatten().min()
    }

    /// Returns the model's version: the number of aggregations merged into it.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns T, once a group was full.
    pub fn round_time(&self) -> Option<Duration> {
        self.round_time
    }

    /// Returns the round that a group collects; `None` if there is no such group.
    pub fn round(&self, group: usize) -> Option<u64> {
        self.groups.get(group).map(|group| group.round)
    }

    /// Returns whether a client has pushed in its group's round, and waits for the aggregation.
    pub fn is_waiting(&self, client: ClientNo) -> bool {
        self.clients.get(client.index()) == Some(&ClientPhase::Collected)
    }

    /// Returns the number of a group's members that are not excluded.
    pub fn size(&self, group: usize) -> usize {
        self.groups.get(group).map_or(0, |group| group.size)
    }

    /// Returns the drop counters.
    pub fn counters(&self) -> GroupCounters {
        self.counters
    }

    fn group_of(&self, client: ClientNo) -> usize {
        client.index() % self.groups.len()
    }

    fn group_mut(&mut self, client: ClientNo) -> &mut Group {
        let group = self.group_of(client);
        &mut self.groups[group]
    }

    fn answer(&mut self, client: ClientNo, now: Duration) {
        self.clients[client.index()] = ClientPhase::Training(now);
        let round = self.groups[self.group_of(client)].round;
        self.outputs.push_back(GroupOutput::Answer { client, round });
    }

    /// Returns when the next aggregation may take place; `None` for at once.
    fn free_at(&self) -> Option<Duration> {
        let round = self.options.relaxation.of(self.round_time.unwrap_or_default());
        let gap = nanoseconds(round.as_nanos() / self.groups.len() as u128);
        self.last.map(|last| last + gap)
    }

    fn settle(&mut self, now: Duration) {
        for group in &mut self.groups {
            if group.full_at.is_none() && group.is_full(self.options.fraction) {
                group.full_at = Some(now);
                let took = now.saturating_sub(group.last);
                self.round_time = Some(average(self.round_time, took));
            }
        }
        loop {
            // An empty group is skipped.
            let passed = (0..self.groups.len())
                .take_while(|step| self.groups[(self.turn + step) % self.groups.len()].is_empty());
            self.turn = (self.turn + passed.count()) % self.groups.len();
            // Without members, the remaining rounds are aggregated without a gap.
            let is_over = self.groups.iter().all(|group| group.size == 0);
            let is_free = is_over || self.free_at().is_none_or(|at| now >= at);
            if !is_free || self.groups[self.turn].full_at.is_none() {
                return;
            }
            self.aggregate(now);
        }
    }

    fn aggregate(&mut self, now: Duration) {
        let group = self.turn;
        let round = self.groups[group].round;
        let clients: Vec<_> = self.groups[group].next_round(now).into_iter().map(ClientNo).collect();
        self.counters.aggregated += clients.len() as u64;
        self.version += 1;
        self.last = Some(now);
        self.turn = (group + 1) % self.groups.len();
        let version = self.version;
        self.outputs.push_back(GroupOutput::Aggregate { group, round, version, clients: clients.clone() });
        for client in clients {
            if self.clients[client.index()] == ClientPhase::Collected {
                self.answer(client, now);
            }
        }
    }
}
