//! Status of a job's rendezvous, for operators.

use inart_wire::PlanVersion;

use super::names::MemberRole;

/// Status of an elastic job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipStatus {
    /// Name of the job.
    pub job: String,
    /// Number of the view, if there is one.
    pub view: Option<PlanVersion>,
    /// Phase, in words.
    pub phase: String,
    /// Members, by role.
    pub members: Vec<(String, MemberRole, MemberState)>,
    /// Hosts that wait for a view.
    pub waiting: Vec<String>,
}

/// State of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// Not connected since the view was formed.
    Awaited,
    /// Active.
    Running,
    /// Disconnected.
    Disconnected,
    /// Left and joined again.
    Back,
    /// Ended.
    Ended,
}

impl MemberState {
    /// Returns the state in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Awaited => "awaited",
            Self::Running => "running",
            Self::Disconnected => "disconnected",
            Self::Back => "back",
            Self::Ended => "ended",
        }
    }
}
