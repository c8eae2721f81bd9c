//! Turns of groups: when each sum goes to the servers, and when a chunk of it is applied.
//!
//! A group is ready when all its participants have computed. Turns visit the groups in order, so that all
//! servers of a job follow the same sequence without communicating. A turn starts when its group is ready and
//! fewer than `concurrent_groups` turns wait for chunks; it ends when all chunks of the group's sum have
//! arrived. A chunk is applied once the same chunk of all earlier turns has been. So a sum is exactly as
//! stale as there were turns since the group's last one: groups − 1.

use std::collections::{BTreeMap, VecDeque};

/// Next action of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnOutput {
    /// Let the group push its sum.
    Begin {
        /// Group.
        group: usize,
        /// Number of the turn, from 0, over all groups.
        turn: u64,
    },
    /// Add the chunk of the group's sum to the model, and send the group the chunk of the model.
    Apply {
        /// Group.
        group: usize,
        /// Chunk.
        chunk: usize,
    },
    /// End a turn whose chunks are all applied.
    End {
        /// Group.
        group: usize,
        /// Number of the turn; the model then has this number plus one as its version.
        turn: u64,
        /// Versions between the one that the sum was computed from and the one that it was added to.
        staleness: u64,
    },
}

/// Reason for which a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// Invalid numbers of a job.
    #[error(
        "{groups} groups, {concurrent_groups} at once, {chunks} chunks: give at least 1 of each, and at most as many \
         at once as groups"
    )]
    Numbers {
        /// Number of groups.
        groups: usize,
        /// Number of concurrent turns.
        concurrent_groups: usize,
        /// Chunks of a sum.
        chunks: usize,
    },
    /// Unknown group.
    #[error("group {group}: there are {groups}, counted from 0")]
    NoGroup {
        /// Given number.
        group: usize,
        /// Number of groups.
        groups: usize,
    },
    /// Group that is ready already, or whose turn is open.
    #[error("group {0} is ready twice before its turn has ended")]
    Twice(usize),
    /// Turn that has not started.
    #[error("group {0} pushes out of turn")]
    OutOfTurn(usize),
    /// Chunk that is out of range or a duplicate.
    #[error("group {group}: chunk {chunk} is out of range or a duplicate")]
    Chunk {
        /// The group.
        group: usize,
        /// Number of the chunk.
        chunk: usize,
    },
}

/// A turn that has started and is not completely applied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Open {
    /// By chunk: whether it has arrived.
    here: Vec<bool>,
    /// Chunks that have not arrived.
    missing: usize,
    /// Chunks that are not applied.
    unapplied: usize,
}

/// The turns of a job's groups; each of its servers counts them independently.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turns {
    concurrent_groups: usize,
    /// By group: whether it waits for its turn.
    ready: Vec<bool>,
    /// By group: the version of its copy.
    has: Vec<u64>,
    /// Turns that have started.
    begun: u64,
    /// Open turns by number.
    open: BTreeMap<u64, Open>,
    /// By chunk: the number of turns whose chunk is applied.
    applied: Vec<u64>,
    outputs: VecDeque<TurnOutput>,
}

impl Turns {
    /// Creates turns for sums of `chunks` chunks at this server.
    ///
    /// # Errors
    /// [`TurnError::Numbers`].
    pub fn new(groups: usize, concurrent_groups: usize, chunks: usize) -> Result<Self, TurnError> {
        if groups == 0 || chunks == 0 || !(1..=groups).contains(&concurrent_groups) {
            return Err(TurnError::Numbers { groups, concurrent_groups, chunks });
        }
        Ok(Turns {
            concurrent_groups,
            ready: vec![false; groups],
            has: vec![0; groups],
            begun: 0,
            open: BTreeMap::new(),
            applied: vec![0; chunks],
            outputs: VecDeque::new(),
        })
    }

    /// Takes note that all participants of the group have computed.
    ///
    /// # Errors
    /// [`TurnError::NoGroup`], or [`TurnError::Twice`].
    pub fn ready(&mut self, group: usize) -> Result<(), TurnError> {
        let groups = self.ready.len();
        let is_ready = *self.ready.get(group).ok_or(TurnError::NoGroup { group, groups })?;
        if is_ready || self.turn_of(group).is_some() {
            return Err(TurnError::Twice(group));
        }
        self.ready[group] = true;
        self.begin();
        Ok(())
    }

    /// Takes note that a chunk of the group's sum has arrived completely.
    ///
    /// # Errors
    /// [`TurnError::OutOfTurn`], or [`TurnError::Chunk`].
    pub fn chunk(&mut self, group: usize, chunk: usize) -> Result<(), TurnError> {
        let turn = self.turn_of(group).ok_or(TurnError::OutOfTurn(group))?;
        let open = self.open.get_mut(&turn).ok_or(TurnError::OutOfTurn(group))?;
        match open.here.get_mut(chunk) {
            Some(here) if !*here => *here = true,
            _ => return Err(TurnError::Chunk { group, chunk }),
        }
        open.missing -= 1;
        self.apply(chunk);
        self.begin();
        Ok(())
    }

    /// Returns the next action, in order.
    pub fn next_output(&mut self) -> Option<TurnOutput> {
        self.outputs.pop_front()
    }

    /// Returns the number of completely applied turns: the version of the model.
    pub fn version(&self) -> u64 {
        self.applied.iter().copied().min().unwrap_or(0)
    }

    /// Returns the number of turns that wait for chunks of their sums.
    pub fn pushing(&self) -> usize {
        self.open.values().filter(|open| open.missing > 0).count()
    }

    /// Returns the group of the next turn.
    pub fn next_group(&self) -> usize {
        self.group_of(self.begun)
    }

    /// Returns the groups that the turns wait for: those that push, and the next one if it may push and is
    /// not ready.
    pub fn awaited(&self) -> Vec<usize> {
        let pushing =
            self.open.iter().filter(|(_, open)| open.missing > 0).map(|(turn, _)| self.group_of(*turn));
        let next = self.next_group();
        let is_next = self.pushing() < self.concurrent_groups && !self.ready[next];
        pushing.chain(is_next.then_some(next)).collect()
    }

    fn group_of(&self, turn: u64) -> usize {
        (turn % self.ready.len() as u64) as usize
    }

    fn turn_of(&self, group: usize) -> Option<u64> {
        self.open.keys().copied().find(|turn| self.group_of(*turn) == group)
    }

    /// Starts the turns that may start.
    fn begin(&mut self) {
        while self.ready[self.next_group()] && self.pushing() < self.concurrent_groups {
            let (group, turn, chunks) = (self.next_group(), self.begun, self.applied.len());
            self.ready[group] = false;
            self.begun += 1;
            self.open.insert(turn, Open { here: vec![false; chunks], missing: chunks, unapplied: chunks });
            self.outputs.push_back(TurnOutput::Begin { group, turn });
        }
    }

    /// Applies the arrived sums of a chunk, in the order of turns.
    fn apply(&mut self, chunk: usize) {
        loop {
            let turn = self.applied[chunk];
            let group = self.group_of(turn);
            let Some(open) = self.open.get_mut(&turn).filter(|open| open.here[chunk]) else { return };
            open.unapplied -= 1;
            let is_over = open.unapplied == 0;
            self.applied[chunk] += 1;
            self.outputs.push_back(TurnOutput::Apply { group, chunk });
            if is_over {
                self.open.remove(&turn);
                let staleness = turn - self.has[group];
                self.has[group] = turn + 1;
                self.outputs.push_back(TurnOutput::End { group, turn, staleness });
            }
        }
    }
}
