//! What the daemon is at.

use inart_controller::LiveChange;
use inart_planner_aggregation::Plan;

use super::orders::Told;

/// What the daemon is at.
pub(crate) enum Work {
    /// A run of that job is being planned.
    Forming(usize),
    /// A job moves.
    Move(Box<Moving>),
}

/// A job that moves.
pub(crate) struct Moving {
    pub number: u32,
    pub job: usize,
    /// Where to, if somebody has said.
    pub plan: Option<Plan>,
    /// Once it has begun: where it leads, and what the hosts were told before.
    pub change: Option<(LiveChange, Told)>,
    pub step: Step,
}

/// How far a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All hosts are to do first what they were told before.
    Before,
    /// They move.
    There,
    /// They close the previous plan version.
    Closing,
    /// They move back.
    Back,
    /// They close the other plan version.
    ClosingOther,
}
