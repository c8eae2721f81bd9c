//! What a worker's program has, and what its views mean to it. Pure.

use inart_wire::Rank;

use crate::error::Left;

/// What a worker is told of the state of all when its view begins.
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
    /// Of a worker that holds a state of so many rounds, and has joined nobody.
    pub fn new(rounds: u64) -> Self {
        Self { rounds, must_load_state: true, news: None, standing: None }
    }

    /// Rounds in the state that the program holds: those that it began with, and those that it has completed
    /// or loaded since.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Whether the program has still to load the newest state.
    pub fn must_load_state(&self) -> bool {
        self.must_load_state
    }

    /// How the view before was left, where the program has to know of this one first.
    pub fn news(&self) -> Option<&Left> {
        self.news.as_ref()
    }

    /// The first view has begun.
    pub fn begin(&mut self, standing: Standing) {
        self.standing = Some(standing);
    }

    /// Another view has begun, after the one before was left in that way; whether the program has to know.
    pub fn go_on(&mut self, standing: Standing, left: Left) -> bool {
        self.standing = Some(standing);
        if standing.must_load_state {
            self.must_load_state = true;
            self.news = Some(left);
        }
        standing.must_load_state
    }

    /// The program takes notice that the workers are others.
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

    /// A broadcast is about to be summed. Whoever has it goes on, and others may have not.
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
