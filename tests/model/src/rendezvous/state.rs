//! The states of workers and controller.

/// Message to the members of the view about its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ending {
    /// No message.
    None,
    /// Request for the number of started tensors.
    Prepare,
    /// Request to hold before that tensor.
    Before(u8),
    /// Request to leave there, as all do.
    Agreed(u8),
    /// Request to leave immediately.
    Now,
}

/// Tensors that a worker may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// All.
    None,
    /// Tensors before that one.
    Hold(u8),
    /// Tensors before that one, where the worker leaves.
    Leave(u8),
    /// No tensor: the view has ended.
    Over,
}

/// Phase of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WorkerPhase {
    /// In the view.
    View,
    /// Outside the view, after leaving before that tensor, waiting for the next view.
    LeftBefore(u8),
    /// Outside the view, after leaving elsewhere, waiting for the next view.
    Left,
    /// In the next view.
    Next,
    /// Failed.
    Dead,
}

/// A worker of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker {
    /// Phase.
    pub at: WorkerPhase,
    /// Tensors that it has started.
    pub started: u8,
    /// Tensors with a received sum.
    pub completed: u8,
    /// Tensors that it may start.
    pub limit: Limit,
    /// Newest message received.
    pub received: Ending,
    /// Answer that the controller has not received: the message, the number of started tensors, and whether
    /// the worker complies.
    pub answer: Option<(Ending, u8, bool)>,
}

impl Worker {
    /// Returns whether the worker is alive and in the view.
    pub fn is_in_view(&self) -> bool {
        self.at == WorkerPhase::View
    }

    /// Returns whether it is in the middle of a tensor.
    pub fn is_busy(&self) -> bool {
        self.started > self.completed
    }
}

/// Phase of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The view goes on.
    Running,
    /// Ending view, whose workers agree on the stop point.
    Bounded,
    /// Ended view, with members rejoining.
    Leaving,
    /// Active next view.
    Formed,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The members of the view.
    pub workers: Vec<Worker>,
    /// Whether another host has asked for a view, and whether it has one.
    pub joiner: (bool, bool),
    /// Phase of the controller.
    pub phase: Phase,
    /// Newest message of the controller.
    pub ending: Ending,
    /// Answers to that message, by worker.
    pub answers: Vec<Option<(u8, bool)>>,
    /// Whether the controller knows that a worker has failed, by worker.
    pub known_dead: Vec<bool>,
    /// Whether a worker has failed.
    pub has_failed: bool,
}

impl State {
    /// Creates a view that has just started.
    pub fn new(workers: usize) -> Self {
        let worker = Worker {
            at: WorkerPhase::View,
            started: 0,
            completed: 0,
            limit: Limit::None,
            received: Ending::None,
            answer: None,
        };
        Self {
            workers: vec![worker; workers],
            joiner: (false, false),
            phase: Phase::Running,
            ending: Ending::None,
            answers: vec![None; workers],
            known_dead: vec![false; workers],
            has_failed: false,
        }
    }

    /// Returns the living members.
    pub fn members(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter().filter(|worker| worker.at != WorkerPhase::Dead)
    }

    /// Returns the number of tensors that all members have started, failed ones too: those can be completed.
    pub fn started_by_all(&self) -> u8 {
        self.workers.iter().map(|worker| worker.started).min().unwrap_or(0)
    }

    /// Returns whether all workers that left at a stop point did so before the same tensor, and none has
    /// started it.
    pub fn stop_point_holds(&self) -> bool {
        let mut left = self.workers.iter().filter_map(|worker| match worker.at {
            WorkerPhase::LeftBefore(tensor) => Some(tensor),
            _ => None,
        });
        let Some(tensor) = left.next() else { return true };
        left.all(|other| other == tensor) && self.workers.iter().all(|worker| worker.started <= tensor)
    }
}
