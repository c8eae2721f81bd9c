//! State of a worker's program, and the effect of view changes on it. Pure.

use inart_wire::Rank;

use crate::error::Left;

/// State of all workers at the start of a worker's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
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
    news: Option<Left>,
    standing: Option<Standing>,
}

impl Progress {
    /// Creates the progress of a worker that holds a state of `rounds` rounds, and has not joined.
    pub fn new(rounds: u64) -> Self {
        Self { rounds, must_load_state: true, news: None, standing: None }
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
    pub fn news(&self) -> Option<&Left> {
        self.news.as_ref()
    }

    /// Starts the first view.
    pub fn begin(&mut self, standing: Standing) {
        self.standing = Some(standing);
    }

    /// Starts another view, after the previous one was left for the given reason. Returns whether the program
    /// has to acknowledge it.
    pub fn go_on(&mut self, standing: Standing, left: Left) -> bool {
        self.standing = Some(standing);
        if standing.must_load_state {
            self.must_load_state = true;
            self.news = Some(left);
        }
        standing.must_load_state
    }

    /// Acknowledges the change of the workers.
    pub fn take_notice(&mut self) {
        self.news = None;
    }

    /// A gradient is about to be summed. The state is the program's own, whether it has loaded another one or
    /// not.
    pub fn settle(&mut self) {
        if let Some(standing) =
            self.standing.filter(|standing| self.must_load_state && standing.must_load_state)
        {
            self.rounds = standing.rounds;
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
        if self.standing.is_some_and(|standing| standing.newest == from) {
            self.settle();
        }
        self.must_load_state = false;
    }
}
