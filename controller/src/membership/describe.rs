//! Status of a rendezvous, in words.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_topologies::units::counted;

use super::Membership;
use super::phase::Phase;
use super::status::{MemberState, MembershipStatus};
use super::view::Link;

impl Membership {
    /// Returns the status of the job.
    pub fn status(&self) -> MembershipStatus {
        let members = self.view.iter().flat_map(|view| &view.members).map(|member| {
            let state = match member.link {
                _ if self.present.contains_key(&member.host) => MemberState::Back,
                Link::NotYet => MemberState::Awaited,
                Link::Connected => MemberState::Running,
                Link::Lost(_) => MemberState::Disconnected,
                Link::Gone | Link::Done(_) => MemberState::Ended,
            };
            (member.host.clone(), member.place, state)
        });
        MembershipStatus {
            job: self.roster.job.clone(),
            view: self.view.as_ref().map(|view| view.number),
            phase: self.awaited(),
            members: members.collect(),
            waiting: self.present.keys().cloned().collect(),
        }
    }

    /// Returns the member in a role, such as worker-3.
    pub fn host_in(&self, role: &str) -> Option<&str> {
        let mut members = self.view.iter().flat_map(|view| &view.members);
        members.find(|member| member.place.to_string() == role).map(|member| member.host.as_str())
    }

    /// Describes what the job waits for.
    pub(super) fn awaited(&self) -> String {
        match &self.phase {
            Phase::Gathering { .. } if self.is_paused => "the job is paused".to_owned(),
            Phase::Gathering { .. } => self.gathering(),
            Phase::Forming(formation) => format!(
                "a view of {} and {} is being planned and installed",
                counted(formation.workers.len(), "worker"),
                counted(formation.servers.len(), "server")
            ),
            Phase::Running => "the view continues".to_owned(),
            Phase::Bounded(stop_point) => match stop_point.asked {
                Ending::Agreed(tensor) => format!("the view ends before tensor {tensor}"),
                _ => "the view continues until its workers agree on its end".to_owned(),
            },
            Phase::Leaving(leaving) => {
                let missing: Vec<_> =
                    self.missing(Duration::ZERO, leaving).map(|member| member.host.as_str()).collect();
                format!("the view has ended, {} is waited for", missing.join(", "))
            }
            Phase::Finished { rounds } => format!("the job is done after {}", counted(*rounds, "round")),
        }
    }

    fn gathering(&self) -> String {
        let formation = self.formation();
        let lacks = |kind: &str, names: &[String]| {
            format!("no {kind} of job {} is connected: start one of {}", self.roster.job, names.join(", "))
        };
        if let Some(problem) = &self.problem {
            return format!("no view can be formed of {}: {problem}", counted(self.present.len(), "host"));
        }
        match (formation.workers.is_empty(), formation.servers.is_empty()) {
            (true, true) => "no host is connected".to_owned(),
            (true, false) => lacks("worker", &self.roster.workers),
            (false, true) => lacks("server", &self.roster.servers),
            (false, false) => {
                let missing = self.roster.hosts().filter(|host| !self.present.contains_key(*host));
                format!("{} is waited for", missing.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
