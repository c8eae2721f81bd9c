//! What a job's rendezvous is at, for people.

use inart_wire::PlanVersion;

use super::names::Place;

/// How an elastic job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipStatus {
    /// The job's name.
    pub job: String,
    /// The number of its view, if it has one.
    pub view: Option<PlanVersion>,
    /// What it is at, in words.
    pub phase: String,
    /// Its members, by place.
    pub members: Vec<(String, Place, MemberState)>,
    /// Hosts that wait for a view.
    pub waiting: Vec<String>,
}

/// How a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It has not come since the view was formed.
    Awaited,
    /// It takes part.
    Running,
    /// It has no connection.
    Disconnected,
    /// It has left the view, and joined again.
    Back,
    /// It has ended.
    Ended,
}

impl MemberState {
    /// In a word.
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
