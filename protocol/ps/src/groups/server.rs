//! The server of groups: whose round is aggregated when.

use std::collections::VecDeque;
use std::time::Duration;

use super::client::ClientNo;
use super::group::Group;
use super::options::{GroupError, GroupOptions};
use super::outliers::Strikes;
use crate::part::{average, nanoseconds};
use crate::store::Refusal;

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// It is in its group's round; the host keeps its values until the aggregation.
    Collected,
    /// It is of a round that was aggregated without it: it counts nothing, and its client gets the newest
    /// model.
    Late,
    /// Its values were refused: it counts nothing, and its client gets the newest model.
    Refused,
    /// It had arrived before.
    Repeated,
    /// Its client is left out, or takes no part.
    Barred,
}

/// What a server of groups has its host do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GroupOutput {
    /// Average these clients' models, merge the mean into the model, and tell the server how alike they were
    /// ([`GroupServer::judge`]).
    Aggregate {
        /// The group's number.
        group: usize,
        /// Its round.
        round: u64,
        /// The version that the model has then.
        version: u64,
        /// Whose models; at least one.
        clients: Vec<ClientNo>,
    },
    /// Send a client the model as it is.
    Answer {
        /// Whom.
        client: ClientNo,
        /// The round that its next push has to name.
        round: u64,
    },
    /// A client is given up: it has pushed nothing for too long. It may join again.
    Gone {
        /// Which.
        client: ClientNo,
    },
}

/// What was dropped, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct GroupCounters {
    /// Updates that were aggregated.
    pub aggregated: u64,
    /// Pushes of rounds that were over.
    pub late: u64,
    /// Pushes that had arrived before.
    pub repeated: u64,
    /// Updates of another model.
    pub other_model: u64,
    /// Updates with a NaN or an infinity.
    pub not_finite: u64,
    /// Pushes of clients that are left out, or take no part.
    pub excluded: u64,
    /// Clients that were given up.
    pub silent: u64,
    /// Rounds in which nobody was judged, since most looked like outliers.
    pub rounds_unscored: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientPhase {
    Away,
    /// Since when.
    Training(Duration),
    Collected,
    Barred,
}

/// The state machine of a server whose clients are in groups. Times are since a start that its host chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupServer {
    options: GroupOptions,
    groups: Vec<Group>,
    clients: Vec<ClientPhase>,
    strikes: Option<Strikes>,
    turn: usize,
    last: Option<Duration>,
    /// T: from a group's last aggregation to its last needed arrival, averaged.
    round_time: Option<Duration>,
    version: u64,
    outputs: VecDeque<GroupOutput>,
    counters: GroupCounters,
}

impl GroupServer {
    /// A server without clients yet.
    ///
    /// # Errors
    /// Options that do not hold together.
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

    /// A client takes part from now on, or starts again: it gets the model. One that is left out stays so;
    /// numbers that no client has are nobody's.
    pub fn join(&mut self, client: ClientNo, now: Duration) {
        match self.clients.get(client.index()) {
            None | Some(ClientPhase::Barred) => return,
            Some(ClientPhase::Away) => self.group_mut(client).size += 1,
            // What it had in the round stays there.
            Some(ClientPhase::Training(_) | ClientPhase::Collected) => {}
        }
        self.answer(client, now);
        self.settle(now);
    }

    /// A client takes no part any more. What it has in a round stays there.
    pub fn leave(&mut self, client: ClientNo, now: Duration) {
        if let Some(ClientPhase::Training(_) | ClientPhase::Collected) = self.clients.get(client.index()) {
            self.clients[client.index()] = ClientPhase::Away;
            self.group_mut(client).size -= 1;
            self.settle(now);
        }
    }

    /// A client's model has arrived whole, of the round that it was told, with what is wrong with its values.
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
            // It has started again since; what it had pushed before is in the round, which answers it.
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

    /// How alike the clients of an aggregation were to the reference, as cosines. Who was too little so for
    /// too long is left out from now on; returns them.
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

    /// Time has gone on.
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

    /// What is to be done next, in order; `None` until something is told.
    pub fn next_output(&mut self) -> Option<GroupOutput> {
        self.outputs.pop_front()
    }

    /// When [`tick`](Self::tick) is due; `None` if nothing waits for time.
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

    /// The model's version: how many aggregations were merged into it.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// T, once a group was full.
    pub fn round_time(&self) -> Option<Duration> {
        self.round_time
    }

    /// The round that a group collects for; `None` if there is no such group.
    pub fn round(&self, group: usize) -> Option<u64> {
        self.groups.get(group).map(|group| group.round)
    }

    /// Whether a client has pushed in its group's round, and waits for the aggregation.
    pub fn is_waiting(&self, client: ClientNo) -> bool {
        self.clients.get(client.index()) == Some(&ClientPhase::Collected)
    }

    /// How many clients of a group take part and are not left out.
    pub fn size(&self, group: usize) -> usize {
        self.groups.get(group).map_or(0, |group| group.size)
    }

    /// What was dropped, by reason.
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

    /// When the next aggregation may be; `None` for at once.
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
            // Nobody waits for a group of nobody.
            let passed = (0..self.groups.len())
                .take_while(|step| self.groups[(self.turn + step) % self.groups.len()].is_empty());
            self.turn = (self.turn + passed.count()) % self.groups.len();
            // Once nobody takes part any more, no gap keeps anybody apart.
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
