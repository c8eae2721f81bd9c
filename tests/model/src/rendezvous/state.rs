//! The states of workers and controller.

/// What the members of the view are told about its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ending {
    /// Nothing.
    None,
    /// To say how many tensors they have started.
    Prepare,
    /// To hold before that tensor.
    Before(u8),
    /// To leave there, as all do.
    Agreed(u8),
    /// To leave at once.
    Now,
}

/// Which tensors a worker may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// All.
    None,
    /// Those before that one.
    Hold(u8),
    /// The same, and it leaves there.
    Leave(u8),
    /// None: the view is over.
    Over,
}

/// Where a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Where {
    /// In the view.
    View,
    /// It has left the view before that tensor, and waits for the next.
    LeftBefore(u8),
    /// It has left the view otherwise, and waits for the next.
    Left,
    /// In the next view.
    Next,
    /// Dead.
    Dead,
}

/// A worker of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker {
    /// Where it is.
    pub at: Where,
    /// Tensors that it has started.
    pub started: u8,
    /// Tensors whose sums it has.
    pub completed: u8,
    /// Which it may start.
    pub limit: Limit,
    /// What it was told last.
    pub heard: Ending,
    /// What it has answered that the controller has not heard: to what, how many it has started, whether it
    /// does so.
    pub said: Option<(Ending, u8, bool)>,
}

impl Worker {
    /// Whether it lives and is in the view.
    pub fn is_in_view(&self) -> bool {
        self.at == Where::View
    }

    /// Whether it is in the middle of a tensor.
    pub fn is_busy(&self) -> bool {
        self.started > self.completed
    }
}

/// What the controller is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The view goes on.
    Running,
    /// Its workers agree where it ends.
    Bounded,
    /// It has ended, and its members come back.
    Leaving,
    /// The next view has begun.
    Formed,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The members of the view.
    pub workers: Vec<Worker>,
    /// Whether somebody else has asked for a view, and whether it has one.
    pub joiner: (bool, bool),
    /// What the controller is at.
    pub phase: Phase,
    /// What it tells.
    pub told: Ending,
    /// By worker: what it has answered to that.
    pub answers: Vec<Option<(u8, bool)>>,
    /// By worker: whether the controller knows that it is dead.
    pub known_dead: Vec<bool>,
    /// Whether somebody has died.
    pub has_died: bool,
}

impl State {
    /// A view that has just begun.
    pub fn new(workers: usize) -> Self {
        let worker = Worker {
            at: Where::View,
            started: 0,
            completed: 0,
            limit: Limit::None,
            heard: Ending::None,
            said: None,
        };
        Self {
            workers: vec![worker; workers],
            joiner: (false, false),
            phase: Phase::Running,
            told: Ending::None,
            answers: vec![None; workers],
            known_dead: vec![false; workers],
            has_died: false,
        }
    }

    /// The members that live.
    pub fn members(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter().filter(|worker| worker.at != Where::Dead)
    }

    /// How many tensors all members have started, dead ones too: those can be completed.
    pub fn started_by_all(&self) -> u8 {
        self.workers.iter().map(|worker| worker.started).min().unwrap_or(0)
    }

    /// Whether all who have left at a stop point did so before the same tensor, and nobody has started it.
    pub fn boundary_holds(&self) -> bool {
        let mut left = self.workers.iter().filter_map(|worker| match worker.at {
            Where::LeftBefore(tensor) => Some(tensor),
            _ => None,
        });
        let Some(tensor) = left.next() else { return true };
        left.all(|other| other == tensor) && self.workers.iter().all(|worker| worker.started <= tensor)
    }
}
