//! State of a worker's program, and the effect of view changes on it. Pure.

use inart_wire::Rank;

use crate::error::LeaveReason;

/// State of all workers at the start of a worker's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewestState {
    /// A worker with the newest state.
    pub newest: Rank,
    /// The rounds in that state.
    pub rounds: u64,
    /// Whether all workers load that state before the next round.
    pub must_load_state: bool,
}

/// The rounds in a worker's state, and whether it is the one that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    rounds: u64,
    must_load_state: bool,
    unacknowledged: Option<LeaveReason>,
    newest_state: Option<NewestState>,
}

impl Progress {
    /// Creates the progress of a worker that holds a state of `rounds` rounds, and has not joined.
    pub fn new(rounds: u64) -> Self {
        Self { rounds, must_load_state: true, unacknowledged: None, newest_state: None }
    }

    /// Returns the number of rounds in the program's state: the initial ones, and those completed or loaded
    /// since.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Returns whether the program still has to load the newest state.
    pub fn must_load_state(&self) -> bool {
        self.must_load_state
    }

    /// Returns why the previous view was left, if the program has to acknowledge the new one first.
    pub fn unacknowledged(&self) -> Option<&LeaveReason> {
        self.unacknowledged.as_ref()
    }

    /// Starts the first view.
    pub fn begin(&mut self, newest_state: NewestState) {
        self.newest_state = Some(newest_state);
    }

    /// Starts another view, after the previous one was left for the given reason. Returns whether the program
    /// has to acknowledge it.
    pub fn enter_next_view(&mut self, newest_state: NewestState, left: LeaveReason) -> bool {
        self.newest_state = Some(newest_state);
        if newest_state.must_load_state {
            self.must_load_state = true;
            self.unacknowledged = Some(left);
        }
        newest_state.must_load_state
    }

    /// Acknowledges the change of the workers.
    pub fn take_notice(&mut self) {
        self.unacknowledged = None;
    }

    /// A gradient is about to be summed. The state is the program's own, whether it has loaded another one or
    /// not.
    pub fn settle(&mut self) {
        if let Some(newest_state) =
            self.newest_state.filter(|newest_state| self.must_load_state && newest_state.must_load_state)
        {
            self.rounds = newest_state.rounds;
        }
        self.must_load_state = false;
    }

    /// A gradient was summed.
    pub fn summed(&mut self) {
        self.rounds += 1;
    }

    /// Handles that a broadcast is about to be summed. Workers that receive it continue, and others may not
    /// have it.
    pub fn begin_load(&mut self) {
        self.must_load_state = true;
    }

    /// The state of that worker was broadcast.
    pub fn loaded(&mut self, from: Rank) {
        if self.newest_state.is_some_and(|newest_state| newest_state.newest == from) {
            self.settle();
        }
        self.must_load_state = false;
    }
}
