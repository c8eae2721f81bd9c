//! Control of action profiles: members and groups.

use super::{Loaded, Switch};
use crate::control::{ActionCall, ControlError, GroupMember, Result};
use crate::tables::{Group, resolve};

/// Most members a group may hold, weights counted.
const MAX_GROUP_WEIGHT: u64 = 1 << 16;

fn profile_index(loaded: &Loaded, name: &str) -> Result<usize> {
    let index = loaded.program.profiles.iter().position(|profile| profile.name == name);
    index.ok_or_else(|| ControlError::NotFound(format!("the program has no action profile {name}")))
}

impl Switch {
    /// Adds a member to an action profile.
    ///
    /// # Errors
    /// If no program is loaded, the profile is unknown or full, the action does not fit it, or the number is
    /// taken.
    pub fn insert_member(&mut self, profile: &str, member: u32, call: &ActionCall) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = profile_index(loaded, profile)?;
        let info = &loaded.program.profiles[index];
        let call = resolve(&loaded.program, &info.actions, profile, call)?;
        let members = &mut loaded.tables.profiles[index].members;
        if members.contains_key(&member) {
            return Err(ControlError::AlreadyExists(format!("{profile} already has a member {member}")));
        }
        if members.len() >= info.max_members {
            return Err(ControlError::ResourceExhausted(format!(
                "{profile} holds {} members",
                info.max_members
            )));
        }
        members.insert(member, call);
        Ok(())
    }

    /// Changes a member's action.
    ///
    /// # Errors
    /// If no program is loaded, the profile or member is unknown, or the action does not fit it.
    pub fn modify_member(&mut self, profile: &str, member: u32, call: &ActionCall) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = profile_index(loaded, profile)?;
        let call = resolve(&loaded.program, &loaded.program.profiles[index].actions, profile, call)?;
        match loaded.tables.profiles[index].members.get_mut(&member) {
            Some(present) => {
                *present = call;
                Ok(())
            }
            None => Err(ControlError::NotFound(format!("{profile} has no member {member}"))),
        }
    }

    /// Removes a member that no entry or group uses.
    ///
    /// # Errors
    /// If no program is loaded, the profile or member is unknown, or the member is in use.
    pub fn delete_member(&mut self, profile: &str, member: u32) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = profile_index(loaded, profile)?;
        if loaded.tables.profiles[index].is_member_used(member) {
            return Err(ControlError::FailedPrecondition(format!(
                "{profile}: member {member} is in use by a group or a table entry"
            )));
        }
        let removed = loaded.tables.profiles[index].members.remove(&member);
        removed.map(drop).ok_or_else(|| ControlError::NotFound(format!("{profile} has no member {member}")))
    }

    /// Returns the members of a profile.
    ///
    /// # Errors
    /// If no program is loaded, or the profile is unknown.
    pub fn members(&self, profile: &str) -> Result<Vec<(u32, ActionCall)>> {
        let loaded = self.loaded()?;
        let members = &loaded.tables.profiles[profile_index(loaded, profile)?].members;
        Ok(members.iter().map(|(&number, call)| (number, call.given.clone())).collect())
    }

    /// Adds a group, or replaces one if `replace`.
    ///
    /// # Errors
    /// If no program is loaded, the profile or a member is unknown, a weight is 0 or too large, or the group
    /// is (or with `replace` is not) there.
    pub fn put_group(
        &mut self,
        profile: &str,
        group: u32,
        members: Vec<GroupMember>,
        replace: bool,
    ) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = profile_index(loaded, profile)?;
        if loaded.program.profiles[index].selector.is_none() {
            return Err(ControlError::InvalidArgument(format!(
                "{profile} is not a selector: it has no groups"
            )));
        }
        let state = &mut loaded.tables.profiles[index];
        match (state.groups.contains_key(&group), replace) {
            (true, false) => {
                return Err(ControlError::AlreadyExists(format!("{profile} already has a group {group}")));
            }
            (false, true) => return Err(ControlError::NotFound(format!("{profile} has no group {group}"))),
            _ => {}
        }
        if let Some(missing) = members.iter().find(|member| !state.members.contains_key(&member.member)) {
            return Err(ControlError::NotFound(format!("{profile} has no member {}", missing.member)));
        }
        let weight: u64 = members.iter().map(|member| u64::from(member.weight)).sum();
        if weight > MAX_GROUP_WEIGHT || members.iter().any(|member| member.weight == 0) {
            return Err(ControlError::InvalidArgument(format!(
                "{profile}, group {group}: weights must be at least 1, their sum at most {MAX_GROUP_WEIGHT}"
            )));
        }
        state.set_group(group, Some(Group::new(members)));
        Ok(())
    }

    /// Removes a group that no entry uses.
    ///
    /// # Errors
    /// If no program is loaded, the profile or group is unknown, or the group is in use.
    pub fn delete_group(&mut self, profile: &str, group: u32) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = profile_index(loaded, profile)?;
        if loaded.tables.profiles[index].is_group_used(group) {
            return Err(ControlError::FailedPrecondition(format!(
                "{profile}: group {group} is in use by a table entry"
            )));
        }
        let removed = loaded.tables.profiles[index].set_group(group, None);
        removed.map(drop).ok_or_else(|| ControlError::NotFound(format!("{profile} has no group {group}")))
    }

    /// Returns the groups of a selector.
    ///
    /// # Errors
    /// If no program is loaded, or the profile is unknown.
    pub fn groups(&self, profile: &str) -> Result<Vec<(u32, Vec<GroupMember>)>> {
        let loaded = self.loaded()?;
        let groups = &loaded.tables.profiles[profile_index(loaded, profile)?].groups;
        Ok(groups.iter().map(|(&number, group)| (number, group.members.clone())).collect())
    }
}
