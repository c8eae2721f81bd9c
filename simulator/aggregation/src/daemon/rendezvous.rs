//! The rendezvous of an elastic job.

use std::collections::{BTreeMap, BTreeSet};

use inart_controller::membership::{MemberState, Membership, Roster, Timing};

use super::audit::ViewAudit;
use super::member::Member;
use crate::event_queue::ProcessId;

/// The rendezvous of an elastic job, and its hosts.
pub(crate) struct Meeting {
    pub membership: Membership,
    /// Hosts in the order of the topology, workers first.
    pub hosts: Vec<Member>,
    /// Members of the current view.
    pub seated: Vec<ProcessId>,
    /// Number of open connections, by role and incarnation.
    pub streams: BTreeMap<(String, u32), usize>,
    /// Next tick of the rendezvous.
    pub tick_at: Option<u64>,
    /// Audits of the views, by number of the view.
    pub audits: BTreeMap<u32, ViewAudit>,
    /// Hosts that left while they waited for a view, by name and incarnation.
    pub left: BTreeSet<(String, u32)>,
    pub is_paused: bool,
    /// Whether all its rounds are done, or it was deleted.
    pub is_done: bool,
}

impl Meeting {
    pub fn new(roster: Roster, timing: Timing, hosts: Vec<Member>) -> Self {
        Self {
            membership: Membership::new(roster, timing),
            hosts,
            seated: Vec::new(),
            streams: BTreeMap::new(),
            tick_at: None,
            audits: BTreeMap::new(),
            left: BTreeSet::new(),
            is_paused: false,
            is_done: false,
        }
    }

    /// Returns a member of the view that currently takes no part in it, as the daemon does.
    pub fn absent(&self) -> Option<String> {
        let is_absent =
            |state| matches!(state, MemberState::Disconnected | MemberState::Back | MemberState::Ended);
        let absent = self.membership.status().members.into_iter().find(|(_, _, state)| is_absent(*state));
        absent.map(|(host, place, state)| format!("{host} ({place}) is {}", state.name()))
    }
}
