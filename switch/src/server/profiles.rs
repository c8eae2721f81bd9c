//! Members and groups of action profiles and selectors.

use std::collections::HashSet;

use inart_p4runtime::p4::config::v1::ActionProfile;
use inart_p4runtime::p4::config::v1::action_profile::SelectorSizeSemantics;
use inart_p4runtime::p4::v1::action_profile_group::member::WatchKind;
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{ActionProfileGroup, ActionProfileMember};
use tonic::Status;

use super::actions;
use super::check::{existence, invalid, known};
use super::limits;
use super::page::{Page, Position};
use super::pipeline::Pipeline;
use super::profile_use::Share;
use crate::control::GroupMember;

/// Checks a group's weights against the selector's declaration and `limit` (0: none).
pub(super) fn check_size(
    profile: &ActionProfile,
    weights: impl Iterator<Item = u32> + Clone,
    limit: i32,
) -> Result<(), String> {
    let name = profile.short_name();
    let mut size: u64 = weights.clone().map(u64::from).sum();
    if let Some(SelectorSizeSemantics::SumOfMembers(members)) = &profile.selector_size_semantics {
        let most = members.max_member_weight.max(0) as u32;
        if let Some(weight) = weights.clone().find(|&weight| most > 0 && weight > most) {
            return Err(format!("action profile {name}: weight {weight} is above {most}"));
        }
        size = weights.count() as u64;
    }
    match limit > 0 && size > limit as u64 {
        true => Err(format!("action profile {name}: a group of size {size} is above {limit}")),
        false => Ok(()),
    }
}

impl Pipeline {
    /// Applies one update to a member.
    pub(super) fn write_member(&mut self, kind: Type, given: &ActionProfileMember) -> Result<(), Status> {
        let schema = self.schema.clone();
        let profile = known(schema.action_profile_by_id(given.action_profile_id))?;
        let name = profile.short_name();
        let (id, member) = (given.action_profile_id, given.member_id);
        if member == 0 {
            return Err(invalid(format!("action profile {name}: member 0 stands for all members")));
        }
        existence(kind, self.members.contains_key(&(id, member)), || {
            format!("member {member} in action profile {name}")
        })?;
        if kind == Type::Delete {
            // The switch refuses one that is in use.
            self.plane.lock().delete_member(profile.full_name(), member)?;
            let removed = self.members.remove(&(id, member));
            self.room.count(removed.as_ref(), None);
            self.profile_use.count_member(id, false);
            return Ok(());
        }
        let action = given.action.as_ref();
        let action =
            action.ok_or_else(|| invalid(format!("action profile {name}: member {member} has no action")))?;
        actions::allowed_in_profile(&schema, &profile.table_ids, action.action_id, name)?;
        let (canonical, call) = actions::call(&schema, action)?;
        let fresh = ActionProfileMember { action: Some(canonical), ..given.clone() };
        self.room.check(self.members.get(&(id, member)), &fresh)?;
        match kind {
            Type::Insert => {
                self.profile_use.check_member(profile)?;
                self.plane.lock().insert_member(profile.full_name(), member, &call)?;
                self.profile_use.count_member(id, true);
            }
            _ => self.plane.lock().modify_member(profile.full_name(), member, &call)?,
        }
        self.room.count(self.members.get(&(id, member)), Some(&fresh));
        self.members.insert((id, member), fresh);
        Ok(())
    }

    /// Reads the members that a filter selects.
    pub(super) fn read_member(
        &self,
        filter: &ActionProfileMember,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        self.check_profile_filter(filter.action_profile_id)?;
        let wanted = |member: &ActionProfileMember| {
            [0, member.action_profile_id].contains(&filter.action_profile_id)
                && [0, member.member_id].contains(&filter.member_id)
        };
        let last = page.walk(&self.members, at.pair(), wanted, |member| member.clone().into());
        Ok(last.map(|(profile, member)| Position::Pair(profile, member)))
    }

    /// Applies one update to a group.
    pub(super) fn write_group(&mut self, kind: Type, given: &ActionProfileGroup) -> Result<(), Status> {
        let schema = self.schema.clone();
        let profile = known(schema.action_profile_by_id(given.action_profile_id))?;
        let name = profile.short_name();
        let (id, group) = (given.action_profile_id, given.group_id);
        if !profile.with_selector {
            return Err(invalid(format!("action profile {name} has no selector, so it has no groups")));
        }
        if group == 0 {
            return Err(invalid(format!("action profile {name}: group 0 stands for all groups")));
        }
        let held = self.groups.get(&(id, group));
        existence(kind, held.is_some(), || format!("group {group} in action profile {name}"))?;
        if kind == Type::Delete {
            // The switch refuses one that is in use.
            self.plane.lock().delete_group(profile.full_name(), group)?;
            if let Some(group) = self.groups.remove(&(id, group)) {
                self.room.count(Some(&group), None);
                self.profile_use.count(id, Share::of_group(profile, &group), Share::default());
            }
            return Ok(());
        }
        if let Some(held) = held
            && held.max_size != given.max_size
        {
            return Err(invalid(format!(
                "action profile {name}: max_size of group {group} is {}, and stays so",
                held.max_size
            )));
        }
        if kind == Type::Insert && self.groups.len() >= limits::GROUPS {
            let most = limits::GROUPS;
            return Err(limits::beyond(format!("action profile {name}: all profiles hold {most} groups")));
        }
        let members = self.group_members(profile, given)?;
        let before = held.map(|held| Share::of_group(profile, held)).unwrap_or_default();
        let after = Share::of_group(profile, given);
        self.profile_use.check(profile, before, after)?;
        self.room.check(held, given)?;
        self.plane.lock().put_group(profile.full_name(), group, members, kind == Type::Modify)?;
        self.room.count(held, Some(given));
        self.groups.insert((id, group), given.clone());
        self.profile_use.count(id, before, after);
        Ok(())
    }

    fn group_members(
        &self,
        profile: &ActionProfile,
        given: &ActionProfileGroup,
    ) -> Result<Vec<GroupMember>, Status> {
        let (name, group) = (profile.short_name(), given.group_id);
        let limit = profile.max_group_size;
        if given.max_size < 0 || (limit > 0 && !(1..=limit).contains(&given.max_size)) {
            return Err(invalid(format!(
                "action profile {name}: max_size {} of group {group} must be {}",
                given.max_size,
                if limit > 0 { format!("1 to {limit}") } else { "0 or more".to_owned() }
            )));
        }
        let mut members: Vec<GroupMember> = Vec::with_capacity(given.members.len());
        let mut seen = HashSet::new();
        for one in &given.members {
            let member = one.member_id;
            let weight = u32::try_from(one.weight).ok().filter(|&weight| weight > 0).ok_or_else(|| {
                invalid(format!("action profile {name}, group {group}: weight {} is below 1", one.weight))
            })?;
            if matches!(&one.watch_kind, Some(WatchKind::WatchPort(port)) if !port.is_empty()) {
                return Err(Status::unimplemented(format!(
                    "action profile {name}, group {group}: this switch has no watch ports"
                )));
            }
            if !seen.insert(member) {
                return Err(invalid(format!(
                    "action profile {name}, group {group}: member {member} is listed twice, give it a weight instead"
                )));
            }
            if !self.members.contains_key(&(given.action_profile_id, member)) {
                return Err(Status::not_found(format!(
                    "action profile {name}, group {group}: there is no member {member}"
                )));
            }
            members.push(GroupMember { member, weight });
        }
        check_size(profile, members.iter().map(|member| member.weight), given.max_size)
            .map_err(Status::resource_exhausted)?;
        Ok(members)
    }

    /// Reads the groups that a filter selects.
    pub(super) fn read_group(
        &self,
        filter: &ActionProfileGroup,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        self.check_profile_filter(filter.action_profile_id)?;
        let wanted = |group: &ActionProfileGroup| {
            [0, group.action_profile_id].contains(&filter.action_profile_id)
                && [0, group.group_id].contains(&filter.group_id)
        };
        let last = page.walk(&self.groups, at.pair(), wanted, |group| group.clone().into());
        Ok(last.map(|(profile, group)| Position::Pair(profile, group)))
    }

    fn check_profile_filter(&self, id: u32) -> Result<(), Status> {
        if id == 0 { Ok(()) } else { known(self.schema.action_profile_by_id(id)).map(|_| ()) }
    }
}
