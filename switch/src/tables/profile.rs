//! Action profiles and selectors: members, groups and the choice of a member.

use rustc_hash::FxHashMap;

use super::table::Call;
use super::weights::Weights;
use crate::control::{EntryAction, GroupMember};

/// Members and groups by the controller's numbers.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub members: FxHashMap<u32, Call>,
    pub groups: FxHashMap<u32, Group>,
    /// Numbers of groups and entries that use a member, and of entries that use a group. None are zero.
    member_uses: FxHashMap<u32, usize>,
    group_uses: FxHashMap<u32, usize>,
}

fn count(uses: &mut FxHashMap<u32, usize>, id: u32, more: bool) {
    let left = uses.get(&id).copied().unwrap_or(0);
    let left = if more { left + 1 } else { left.saturating_sub(1) };
    if left > 0 {
        uses.insert(id, left);
    } else {
        uses.remove(&id);
    }
}

/// A group: its members as given, and their weights.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub members: Vec<GroupMember>,
    weights: Weights,
}

impl Group {
    pub fn new(members: Vec<GroupMember>) -> Group {
        let weights = members.iter().map(|member| member.weight).collect();
        Group { members, weights }
    }
}

impl Profile {
    /// Counts the members and groups that an entry uses, or no longer uses.
    pub fn count_entry(&mut self, action: &EntryAction, more: bool) {
        match action {
            EntryAction::Member(member) => count(&mut self.member_uses, *member, more),
            EntryAction::Group(group) => count(&mut self.group_uses, *group, more),
            EntryAction::Call(_) | EntryAction::OneShot(_) => {}
        }
    }

    /// Sets or removes a group, and counts its members.
    pub fn set_group(&mut self, id: u32, group: Option<Group>) -> Option<Group> {
        for member in group.iter().flat_map(|group| &group.members) {
            count(&mut self.member_uses, member.member, true);
        }
        let before = match group {
            Some(group) => self.groups.insert(id, group),
            None => self.groups.remove(&id),
        };
        for member in before.iter().flat_map(|group| &group.members) {
            count(&mut self.member_uses, member.member, false);
        }
        before
    }

    pub fn is_member_used(&self, member: u32) -> bool {
        self.member_uses.contains_key(&member)
    }

    pub fn is_group_used(&self, group: u32) -> bool {
        self.group_uses.contains_key(&group)
    }

    pub fn member(&self, member: u32) -> Option<&Call> {
        self.members.get(&member)
    }

    /// Returns the member of a group that a hash selects.
    pub fn select(&self, group: u32, hash: u64) -> Option<&Call> {
        let group = self.groups.get(&group)?;
        self.members.get(&group.members.get(group.weights.select(hash)?)?.member)
    }
}
