//! Groups in turn: whose sum goes to the servers when, and when a chunk of it is applied.
//!
//! A group is ready when all its participants have computed. Turns go round the groups in their order, so
//! that all servers of a job follow the same sequence without talking to each other. A turn begins when its
//! group is ready and fewer than so many turns wait for chunks; it ends when all chunks of the group's sum
//! are there. A chunk is applied once the same chunk of all earlier turns has been. So a sum is exactly as
//! stale as there were turns since the group's last one: groups − 1.

use std::collections::{BTreeMap, VecDeque};

/// What a server does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnOutput {
    /// The group may push its sum.
    Begin {
        /// Which group.
        group: usize,
        /// Turns count from 0, over all groups.
        turn: u64,
    },
    /// The chunk of the group's sum is added to the model, and the group gets the chunk of the model.
    Apply {
        /// Which group.
        group: usize,
        /// Which chunk.
        chunk: usize,
    },
    /// All chunks of the turn are applied.
    End {
        /// Which group.
        group: usize,
        /// Which turn: with it the model has this number plus one as its version.
        turn: u64,
        /// Versions between the one that the sum was computed from and the one that it was added to.
        staleness: u64,
    },
}

/// What groups cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// Numbers that no job has.
    #[error(
        "{groups} groups, {concurrent_groups} at once, {chunks} chunks: give at least 1 of each, and at most as many \
         at once as groups"
    )]
    Numbers {
        /// Groups.
        groups: usize,
        /// Turns at once.
        concurrent_groups: usize,
        /// Chunks of a sum.
        chunks: usize,
    },
    /// There is no such group.
    #[error("group {group}: there are {groups}, counted from 0")]
    NoGroup {
        /// The number told.
        group: usize,
        /// How many there are.
        groups: usize,
    },
    /// It is ready already, or its turn goes on.
    #[error("group {0} is ready twice before its turn has ended")]
    Twice(usize),
    /// Its turn has not begun.
    #[error("group {0} pushes out of turn")]
    OutOfTurn(usize),
    /// A chunk that a sum does not have, or that has come before.
    #[error("group {group}: chunk {chunk} is out of range or a duplicate")]
    Chunk {
        /// The group.
        group: usize,
        /// The chunk told.
        chunk: usize,
    },
}

/// A turn that has begun and is not applied whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Open {
    /// By chunk: whether it has come.
    here: Vec<bool>,
    /// Chunks that have not come.
    missing: usize,
    /// Chunks that are not applied.
    unapplied: usize,
}

/// The turns of a job's groups, as each of its servers counts them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turns {
    concurrent_groups: usize,
    /// By group: whether it waits for its turn.
    ready: Vec<bool>,
    /// By group: the version that it has.
    has: Vec<u64>,
    /// Turns that have begun.
    begun: u64,
    /// By turn.
    open: BTreeMap<u64, Open>,
    /// By chunk: how many turns' are applied.
    applied: Vec<u64>,
    outputs: VecDeque<TurnOutput>,
}

impl Turns {
    /// No turn yet; sums have so many chunks at this server.
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

    /// All participants of the group have computed.
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

    /// A chunk of the group's sum is there, whole.
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

    /// What to do next, in order.
    pub fn next_output(&mut self) -> Option<TurnOutput> {
        self.outputs.pop_front()
    }

    /// Turns that are applied whole: the version of the model.
    pub fn version(&self) -> u64 {
        self.applied.iter().copied().min().unwrap_or(0)
    }

    /// Turns that have begun and wait for chunks of their sums.
    pub fn pushing(&self) -> usize {
        self.open.values().filter(|open| open.missing > 0).count()
    }

    /// The group whose turn begins next.
    pub fn next_group(&self) -> usize {
        self.group_of(self.begun)
    }

    /// The groups that the turns wait for now: those that push, and the next one if it may push and is not
    /// ready.
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

    /// Begins the turns that may begin.
    fn begin(&mut self) {
        while self.ready[self.next_group()] && self.pushing() < self.concurrent_groups {
            let (group, turn, chunks) = (self.next_group(), self.begun, self.applied.len());
            self.ready[group] = false;
            self.begun += 1;
            self.open.insert(turn, Open { here: vec![false; chunks], missing: chunks, unapplied: chunks });
            self.outputs.push_back(TurnOutput::Begin { group, turn });
        }
    }

    /// Applies what has come of the chunk, in the order of turns.
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
