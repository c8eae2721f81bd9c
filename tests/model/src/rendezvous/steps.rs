//! Possible steps and their effects.

use super::mutant::Mutant;
use super::state::{Ending, Limit, Phase, State, Worker, WorkerPhase};

/// A view to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Workers.
    pub workers: usize,
    /// Tensors that a worker starts at most, unless a stop point is further off.
    pub tensors: u8,
    /// Distance of stop points.
    pub margin: u8,
    /// Whether a worker may die.
    pub death: bool,
}

/// The rendezvous of one view, maybe with a mistake.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// Limits of the exploration.
    pub config: Config,
    /// Mistake to make.
    pub mutant: Option<Mutant>,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Request of another host for a view.
    Join,
    /// A worker starts its next tensor.
    Start(usize),
    /// A worker's tensor is complete.
    Complete(usize),
    /// Message received and answered by a worker.
    Hear(usize),
    /// Worker's answer received by the controller.
    Answer(usize),
    /// Departure of a worker at its stop point.
    Leave(usize),
    /// A worker notices that its tensor will not be complete.
    Abort(usize),
    /// A worker dies.
    Die(usize),
    /// The controller notices that.
    Notice(usize),
    /// Release of the workers that hold, since another does not answer.
    Relent,
    /// Start of the next view.
    Form,
}

/// Tensors to which no stop point is raised.
const MOST_TENSORS: u8 = 100;

impl System {
    fn has(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// Returns the possible steps; if not `freely`, no worker fails, and tensors are started beyond the limit
    /// of the exploration.
    pub(super) fn possible(&self, state: &State, freely: bool) -> Vec<Action> {
        let mut actions = Vec::new();
        // A later host is in the rendezvous of the next view.
        if !state.joiner.0 && freely && state.phase != Phase::Formed {
            actions.push(Action::Join);
        }
        for index in 0..state.workers.len() {
            self.of_worker(state, index, freely, &mut actions);
        }
        let has_failed_worker = state.known_dead.iter().any(|dead| *dead);
        if state.phase == Phase::Bounded
            && matches!(state.ending, Ending::Before(_))
            && has_failed_worker
            && !self.has(Mutant::NoRelenting)
        {
            actions.push(Action::Relent);
        }
        if state.phase == Phase::Leaving && self.is_gathered(state) {
            actions.push(Action::Form);
        }
        actions
    }

    fn of_worker(&self, state: &State, index: usize, freely: bool, actions: &mut Vec<Action>) {
        let worker = &state.workers[index];
        if worker.at == WorkerPhase::Dead && !state.known_dead[index] {
            actions.push(Action::Notice(index));
        }
        if worker.answer.is_some() {
            actions.push(Action::Answer(index));
        }
        if !worker.is_in_view() {
            return;
        }
        let may_start = match worker.limit {
            Limit::None => true,
            Limit::Hold(tensor) | Limit::Leave(tensor) => {
                worker.started < tensor || self.has(Mutant::IgnoresStopPoint)
            }
            Limit::Over => false,
        };
        if may_start
            && !worker.is_busy()
            && worker.started < if freely { self.config.tensors } else { MOST_TENSORS }
        {
            actions.push(Action::Start(index));
        }
        if worker.is_busy() && state.started_by_all() > worker.completed {
            actions.push(Action::Complete(index));
        }
        if worker.received != state.ending {
            actions.push(Action::Hear(index));
        }
        let leaves = match worker.limit {
            Limit::Leave(tensor) => !worker.is_busy() && worker.started >= tensor,
            Limit::Hold(tensor) => {
                self.has(Mutant::LeavesEarly) && !worker.is_busy() && worker.started >= tensor
            }
            Limit::Over => true,
            Limit::None => false,
        };
        if leaves {
            actions.push(Action::Leave(index));
        }
        let is_stuck = |other: &Worker| !other.is_in_view() && other.started <= worker.completed;
        if worker.is_busy() && state.workers.iter().any(is_stuck) {
            actions.push(Action::Abort(index));
        }
        if freely && self.config.death && !state.has_failed {
            actions.push(Action::Die(index));
        }
    }

    /// Returns whether all members of the view have rejoined, or are known to have failed.
    fn is_gathered(&self, state: &State) -> bool {
        let is_back = |(index, worker): (usize, &Worker)| match worker.at {
            WorkerPhase::LeftBefore(_) | WorkerPhase::Left => true,
            WorkerPhase::Dead => state.known_dead[index] && !self.has(Mutant::WaitsForTheDead),
            WorkerPhase::View | WorkerPhase::Next => false,
        };
        let mut back = state.workers.iter().enumerate().map(is_back);
        match self.has(Mutant::FormsEarly) {
            true => back.any(|back| back),
            false => back.all(|back| back),
        }
    }

    /// Does it.
    pub(super) fn act(&self, state: &mut State, action: Action) {
        match action {
            Action::Join => {
                state.joiner.0 = true;
                if state.phase == Phase::Running {
                    state.phase = Phase::Bounded;
                    send(state, Ending::Prepare);
                }
            }
            Action::Start(index) => state.workers[index].started += 1,
            Action::Complete(index) => state.workers[index].completed += 1,
            Action::Hear(index) => self.receive(state, index),
            Action::Answer(index) => self.answered(state, index),
            Action::Leave(index) => {
                let at = match state.workers[index].limit {
                    Limit::Leave(tensor) | Limit::Hold(tensor) => WorkerPhase::LeftBefore(tensor),
                    Limit::None | Limit::Over => WorkerPhase::Left,
                };
                leave(state, index, at);
            }
            Action::Abort(index) => leave(state, index, WorkerPhase::Left),
            Action::Die(index) => {
                (state.workers[index].at, state.workers[index].answer) = (WorkerPhase::Dead, None);
                state.has_failed = true;
            }
            Action::Notice(index) => {
                state.known_dead[index] = true;
                if state.workers.iter().all(|worker| worker.at == WorkerPhase::Dead) {
                    state.phase = Phase::Leaving;
                }
            }
            Action::Relent => send(state, Ending::Prepare),
            Action::Form => {
                state.phase = Phase::Formed;
                for worker in state
                    .workers
                    .iter_mut()
                    .filter(|worker| matches!(worker.at, WorkerPhase::Left | WorkerPhase::LeftBefore(_)))
                {
                    worker.at = WorkerPhase::Next;
                }
                state.joiner.1 = state.joiner.0;
            }
        }
    }

    /// Delivers a message to a worker, as the hosts' `ViewEnd` does.
    fn receive(&self, state: &mut State, index: usize) {
        let ending = state.ending;
        let worker = &mut state.workers[index];
        worker.received = ending;
        let mut holds = true;
        let refuses = |tensor: u8| worker.started > tensor && !self.has(Mutant::NeverRefuses);
        worker.limit = match (ending, worker.limit) {
            (_, Limit::Over) | (Ending::Now, _) => Limit::Over,
            (_, Limit::Leave(tensor)) => Limit::Leave(tensor),
            (_, Limit::Hold(tensor)) if self.has(Mutant::StaysHeld) => Limit::Hold(tensor),
            (Ending::None | Ending::Prepare, _) => Limit::None,
            (Ending::Before(tensor) | Ending::Agreed(tensor), _) if refuses(tensor) => {
                holds = false;
                Limit::None
            }
            (Ending::Before(tensor), _) => Limit::Hold(tensor),
            (Ending::Agreed(tensor), _) => Limit::Leave(tensor),
        };
        worker.answer = Some((ending, worker.started, holds));
    }

    /// Delivers a worker's answer, as the controller's `Membership` does.
    fn answered(&self, state: &mut State, index: usize) {
        let Some((ending, started, holds)) = state.workers[index].answer.take() else { return };
        if state.phase != Phase::Bounded || ending != state.ending {
            return;
        }
        state.answers[index] = Some((started, holds));
        let mut answers = state.answers.iter().flatten();
        let largest = answers.clone().map(|(started, _)| *started).max().unwrap_or(0);
        let is_refused = answers.any(|(_, holds)| !holds);
        let are_all = state.answers.iter().all(Option::is_some) || self.has(Mutant::AgreesWithOne);
        match state.ending {
            Ending::Prepare if are_all => send(state, Ending::Before(largest + self.config.margin)),
            Ending::Before(_) if is_refused && self.has(Mutant::NoLaterTensor) => {}
            Ending::Before(tensor) if is_refused => {
                send(state, Ending::Before(largest.max(tensor) + self.config.margin));
            }
            Ending::Before(tensor) if are_all => send(state, Ending::Agreed(tensor)),
            _ => {}
        }
    }
}

/// Sends all members that message from now on.
fn send(state: &mut State, ending: Ending) {
    state.ending = ending;
    state.answers.fill(None);
}

/// A worker leaves the view and joins again, as `Membership::join` of the controller.
fn leave(state: &mut State, index: usize, at: WorkerPhase) {
    (state.workers[index].at, state.workers[index].answer) = (at, None);
    if state.phase == Phase::Formed {
        return;
    }
    state.phase = Phase::Leaving;
    if at == WorkerPhase::Left {
        send(state, Ending::Now);
    }
}
