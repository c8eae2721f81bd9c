//! Action profiles and selectors: members, groups and the choice of a member.

use rustc_hash::FxHashMap;

use super::table::Call;
use crate::control::GroupMember;

/// Members and groups by the controller's numbers.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub members: FxHashMap<u32, Call>,
    pub groups: FxHashMap<u32, Group>,
}

/// A group: its members as given, and one slot per unit of weight.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub members: Vec<GroupMember>,
    slots: Vec<u32>,
}

impl Group {
    pub fn new(members: Vec<GroupMember>) -> Group {
        let slots = members
            .iter()
            .flat_map(|member| std::iter::repeat_n(member.member, member.weight.max(1) as usize))
            .collect();
        Group { members, slots }
    }
}

impl Profile {
    pub fn member(&self, member: u32) -> Option<&Call> {
        self.members.get(&member)
    }

    /// The member of a group that a hash selects.
    pub fn select(&self, group: u32, hash: u64) -> Option<&Call> {
        let slots = &self.groups.get(&group)?.slots;
        let slot = *slots.get(hash.checked_rem(slots.len() as u64)? as usize)?;
        self.members.get(&slot)
    }
}
